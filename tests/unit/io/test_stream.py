"""open_stream: sources, compression, formats, progress, passes, reading ahead."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

import perceptrons.io
from perceptrons.io import FormatError, Limits, open_stream

TEXT = b"".join(b"%d\ttext number %d with some words\n" % (i % 2, i) for i in range(500))


def contents(stream):
    """All texts and labels."""
    texts, labels = [], []
    for batch in stream:
        texts += [batch.X.raw(i) for i in range(len(batch.X))]
        labels += batch.y.tolist()
    return texts, labels


WANTED = contents(open_stream(TEXT, "tsv", text_column=1))


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("perceptrons")]


# ------------------------------------------------------------------------------------------------- sources


def test_the_wanted_content():
    assert WANTED[0][7] == b"text number 7 with some words" and WANTED[1][:3] == [0, 1, 0]
    assert len(WANTED[0]) == 500


def zst(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    return zstandard.compress(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zst])
def test_compression_is_told_by_content(pack, tmp_path):
    path = tmp_path / "some.tsv"  # the name says nothing of it
    path.write_bytes(pack(TEXT))
    stream = open_stream(path, text_column=1, batch_bytes=1000)
    assert contents(stream) == WANTED
    assert stream.bytes_read == stream.bytes_total == path.stat().st_size
    two = pack(TEXT[: len(TEXT) // 2]) + pack(TEXT[len(TEXT) // 2 :])  # members, one after the other
    assert contents(open_stream(two, "tsv", text_column=1)) == WANTED


def test_zeros_behind_a_gzip_file_are_nothing():
    assert contents(open_stream(gzip.compress(TEXT) + bytes(600), "tsv", text_column=1)) == WANTED


def test_without_zstandard_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r"pip install 'perceptrons\[data\]'"):
        list(open_stream(b"\x28\xb5\x2f\xfd0000", "tsv"))


def test_open_files_and_many_paths(tmp_path):
    half = TEXT.index(b"\n", len(TEXT) // 2) + 1
    (tmp_path / "a.tsv").write_bytes(TEXT[:half])
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(TEXT[half:]))
    both = [str(tmp_path / "a.tsv"), tmp_path / "b.tsv.gz"]
    stream = open_stream(both, text_column=1)
    assert contents(stream) == WANTED == contents(stream)
    assert stream.bytes_total == sum(os.path.getsize(path) for path in both)
    with open(tmp_path / "a.tsv", "rb") as file:
        file.seek(half - TEXT[:half][::-1].index(b"\n", 1))  # the last line
        stream = open_stream(file, text_column=1)
        assert contents(stream) == contents(stream) and stream.rows == 1
        assert not file.closed


def test_what_is_no_source(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_stream(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_stream(tmp_path)
    with pytest.raises(ValueError, match="The list of sources is empty"):
        open_stream([])
    with pytest.raises(TypeError, match="got int"):
        open_stream(5)
    with pytest.raises(TypeError, match="mode 'rb'"):
        open_stream(io.StringIO("1 1:1"))


class Trickle(io.RawIOBase):
    """A pipe that answers a few bytes at a time."""

    def __init__(self, data: bytes, step: int):
        self.data, self.step = io.BytesIO(data), step

    def readable(self):
        return True

    def readinto(self, view):
        part = self.data.read(min(self.step, len(view)))
        view[: len(part)] = part
        return len(part)


@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_batches_do_not_depend_on_the_pipe(step, pack):
    def shapes(source):
        return [
            (batch.first_row, batch.n_rows) for batch in open_stream(source, text_column=1, batch_bytes=999)
        ]

    stream = open_stream(Trickle(pack(TEXT), step), text_column=1)
    assert contents(stream) == WANTED and stream.bytes_total is None
    assert shapes(Trickle(pack(TEXT), step)) == shapes(TEXT) and len(shapes(TEXT)) > 10


def test_a_pipe_is_read_once():
    stream = open_stream(Trickle(TEXT, 50), text_column=1)
    assert stream.format == "tsv" and not stream.again  # looking at the first lines loses nothing
    assert contents(stream) == WANTED
    with pytest.raises(ValueError, match="can be read once only; save it to a file"):
        list(stream)


def test_standard_input():
    code = (
        "from perceptrons.io import open_stream\n"
        "s = open_stream('-', text_column=1)\n"
        "print(sum(len(b.X) for b in s), s.format, s.rows)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(TEXT), capture_output=True, check=True, timeout=300
    )
    assert done.stdout.split() == [b"500", b"tsv", b"500"]


# ------------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (b"1 1:2 5:0.5\n-1 3:1\n", "libsvm"),
        (b"# by hand\n1\n1 2:1\n", "libsvm"),
        (b"1 |a b c\n-1 'tag|a b:2\n", "vw"),
        (b"| a\n", "vw"),
        (b'{"label": 1}\n{"label": 2}\n', "jsonl"),
        (b"ham\thello, you\nspam\tbuy, now\n", "tsv"),
        (b"1,2,3\n", "csv"),
    ],
)
def test_formats_are_told_by_the_first_lines(text, format_, tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(text)
    stream = open_stream(path)
    assert stream.format == format_ and sum(batch.n_rows for batch in stream) > 0


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("a.svm", "libsvm"),
        ("a.libsvm.gz", "libsvm"),
        ("A.VW", "vw"),
        ("a.csv.bz2", "csv"),
        ("a.b.tsv", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson.xz", "jsonl"),
        ("a.parquet", "parquet"),
    ],
)
def test_formats_are_told_by_the_name(name, format_, tmp_path):
    (tmp_path / name).write_bytes(b"")
    assert open_stream(tmp_path / name).format == format_


def test_a_format_that_cannot_be_told():
    with pytest.raises(ValueError, match=r"cannot be told .* give format=, one of libsvm"):
        list(open_stream(b"once upon a time\n"))
    with pytest.raises(ValueError, match="format must be 'auto' or one of"):
        open_stream(b"", "xml")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("on_error", "ignore"),
        ("encoding_errors", "x"),
        ("bits", 0),
        ("bits", 40),
        ("batch_bytes", 1),
        ("read_ahead", -1),
        ("seed", -1),
        ("n_features", 0),
        ("dtype", "int8"),
        ("zero_based", "auto"),
    ],
)
def test_options_are_checked_at_once(option, value):
    with pytest.raises(ValueError, match=f"{option} must be .*; got {option}="):
        open_stream(b"", **{option: value})


def test_options_of_tables_are_checked():
    with pytest.raises(ValueError, match="labels must be one of"):
        list(open_stream(b"1,2\n", labels="int"))
    with pytest.raises(ValueError, match="header must be True, False or 'auto'"):
        list(open_stream(b"1,2\n", header="yes"))
    with pytest.raises(ValueError, match="different columns"):
        list(open_stream(b"1,2\n", label_column=0, text_column=0))


# ---------------------------------------------------------------------------------------- passes, progress


def test_progress():
    stream = open_stream(TEXT, text_column=1, batch_bytes=1000)
    seen = [(stream.bytes_read, stream.rows) for _ in stream]
    assert seen == sorted(seen) and len(set(seen)) == len(seen)
    assert seen[-1] == (len(TEXT), 500) and stream.bytes_total == len(TEXT)


@pytest.mark.parametrize("rows", [0, 1, 17, 499, 500, 600])
def test_skip(rows):
    stream = open_stream(TEXT, text_column=1, batch_bytes=1000)
    stream.skip(rows)
    batches = list(stream)
    assert [batch.X.raw(i) for batch in batches for i in range(len(batch.X))] == WANTED[0][rows:]
    assert [label for batch in batches for label in batch.y.tolist()] == WANTED[1][rows:]
    assert not batches or batches[0].first_row == rows
    assert contents(stream) == WANTED  # one pass only
    with pytest.raises(ValueError, match="rows must be at least 0"):
        stream.skip(-1)


def test_skip_of_numbers_and_weights():
    stream = open_stream(b"1,5,2\n0,6,3\n1,7,4\n", weight_column=1)
    stream.skip(1)
    (batch,) = stream
    assert batch.X.tolist() == [[3.0], [4.0]] and batch.weights.tolist() == [6, 7] and batch.first_row == 1


@pytest.mark.parametrize("read_ahead", [0, 1, 2, 50])
def test_reading_ahead_changes_nothing(read_ahead):
    assert contents(open_stream(TEXT, text_column=1, batch_bytes=500, read_ahead=read_ahead)) == WANTED
    assert threads() == []


def test_leaving_early_ends_the_thread():
    stream = open_stream(TEXT, text_column=1, batch_bytes=500)
    for _ in stream:
        assert len(threads()) == 1
        break
    assert threads() == []
    iterator = iter(stream)
    next(iterator)
    assert len(threads()) == 1
    stream.close()
    assert threads() == []
    with open_stream(TEXT, text_column=1, batch_bytes=500) as stream:
        next(iter(stream))
    assert threads() == []
    iter(stream)
    assert threads() == []  # a pass that was never begun has none


def test_a_new_pass_ends_the_old_one():
    stream = open_stream(TEXT, text_column=1, batch_bytes=500)
    old = iter(stream)
    next(old)
    assert contents(stream) == WANTED
    assert list(old) == []


def test_an_error_reaches_the_consumer_after_the_good_batches():
    stream = open_stream(b"1 1:1 2:1 3:1\n" * 3 + b"1 x\n", "libsvm", batch_bytes=16)
    seen = []
    with pytest.raises(FormatError, match="line 4, column 3"):
        for batch in stream:
            seen.append(batch.n_rows)
    assert seen == [1, 1, 1] and threads() == []


def test_an_error_of_reading_reaches_the_consumer():
    class Broken(Trickle):
        def readinto(self, view):
            if self.data.tell() > 3000:
                raise OSError(5, "Input/output error")
            return super().readinto(view)

    with pytest.raises(OSError, match="Input/output error"):
        contents(open_stream(Broken(TEXT, 100), text_column=1, batch_bytes=500))
    assert threads() == []


def test_files_are_closed(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(
        "builtins.open", lambda *a, _open=open, **k: opened.append(_open(*a, **k)) or opened[-1]
    )
    path = tmp_path / "some.txt"
    path.write_bytes(TEXT)
    opened.clear()
    stream = open_stream(path, text_column=1, batch_bytes=500)
    for _ in stream:
        break
    list(stream)
    with pytest.raises(FormatError):
        list(open_stream(path, "libsvm"))
    assert len(opened) == 4 and all(file.closed for file in opened)


# ---------------------------------------------------------------------------------------------- the package


def test_public_names():
    assert sorted(perceptrons.io.__all__) == dir(perceptrons.io)
    for name in perceptrons.io.__all__:
        assert getattr(perceptrons.io, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'open_steam'"):
        perceptrons.io.open_steam  # noqa: B018


@pytest.mark.parametrize(
    "what", ["import perceptrons.io", "from perceptrons.io import open_stream, fit_stream, Texts"]
)
def test_importing_is_light(what):
    code = f"import sys\n{what}\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numba", "scipy", "sklearn", "pyarrow", "rich"} & set(loaded)


def test_a_stream_of_nothing():
    assert list(open_stream(b"", "libsvm")) == [] and list(open_stream(b"\n\n", "csv")) == []
    assert np.isnan(perceptrons.io.FitReport().error_rate)


def test_limits_are_a_record():
    assert Limits(line_bytes=5).line_bytes == 5 and Limits().ratio == 1000.0


def test_the_layout_is_what_other_data_are_read_by():
    stream = open_stream(b"label,age,town\nyes,41,Bonn\nno,17,Ulm\n", "csv")
    list(stream)
    expected = {"label_column": "label", "columns": ["age", "town"], "categorical": ["town"], "header": True}
    assert stream.layout == {"format": "csv", **expected}
    texts = open_stream(b'{"label": 1, "text": "to be"}\n', text_column="auto")
    assert [batch.X.text(0) for batch in texts] == ["to be"]
    assert texts.layout == {"format": "jsonl", "label_column": "label", "text_column": "text"}
    texts = open_stream(b"a\tto be\n", text_column="auto")
    assert [batch.X.text(0) for batch in texts] == ["to be"]
    assert texts.layout == {"format": "tsv", "label_column": 0, "text_column": 1, "header": False}


@pytest.mark.parametrize("read_ahead", [0, 2])
def test_rows_that_are_held_out_and_rows_that_are_shuffled(read_ahead):
    data = b"".join(b"%d 1:%d\n" % (i % 2, i + 1) for i in range(100))
    stream = open_stream(data, "libsvm", n_features=1, batch_bytes=200, read_ahead=read_ahead)

    def numbers():
        return [int(x) for batch in stream for x in batch.X.toarray()[:, 0]]

    everything = list(range(1, 101))
    stream.select(holdout=Fraction(1, 10))
    learned = numbers()
    stream.select(holdout=Fraction(1, 10), tested=True)
    assert numbers() == everything[9::10] and learned == [n for n in everything if n % 10]
    stream.select(seed=3)
    passes = [numbers(), numbers()]
    assert passes[0] != passes[1] and sorted(passes[0]) == sorted(passes[1]) == everything
    stream.select(seed=3, passes=1)
    assert numbers() == passes[1]  # the second pass of a run that is taken up again
    stream.select(holdout=Fraction(1, 10), seed=3)
    batch = next(iter(stream))
    end = stream.rows
    rest = [int(x) for batch in stream for x in batch.X.toarray()[:, 0]]
    stream.select(holdout=Fraction(1, 10), seed=3, passes=1)
    stream.skip(end)
    assert numbers() == rest[batch.n_rows :]
    stream.select()
    assert numbers() == everything
