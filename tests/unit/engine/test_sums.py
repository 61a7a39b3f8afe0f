"""The sum of squares that does not depend on the order of the numbers."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptrons.engine.compiler import compiled
from perceptrons.engine.loops import sums

U = 2.0**-53


@compiled
def summed(v, guess):
    return sums.squared_length(v, guess)


def squares(v):
    return fsum((v.astype(np.float64) ** 2).tolist())


numbers = st.lists(
    st.floats(-1e6, 1e6, width=32) | st.floats(-(2.0**-20), 2.0**-20, width=32), min_size=1, max_size=60
)
guesses = st.sampled_from([0.0, 1e-300, 0.5, 0.999, 1.0, 1.001, 2.0, 3e3, 1e40])


@given(numbers, guesses, st.randoms(use_true_random=False))
def test_any_order_and_any_number_of_zeros(numbers, factor, random):
    v = np.array(numbers)
    guess = factor * squares(v)
    found = sums.squared_length(v, guess)
    assert found == pytest.approx(squares(v), rel=4 * len(v) * U, abs=1e-300)
    moved = numbers + [0.0] * random.randrange(20)
    random.shuffle(moved)
    assert sums.squared_length(np.array(moved), guess) == found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled(dtype):
    """By vectors of the processor, whose sums are made in another order; two-dimensional arrays as well."""
    rng = np.random.default_rng(0)
    v = (rng.normal(size=5000) * 10.0 ** rng.integers(-4, 4, 5000)).astype(dtype)
    exact = squares(v)
    for factor in (0.0, 0.3, 1.0, 1.5, 1e30):
        found = summed(v, factor * exact)
        assert found == sums.squared_length(v, factor * exact)
        assert abs(found - exact) <= 2 * U * (len(v) + 8) * exact
        for _ in range(3):
            longer = np.append(rng.permutation(v), np.zeros(rng.integers(0, 40), dtype))
            assert summed(longer, factor * exact) == found
    assert summed(np.zeros(7, dtype), 3.0) == 0.0
    assert summed(np.full(3, 1e-20, dtype), 1e30) == pytest.approx(3e-40, rel=1e-6)
