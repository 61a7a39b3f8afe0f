"""separability: what it says at once, what it finds, how it is checked, stored and told."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits

from perceptrons import datasets, separability, theory
from perceptrons.proofs import decision_list, linear_separability
from perceptrons.theory import _lifting, _simplex
from perceptrons.theory import _rational as rational

BOTH = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_matrix])


def never():
    return False


def overlapping(n_rows=60, n_features=4, seed=0):
    """Rows with coin flips for labels, and too many of them to be separable."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_features)), np.where(rng.random(n_rows) < 0.5, -1, 1)


def confirmed(proof, X, y):
    """The proof, if both checks confirm it."""
    assert proof.check(X, y) is None
    assert proof.check(X, y, exact=True) is None
    return proof


# ------------------------------------------------------------------------------------------- at once


@BOTH
def test_the_same_x_with_both_labels(kind):
    X, y = [[1.0, 0.0], [0.0, 2.0], [-0.0, 2.0], [3.0, 0.0]], ["a", "b", "a", "a"]
    proof = confirmed(separability(kind(X), y), kind(X), y)
    assert proof.verdict == "not separable" and proof.exact
    assert proof.reason == "rows 1 and 2 are the same x with both labels"
    assert proof.weights.tolist() == [0.0, 0.5, 0.5, 0.0] and proof.support.tolist() == [1, 2]
    assert proof.point.tolist() == [0.0, 2.0] and proof.residual == 0.0
    assert proof.numerators == (1, 1) and proof.denominator == 2 and proof.bracket == (0.0, 0.0)


@BOTH
def test_rows_without_features_are_the_same_x(kind):
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), [1, 1, 0]
    assert separability(kind(X), y).support.tolist() == [1, 2]


@BOTH
def test_a_zero_row_without_intercept(kind):
    X, y = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, 0.0]]), [1, 1, 0]
    proof = confirmed(separability(kind(X), y, fit_intercept=False), kind(X), y)
    assert proof.verdict == "not separable" and proof.reason == "row 1 is the zero vector"
    assert proof.weights.tolist() == [0.0, 1.0, 0.0] and proof.point is None
    assert separability(kind(X), y).verdict == "separable"


def test_explicit_zeros_are_no_features():
    X = sparse.csr_array(([0.0, 1.0], [0, 0], [0, 1, 2]), shape=(2, 1))
    assert separability(X, [0, 1], fit_intercept=False).reason == "row 0 is the zero vector"


@pytest.mark.parametrize(("label", "b"), [(1, 1.0), (-1, -1.0), (0, -1.0), ("spam", 1.0), (True, 1.0)])
def test_one_class(label, b):
    X, y = np.array([[1.0, 1.0], [2.0, 0.0]]), [label, label]
    proof = confirmed(separability(X, y), X, y)
    assert (proof.verdict, proof.one_class, proof.margin, proof.b) == ("separable", True, math.inf, b)
    assert not proof.w.any() and proof.bracket == (math.inf, math.inf)


def test_one_class_through_the_origin_is_a_question():
    X = np.array([[1.0, 1.0], [2.0, 0.0]])
    proof = confirmed(separability(X, [1, 1], fit_intercept=False), X, [1, 1])
    assert proof.verdict == "separable" and proof.one_class and proof.margin > 0.0 and proof.b == 0.0
    X = np.array([[1.0, 1.0], [-2.0, -2.0]])
    proof = confirmed(separability(X, [1, 1], fit_intercept=False), X, [1, 1])
    assert proof.verdict == "not separable"
    assert proof.numerators == (2, 1) and proof.denominator == 3


# --------------------------------------------------------------------------------------- what it finds


@BOTH
def test_exclusive_or(kind):
    X, y, *_ = datasets.xor()
    proof = confirmed(separability(kind(X), y), kind(X), y)
    assert proof.numerators == (1, 1, 1, 1) and proof.denominator == 4
    assert "no (w, b) separates the 4 rows" in proof.claim


