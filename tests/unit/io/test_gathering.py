"""Batches of a stream as one batch: the same rows, whatever the batches."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons._sparse import as_scipy
from perceptrons.io import open_stream
from perceptrons.io.gathering import gathered

SVM = b"1 1:1 3:0.5\n-1 2:2\n1 1:1\n-1 7:1\n"
CSV = b"label,a,b,w\n1,2,3,1\n0,4,5,2\n1,6,7,0.5\n"
TSV = b"spam\tbuy now\nham\tsee you\nham\t\n"


@pytest.mark.parametrize("batch_bytes", [16, 1 << 20])
@pytest.mark.parametrize("prepare", [None, as_scipy])
def test_sparse_rows(batch_bytes, prepare):
    stream = open_stream(SVM, "libsvm", batch_bytes=batch_bytes)
    stream.prepare = prepare
    X, y, weights, first_row, _ = gathered(stream)
    wanted = [[1, 0, 0.5, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1]]
    assert as_scipy(X).toarray().tolist() == wanted
    assert y.tolist() == [1, -1, 1, -1] and weights is None and first_row == 0


@pytest.mark.parametrize("batch_bytes", [16, 1 << 20])
def test_tables_and_weights(batch_bytes):
    X, y, weights, *_ = gathered(open_stream(CSV, "csv", weight_column="w", batch_bytes=batch_bytes))
    assert X.tolist() == [[2, 3], [4, 5], [6, 7]] and y.tolist() == [1, 0, 1]
    assert weights.tolist() == [1.0, 2.0, 0.5]


@pytest.mark.parametrize("batch_bytes", [16, 1 << 20])
def test_texts(batch_bytes):
    X, y, *_ = gathered(open_stream(TSV, "tsv", text_column=1, batch_bytes=batch_bytes))
    assert [X.text(i) for i in range(len(X))] == ["buy now", "see you", ""]
    assert y.tolist() == ["spam", "ham", "ham"]


def test_nothing():
    assert gathered([]) is None
    assert np.array_equal(gathered(open_stream(SVM, "libsvm", n_features=9)).X.shape, (4, 9))
