"""Certificates of ill-conditioned data: no false end, no false verdict, none that its own check refuses."""

from __future__ import annotations

import json
import math

import exact
import numpy as np
import pytest
import ways
import zoo
from ill_conditioned import draw
from scipy import sparse
from sklearn.base import clone
from uncompiled import uncompiled
from ways import WAYS

import perceptrons as pc
from perceptrons import kernels
from perceptrons.certificates.certificate import Certificate
from perceptrons.engine.spaces import NumericalError
from perceptrons.proofs.certifying.best_bounds import UNMET

CASES = 150
QUIET = {"random_state": 0, "shuffle": False}
LEARNERS = {
    "Perceptron": lambda **p: pc.Perceptron(log_updates=True, **p),
    "KernelPerceptron": lambda **p: pc.KernelPerceptron(kernel="linear", **p),
    "PassiveAggressive": lambda **p: pc.PassiveAggressive(variant="hard", log_updates=True, **p),
}


def objection(model, X, y, **options):
    """What certify or a check of its certificate says against the other; "" if nothing."""
    certificate = pc.certify(model, X, y, **options)
    for again in (certificate, Certificate.from_json(certificate.to_json())):
        for way in (False, True):
            found = again.verify(X, y, exact=way)
            if not found:
                return f"exact={way}: {found}"
    return "" if certificate.holds and str(certificate) else "a line does not hold"


def fitted(model, X, y):
    """The model, or None where the rows are out of its range."""
    try:
        return model.fit(X, y)
    except (ValueError, NumericalError):
        return None


def two_classes(rng):
    while True:
        case = draw(rng)
        X, y = case.X.astype(np.float64), np.asarray(case.y)
        if len(set(y.tolist())) == 2 and not sparse.issparse(X):
            return case, X, y


@pytest.mark.parametrize("name", LEARNERS)
def test_brackets_and_verdicts_against_fractions(name):
    rng = np.random.default_rng(0)
    decided = 0
    for _ in range(CASES):
        case = draw(rng)
        whole = case.X.dtype.kind == "i"  # integers that float64 rounds are certified as they are
        X, y = case.X if whole else case.X.astype(np.float64), np.asarray(case.y)
        bias, passes = bool(rng.integers(2)), int(rng.integers(1, 30))
        if len(set(y.tolist())) != 2:
            continue
        model = fitted(LEARNERS[name](fit_intercept=bias, max_iter=passes, random_state=0), X, y)
        if model is None:
            continue
        certificate = pc.certify(model, X, y)
        for way in (False, True):
            found = certificate.verify(X, y, exact=way)
            assert found, (found, case)
        rows = X.toarray() if sparse.issparse(X) else X
        rows = exact.augmented(rows, 1.0) if bias else exact.rows_of(rows)
        best = exact.best_margin(exact.signed(rows, y))
        bracket, verdict = certificate.brackets[0], certificate.verdict.verdict
        assert bracket.low == -math.inf or best.at_least(bracket.low), case
        assert best.at_most(bracket.up), case
        assert verdict == "undecided" or (verdict == "separable") == best.separable, case
        decided += verdict != "undecided"
    assert decided > CASES // 10


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # solvers say so on such rows
@pytest.mark.parametrize("number", range(len(WAYS)), ids=lambda k: f"{k}-{WAYS[k][0]}")
def test_no_certificate_is_refused_by_its_own_check(number):
    """Every way to set up a learner, on rows of all scales."""
    name, params = WAYS[number]
    if name == "TextClassifier":
        return  # its rows are small whole numbers
    with uncompiled(ways.plain(number), but="margins"):
        six_certificates(number, name, params)


def six_certificates(number, name, params):
    rng, tried = np.random.default_rng(number), 0
    for _ in range(40):
        case, X, y = two_classes(rng)
        model = getattr(pc, name)(**params)
        wanted = {"random_state": 0, "shuffle": False, "max_iter": 20, "log_updates": tried % 2 == 0}
        model.set_params(**{k: v for k, v in wanted.items() if k in model.get_params()})
        if fitted(model, X, y) is None:
            continue
        assert not (why := objection(model, X, y)), (why, str(case))
        tried += 1
        if tried == 6:
            return