@BOTH
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_dense_and_sparse_agree(kind, fit_intercept):
    for seed in range(5):
        for n_rows in (8, 60):
            X, y = overlapping(n_rows, seed=seed)
            proof = confirmed(separability(kind(X), y, fit_intercept=fit_intercept), X, y)
            confirmed(proof, sparse.csr_array(X), y)
            assert proof.exact
            assert proof.verdict == separability(X, y, fit_intercept=fit_intercept).verdict
            if proof.verdict == "not separable":
                assert proof.support.size <= X.shape[1] + 1 + fit_intercept
                assert proof.residual < 1e-15 and np.isclose(proof.weights.sum(), 1.0)


def test_the_point_is_in_both_hulls():
    X, y = overlapping()
    proof = separability(X, y)
    for side in (1, -1):
        lam = proof.weights * (y == side)
        np.testing.assert_allclose(2.0 * lam @ X, proof.point, atol=1e-12)
        assert np.isclose(lam.sum(), 0.5)


def test_a_separator_has_its_margin():
    X, y, *_ = datasets.clouds_far()
    proof = confirmed(separability(X, y), X, y)
    assert proof.verdict == "separable" and "perceptron" in proof.reason
    m = theory.sample_margins(proof.w, X, y, proof.b, kind="geometric")
    assert np.isclose(m.min(), proof.margin)
    assert np.isclose(proof.margin, theory.gamma_low(proof.w, X, y, free_bias=True))  # b is in the middle
    low, up = proof.bracket
    assert low == proof.margin <= up


def test_columns_of_very_different_size():
    X, y = load_breast_cancer(return_X_y=True)
    assert confirmed(separability(X, y), X, y).verdict == "separable"


def test_digits():
    X, y = load_digits(return_X_y=True)
    part = (y == 3) | (y == 8)
    assert confirmed(separability(X[part], y[part]), X[part], y[part]).verdict == "separable"
    labels = np.random.default_rng(0).integers(0, 2, len(y))
    proof = confirmed(separability(X, labels), X, labels)
    assert proof.verdict == "not separable" and proof.exact and proof.support.size <= 66


@pytest.mark.parametrize("n", [20, 45])
def test_a_margin_that_is_exponentially_small(n):
    """Floats give up on it; whole numbers do not."""
    data = decision_list(n)
    proof = confirmed(separability(data.X, data.y), data.X, data.y)
    assert proof.verdict == "separable" and proof.margin < 1e-3


def test_a_gap_of_one_unit_in_the_last_place():
    X = np.array([[1.0], [2.0], [np.nextafter(2.0, 3.0)], [4.0]])
    proof = confirmed(separability(X, [0, 0, 1, 1]), X, [0, 0, 1, 1])
    assert proof.verdict == "separable"
    X = np.array([[1.0], [np.nextafter(2.0, 3.0)], [2.0], [4.0]])
    proof = confirmed(separability(X, [0, 0, 1, 1]), X, [0, 0, 1, 1])
    assert proof.verdict == "not separable" and proof.exact


@pytest.mark.parametrize("sizes", [(1e-150, 1.0, 1e150), (1e-300, 1.0, 1e300), (1e300, 1e300, 1e300)])
def test_numbers_near_the_ends_of_their_range(sizes):
    X, y = overlapping(30, 3)
    X = X * sizes
    assert confirmed(separability(X, y), X, y).verdict == "not separable"
    y = np.where(X[:, 0] > 0.0, 1, -1)
    assert confirmed(separability(X, y), X, y).verdict == "separable"


def test_more_rows_than_a_part(monkeypatch):
    """The part grows by the rows on which its separator errs, to either verdict."""
    X, y = overlapping(2000, 3)
    y = np.where(X @ [1.0, 2.0, -1.0] > 0.3, 1, -1)
    X = X + 1e-3 * y[:, None] * np.array([1.0, 2.0, -1.0])
    monkeypatch.setattr(linear_separability, "EPOCHS", 1)
    assert confirmed(separability(X, y), X, y).verdict == "separable"
    i = int(np.argmax(X @ [1.0, 2.0, -1.0]))
    y[i] = -y[i]
    assert confirmed(separability(X, y), X, y).verdict == "not separable"


