"""parquet: columns, texts, labels, bounded batches."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from perceptrons.io import FormatError, open_stream


@pytest.fixture
def pa():
    pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    import pyarrow

    return pyarrow


def stored(pa, columns, **options):
    target = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), target, **options)
    return target.getvalue()


def test_numbers(pa, tmp_path):
    path = tmp_path / "some.parquet"
    path.write_bytes(stored(pa, {"y": [1, 0], "a": [1.5, 2.0], "b": [3, 4], "c": [True, False]}))
    stream = open_stream(path)
    (batch,) = stream
    assert batch.X.tolist() == [[1.5, 3.0, 1.0], [2.0, 4.0, 0.0]] and batch.y.tolist() == [1, 0]
    assert stream.bytes_read == stream.bytes_total == path.stat().st_size
    assert stream.format == "parquet" and stream.n_features == 3


def test_words_as_in_csv(pa):
    columns = {"label": [1, 0], "age": [31, 0], "job": ["clerk", None]}
    (batch,) = open_stream(stored(pa, columns))
    (table,) = open_stream(b"label,age,job\n1,31,clerk\n0,0,\n", "csv")
    assert (batch.X != table.X).nnz == 0 and batch.X.nnz == 2
    coded = {**columns, "job": pa.array(columns["job"]).dictionary_encode()}
    (batch,) = open_stream(stored(pa, coded))
    assert (batch.X != table.X).nnz == 0


def test_texts_and_labels(pa):
    data = stored(pa, {"t": ["buy ☃", None, "see"], "y": ["spam", "ham", "ham"], "w": [1.0, 2.0, 0.0]})
    (batch,) = open_stream(data, label_column="y", text_column="t", weight_column="w")
    assert [batch.X.text(i) for i in range(3)] == ["buy ☃", "", "see"]
    assert batch.y.tolist() == ["spam", "ham", "ham"] and batch.weights.tolist() == [1.0, 2.0, 0.0]


def test_batches_are_bounded_and_complete(pa):
    n = 20_000
    data = stored(pa, {"y": np.arange(n) % 2, "x": np.arange(n, dtype=float)}, row_group_size=n)
    batches = list(open_stream(data, batch_bytes=1 << 14))
    assert len(batches) > 5 and max(batch.n_rows for batch in batches) < n / 4
    assert np.array_equal(np.concatenate([batch.X[:, 0] for batch in batches]), np.arange(n))
    stream = open_stream(data, batch_bytes=1 << 14)
    stream.skip(15_001)
    assert next(iter(stream)).X[0, 0] == 15_001


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"y": [1, None], "x": [1.0, 1.0]}, r"expected a label, found null in row 1, column 'y'"),
        ({"y": [1, 1], "x": [1.0, None]}, r"expected a finite number, found .* in row 1, column 'x'"),
        ({"y": [1, 1], "x": [1.0, np.nan]}, r"expected a finite number"),
        ({"y": [1, 1], "x": [1.0, np.inf], "c": ["a", "b"]}, r"expected a finite number"),
    ],
)
def test_bad_rows(pa, columns, message):
    data = stored(pa, columns)
    with pytest.raises(FormatError, match=message):
        list(open_stream(data))
    stream = open_stream(data, on_error="skip")
    assert sum(batch.n_rows for batch in stream) == 1 and stream.skipped == 1


def test_bad_columns_and_files(pa):
    data = stored(pa, {"y": [1], "x": [[1, 2]]})
    with pytest.raises(FormatError, match=r"expected columns of numbers, booleans or strings, found list"):
        list(open_stream(data))
    with pytest.raises(ValueError, match="no column 'z'; it has y, x"):
        list(open_stream(data, label_column="z"))
    good = stored(pa, {"y": [1, 0] * 500, "x": np.random.default_rng(0).normal(size=1000)})
    for bad in (good[:-10], good[: len(good) // 2], b"PAR1" + b"x" * 100 + b"PAR1"):
        with pytest.raises(FormatError, match="expected an intact parquet file"):
            list(open_stream(bad))


def test_a_pipe_is_refused(pa, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stored(pa, {"y": [1]}))))
    with pytest.raises(ValueError, match="save it to a file"):
        list(open_stream("-"))


def test_without_pyarrow_the_command_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "some.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match=r"pip install 'perceptrons\[data\]'"):
        list(open_stream(tmp_path / "some.parquet"))
