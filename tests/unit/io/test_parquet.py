"""parquet: columns, texts, labels, bounded batches."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from perceptrons.io import FormatError, Limits, open_stream


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


def test_which_column_is_the_label(pa):
    columns = {"id": [7, 8], "Target": [1, 0], "a": [1.5, 2.0]}
    (batch,) = open_stream(stored(pa, columns))
    assert batch.y.tolist() == [1, 0] and batch.X.tolist() == [[7, 1.5], [8, 2.0]]
    (batch,) = open_stream(stored(pa, columns), columns=["a"])
    assert batch.X.tolist() == [[1.5], [2.0]]
    with pytest.raises(ValueError, match="label_column must say which is the label; the columns are id, a"):
        list(open_stream(stored(pa, {"id": [7], "a": [1.0]})))
    (batch,) = open_stream(stored(pa, {"id": [7], "a": [1.0]}), labels="ignore")
    assert batch.y is None and batch.X.tolist() == [[7, 1]]


@pytest.mark.parametrize("batch_bytes", [16, 1 << 20])
def test_missing_numbers(pa, batch_bytes):
    columns = {"y": [1, 0, 1, 0], "a": [None, 2.0, 4.0, float("nan")], "b": [10, None, 20, None]}
    data = stored(pa, columns)
    with pytest.raises(FormatError, match=r"null, NaN or infinity in row 0, column 'a'\. missing=… says"):
        list(open_stream(data, batch_bytes=batch_bytes))

    def rows(data=data, **options):
        stream = open_stream(data, batch_bytes=batch_bytes, **options)
        return np.concatenate([batch.X for batch in stream]).tolist(), stream

    assert rows(missing="zero")[0] == [[0, 10], [2, 0], [4, 20], [0, 0]]
    assert rows(missing="skip")[0] == [[4, 20]]
    found, stream = rows(missing="mean")
    assert found == [[0, 10], [2, 10], [4, 20], [3, 15]]
    assert stream.layout["means"] == [3, 15] and stream.missing == (4, 0)
    assert rows(missing="mean", means=[5, 6])[0] == [[5, 10], [2, 6], [4, 20], [5, 6]]
    with pytest.raises(FormatError, match="infinity in row 0"):
        rows(stored(pa, {"y": [1], "a": [float("inf")]}), missing="mean")


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


def test_integers_beyond_2_to_the_53(pa):
    """Values become the nearest double, as in text; labels stay what they are."""
    big = 2**53 + 1
    (batch,) = open_stream(stored(pa, {"y": [big, big - 1], "x": [big, -big]}))
    assert batch.y.dtype == np.int64 and batch.y.tolist() == [big, big - 1]
    assert batch.X[:, 0].tolist() == [float(big), float(-big)]
    unsigned = pa.array([2**64 - 1, 1], pa.uint64())
    with pytest.raises(FormatError, match=r"expected an integer as label.*labels='text'"):
        list(open_stream(stored(pa, {"y": unsigned, "x": [1, 2]})))
    (batch,) = open_stream(stored(pa, {"y": unsigned, "x": [1, 2]}), labels="text")
    assert batch.y.tolist() == [str(2**64 - 1), "1"]


def test_only_the_columns_that_are_asked_for_are_read(pa):
    (batch,) = open_stream(stored(pa, {"y": [1], "x": [[1, 2]], "t": ["a"]}), text_column="t")
    assert batch.X.text(0) == "a"


def test_words_of_a_dictionary_with_nulls(pa):
    words = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int8()), ["unused?", "b"])
    (batch,) = open_stream(stored(pa, {"y": [1, 2, 3, 4], "t": words}), text_column="t")
    assert [batch.X.text(i) for i in range(4)] == ["b", "", "unused?", "b"]
    (coded,) = open_stream(stored(pa, {"y": [1, 2, 3, 4], "t": words}))
    (plain,) = open_stream(stored(pa, {"y": [1, 2, 3, 4], "t": ["b", None, "unused?", "b"]}))
    assert (coded.X != plain.X).nnz == 0 and coded.X.nnz == 3


def test_two_columns_of_one_name(pa):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2.0]), pa.array([3.0])], names=["y", "x", "x"])
    target = io.BytesIO()
    pa.parquet.write_table(table, target)
    with pytest.raises(FormatError, match="expected columns of different names, found two named 'x'"):
        list(open_stream(target.getvalue()))


def test_words_that_are_not_utf8(pa):
    bad = pa.array([b"a\xff", b"b"]).view(pa.string())
    with pytest.raises(FormatError, match=r"expected an intact parquet file, found .*UTF8"):
        list(open_stream(stored(pa, {"y": [1, 2], "t": bad}), text_column="t"))
    (batch,) = open_stream(stored(pa, {"y": [1, 2], "t": bad}), text_column="t", encoding_errors="replace")
    assert batch.X.text(0) == "a\ufffd"


def test_a_label_has_a_length(pa):
    data = stored(pa, {"y": ["a", "b" * 2000, "c"], "x": [1, 2, 3]})
    with pytest.raises(
        FormatError, match="a label of at most 1,024 bytes, found a longer one in row 1, column 'y'"
    ):
        list(open_stream(data))
    (batch,) = open_stream(data, on_error="skip")
    assert batch.y.tolist() == ["a", "c"] and batch.X.tolist() == [[1.0], [3.0]]


def test_rows_made_of_nothing_have_a_limit(pa):
    data = stored(pa, {"y": np.ones(900_000, np.int64), "x": np.ones(900_000), "z": np.ones(900_000)})
    assert len(data) < 20_000
    with pytest.raises(
        FormatError, match=r"expected at most 100 times the size of the file.*Limits\(ratio=…\)"
    ):
        list(open_stream(data, limits=Limits(ratio=100)))
    with pytest.raises(FormatError, match="expected at most 1,000 bytes of content"):
        list(open_stream(data, limits=Limits(decompressed_bytes=1000)))
    assert sum(batch.n_rows for batch in open_stream(data, limits=Limits(ratio=1e9))) == 900_000


def test_pages_and_footers_have_a_limit(pa):
    data = stored(pa, {"y": [1], "t": ["x" * 100_000]}, compression="zstd")
    with pytest.raises(FormatError, match=r"pages of at most 61,440 bytes together.*Limits\(line_bytes=…\)"):
        list(open_stream(data, limits=Limits(line_bytes=10_240)))
    with pytest.raises(FormatError, match=r"a footer of at most 64 bytes"):
        list(open_stream(data, limits=Limits(line_bytes=256)))
    (batch,) = open_stream(data, text_column="t", limits=Limits(line_bytes=1 << 20))
    assert len(batch.X.raw(0)) == 100_000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
def test_pages_are_found_where_they_are(pa, version, compression):
    """Every kind of page, page size and row group: what is written is what is read."""
    n = 5000
    rng = np.random.default_rng(0)
    columns = {
        "y": rng.integers(0, 3, n),
        "x": rng.normal(size=n),
        "t": [f"word {i % 700}" for i in range(n)],
    }
    options = {"data_page_version": version, "compression": compression, "row_group_size": 1700}
    for more in ({}, {"use_dictionary": False}, {"data_page_size": 500}, {"write_statistics": False}):
        batches = list(
            open_stream(stored(pa, columns, **options, **more), text_column="t", batch_bytes=1 << 14)
        )
        assert [text for b in batches for text in map(b.X.text, range(b.n_rows))] == columns["t"]
        assert np.array_equal(np.concatenate([batch.y for batch in batches]), columns["y"])


def test_damaged_anywhere_is_one_line(pa):
    good = stored(pa, {"y": [1, 0] * 50, "x": np.arange(100.0), "t": ["a", "bc"] * 50}, compression="gzip")
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        bad = bytearray(good)
        for at in rng.integers(len(good) - 8, size=rng.integers(1, 4)):
            bad[at] = rng.integers(256)
        try:
            list(open_stream(bytes(bad), "parquet", read_ahead=0))
        except FormatError as error:
            refused += 1
            assert str(error).startswith("<bytes>: expected") and "\n" not in str(error)
        except ValueError as error:
            assert "column" in str(error)  # a name is damaged
    assert refused > 100


def test_strings_written_as_differences(pa):
    """pyarrow cannot read these as dictionaries."""
    texts = [f"text {i:05}" * (i % 5) for i in range(3000)]
    for encoding in ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"):
        data = stored(
            pa,
            {"y": [1] * 3000, "t": texts},
            use_dictionary=False,
            column_encoding={"t": encoding, "y": "PLAIN"},
        )
        found = [text for b in open_stream(data, text_column="t") for text in map(b.X.text, range(b.n_rows))]
        assert found == texts


def test_a_page_that_ends_behind_the_file(pa):
    """pyarrow makes room for what the header of a page says: 2 GB for a file of 1 KB."""
    data = bytearray(stored(pa, {"y": [1, 2, 3]}, compression="none"))
    assert data[4:10] == b"\x15\x04\x15\x30\x15\x30"  # a dictionary, 24 bytes of 24: zigzag 48
    data[9:10] = b"\xfe\xff\xff\xff\x0f"
    with pytest.raises(
        FormatError, match=r"expected an intact parquet file, found a page of 2,147,483,647 bytes"
    ):
        list(open_stream(bytes(data), "parquet"))


def test_a_column_of_another_name_than_in_the_schema(pa):
    """The sizes of its pages would be looked up under the one name, and read under the other."""
    data = stored(pa, {"label": [1, 2, 3], "x": [1.0, 2.0, 3.0]}, compression="none")
    at = data.index(b"label")  # in the schema, which comes before the columns of the row groups
    with pytest.raises(FormatError, match=r"an intact parquet file, found columns of other names"):
        list(open_stream(data[:at] + b"lahel" + data[at + 5 :], "parquet", label_column=0))