@pytest.mark.parametrize("solver", ["least_squares", "linear_program"])
@BOTH
def test_each_solver_alone(monkeypatch, solver, kind):
    other = {"least_squares": "linear_program", "linear_program": "least_squares"}[solver]
    monkeypatch.setattr(linear_separability, other, lambda Z, seconds: None)
    monkeypatch.setattr(linear_separability, "SMALL", 0)
    monkeypatch.setattr(linear_separability, "EPOCHS", 1)
    for n_rows in (7, 60):
        X, y = overlapping(n_rows)
        expected = "separable" if n_rows == 7 else "not separable"
        assert confirmed(separability(kind(X), y), X, y).verdict == expected


def test_without_solvers_whole_numbers_decide(monkeypatch):
    monkeypatch.setattr(linear_separability, "least_squares", lambda Z, seconds: None)
    monkeypatch.setattr(linear_separability, "linear_program", lambda Z, seconds: None)
    X, y = overlapping(30)
    assert confirmed(separability(X, y), X, y).verdict == "not separable"
    monkeypatch.setattr(linear_separability, "SMALL", 0)
    proof = separability(X, y)
    assert proof.verdict == "undecided" and proof.check(X, y) is None


# ------------------------------------------------------------------------------ how strong the claim is


def test_inexact_weights_claim_less():
    X, y = overlapping()
    proof = confirmed(separability(X, y, exact=False), X, y)
    assert proof.verdict == "undecided" and not proof.exact and proof.numerators is None
    assert proof.reason == "exact weights were not asked for"
    words = proof.claim.removesuffix("; nothing more").split()
    assert words[:-1] == ["no", "separator", "with", "augmented", "margin", "above"]
    assert float(words[-1]) >= proof.residual > 0.0 and proof.weights.sum() == pytest.approx(1.0)
    claim = separability(X, y, exact=False, fit_intercept=False).claim
    assert claim.startswith("no separator with margin above ")


def test_when_whole_numbers_take_too_long(monkeypatch):
    def slow(M, near, late):
        raise _lifting.OutOfTime

    monkeypatch.setattr(_lifting, "null_weights", slow)
    X, y = overlapping()
    assert separability(X, y).verdict == "not separable"  # small data have a simplex method, too
    monkeypatch.setattr(linear_separability, "SMALL", 0)
    proof = confirmed(separability(X, y), X, y)
    assert proof.verdict == "undecided" and not proof.exact and "augmented margin" in proof.claim
    assert proof.reason == "the time was over"


def test_weights_that_are_not_exact_are_no_verdict(monkeypatch):
    monkeypatch.setattr(_lifting, "null_weights", lambda M, near, late: None)
    monkeypatch.setattr(linear_separability, "SMALL", 0)
    X, y = overlapping()
    proof = separability(X, y)
    assert proof.verdict == "undecided" and "not exact" in proof.reason
    assert proof.claim.startswith("no separator with augmented margin above")


@BOTH
def test_no_time(kind):
    X, y = overlapping()
    proof = separability(kind(X), y, max_time=1e-9)
    assert proof.verdict == "undecided" and proof.reason == "the time was over"
    low, up = proof.bracket
    assert low == 0.0 and np.isclose(up, np.linalg.norm(X[y > 0].mean(0) - X[y < 0].mean(0)) / 2.0)
    assert proof.w is None and proof.weights is None and proof.margin is None and proof.support.size == 0


# ------------------------------------------------------------------------------------------ tampering


def changed(proof, **fields):
    return dataclasses.replace(proof, **fields)


