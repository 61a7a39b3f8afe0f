"""Parts of files: together they hold every row once, in order, and errors name lines of the whole file."""

from __future__ import annotations

import bz2
import itertools

import numpy as np
import pytest

from perceptrons.io import FormatError, open_stream
from perceptrons.io.parts import LineRange, RowGroups, WholeFile, cut


def rows(parts, **options):
    """(X, y) of parts that are read one after the other."""
    found = list(open_stream([part.source() for part in parts], **options))
    dense = [X if isinstance(X, np.ndarray) else X.toarray() for X in (batch.X for batch in found)]
    return np.concatenate(dense), np.concatenate([batch.y for batch in found])


def table(n=40, header="label,a,b\n", seed=0):
    rng = np.random.default_rng(seed)
    lines = [
        f"{rng.integers(2)},{rng.normal():.3f},{rng.normal():.{rng.integers(1, 9)}f}\n" for _ in range(n)
    ]
    return header + "".join(lines)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 100])
@pytest.mark.parametrize("header", ["label,a,b\n", "\n\nlabel,a,b\n", ""])
def test_ranges_of_lines_hold_every_row_once(tmp_path, n, header):
    path = str(tmp_path / "rows.csv")
    text = table(header=header)
    (tmp_path / "rows.csv").write_text(text[:-1])  # the last line has no end
    shards = cut([path], n, "csv", header=bool(header))
    assert 1 <= len(shards) <= min(n, 40)
    X, y = rows([WholeFile(path)])
    found = [rows(shard, header=bool(header)) for shard in shards]
    assert np.array_equal(np.concatenate([X for X, _ in found]), X)
    assert np.array_equal(np.concatenate([y for _, y in found]), y)


def test_a_mark_before_utf8_and_long_lines(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xef\xbb\xbflabel,a\n" + b"1,2\n" + b"0," + b"1" * 300 + b"\n" + b"1,4\n")
    shards = cut([str(path)], 3, "csv", header=True)
    assert [[str(part) for part in shard] for shard in shards] == [
        [f"{path}, bytes 11 to 318"],
        [f"{path}, bytes 318 to 322"],
    ]
    assert rows(shards[1])[0].tolist() == [[4.0]]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_an_error_names_the_line_of_the_file(tmp_path, n):
    path = tmp_path / "rows.csv"
    lines = table().splitlines(keepends=True)
    for bad in (1, 2, 17, 39, 40):
        broken = [*lines]
        broken[bad] = "1,oops,2\n"
        path.write_text("".join(broken))
        with pytest.raises(FormatError) as whole:
            rows([WholeFile(str(path))], categorical=[])
        shards = cut([str(path)], n, "csv", header=True)
        errors = []
        for shard in shards:
            try:
                rows(shard, categorical=[])
            except FormatError as error:
                errors.append(error)
        assert [str(error) for error in errors] == [str(whole.value)]
        assert f"line {bad + 1}, column 3" in str(whole.value)
        shard = next(shard for shard in shards if shard[0].stop > len("".join(broken[:bad])))
        stream = open_stream([part.source() for part in shard], on_error="skip", categorical=[])
        assert sum(batch.n_rows for batch in stream) >= 1
        assert stream.skipped == 1 and str(stream.first_error) == str(whole.value)


def test_a_bad_header_is_in_line_1(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a,a" + "x" * 2000 + "\n1,2,3\n0,1,1\n1,1,1\n")
    shards = cut([str(path)], 2, "csv", header=True)
    with pytest.raises(FormatError, match=r"rows\.csv, line 1"):
        rows(shards[-1], header=True)


def test_row_groups(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = str(tmp_path / "rows.parquet")
    labels, values = [i % 2 for i in range(20)], [float(i) for i in range(20)]
    pq.write_table(pa.table({"label": labels, "a": values}), path, row_group_size=4)
    for n, expected in ((2, [(0, 2), (2, 5)]), (9, [(i, i + 1) for i in range(5)])):
        shards = cut([path], n, "parquet")
        assert shards == [[RowGroups(path, a, b)] for a, b in expected]
        X = np.concatenate([rows(shard)[0] for shard in shards])
        assert X[:, 0].tolist() == values
    values[13] = None
    pq.write_table(pa.table({"label": labels, "a": values}), path, row_group_size=4)
    rows([RowGroups(path, 0, 3)])
    with pytest.raises(FormatError, match="in row 13, column 'a'"):
        rows([RowGroups(path, 3, 4)])


def test_many_files_keep_their_order(tmp_path):
    paths = []
    for i, size in enumerate([1, 1, 50, 1, 1, 1]):
        paths.append(str(tmp_path / f"{i}.svm"))
        (tmp_path / f"{i}.svm").write_text("1 1:1\n" * size)
    for n in range(1, 7):
        shards = cut(paths, n, "libsvm")
        assert len(shards) == n and all(shards)
        assert [part.path for part in itertools.chain(*shards)] == paths
    assert [len(shard) for shard in cut(paths, 3, "libsvm")] == [2, 1, 3]
    shards = cut(paths[:3], 10, "libsvm")
    assert [part.path for part in itertools.chain(*shards)] == paths[:2] + paths[2:3] * 8
    assert rows(itertools.chain(*shards))[0].shape == (52, 1)


def test_what_cannot_be_cut(tmp_path):
    path = tmp_path / "rows.svm.bz2"
    path.write_bytes(bz2.compress(b"1 1:1\n" * 9))
    with pytest.raises(
        ValueError, match=r"rows.svm.bz2 is compressed \(bzip2\) and cannot be cut into 3 parts"
    ):
        cut([str(path)], 3, "libsvm")
    assert cut([str(path)], 1, "libsvm") == [[WholeFile(str(path))]]
    with pytest.raises(ValueError, match="give one file for each shard"):
        cut([str(path)], 2, "own")


def test_a_file_that_was_cut_off_since(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n" * 9)
    part = LineRange(str(path), 30, 54)
    path.write_text("1 1:1\n" * 7)
    with pytest.raises(OSError, match="is shorter than when it was cut into parts"):
        rows([part])
