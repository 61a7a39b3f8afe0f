"""Preprocessing: dense = sparse, pieces = whole, and what each step promises about the rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptrons.preprocessing import Augmenter, Bucketizer, CategoricalToBinary, StreamingScaler

numbers = st.integers(-256, 256).map(lambda k: k / 64)
matrices = hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=numbers, fill=st.just(0.0))
)


@st.composite
def pieces(draw):
    """A matrix, labels of two classes or more, and the rows at which it is cut."""
    X = draw(matrices)
    y = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 2)))
    y[0], y[-1] = 0, 1
    cuts = draw(st.lists(st.integers(1, len(X) - 1), unique=True).map(sorted))
    return X, y, cuts


@given(matrices)
def test_dense_is_sparse(X):
    for sparse in (sp.csr_array(X), sp.csc_array(X), sp.coo_array(X)):
        for center in ("mean", None):
            dense, other = (StreamingScaler(center=center, densify=True).fit(rows) for rows in (X, sparse))
            assert np.allclose(dense.mean_, other.mean_) and np.allclose(dense.scale_, other.scale_)
            answers = [scaler.transform(rows) for scaler, rows in ((dense, X), (other, sparse))]
            filled = answers[1] if center else answers[1].toarray()
            assert np.allclose(answers[0], filled, atol=1e-12)
        assert np.array_equal(
            Augmenter(B=2.0).fit_transform(sparse).toarray(), Augmenter(B=2.0).fit_transform(X)
        )


@given(pieces())
def test_pieces_are_the_whole(data):
    X, y, cuts = data
    for center in ("mean", "midpoint", None):
        whole = StreamingScaler(center=center).fit(X, y)
        sparse = StreamingScaler(center=center, densify=True).fit(sp.csr_array(X), y)
        assert center is None or np.allclose(sparse.center_, whole.center_, atol=1e-13)
        parts = StreamingScaler(center=center)
        for rows, labels in zip(np.split(X, cuts), np.split(y, cuts)):
            parts.partial_fit(rows, labels)
        assert parts.n_samples_seen_ == whole.n_samples_seen_ == len(X)
        assert np.allclose(parts.mean_, whole.mean_, atol=1e-13)
        assert np.allclose(parts.scale_, whole.scale_, atol=1e-13)
        assert np.allclose(parts.transform(X), whole.transform(X), atol=1e-12)


@given(matrices)
def test_centred_and_scaled_columns(X):
    Z = StreamingScaler().fit_transform(X)
    sd = X.std(axis=0)
    assert np.allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    assert np.allclose(Z.std(axis=0)[sd > 0], 1.0) and not Z[:, sd == 0].any()


@given(matrices, st.lists(numbers, min_size=1, max_size=4, unique=True).map(sorted))
def test_a_bucket_counts_the_edges_strictly_below(X, edges):
    buckets = Bucketizer(edges=edges, encode="ordinal").fit_transform(X)
    assert np.array_equal(buckets, (X[:, :, None] > np.array(edges)).sum(axis=2))


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=st.integers(0, 3)))
def test_the_columns_of_a_category_say_which_value_it_was(X):
    binary = CategoricalToBinary(sparse_output=False).fit(X)
    values = [len(np.unique(column)) for column in X.T]
    Z = binary.transform(X)
    assert Z.shape[1] == sum(n if n >= 3 else n - 1 for n in values)
    assert len(np.unique(Z, axis=0)) == len(np.unique(X, axis=0))  # nothing is lost