def test_a_changed_separator_is_named():
    X, y, *_ = datasets.three_points()
    proof = separability(X, y)
    confirmed(proof, X, y)
    i = int(np.argmin(y * (X @ proof.w + proof.b)))
    flipped = np.where(np.arange(3) == i, -y, y)
    assert "not positive" in proof.check(X, -y)
    if abs(flipped.sum()) < 3:
        assert proof.check(X, flipped).startswith(f"row {i}: ")
    moved = X.copy()
    moved[1] = 100.0
    assert proof.check(moved, y).startswith("row 1: y(<w, x> + b) is ")
    assert proof.check(X[:, :1], y) == "w has shape (2,), and the rows have 1 features"
    assert proof.check(X[:2], y) == "X has 2 rows and y has 3 labels"
    assert "not positive" in changed(proof, w=-proof.w).check(X, y)
    assert "was claimed" in changed(proof, margin=2.0 * proof.margin).check(X, y)
    assert "not finite" in changed(proof, b=math.inf).check(X, y)
    assert "not a number" in changed(proof, b=math.nan).check(X, y)
    assert "missing" in changed(proof, w=None).check(X, y)
    if proof.b:
        assert "no intercept" in changed(proof, fit_intercept=False).check(X, y)
    assert changed(proof, verdict="perhaps").check(X, y).startswith("the verdict is 'perhaps'")
    assert "one class" in changed(proof, one_class=True).check(X, y)
    moved[0, 0] = np.nan
    assert proof.check(moved, y) == "X holds NaN or infinity"
    assert proof.check(sparse.csr_array(moved), y) == "X holds NaN or infinity"


@pytest.mark.parametrize("exact", [False, True])
def test_changed_weights_are_named(exact):
    X, y = overlapping()
    proof = confirmed(separability(X, y), X, y)
    i, j = proof.support[:2]

    def check(X=X, y=y, **fields):
        return changed(proof, **fields).check(X, y, exact=exact)

    def other(k, value):
        lam = proof.weights.copy()
        lam[k] = value
        return lam

    flipped, moved = y.copy(), X.copy()
    flipped[i] = -y[i]
    moved[i, 0] += 1e-3
    assert "residual" in check(y=flipped)
    assert "residual" in check(X=moved)
    assert "not a number of at least 0" in check(weights=other(i, -0.1))
    assert "not a number of at least 0" in check(weights=other(i, math.nan))
    assert "sum to" in check(weights=other(i, 0.9))
    swapped = proof.weights.copy()
    swapped[[i, j]] = swapped[[j, i]] + [1e-6, -1e-6]
    assert "residual" in check(weights=swapped)
    assert "and 0.001 was claimed" in check(residual=1e-3)
    assert "for 60 rows" in check(weights=proof.weights[:-1])
    assert "missing" in check(numerators=None)
    first, *others = proof.numerators
    assert "do not sum" in check(numerators=(first + 1, *others))
    assert "not positive" in check(numerators=(-first, *others))
    assert "whole-number weights for" in check(numerators=tuple(others))
    assert check(numerators=(first, *others)) is None


@pytest.mark.parametrize("exact", [False, True])
def test_whole_numbers_see_the_last_bit(exact):
    X, y = overlapping()
    proof = separability(X, y)
    first, second, *others = proof.numerators
    near = changed(proof, numerators=(first + 1, second - 1, *others))
    assert near.check(X, y, exact=exact).startswith("the whole-number weights")
    nudged = X.copy()
    i = int(proof.support[0])
    nudged[i, 0] = np.nextafter(nudged[i, 0], 9.0)
    assert proof.check(nudged, y, exact=True) is not None


def statements():
    """Records of every kind: (name, record, X, y)."""
    X, y = overlapping(20, 2)
    side = np.where(X[:, 0] > 0.1, 1, -1)
    yield "separable", separability(X, side), X, side
    yield "separable, origin", separability(X, np.sign(X[:, 0]), fit_intercept=False), X, np.sign(X[:, 0])
    yield "one class", separability(X, np.ones(20)), X, np.ones(20)
    yield "not separable", separability(X, y), X, y
    yield "not separable, origin", separability(X, y, fit_intercept=False), X, y
    yield "undecided, weights", separability(X, y, exact=False), X, y
    yield "undecided", separability(X, y, max_time=1e-9), X, y
    twins = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    yield "twins", separability(twins, [0, 1, 1]), twins, np.array([0, 1, 1])
    zero = np.array([[0.0, 0.0], [1.0, 2.0]])
    yield "zero row", separability(zero, [0, 1], fit_intercept=False), zero, np.array([0, 1])