UNIT = np.array([[0.0, -4.3933146e-10], [8.2611814e-06, 0.0035026248]], np.float32)
STEEP = np.array(
    [
        [-3.7117832364563185e104, 5.443316419209436e72],
        [-1.6378024944965609e148, -1.7724541906289264e-25],
        [2.3157415352520734e146, 2.3563419520984773e112],
        [1.5557559470721549e53, -1.0330709128822094e-126],
    ]
)
SHORT = np.array([[-1.9e-101, 1.2e-101, -5.1e-101], [-7.6e-102, -4.4e-101, -1.8e-100]])
WIDE = np.array([[-2e150, -2e149], [1e-16, -1e-16], [-2e-151, 2e-150], [1e16, -9e15], [7e149, 3e149]])
LARGE = np.array([[-7.227643533821123e102], [-7.227643534588119e102], [-7.227643534322002e102]])
KNOWN = {
    # floats keep the run from a theorem: the line is left out, and a note says so
    "norm of single precision": (
        pc.Perceptron(fit_intercept=False, mistake="prediction", row_norm="l2", log_updates=True, max_iter=9),
        (UNIT, [-1, 1]),
        "norm",
    ),
    "last step": (
        pc.MIRA(log_updates=True, max_iter=29),
        (STEEP, [-1, 1, -1, 1]),
        "last step",
    ),
    # sums beyond the range of floats are left out of the counts
    "squared loss": (pc.Perceptron(max_iter=8), (1e100 * np.eye(3), [-1, -1, 1]), None),
    # a threshold of 1 promotes nothing: no OR of any length stands
    "no OR": (pc.Winnow(max_iter=22), ([[0.0], [0.0], [1.0]], [-1, 1, 1]), None),
    # lengths whose powers vanish, and of combinations of rows that a kernel cannot tell apart
    "short w": (pc.PNormPerceptron(p=4.0, row_norm="l2", max_iter=15), (SHORT, [-1, 1]), None),
    "large rows": (
        pc.BudgetKernelPerceptron(kernel=kernels.Gaussian(0.5), policy="forgetron", budget=83, max_iter=3),
        (LARGE, [-1, 1, 1]),
        None,
    ),
    # weights on rows of length 1 that overflow on the rows as they are
    "row weights": (
        pc.ROMMA(fit_intercept=False, row_norm="l2", log_updates=True, max_iter=22),
        (WIDE, [-1, 1, -1, -1, -1]),
        None,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_cases(name):
    model, (X, y), unmet = KNOWN[name]
    model = clone(model).set_params(**{k: v for k, v in QUIET.items() if k in model.get_params()})
    X, y = np.asarray(X), np.asarray(y)
    model.fit(X, y)
    assert not objection(model, X, y)
    certificate = pc.certify(model, X, y)
    told = [note for note in certificate.notes if note.startswith(UNMET)]
    assert unmet is None or any(f" {unmet}, " in note for note in told)
    assert unmet not in [bound.name for bound in certificate.bounds]


@pytest.mark.parametrize(("large", "small", "stated"), [(64.0, 2.0**-48, True), (1e16, 1.0, False)])
def test_rows_on_the_boundary_are_counted_in_fractions(large, small, stated):
    """w = (1, 1, 1) gives the second row 0 in floats; it is more.

    A risk that rounding may move is not stated, and then neither is the count.
    """
    X, y = np.array([[1.0, 1.0, 1.0], [large, small, -large], [-1.0, -1.0, -1.0]]), np.array([1, 1, 0])
    model = pc.RiskDescent(fit_intercept=False).fit(X, y)
    assert model.on_boundary_ == 1
    certificate = pc.certify(model, X, y)
    assert np.array_equal(certificate.vectors["w"].weights, [[1.0, 1.0, 1.0, 0.0]])
    part = certificate.run["parts"][0]
    assert (part["on_boundary"] == 0 == part["risk"]) if stated else "on_boundary" not in part
    assert certificate.verdict.verdict == "separable" and not objection(model, X, y)


def test_ordinary_runs_meet_every_line():
    """A line that is left out for floats would hide a theorem that does not hold."""
    for number, (name, params) in enumerate(WAYS):
        with uncompiled(ways.plain(number), but="margins"):
            certificate = pc.certify((model := ways.fitted(name, params)), ways.given(name), zoo.y)
        assert not [note for note in certificate.notes if note.startswith(UNMET)], (number, model)


@pytest.mark.parametrize("kernel", [None, "linear", "gaussian"])
def test_integers_that_float64_rounds(kernel):
    """As float64 both rows are one, with two labels; as integers they are separable."""
    X, y = np.array([[2**60], [2**60 + 1]]), np.array([0, 1])
    model = pc.Perceptron() if kernel is None else pc.KernelPerceptron(kernel=kernel)
    model.set_params(max_iter=2, random_state=0, log_updates=True).fit(X, y)
    assert not objection(model, X, y)
    certificate = pc.certify(model, X, y, comparators="all")
    assert certificate.verdict.verdict != "not separable" and certificate.brackets[0].up > 0.0
    assert not certificate.bounds and certificate.updates is None
    assert "the run met the rounded rows" in " ".join(certificate.notes)
    rounded = X.astype(float)
    assert not certificate.verify(rounded, y) and not pc.certify(model, rounded, y).verify(X, y, exact=True)
    assert pc.certify(model, rounded, y).verify(rounded, y, exact=True)


def test_a_line_about_rounded_rows_is_refused():
    """A bound on the run does not become one about integers that the run has not met."""
    X, y = np.array([[-3, 5], [2**53 + 1, 7]]), np.array([0, 1])
    model = pc.Perceptron(random_state=0).fit(X, y)
    of_integers, of_floats = (pc.certify(model, rows, y) for rows in (X, X.astype(float)))
    body = json.loads(of_floats.to_json())
    told = ways.sealed(of_integers, lambda own: own.update(bounds=body["bounds"])).verify(X, y)
    assert not told and told.failed == "shape" and "rounded rows" in told.why


def test_what_is_no_matrix_is_refused_in_one_line():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]]), np.array([1, 1, 0])
    model = pc.Perceptron(random_state=0).fit(X, y)
    certificate = pc.certify(model, X, y)
    wide = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]], np.longdouble) / 3
    others = [
        [{"a": 1.0}] * 3,
        X[:, 0],
        [["a", "b"]] * 3,
        [[1.0], [1.0, 2.0], [3.0]],
        X.astype(complex),
        wide,
    ]
    for rows in others:
        with pytest.raises(ValueError, match=r"^X (must|has)"):
            pc.certify(model, rows, y)
        assert "X " in certificate.verify(rows, y).why
    for labels in ([[1], [1], [0]], 5, [1, 0]):
        with pytest.raises(ValueError, match=r"^(y must be one label per row|X has 3 rows)"):
            pc.certify(model, X, labels)
    for labels in (y.astype(float), y.astype(bool)):  # the same to the model, written in another way
        assert pc.certify(model, X, labels).verify(X, labels)


def test_rows_of_a_model_of_dicts_go_by_its_names():
    rows, y = [{"a": 1.0}, {"b": 1.0}, {"a": -1.0, "b": 0.5}], [1, 1, 0]
    model = pc.Perceptron()
    for x, label in zip(rows * 3, y * 3):
        model.learn_one(x, label)
    with pytest.raises(ValueError, match="got rows as dicts"):
        pc.certify(model, rows, y)
    X = [[x.get(name, 0.0) for name in model.feature_names_in_] for x in rows]  # as the message says
    assert pc.certify(model, X, y).verify(X, y, exact=True)
