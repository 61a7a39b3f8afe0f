"""The ends that a vector of the maximum margin proves, where that vector is nothing."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import scipy.sparse as sp
from uncompiled import uncompiled

from perceptrons.engine.solvers import maximum
from perceptrons.engine.solvers.points import LinearPoints


@pytest.mark.parametrize("length", [3.0, 1e-160, 1e-200])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("plain", [True, False])
def test_a_vector_of_no_length_separates_nothing(plain, sparse, free, length):
    """One row with both labels: the best margin is 0. Squares of the last two lengths underflow in part."""
    X, y = np.full((2, 2), length), np.array([1.0, -1.0])
    points = LinearPoints(sp.csr_array(X) if sparse else X, (X * X).sum(axis=1), free)
    rows = np.arange(2)
    for w in (np.zeros(2), np.full(2, 1e-170)):  # the second is what rounding may leave
        with uncompiled(plain):
            low, up, norm = maximum.proved(points, y, free, w, rows, np.ones(2))
        assert low == -inf and up >= 0.0 and norm == 0.0
