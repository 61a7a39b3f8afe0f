"""Bounds and printed numbers are rounded outwards; kernel margins near the limits of floating point."""

import math
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptrons import MaxMargin, kernels, theory
from perceptrons.core.maximum_margin import NotSeparableError
from perceptrons.proofs import _above, advise
from perceptrons.proofs._tables import down, up
from perceptrons.theory import gram_error

SIZES = np.concatenate([10.0 ** np.arange(-320.0, 309.0, 37.0), [1.0, 3.0, 0.1]])


def test_bounds_are_rounded_up_over_the_whole_range():
    rng = np.random.default_rng(0)
    for _ in range(300):
        R, gamma, H = (float(rng.choice(SIZES) * rng.uniform(0.1, 1.0)) for _ in range(3))
        r, g, h = Fraction(R), Fraction(gamma), Fraction(H)
        if gamma > 0.0:
            found = theory.novikoff(R, gamma)
            assert found == math.inf or Fraction(found) >= (r / g) ** 2
            found = theory.novikoff_augmented(R, gamma, b=H, B=1.0)
            assert found == math.inf or Fraction(found) >= (r**2 + 1) * (1 + h**2) / g**2
        found = theory.hinge(R, gamma, H)
        assert found == math.inf or Fraction(found) >= (r * g) ** 2 + 2 * h
        found = theory.hinge_tight(R, gamma, H)
        if found < math.inf:
            M = Fraction(found)
            assert max(h, (r * g) ** 2) <= M and (M - h) ** 2 >= (r * g) ** 2 * M


def test_printed_numbers_are_rounded_outwards():
    rng = np.random.default_rng(1)
    for _ in range(500):
        value = float(rng.choice(SIZES) * rng.uniform(0.1, 1.0))
        assert Fraction(down(value)) <= Fraction(value) <= Fraction(up(value))
        assert float(up(value)) <= value * 1.0011 + 5e-324 and float(down(value)) >= value * 0.9989 - 5e-324
    assert up(math.inf) == down(math.inf) == "inf" and up(None) == "-"


def test_hinge_sums_are_rounded_up():
    rng = np.random.default_rng(2)
    for n in (5, 2000):  # in fractions, and in floats
        Z = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-9, 9, (n, 1))
        y, w = rng.choice([-1.0, 1.0], n), rng.normal(size=3)
        u = [Fraction(v) for v in w.tolist()]
        scores = [sum(a * Fraction(b) for a, b in zip(u, row)) for row in Z.tolist()]
        true = sum(max(Fraction(0), 1 - int(s) * m) for s, m in zip(y, scores))
        found = Fraction(_above.hinge_sum(w, Z, y))
        assert true <= found <= true * (1 + Fraction(1, 10**9))
        assert _above.hinge_sum(w, Z, y, off=1.0) > found


@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-5, 1e-7, 1e-9, 1e-160])
def test_two_points_under_a_gaussian_kernel(apart):
    """Half the distance of their images is the root of (1 - exp(-d^2))/2."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        low, above = (
            MaxMargin(kernel=kernels.Gaussian(gamma=1.0)).fit([[0.0], [apart]], [0, 1]).margin_bounds_
        )
    with localcontext() as context:
        context.prec, context.Emin = 400, -(10**6)
        square = (1 - (-(Decimal(apart) ** 2)).exp()) / 2
        assert low <= 0.0 or Decimal(low) ** 2 <= square
        assert Decimal(above) ** 2 >= square
    if apart >= 1e-3:
        assert above - low < 1e-4 * above


def test_values_too_near_to_tell_apart_are_not_called_inseparable():
    X, y = [[1.0], [1.0 + 2.0**-52], [1.0 - 2.0**-53]], [0, 1, 0]
    for kernel in ("linear", "polynomial", "gaussian"):
        with pytest.warns(ConvergenceWarning, match="undecided"):
            MaxMargin(kernel=kernel).fit(X, y)


@pytest.mark.parametrize(
    "kernel", ["linear", "polynomial", "gaussian", "all_subsets", kernels.Normalized(kernels.Linear())]
)
def test_the_same_object_with_both_labels_is_refuted(kernel):
    with pytest.raises(NotSeparableError) as caught:
        MaxMargin(kernel=kernel).fit([[1.0, 2.0], [1.0, 2.0], [3.0, -1.0]], [0, 1, 0])
    proof = caught.value.certificate
    assert proof.exact and "as computed" not in proof.claim and "as computed" not in str(caught.value)


def test_nothing_is_stated_about_the_space_of_a_function_of_the_users():
    X = [(0.0,), (3.0,), (-1.0,)]
    model = MaxMargin(kernel=lambda a, b: a[0] * b[0]).fit(X, [0, 1, 0])
    assert model.margin_bounds_ == (None, np.inf) and model.margin_ == pytest.approx(1.5)
    with pytest.raises(NotSeparableError, match="by the kernel's values as computed"):
        MaxMargin(kernel=lambda a, b: a[0] * b[0]).fit(X, [1, 0, 0])


def test_kernel_values_whose_squared_lengths_vanish():
    """Rows of 1e-170 beside rows of 1e150: the bound on the error is not taken from a square that is 0."""
    A, B = np.array([[1e-170, 3e-170, -7e-170]]), np.array([[1e150, 3e149, 0.1e150]])
    K = gram_error.values({"kind": "Linear"}, A, B)
    true = sum(Fraction(a) * Fraction(b) for a, b in zip(A[0].tolist(), B[0].tolist()))
    assert abs(Fraction(K.value[0, 0]) - true) <= Fraction(K.error[0, 0])


def test_advice_calls_nothing_inseparable_without_a_proof():
    X, y = np.array([[-1.0], [-1e-14], [1e-14]]), np.array([0, 0, 1])
    advice = advise(X, y, max_time=3.0)
    assert advice.verdict == "separable"
    assert theory.gamma_low([1.0], X, 2 * y - 1) <= advice["no intercept"].gamma_up
    meeting = advise(np.array([[0.0], [1.0], [2.0], [1.0]]), np.array([0, 1, 0, 0]), max_time=3.0)
    assert meeting.verdict == "not separable" and "proved in whole numbers" in str(meeting)


def test_advice_leaves_out_what_no_learner_takes():
    X, y = np.array([[1e-170], [-1e-170], [2e-170]]), np.array([1, 0, 1])
    advice = advise(X, y, max_time=3.0)
    assert any(note.startswith("no intercept was left out: ") for note in advice.notes)
    integers = advise(np.array([[2**60 + 1], [2**60 + 3]]), np.array([0, 1]), max_time=3.0)
    assert any("rounded to float64" in note for note in integers.notes)
