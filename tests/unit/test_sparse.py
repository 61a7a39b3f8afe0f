"""CSR rows without SciPy: the same rows as SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import _sparse
from perceptrons.models import registry

DENSE = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0], [0.0, 5.0, 0.0]])


def both(dtype=np.int32):
    known = sp.csr_array(DENSE)
    indices, indptr = known.indices.astype(dtype), known.indptr.astype(dtype)
    return _sparse.CsrRows(known.data, indices, indptr, known.shape), known


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    "rows",
    [
        slice(1, None),
        slice(0, 0),
        slice(None, None, -1),
        [2, 2, 0],
        np.array([3, 1]),
        np.array([True, False, True, False]),
        np.array([], np.int64),
    ],
    ids=str,
)
def test_some_rows(rows, dtype):
    ours, known = both(dtype)
    part = ours[rows]
    assert part.shape == known[rows].shape and part.indptr.dtype == dtype
    assert (_sparse.as_scipy(part).toarray() == known[rows].toarray()).all()
    assert part.nnz == known[rows].nnz


def test_other_types_and_the_arrays_of_scipy():
    ours, known = both()
    assert ours.astype(np.float32).dtype == np.float32
    assert np.shares_memory(_sparse.as_scipy(ours).data, ours.data)
    assert _sparse.as_scipy(known) is known and _sparse.is_sparse(ours)


OF_TEXTS = {"TextClassifier", "SmallTextClassifier"}


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", sorted(set(registry.SPECS) - OF_TEXTS - {"OnlineClassifier"}))
def test_every_learner_takes_them(name):
    """Each learner of the core learns the same from CSR rows of the readers as from SciPy's."""
    ours, known = both()
    if name in ("Winnow", "BalancedWinnow", "Elimination"):
        ours.data[:] = 1.0
        known.data[:] = 1.0
    y = ["a", "b", "b"]
    results = []
    for X in (ours[[0, 2, 3]], known[[0, 2, 3]]):
        model = registry.learner(name)()
        (model.partial_fit if hasattr(model, "partial_fit") else model.fit)(X, y)
        results.append(model.decision_function(X))
    np.testing.assert_array_equal(*results)


def test_the_log_of_updates_takes_them():
    ours, known = both()
    y = ["a", "b", "a", "b"]
    results = []
    for X in (ours, known):
        model = registry.learner("VotedPerceptron")(fit_intercept=True)
        model.partial_fit(X, y)
        model.partial_fit(X[[0, 3]], ["a", "b"])
        results.append(model.decision_function(X))
    np.testing.assert_array_equal(*results)


def test_columns_out_of_order_and_out_of_range():
    ours = both()[0]
    mixed = _sparse.CsrRows(ours.data[::-1].copy(), ours.indices, ours.indptr, ours.shape)
    mixed.indices[:2] = mixed.indices[:2][::-1].copy()
    model = registry.learner("Perceptron")().partial_fit(mixed, list("abab"))
    other = registry.learner("Perceptron")().partial_fit(_sparse.as_scipy(mixed).toarray(), list("abab"))
    np.testing.assert_array_equal(model.coef_, other.coef_)
    broken = _sparse.CsrRows(ours.data, ours.indices + 1, ours.indptr, ours.shape)
    with pytest.raises(ValueError, match="broken CSR matrix: row 0 has column index 3"):
        registry.learner("Perceptron")().partial_fit(broken, list("abab"))