def mutations(value):
    """Other values of the same and of other types."""
    if isinstance(value, bool):
        return [not value, 1, None, "True"]
    if isinstance(value, int):
        return [value + 1, -value, 0, float(value), None, 10**400]
    if isinstance(value, float):
        other = [
            value * 0.5 + 1e-3,
            value * 2.0 + 1.0,
            -value - 1.0,
            math.nan,
            math.inf,
            -math.inf,
            None,
            "0",
        ]
        return [v for v in other if v != value]
    if isinstance(value, str):
        return [value + " ", "", "row 3 is the zero vector", "no w separates the 20 rows", None, 5]
    if isinstance(value, np.ndarray):
        changed = [
            value.astype(object),
            value[:-1],
            np.append(value, 0.0),
            value[:, None],
            None,
            value.tolist(),
        ]
        for i in range(min(value.size, 3)):
            for v in (value[i] * 1.001 + 1e-3, -value[i] - 1.0, math.nan, math.inf):
                one = value.copy()
                one[i] = v
                changed.append(one)
        return changed
    if isinstance(value, tuple):
        changed = [
            (),
            value[:-1],
            (*value, value[-1]),
            list(value),
            None,
            value[::-1] if value[0] != value[-1] else (),
        ]
        for i in range(min(len(value), 3)):
            changed += [(*value[:i], v, *value[i + 1 :]) for v in mutations(value[i])]
        return changed
    return [0.0, "x", np.zeros(2), (1, 1), 3]  # instead of None


@pytest.mark.parametrize("exact", [False, True])
def test_every_field_is_derived_again_or_reported(exact):
    """No field of any record can be changed without notice, but for those that only the search can know."""
    tried = 0
    for name, proof, X, y in statements():
        assert proof.check(X, y, exact=exact) is None, name
        for field in dataclasses.fields(proof):
            for value in mutations(getattr(proof, field.name)):
                told = changed(proof, **{field.name: value}).check(X, y, exact=exact)
                tried += 1
                if told is None:
                    assert field.name in proof.reported, (name, field.name, value)
                    assert field.name != "reason" or value in proof_reasons(proof), (name, value)
    assert tried > 500


def proof_reasons(proof):
    return () if "reason" not in proof.reported else (proof.reason,)


def test_a_reason_that_speaks_of_the_data_is_checked():
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]), [0, 1, 1]
    proof = separability(X, y)
    assert proof.reported == ("seconds",)
    told = changed(proof, reason="rows 0 and 2 are the same x with both labels").check(X, y)
    assert told.endswith("does not fit the weights")
    clean = separability(X[1:], [0, 1])
    assert clean.reported == ("reason", "seconds")
    assert (
        changed(clean, reason="it is obvious")
        .check(X[1:], [0, 1])
        .endswith("is none for the verdict separable")
    )


def test_weights_with_a_small_residual_decide_nothing():
    """Rows 1e-9 apart: the weights 1/2, 1/2 leave a residual far below 1e-8, and a separator exists."""
    X, y = np.array([[1.0], [1.0 + 1e-9]]), [0, 1]
    proof = separability(X, y)
    assert proof.verdict == "separable"
    forged = theory.Separability(
        verdict="not separable",
        fit_intercept=True,
        claim="no (w, b) separates the 2 rows: the hulls of 2 of them meet, exactly",
        reason="among 2 rows both hulls meet",
        exact=True,
        weights=np.array([0.5, 0.5]),
        residual=5.0000004137018666e-10,
        point=np.array([1.0]),
        numerators=(1, 1),
        denominator=2,
        bracket=(0.0, 0.0),
    )
    for exact in (False, True):
        assert forged.check(X, y, exact=exact) == "the whole-number weights do not weigh the rows to 0"


# --------------------------------------------------------------------------- integers and extreme scales


