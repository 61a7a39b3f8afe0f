"""What is tampered with is caught, for every estimator; what is checked without rounding."""

from __future__ import annotations

import json

import numpy as np
import pytest
import zoo
from scipy import sparse
from ways import ESTIMATORS, fitted, given, sealed, seen

import perceptrons as pc
from perceptrons import kernels
from perceptrons.certificates import digests
from perceptrons.certificates.certificate import Certificate

# ---------------------------------------------------------------------------------------- tampering


def other_weight(body):
    v = body["vectors"]["w"]
    entries = v["value"] if "value" in v else v.get("weights", v.get("coefficients"))
    line = entries if "value" in v else entries[0]
    line[0] += 0.5 * max(1.0, abs(line[0]))


def other_bound(body):
    """Of the last line, or of the bracket where there is no line."""
    if body["bounds"]:
        side = body["bounds"][-1]["allowed"]
        side[0] = side[0] * 0.75 - 0.25
    else:
        body["brackets"][0]["low"] += 0.25


def other_digest(what):
    def change(body):
        digest = body["data"][what]
        body["data"][what] = ("1" if digest[0] == "0" else "0") + digest[1:]

    return change


@pytest.mark.parametrize("y", [zoo.y, zoo.y3], ids=["two", "three"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_tampering_is_always_caught(name, y):
    """One weight, one bound, one digest (under a new seal); one label, one row; the seal itself."""
    clf = fitted(name, {}, y)
    certificate, rows = pc.certify(clf, given(name), y), seen(clf)
    assert certificate.verify(rows, y)
    assert sealed(certificate, other_weight).verify(rows, y).failed == "length of w"
    named = f"bound {certificate.bounds[-1].name}" if certificate.bounds else "margin of class 0"
    assert sealed(certificate, other_bound).verify(rows, y).failed == named
    for what, claim in (("X_sha256", "rows"), ("y_sha256", "labels")):
        assert sealed(certificate, other_digest(what)).verify(rows, y).failed == f"sha256 of the {claim}"
    body = json.loads(certificate.to_json()) | {"sha256": "0" * 64}
    assert Certificate.from_json(json.dumps(body)).verify(rows, y).failed == "sha256 of the certificate"
    for i in range(len(y)):
        labels = y.copy()
        labels[i] = (labels[i] + 1) % len(clf.classes_)
        assert certificate.verify(rows, labels).failed == "sha256 of the labels"
        X = sparse.csr_array(rows).toarray()
        X[i, 0] += 2.0**-40
        assert certificate.verify(X, y).failed == "sha256 of the rows"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_other_labels_under_their_own_digest_are_caught(name):
    """A certificate of another sample: the claims themselves must fail."""
    clf = fitted(name, {})
    certificate, rows = pc.certify(clf, given(name), zoo.y), seen(clf)
    assert certificate.verdict.verdict == "separable" or name in ("RiskDescent", "Elimination"), name
    labels = 1 - zoo.y

    def change(body):
        body["data"]["y_sha256"] = digests.labels_digest(labels)

    assert not sealed(certificate, change).verify(rows, labels)


# ------------------------------------------------------------------------- checks without rounding


@pytest.mark.parametrize(
    ("name", "params", "exact", "limit"),
    [
        ("BalancedWinnow", {}, True, ""),
        ("BalancedWinnow", {"row_norm": "l2"}, True, ""),
        ("Winnow", {}, True, ""),
        ("Winnow", {"kind": 1}, True, ""),
        ("PNormPerceptron", {}, True, ""),
        ("PNormPerceptron", {"p": 4.0}, False, "powers of 1.33333 are irrational"),
        ("PNormPerceptron", {"p": 5.5, "row_norm": "l2"}, False, "are irrational"),
        ("KernelPerceptron", {"kernel": "polynomial"}, True, ""),
        ("KernelPerceptron", {"kernel": "gaussian"}, False, "exponentials or roots"),
        ("KernelPerceptron", {"kernel": kernels.Normalized(kernels.Polynomial())}, False, "enclosed between"),
        ("KernelPerceptron", {"kernel": kernels.Gaussian(0.5) * kernels.Linear()}, False, "enclosed between"),
    ],
    ids=str,
)
def test_what_is_checked_without_rounding(name, params, exact, limit):
    certificate = pc.certify(fitted(name, params), zoo.X, zoo.y)
    found = certificate.verify(zoo.X, zoo.y, exact=True).or_raise()
    assert "counts" in found.exact and limit in found.limit and bool(limit) == bool(found.limit)
    how = found.exact if exact else found.outward
    suffix = "exactly" if exact else "rounded outwards"
    for claim in ("radius", "length of w", "margin", "verdict"):
        assert f"{claim}, {suffix}" in how
    assert (found.outward == ()) == exact and found.limit in str(found)
    # a claim that is too strong by less than floats are compared with
    for change, claim in (
        (lambda b: b.update(radius=b["radius"] * (1.0 - 1e-10)), "radius"),
        (lambda b: b["brackets"][0].update(low=b["brackets"][0]["low"] * (1.0 + 5e-9)), "margin"),
    ):
        wrong = sealed(certificate, change)
        assert wrong.verify(zoo.X, zoo.y).failed == claim  # doubtful rows are looked at in fractions
        assert wrong.verify(zoo.X, zoo.y, exact=True).failed == claim


def test_tables_within_other_kernels():
    K = kernels.Polynomial()(zoo.X)
    for kernel in (
        kernels.Normalized(kernels.Precomputed()),
        2.0 * kernels.Precomputed(),
        kernels.Precomputed() * kernels.Precomputed() + kernels.Normalized(kernels.Precomputed()),
    ):
        for y in (zoo.y, zoo.y3):
            clf = pc.KernelPerceptron(kernel=kernel, shuffle=False, readout="average").fit(K, y)
            certificate = pc.certify(clf, K, y)
            found = certificate.verify(K, y, exact=True).or_raise()
            assert any(name.startswith("margin, ") for name in (*found.exact, *found.outward))
    same = pc.KernelPerceptron(kernel=kernels.Normalized(kernels.Polynomial()), shuffle=False)
    low = pc.certify(same.fit(zoo.X, zoo.y), zoo.X, zoo.y).brackets[0].low
    table = pc.KernelPerceptron(kernel=kernels.Normalized(kernels.Precomputed()), shuffle=False)
    assert pc.certify(table.fit(K, zoo.y), K, zoo.y).brackets[0].low == pytest.approx(low, rel=1e-12)


def test_a_function_is_checked_in_floats_only():
    def product(a, b):
        return float(np.dot(a, b)) + 1.0

    rows = [tuple(row) for row in zoo.X.tolist()]
    clf = pc.KernelPerceptron(kernel=product, shuffle=False).fit(rows, zoo.y)
    found = pc.certify(clf, rows, zoo.y).verify(rows, zoo.y, exact=True, kernel=product).or_raise()
    assert found.exact == ("counts",) and found.outward == () and "function of the user's" in str(found)
