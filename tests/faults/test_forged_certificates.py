"""Certificates with a forged leaf under a seal that fits: none verifies unless the data prove it.

What only the run can know is in ``Verification.reported``, by the name of its field.
"""

from __future__ import annotations

import copy
import json
import math
import random
from fractions import Fraction

import certified
import numpy as np
import pytest
from leaves import changes, excused, forged, leaves, resealed

import perceptrons as pc
from perceptrons import datasets
from perceptrons.certificates import digests
from perceptrons.certificates.certificate import Certificate, CertificateError

FEW = 3  # entries of a list whose leaves are forged
#: Every way, with two or three classes and with or without a log in turn.
SOME = [certified.ways()[4 * k + k % 4] for k in range(len(certified.ways()) // 4)]


def read(body):
    return Certificate.from_json(json.dumps(body))


def walk(case, each, seed=0):
    """Forge every leaf in ``each`` ways; the forgeries that verify and should not."""
    body = json.loads(case.certificate.to_json())
    reported = case.certificate.verify(case.X, case.y, kernel=case.kernel).or_raise().reported
    rng, bad = random.Random(seed), []
    for path, value in leaves(body):
        if path == ("sha256",) or any(isinstance(part, int) and part >= FEW for part in path):
            continue
        ways = changes(body, path, value)
        for what, change in rng.sample(ways, min(each, len(ways))):
            text = json.dumps(forged(body, path, change))
            try:
                found = Certificate.from_json(text).verify(case.X, case.y, kernel=case.kernel)
            except CertificateError as error:
                assert "\n" not in str(error)
                continue
            assert found or found.why
            if found and not excused(path, text, (*reported, *found.reported), case.X, case.y, case.kernel):
                bad.append((path, what))
    return bad


@pytest.mark.parametrize("way", SOME, ids=lambda way: f"{way[0]}-{len(set(way[1]))}-{'log' * way[2]}")
def test_forged_leaves_of_every_learner(way):
    assert walk(certified.of_way(*way), each=2, seed=way[0]) == []


def test_forged_leaves_of_every_verdict_and_kernel():
    verdicts = set()
    for number, case in enumerate(certified.others()):
        assert walk(case, each=4, seed=number) == []
        verdicts.add(case.certificate.verdict.verdict)
    assert verdicts == {"separable", "not separable", "undecided"}


# ------------------------------------------------------------------------------------ forgeries by name

TOY = datasets.four_points()


def toy(**params):
    clf = pc.Perceptron(shuffle=False, fit_intercept=False, **params).fit(TOY.X, TOY.y)
    return json.loads(pc.certify(clf, TOY.X, TOY.y).to_json())


def is_refused(body, X, y):
    """Whether a body is refused, when read or when checked, in floats and in fractions."""
    try:
        certificate = read(resealed(copy.deepcopy(body)))
    except CertificateError:
        return True
    return not certificate.verify(X, y) and not certificate.verify(X, y, exact=True)


def test_more_labels_than_the_data():
    """With a third class that no row has, any two classes were "separable"."""
    xor = datasets.xor()
    clf = pc.Perceptron(shuffle=False, max_iter=3, log_updates=True).fit(xor.X, xor.y)
    body = json.loads(pc.certify(clf, xor.X, xor.y).to_json())
    body["model"]["classes"].append(["int", "7"])
    for problem in ("joint", "one-vs-rest", "binary"):
        body["model"]["problem"] = problem
        assert is_refused(body, xor.X, xor.y)
    clf = pc.Perceptron(shuffle=False).partial_fit(xor.X, xor.y, classes=[-1, 1, 7])
    with pytest.raises(ValueError, match="it has no 7"):
        pc.certify(clf, xor.X, xor.y)


def test_an_upper_end_from_nothing():
    body = toy()
    body["brackets"][0] |= {"source": "nothing", "up": 1e-3, "rows": [], "alpha": []}
    assert is_refused(body, TOY.X, TOY.y)
    body["brackets"][0] |= {"source": "run", "up": 0.5}
    assert is_refused(body, TOY.X, TOY.y)


def test_low_above_up():
    body = toy(log_updates=True)
    body["brackets"][0]["up"] = body["brackets"][0]["low"] / 2.0
    with pytest.raises(CertificateError, match=r"brackets.low must be at most brackets.up"):
        read(resealed(body))


def test_an_infinite_bias():
    body = toy()
    for free in (True, False):
        body["space"] |= {"bias": "inf", "free": free}
        with pytest.raises(CertificateError, match=r"space.bias must be a finite number"):
            read(resealed(body))
    body["space"] |= {"bias": 1.0, "free": True}
    body["vectors"]["w"] = {"weights": [[0.0, 0.0, 0.0]]}
    assert is_refused(body, TOY.X, TOY.y)


def test_an_offset_that_is_not_free():
    """A kernel vector's offset separated xor."""
    xor = datasets.xor()
    clf = pc.KernelPerceptron(kernel="linear", shuffle=False, max_iter=2).fit(xor.X, xor.y)
    body = json.loads(pc.certify(clf, xor.X, xor.y).to_json())
    body["vectors"]["w"]["offset"] = [1.0]
    with pytest.raises(CertificateError, match="exactly where the constant coordinate is free"):
        read(resealed(body))


def test_a_residual_is_no_proof():
    """Rows that weights sum to 1e-9 are separable all the same."""
    X, y = np.array([[1.0, 1e-9], [1.0, -1e-9]]), np.array([1, 0])
    clf = pc.Perceptron(fit_intercept=False, max_iter=1, shuffle=False).fit(X, y)
    body = json.loads(pc.certify(clf, X, y).to_json())
    body["brackets"][0] |= {"low": "-inf", "vector": None}
    body["verdict"] = {"verdict": "not separable", "vector": None, "rows": [0, 1], "weights": ["0x1", "0x1"]}
    assert is_refused(body, X, y)


def test_flags_do_not_switch_the_log_off():
    body = toy(log_updates=True)
    body["run"] |= {"replays": False, "conservative": False}
    with pytest.raises(CertificateError, match="without unknown fields; got 'conservative'"):
        read(resealed(body))
    body = toy(log_updates=True)
    del body["model"]["parameters"]["rule"]
    with pytest.raises(CertificateError, match="given with the rule of Perceptron"):
        read(resealed(body))
    body["model"]["class"] = "Another"  # then nothing of the log can be checked, and the answer says so
    found = read(resealed(body)).verify(TOY.X, TOY.y)
    assert "updates" in found.reported and "vectors.w" in found.reported
    body = toy(log_updates=True)
    body["updates"]["alpha"][0] = [0.5]
    assert read(resealed(body)).verify(TOY.X, TOY.y).failed == "update log"


def test_a_first_pass_longer_than_the_data():
    body = toy()
    bound = next(bound for bound in body["bounds"] if bound["name"] == "online_to_batch")
    run, m = body["run"], 10**12
    more = m - run["history"][0][0]
    run["history"][0][0] = m
    run["examples"] += more
    run["visits"] = None
    bound["symbols"][0]["m"] = m
    bound["allowed"] = [bound["symbols"][0]["M"] / m + math.sqrt(2.0 * math.log(1.0 / run["delta"]) / m)]
    body["bounds"] = [bound]
    found = read(resealed(body)).verify(TOY.X, TOY.y)
    assert found.failed == "bound online_to_batch" and "cannot meet" in found.why


def test_other_rows_under_the_same_claims():
    body = toy()
    body["data"]["X_sha256"] = digests.rows_digest(-TOY.X)
    assert is_refused(body, -TOY.X, TOY.y)


# ---------------------------------------------------------------------------------- what must not hang


@pytest.mark.parametrize(
    "weights", [["1e100000000"], ["0x" + "f" * 100_000], ["1/3"], [1.0], ["0x0"], ["-0x1"], [10**40]]
)
def test_weights_are_bounded_before_they_are_computed(weights):
    body = toy()
    body["verdict"] = {"verdict": "not separable", "vector": None, "rows": [0], "weights": weights}
    with pytest.raises(CertificateError, match=r"verdict\.weights must be"):
        read(resealed(body))


@pytest.mark.parametrize("rate", ["updates", "examples"])
def test_sums_over_many_updates(rate):
    """10^12 updates are not summed one by one."""
    clf = pc.Perceptron(learning_rate=rate, shuffle=False, fit_intercept=False).fit(TOY.X, TOY.y)
    body = json.loads(pc.certify(clf, TOY.X, TOY.y).to_json())
    body["run"]["parts"][0]["updates"] = body["run"]["updates"] = 10**12
    body["run"]["history"] = []
    assert is_refused(body, TOY.X, TOY.y)


def test_harmonic_sums_have_a_closed_form():
    from perceptrons.certificates.measured import harmonic_number

    for k in (1, 2, 10, 1000):
        exact = sum(Fraction(1, i) for i in range(1, k + 1))
        assert harmonic_number(k) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 10_000,
        '{"version": 1}',
        '{"version": 1, "verdict": {}, "brackets": []}',
        b"\xff\xfe",
        '{"version": 2, "version": 2}',
        "[1e999]",
    ],
    ids=lambda text: repr(text)[:20],
)
def test_texts_that_are_no_certificates(text):
    with pytest.raises(CertificateError) as caught:
        Certificate.from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("depth", [17, 5_000])
def test_kernels_within_kernels(depth):
    body = toy()
    inner = '{"kind":"Linear"}'
    for _ in range(depth):
        inner = f'{{"kind":"Normalized","kernel":{inner}}}'
    text = json.dumps(body).replace('"kernel": null', f'"kernel": {inner}')
    with pytest.raises(CertificateError, match=r"kernels within kernels|no JSON"):
        Certificate.from_json(text)


def test_no_other_error_leaves_from_json():
    for value in (None, 3, [1], object()):
        with pytest.raises(CertificateError, match="a text or bytes"):
            Certificate.from_json(value)


# --------------------------------------------------------------------------------------- not the rows


def test_data_of_another_kind():
    certificate = Certificate.from_json(json.dumps(toy()))
    for X, y in ((None, None), (TOY.X, None), ([["a"]], ["b"]), (np.zeros((0, 2)), []), ("text", 3)):
        assert not certificate.verify(X, y)