@BOTH
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_beyond_floats_are_taken_as_they_are(kind, dtype):
    X, y = kind(np.array([[2**60], [2**60 + 1]], dtype)), [0, 1]
    proof = separability(X, y)
    assert proof.verdict != "not separable" and proof.check(X, y, exact=True) is None
    X, y = kind(np.array([[2**60], [2**60 + 1], [2**60 + 2]], dtype)), [0, 1, 0]
    proof = separability(X, y)
    assert proof.verdict == "not separable" and proof.numerators == (1, 2, 1)
    assert proof.check(X, y, exact=True) is None
    X, y = kind(np.array([[2**53 + 1, 7], [2**53 + 3, 7]], dtype)), [1, 0]
    proof = confirmed(separability(X, y), X, y)
    assert proof.verdict == "separable" and proof.bracket[1] == 1.0
    assert proof.check(X.astype(float), y) is not None  # other numbers


def test_integers_longer_than_int64():
    X, y = np.array([[10**30], [10**30 + 1], [10**30 + 2]], dtype=object), [0, 1, 0]
    assert confirmed(separability(X, y), X, y).numerators == (1, 2, 1)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_of_very_different_size(fit_intercept):
    X = np.array([[-7.6e-17], [3.7e149], [-1.9e-16], [-8.4e-152], [-2.1e-08]])
    y = np.array([-1, 1, -1, -1, -1])
    assert confirmed(separability(X, y, fit_intercept=fit_intercept), X, y).verdict == "separable"


@pytest.mark.parametrize("size", [1e-320, 1e-170, 1e170, 1e300])
def test_rows_of_any_size(size):
    X, y = overlapping(20, 2)
    side = np.sign(X[:, 0])
    for fit_intercept in (True, False):
        proof = confirmed(separability(X * size, side, fit_intercept=fit_intercept), X * size, side)
        assert proof.verdict == "separable" and 0.0 <= proof.bracket[0] <= proof.bracket[1]
        proof = confirmed(separability(X * size, y, fit_intercept=fit_intercept), X * size, y)
        assert proof.verdict == "not separable"


# -------------------------------------------------------------------------------------- files and words


@pytest.mark.parametrize("rows", [1, 2, 7, 60])
@pytest.mark.parametrize("exact", [False, True])
def test_a_proof_goes_through_json(rows, exact):
    X, y = overlapping(rows)
    proof = separability(X, y, exact=exact)
    again = theory.Separability.from_dict(json.loads(json.dumps(proof.to_dict(), allow_nan=False)))
    confirmed(again, X, y)
    for field in dataclasses.fields(proof):
        np.testing.assert_equal(getattr(again, field.name), getattr(proof, field.name))
    assert str(again) == str(proof)


def test_long_numbers_go_through_json():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 40)), np.where(rng.random(150) < 0.5, -1, 1)
    proof = separability(X, y)
    assert proof.exact and proof.denominator.bit_length() > 2000
    confirmed(theory.Separability.from_dict(json.loads(json.dumps(proof.to_dict()))), X, y)


def test_what_is_no_stored_proof():
    X, y, *_ = datasets.xor()
    plain = separability(X, y).to_dict()
    with pytest.raises(ValueError, match="got unknown 'colour'"):
        theory.Separability.from_dict({**plain, "colour": 1})
    for name, value in [
        ("support", [0, 1]),
        ("support", [3, 2, 1, 0]),
        ("support", [0, 1, 2, 9]),
        ("n_rows", 10**12),
        ("n_rows", None),
        ("weights", ["a"] * 4),
        ("numerators", [1, 1, 1, 1]),
        ("denominator", "x"),
        ("bracket", [0.0]),
        ("residual", "1e100000000x"),
    ]:
        with pytest.raises(ValueError, match=r"A stored Separability has a '\w+' that cannot be read"):
            theory.Separability.from_dict({**plain, name: value})
    del plain["claim"]
    with pytest.raises(ValueError, match="got no 'claim'"):
        theory.Separability.from_dict(plain)


def test_in_words():
    X, y, *_ = datasets.xor()
    text = str(separability(X, y))
    assert "verdict      not separable\n" in text and "on 4 of 4 rows" in text and "exact        yes" in text
    assert "margin " in str(separability(X[:3], y[:3]))


