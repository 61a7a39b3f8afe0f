"""What fresh examples say about the margin of a whole distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptrons import theory


@pytest.mark.parametrize(("m", "k"), [(1, 0), (10, 0), (10, 3), (200, 17), (50, 49)])
def test_as_few_examples_below_have_probability_delta(m, k):
    """The definition, with the sum over the binomial written out."""
    p = theory.share_below(m, k, delta=0.05)
    few = math.fsum(math.comb(m, j) * p**j * (1.0 - p) ** (m - j) for j in range(k + 1))
    assert few == pytest.approx(0.05, rel=1e-9)
    assert theory.share_below(m, m) == 1.0


def test_none_below():
    assert theory.share_below(100, delta=0.05) == pytest.approx(1.0 - 0.05 ** (1 / 100), rel=1e-12)
    assert theory.share_below(100, delta=0.05) < math.log(20) / 100
    with pytest.raises(ValueError, match="k must be an integer from 0 to 5"):
        theory.share_below(5, 6)


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_the_bound_fails_no_more_often_than_it_says(share):
    """Margins uniform in (0, 1), so that the share below gamma is gamma; 2,000 samples of 50, delta = 0.1."""
    margins = np.random.default_rng(0).random((2000, 50))
    below = (margins < share).sum(axis=1)
    failures = sum(theory.share_below(50, int(k), delta=0.1) < share for k in below)
    assert failures <= 0.1 * 2000 + 3 * math.sqrt(0.1 * 0.9 * 2000)
