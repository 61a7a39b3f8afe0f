"""Digests, the certificate as data, and its checker: what is tampered with is caught, and named."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import perceptrons as pc
from perceptrons import datasets
from perceptrons.certificates import digests
from perceptrons.certificates.certificate import Certificate, CertificateError
from perceptrons.certificates.evidence import Evidence, RowSpace, Vector
from perceptrons.certificates.exact_evidence import ExactEvidence
from perceptrons.theory import gram
from perceptrons.theory.enclosed import decay, enclosed, rational, root

TOY = datasets.four_points()


def certified(**params):
    clf = pc.Perceptron(shuffle=False, fit_intercept=False, **params).fit(TOY.X, TOY.y)
    return pc.certify(clf, TOY.X, TOY.y)


def changed(certificate, change, seal=True):
    """The certificate after a change of its JSON, with a new digest of its own where it is sealed again."""
    body = json.loads(certificate.to_json())
    change(body)
    body.pop("sha256") if seal else None
    if seal:
        body["sha256"] = digests.body_digest(body)
    return Certificate.from_json(json.dumps(body))


# ------------------------------------------------------------------------------------------ digests


def test_one_digest_for_every_way_to_store_rows():
    X = np.array([[0.0, 2.0, 0.0], [-1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    digest = digests.rows_digest(X)
    csr = sparse.csr_array(X)
    permuted = sparse.csr_array(
        (np.array([3.0, -1.0, 2.0])[[2, 0, 1]], [1, 2, 0], [0, 1, 3, 3]), shape=X.shape
    )
    explicit = sparse.csr_array(([2.0, 0.0, -1.0, 3.0, -0.0], [1, 2, 0, 2, 1], [0, 2, 4, 5]), shape=X.shape)
    twice = sparse.csr_array(([1.0, 1.0, -1.0, 3.0], [1, 1, 0, 2], [0, 2, 4, 4]), shape=X.shape)
    ways = [csr, permuted, explicit, twice, sparse.csc_array(X), sparse.coo_array(X), sparse.csr_matrix(X)]
    for way in [*ways, X.astype(np.float32), np.asfortranarray(X), X.tolist(), np.where(X == 0.0, -0.0, X)]:
        assert digests.rows_digest(way) == digest
    assert explicit.nnz == 5 and not permuted.has_sorted_indices  # what was given is left as it was


def test_other_rows_have_other_digests():
    X = np.arange(6.0).reshape(2, 3)
    wide = np.hstack([X, np.zeros((2, 1))])
    others = [X[::-1], X.T, wide, X.reshape(1, 6), X + 1e-15, X[:1], np.vstack([X, np.zeros((1, 3))])]
    assert len({digests.rows_digest(other) for other in [X, *others]}) == len(others) + 1


def test_more_rows_than_a_block():
    X = np.random.default_rng(0).integers(-1, 2, size=(3000, 4)).astype(float)
    assert digests.rows_digest(X) == digests.rows_digest(sparse.csr_array(X))
    Y = X.copy()
    Y[-1, 0] += 1.0
    assert digests.rows_digest(X) != digests.rows_digest(Y)


def test_labels_have_types():
    kinds = [[0, 1], [0.0, 1.0], [False, True], ["0", "1"], [b"0", b"1"]]
    assert len({digests.labels_digest(y) for y in kinds}) == len(kinds)
    assert digests.labels_digest(np.array([0, 1], np.int8)) == digests.labels_digest([0, 1])
    assert digests.labels_digest(np.array(["a", "bc"])) == digests.labels_digest(
        np.array(["a", "bc"], object)
    )
    assert digests.labels_digest(["a", "bc"]) != digests.labels_digest(["ab", "c"])
    assert digests.labels_digest([-0.0]) == digests.labels_digest([0.0])
    with pytest.raises(ValueError, match=r"a number, a string or bytes; got None"):
        digests.labels_digest([None])
    with pytest.raises(ValueError, match="finite"):
        digests.labels_digest([math.nan])


def test_rows_that_are_no_numbers():
    assert digests.rows_digest(["ab", "c"]) != digests.rows_digest(["a", "bc"])
    with pytest.raises(ValueError, match="NaN or infinity"):
        digests.rows_digest([[math.nan]])
    with pytest.raises(ValueError, match="got 3 dimension"):
        digests.rows_digest(np.zeros((1, 1, 1)))


# ---------------------------------------------------------------------------------------- as data


def test_to_json_and_back():
    certificate = certified(log_updates=True)
    text = certificate.to_json()
    again = Certificate.from_json(text)
    assert again.to_json() == text
    assert str(again) == str(certificate)
    assert again.classes == certificate.classes
    assert again.bounds == certificate.bounds and again.brackets == certificate.brackets


def test_it_prints():
    text = str(certified())
    assert text.startswith("Certificate of Perceptron(")
    assert "R = 2.23607" in text and "0.447214 ≤ γ*" in text and "the margin of w" in text
    assert "says nothing  updates ≤ R²/γ²: not below the 8 examples" in text
    assert "holds         2 ≤ 26  epochs ≤ ⌊R²/γ²⌋ + 1" in text and "separable; w separates" in text
    logged = str(certified(log_updates=True))
    assert "updates replayed from the log" in logged
    assert "0.447214 ≤ γ* ≤ 1.11803; the margin of w, the upper end by weights on 2 rows" in logged
    assert "on 2 rows; given rows" in logged and "free offset" not in logged
    page = certified()._repr_html_()
    assert page.startswith("<table>") and "&lt;" not in text and "updates ≤ R²/γ²" in page


def test_both_margins_are_named():
    """With an intercept: that of the augmented rows, and what follows for distances of the rows as given."""
    X, y = pc.datasets.clouds_far()[:2]
    clf = pc.MIRA(p=0.9, shuffle=False, max_iter=None).fit(X, y)
    text = str(pc.certify(clf, X, y))
    assert (
        "0.34503 ≤ γ* ≤ 0.550814; the margin of w, the upper end by weights on 40 rows; augmented rows"
        in text
    )
    assert "free offset   0.347777 ≤ γ, by w; γ ≤ 15.2961 where both classes have rows; distances" in text
    best = pc.MaxMargin().fit(X, y)
    assert clf.free_margin_bounds_.low >= 0.347777 and best.margin_bounds_.up <= 15.2961
    text = str(pc.certify(best, X, y))
    assert "on 2 rows; free offset" in text and text.count("free offset") == 1
    unit = str(pc.certify(pc.Perceptron(row_norm="l2", random_state=0).fit(X, y), X, y))
    assert "; unit rows" in unit and "free offset" not in unit


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: b.pop("verdict"), "an object with the field 'verdict'"),
        (lambda b: b.update(extra=1), "without unknown fields; got 'extra'"),
        (lambda b: b.update(format="other"), "format must be"),
        (lambda b: b.update(version=3), "version must be one of 2"),
        (lambda b: b.update(version=1), "not the fields of version 1"),
        (lambda b: b.update(version=True), "version must be one of 2"),
        (lambda b: b.update(radius="__import__('os')"), "radius must be a finite number"),
        (lambda b: b["model"].update(problem="none"), "model.problem must be one of"),
        (lambda b: b["model"].update(classes=[["code", "1"], ["int", "2"]]), "a known type"),
        (lambda b: b["vectors"].pop("w"), "vectors must be an object with the field 'w'"),
        (lambda b: b["vectors"].update(w={"weights": [[1.0], [1.0, 2.0]]}), "lists of one length"),
        (lambda b: b["vectors"].update(w={"shape": [10**9, 10**9], "index": [], "value": []}), "two sizes"),
        (lambda b: b["bounds"][0].update(name="eval"), "bounds.name must be one of"),
        (lambda b: b["bounds"][0].update(allowed=[]), "a list of 1 to"),
        (lambda b: b["run"].pop("updates"), "run must be an object with the field"),
        (lambda b: b["run"].update(updates="many"), "run.updates must be an integer from 0"),
        (lambda b: b["verdict"].update(verdict="maybe"), "verdict must be one of"),
        (lambda b: b["space"].update(kernel={"kind": "Lambda"}), "a kernel described by a kind"),
        (lambda b: b["updates"].update(keep=[1.0]), "lists of one length"),
        (lambda b: set_bound("novikoff", "holds", False)(b), "bounds.holds must be one of True"),
        (lambda b: set_bound("novikoff", "basis", "as published: nobody")(b), "stated with <= and as"),
        (lambda b: set_bound("novikoff", "sense", ">=")(b), "stated with <= and as"),
        (lambda b: set_bound("hinge_tight", "vector", "v")(b), "bounds.vector must be one of"),
        (lambda b: set_bound("novikoff", "scales", [2.0])(b), "1 where the theorem asks for no multiple"),
        (lambda b: b["verdict"].update(vector="v"), "verdict.vector must be one of"),
        (
            lambda b: b["verdict"].update(verdict="undecided", vector=None),
            "separable where every lower end is",
        ),
        (
            lambda b: b["verdict"].update(verdict="not separable", rows=[0], weights=["0x1"], vector=None),
            "separable where every lower end is",
        ),
    ],
)
def test_what_is_no_certificate_is_refused(change, said):
    with pytest.raises(CertificateError, match=said):
        changed(certified(log_updates=True), change)


def test_texts_that_are_refused():
    with pytest.raises(CertificateError, match="no JSON"):
        Certificate.from_json("{")
    with pytest.raises(CertificateError, match="no JSON: NaN"):
        Certificate.from_json("[NaN]")
    with pytest.raises(CertificateError, match="more than max_bytes=10"):
        Certificate.from_json(certified().to_json(), max_bytes=10)
    with pytest.raises(CertificateError, match="no JSON"):
        Certificate.from_json("[" * 100_000)


# -------------------------------------------------------------------------------------- tampering


def set_weight(b):
    b["vectors"]["w"]["weights"][0][1] += 0.25


def set_count(name):
    def change(b):
        b["run"][name] += 1

    return change


def set_part(b):
    b["run"]["parts"][0]["updates"] -= 1
    b["run"]["updates"] -= 1
    b["run"]["history"] = []


def set_bound(name, field, value):
    def change(b):
        bound = next(bound for bound in b["bounds"] if bound["name"] == name)
        bound[field] = value

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (set_weight, "length of w"),
        (set_count("mistakes"), "counts"),
        (set_count("updates"), "counts"),
        (set_count("errors"), "counts"),
        (set_count("examples"), "counts"),
        (set_part, "update log"),
        (lambda b: b.update(radius=2.0), "radius"),
        (lambda b: b["brackets"][0].update(low=0.5), "margin"),
        (lambda b: b["brackets"][0].update(up=1.0), "upper margin bound"),
        (lambda b: b["brackets"][0].update(up=2.0), "upper margin bound"),
        (set_bound("novikoff", "allowed", [24.0]), "bound novikoff"),
        (set_bound("novikoff", "measured", [1.0]), "bound novikoff"),
        (set_bound("novikoff", "symbols", [{"R": 1.0, "gamma": 0.2}]), "bound novikoff"),
        (set_bound("hinge_tight", "scales", [0.5]), "bound hinge_tight"),
        (lambda b: b["updates"]["row"].__setitem__(1, 0), "update log"),
        (lambda b: b["updates"]["alpha"].__setitem__(1, [2.0]), "update log"),
        (lambda b: b["data"].update(X_sha256="0" * 64), "sha256 of the rows"),
        (lambda b: b["data"].update(y_sha256="0" * 64), "sha256 of the labels"),
        (lambda b: b["data"].update(rows=5), "shape"),
    ],
)
def test_tampering_is_caught_even_under_a_new_seal(change, named):
    certificate = certified(log_updates=True)
    assert certificate.verify(TOY.X, TOY.y)
    found = changed(certificate, change).verify(TOY.X, TOY.y)
    assert not found and found.failed == named, found
    assert found.why
    # without the seal the digest of the certificate comes first
    found = changed(certificate, change, seal=False).verify(TOY.X, TOY.y)
    assert not found and found.failed == "sha256 of the certificate"


def test_a_digest_that_was_changed():
    found = changed(certified(), lambda b: b.update(sha256="0" * 64), seal=False).verify(TOY.X, TOY.y)
    assert found.failed == "sha256 of the certificate"
    with pytest.raises(CertificateError, match="sha256 of the certificate: the content has"):
        found.or_raise()


def test_other_data_are_refused():
    certificate = certified()
    X, y = TOY.X.copy(), TOY.y.copy()
    X[2, 1] += 1.0
    assert certificate.verify(X, TOY.y).failed == "sha256 of the rows"
    y[0] = y[-1]
    assert certificate.verify(TOY.X, y).failed == "sha256 of the labels"
    assert certificate.verify(TOY.X[:3], TOY.y).failed == "sha256 of the rows"
    assert certificate.verify(sparse.csr_array(TOY.X), list(TOY.y.tolist()))
    assert certificate.verify(TOY.X, TOY.y.astype(float)).failed == "sha256 of the labels"


def test_the_answer_of_a_check():
    found = certified().verify(TOY.X, TOY.y)
    assert found and found.ok and found.failed is None and found.exact == () and found.rules == ""
    assert {"run.updates", "run.mistakes", "run.parts.updates", "vectors.w", "notes"} <= set(found.reported)
    assert not any(name.startswith(("brackets", "verdict", "bounds", "data")) for name in found.reported)
    replayed = certified(log_updates=True).verify(TOY.X, TOY.y).reported
    assert not {"run.updates", "run.parts.updates", "vectors.w"} & set(replayed)
    assert str(found) == f"verified: {len(found.checked)} claims"
    assert found.or_raise() is found
    exact = certified().verify(TOY.X, TOY.y, exact=True)
    what = ["radius", "length of w", "margin", "upper margin bound", "verdict"]
    if not certified().brackets[0].rows:
        what.remove("upper margin bound")
    assert exact.exact == ("counts", *(f"{name}, exactly" for name in what))
    assert exact.outward == () and exact.limit == ""
    assert str(exact) == f"verified: {len(exact.checked)} claims, {len(what) + 1} of them without rounding"


def test_ends_are_true_to_the_last_bit():
    """Ends that are too strong by less than floats can tell: doubtful rows are looked at in fractions."""
    certificate = certified(log_updates=True)
    b = certificate.brackets[0]
    for exact in (False, True):
        for end, value, named in (
            ("low", b.low * (1.0 + 1e-13), "margin"),
            ("up", b.up * (1.0 - 1e-13), "upper margin bound"),
        ):
            wrong = changed(certificate, lambda body, e=end, v=value: body["brackets"][0].update({e: v}))
            assert wrong.verify(TOY.X, TOY.y, exact=exact).failed == named
        short = changed(certificate, lambda b: b.update(radius=certificate.radius * (1.0 - 1e-11)))
        assert short.verify(TOY.X, TOY.y, exact=exact).failed == "radius"


# ------------------------------------------------------------------------------- not separable


def test_weights_prove_that_nothing_separates():
    toy = datasets.xor()
    clf = pc.Perceptron(log_updates=True, shuffle=False, max_iter=4).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y)
    assert certificate.verdict.verdict == "not separable" and certificate.verdict.exact
    assert certificate.verify(toy.X, toy.y, exact=True)

    def heavier(b):
        b["verdict"]["weights"][0] = hex(2 * int(b["verdict"]["weights"][0], 16))

    assert changed(certificate, heavier).verify(toy.X, toy.y).failed == "verdict"


def test_a_zero_row_without_intercept():
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]), [1, 1, 0]
    clf = pc.Perceptron(fit_intercept=False, max_iter=3).fit(X, y)
    certificate = pc.certify(clf, X, y)
    assert certificate.verdict.rows == (1,) and certificate.verdict.statement() == "not separable"
    assert certificate.verify(X, y, exact=True)


def test_undecided_says_what_is_known():
    """Two rows that differ by the last bit: nothing sums to exactly 0."""
    X, y = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [3.0, -1.0]]), [0, 1, 0]
    clf = pc.Perceptron(fit_intercept=False, log_updates=True, max_iter=2, shuffle=False).fit(X, y)
    certificate = pc.certify(clf, X, y)
    assert certificate.verdict.verdict == "undecided" and "undecided: no margin above" in str(certificate)
    assert certificate.verify(X, y, exact=True)


# ------------------------------------------------------------------------------ rational arithmetic


def test_evidence_in_floats_and_in_fractions():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(6, 3)).astype(float)
    codes = rng.integers(0, 3, size=6)
    W = rng.integers(-3, 4, size=(3, 4)).astype(float)
    for problem in ("joint", "one-vs-rest"):
        for rows in (X, sparse.csr_array(X)):
            e = Evidence(rows, codes, problem, 3, RowSpace(bias=2.0), {"w": Vector(W)})
            exact = ExactEvidence(e)
            for part in range(e.n_parts):
                assert [float(exact.margin("w", i, part).low) for i in range(6)] == e.margins(
                    "w", part
                ).tolist()
                assert math.isclose(float(exact.norm2("w", part).low), e.norm("w", part) ** 2)
                separates = exact.separates("w", part) is None
                assert (e.low("w", part) > -math.inf) == separates
                if separates:
                    low = e.low("w", part)
                    assert exact.low_holds("w", part, low) and not exact.low_holds("w", part, low + 1e-9)
            assert exact.radius_holds(e.radius) and not exact.radius_holds(e.radius * (1 - 1e-9))


@pytest.mark.parametrize(
    "kernel",
    [
        pc.kernels.Linear(),
        pc.kernels.Polynomial(degree=3, coef0=0.5, gamma=2.0),
        pc.kernels.AllSubsets(),
        pc.kernels.Gaussian(gamma=0.25),
        2.0 * pc.kernels.Polynomial() + pc.kernels.Linear(),
        pc.kernels.Linear() * pc.kernels.Polynomial(),
        pc.kernels.Normalized(pc.kernels.Polynomial()),
    ],
)
def test_the_checker_has_the_same_kernels(kernel):
    from perceptrons.proofs.certifying.subject import describe

    rng = np.random.default_rng(0)
    A, B = rng.integers(-2, 3, size=(4, 3)) / 4.0, rng.integers(-2, 3, size=(5, 3)) / 4.0
    described = describe(kernel)
    assert np.allclose(gram.values(described, A, B), kernel(A, B), rtol=1e-12)
    assert np.allclose(gram.values(described, sparse.csr_array(A), sparse.csr_array(B)), kernel(A, B))
    assert np.allclose(gram.diagonal(described, A), np.diagonal(kernel(A)))
    k = enclosed(described)
    rows = [{j: Fraction(v) for j, v in enumerate(a) if v} for a in A.tolist()]
    for a, line in zip(rows, kernel(A), strict=True):
        for b, value in zip(rows, line.tolist(), strict=True):
            low, high = k(a, b)
            assert low <= high <= low + Fraction(1e-12)
            assert (low == high) == rational(described) or low == high == 0
            assert math.isclose(float(low), value, rel_tol=1e-14, abs_tol=1e-13)


@pytest.mark.parametrize("x", [0.0, 1e-20, 0.3, 40.0, 700.0, 1e5])
def test_exponentials_and_roots_are_enclosed(x):
    """Against a hundred digits, of which the ends agree with some fifteen."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 100
        exact, square = Fraction(Decimal(-x).exp()), Fraction(Decimal(x).sqrt())
    assert decay(Fraction(x)).low <= exact <= decay(Fraction(x)).high
    assert decay(Fraction(x)).high <= exact * (1 + Fraction(1, 10**11)) + Fraction(1, 10**299)
    low, high = root(Fraction(x))
    assert low * low <= Fraction(x) <= high * high and low <= square * (1 + Fraction(1, 10**50))
    assert high <= square * (1 + Fraction(1, 10**20)) + Fraction(1, 10**20)


def test_strings_and_functions():
    words = ["banana", "bandana", "nab", ""]
    for mode in ("multiset", "set", "min"):
        kernel = pc.kernels.Spectrum(p=2, mode=mode)
        described = {"kind": "Spectrum", "p": 2, "mode": mode}
        assert np.array_equal(gram.values(described, words, words), kernel(words))
    with pytest.raises(gram.NeedsKernelError, match="give it by kernel="):
        gram.values({"kind": "Pairwise"}, [1], [2])