def test_progress_goes_to_standard_error(capsys):
    X, y = overlapping()
    separability(X, y, verbose=1)
    out, err = capsys.readouterr()
    assert out == "" and "both alternatives for" in err and "not separable" in err
    separability(X, y)
    assert capsys.readouterr().err == ""


# ----------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"max_time": 0}, "max_time must be a positive number; got max_time=0"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False; got fit_intercept='yes'"),
        ({"exact": 1}, "exact must be True or False; got exact=1"),
        ({"verbose": -1}, "verbose must be an integer of at least 0"),
        ({"y": [0, 1, 2]}, r"y must have one or two labels; got 3: 0, 1, 2.*y == label"),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
        ({"X": [[1.0], [np.nan], [2.0]]}, "NaN"),
        ({"X": [1.0, 2.0, 3.0]}, "Expected 2D array"),
    ],
)
def test_bad_input(more, message):
    with pytest.raises(ValueError, match=message):
        separability(**{"X": [[1.0], [2.0], [3.0]], "y": [0, 1, 1], **more})


# ---------------------------------------------------------------------------------------- whole numbers


def test_floats_are_whole_numbers_times_powers_of_two():
    rng = np.random.default_rng(0)
    a = rng.normal(size=50) * 10.0 ** rng.integers(-300, 300, 50)
    k, shift = rational.whole(np.append(a, 0.0))
    assert [Fraction(int(v)) / Fraction(2) ** shift for v in k] == [Fraction(v) for v in [*a.tolist(), 0.0]]
    k, shifts = rational.whole(np.array([[1.0, 0.25], [3.0, 0.5]]), axis=0)
    assert k.tolist() == [[1, 1], [3, 2]] and shifts.tolist() == [0, 2]
    assert rational.whole(np.zeros(2))[0].tolist() == [0, 0]
    assert rational.whole(np.array([5e-324]))[1] == 1074


@pytest.mark.parametrize("bits", [3, 20, 40, 70])
@pytest.mark.parametrize("size", [2, 5, 40])
def test_null_weights(bits, size):
    rng = np.random.default_rng(bits * size)
    n = np.array([int(k) for k in rng.integers(1, 100, size)], dtype=object)
    M = rng.integers(-(2**20), 2**20, (size - 1, size)).astype(object) * 2 ** (bits - 3) // 2**17
    M = M * n[-1]  # so that the last column makes M n = 0
    M[:, -1] = -(M[:, :-1] // n[-1]) @ n[:-1]
    M = np.vstack([M, M[0] + M[-1]])  # one line says nothing new
    found = _lifting.null_weights(M, n.astype(float), never)
    common = math.gcd(*n)
    assert found == [int(k) // common for k in n]


def test_null_weights_that_are_not_there():
    M = np.array([[1, 1], [1, -1]])
    assert _lifting.null_weights(M, np.ones(2), never) is None  # no combination at all
    assert _lifting.null_weights(np.array([[1, 1]]), np.ones(2), never) is None  # one of another sign
    assert _lifting.null_weights(np.array([[0, 1]]), np.array([1.0, 1e-20]), never) == [1, 0]
    with pytest.raises(_lifting.OutOfTime):
        _lifting.null_weights(np.array([[1, -2]]), np.ones(2), lambda: True)


def test_more_combinations_than_one():
    M = np.array([[1, -1, 2, -2], [1, -1, 0, 0]])
    found = _lifting.null_weights(M, np.array([0.25, 0.25, 0.25, 0.25]), never)
    assert not (M @ found).any() and min(found) > 0


def test_the_simplex_method_in_whole_numbers():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(50):
        Z = rng.integers(-3, 4, (rng.integers(1, 9), 3))
        weights, v = _simplex.alternatives(Z, never)
        if v is None:
            assert min(weights) >= 0 < sum(weights) and not (np.array(weights) @ Z).any()
        else:
            assert (Z @ np.array(v) > 0).all()
        seen.add(v is None)
    assert seen == {True, False}
    with pytest.raises(_lifting.OutOfTime):
        _simplex.alternatives(np.array([[1], [-1]]), lambda: True)
