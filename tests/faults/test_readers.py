"""Bad files: refused with file, line, column, what was expected and what was found, in little memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import subprocess
import sys
import textwrap

import pytest

from perceptrons.io import FormatError, Limits, open_stream, read_libsvm

# ------------------------------------------------------------------------------------- lines of libsvm


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("one 1:1", 1, "expected a number as label, found 'one'"),
        ("1,2 1:1", 1, "expected a number as label, found '1,2'"),
        ("nan 1:1", 1, "expected a number as label, found 'nan'"),
        ("1e400 1:1", 1, "expected a finite number as label, found '1e400'"),
        ("1:1 2:1", 1, "expected a number as label, found '1:1'"),
        ("1 1;0.5", 3, "expected index:value, found '1;0.5'"),
        ("1 7", 3, "expected index:value, found '7'"),
        ("1 1:1 x:2", 7, "expected index:value, found 'x:2'"),
        ("1 -3:1", 3, "expected index:value, found '-3:1'"),
        ("1 1.5:1", 3, "expected index:value, found '1.5:1'"),
        ("1 0:1", 3, "expected an index of at least 1, found '0:1'. zero_based=True"),
        ("1 2:1 1:1", 7, "expected an index larger than the one before it, found '1:1'"),
        ("1 2:1 2:1", 7, "expected an index larger than the one before it, found '2:1'"),
        ("1 qid:3 1:1", 3, "expected index:value, found 'qid:3'. Queries"),
        ("1 1:", 3, "expected a finite number as value, found '1:'"),
        ("1 1: 2", 3, "expected a finite number as value, found '1:'"),
        ("1 1:x", 3, "expected a finite number as value, found '1:x'"),
        ("1 1:1.2.3", 3, "expected a finite number as value, found '1:1.2.3'"),
        ("1 1:0x1p3", 3, "expected a finite number as value"),
        ("1 1:1e", 3, "expected a finite number as value"),
        ("1 1:--1", 3, "expected a finite number as value"),
        ("1 1:1_0", 3, "expected a finite number as value"),
        ("1 1:nan", 3, "expected a finite number as value, found '1:nan'"),
        ("1 1:-inf", 3, "expected a finite number as value, found '1:-inf'"),
        ("1 1:1e400", 3, "expected a finite number as value, found '1:1e400'"),
        ("1 1:" + "9" * 400, 3, "expected a finite number as value, found '1:9999"),
        ("1 99999999999:1", 3, "expected an index of at most 67108864, found '99999999999:1'"),
        ("1 " + "9" * 200 + ":1", 3, "expected an index of at most 67108864"),
        ("1 1:1\0", 3, "expected a finite number as value"),
        ("\0", 1, "expected a number as label"),
        ("1 1:1\xff", 3, "expected a finite number as value"),
    ],
)
def test_a_bad_line_of_libsvm(line, column, message, tmp_path):
    path = tmp_path / "train.svm"
    path.write_bytes(b"# first\n1 1:1 # fine\n\n" + line.encode("latin-1") + b"\n-1 2:1\n")
    with pytest.raises(FormatError) as caught:
        list(open_stream(path))
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 4, column)
    assert str(error).startswith(f"{path}, line 4, column {column}: expected ")
    assert message in str(error) and "\n" not in str(error) and len(str(error)) < 300 + len(str(path))
    with pytest.raises(FormatError):
        read_libsvm(path)
    stream = open_stream(path, on_error="skip")
    (batch,) = stream
    assert batch.X.toarray().tolist() == [[1, 0], [0, 1]] and batch.y.tolist() == [1, -1]
    assert stream.skipped == 1 and str(stream.first_error) == str(error)


def test_lines_are_counted_over_batches():
    text = b"1 1:1\n# note\n\n" * 1000 + b"1 bad\n"
    for batch_bytes in (16, 100, 1 << 20):
        with pytest.raises(FormatError, match="line 3001, column 3"):
            list(open_stream(text, "libsvm", batch_bytes=batch_bytes))


def test_the_error_can_be_sent_to_another_process():
    error = FormatError("a.svm", 3, 4, "this", "that", "Do so.")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "a.svm, line 3, column 4: expected this, found that. Do so."
    assert (again.file, again.line, again.column, again.expected, again.found) == (
        "a.svm",
        3,
        4,
        "this",
        "that",
    )


def test_an_index_beyond_n_features_or_the_limit():
    with pytest.raises(FormatError, match=r"at most 3, found '4:1'. n_features=… sets the largest"):
        list(open_stream(b"1 4:1\n", "libsvm", n_features=3))
    with pytest.raises(FormatError, match=r"at most 2, found '3:1'"):
        list(open_stream(b"1 3:1\n", "libsvm", n_features=3, zero_based=True))
    with pytest.raises(FormatError, match=r"at most 10, .*limits=Limits\(features=…\)"):
        list(open_stream(b"1 11:1\n", "libsvm", limits=Limits(features=10)))


# --------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("format_", ["csv", "tsv", "vw", "jsonl"])
def test_nul_and_bytes_that_are_not_utf8(format_):
    rows = {"csv": b"1,%s\n", "tsv": b"1\t%s\n", "vw": b"1 |a %s\n", "jsonl": b'{"label": 1, "t": "%s"}\n'}
    row = rows[format_]
    options = {"text_column": "t" if format_ == "jsonl" else 1} if format_ != "vw" else {}
    for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80", b"a\x80b"):
        text = row % b"one" + row % bad + row % b"two"
        with pytest.raises(
            FormatError, match=r"line 2, column \d+: expected UTF-8, found .* encoding_errors='replace'"
        ):
            list(open_stream(text, format_, **options))
        (batch,) = open_stream(text, format_, encoding_errors="replace", **options)
        assert batch.n_rows == 3
        if options:
            assert batch.X.text(1) == bad.decode("utf-8", "replace")
        stream = open_stream(text, format_, on_error="skip", **options)
        assert [batch.n_rows for batch in stream] == [2] and stream.skipped == 1
    with pytest.raises(FormatError, match=r"line 2, column \d+: expected text, found a NUL byte"):
        list(open_stream(row % b"one" + row % b"x\0y", format_, **options))


def test_utf16_is_named():
    with pytest.raises(FormatError, match=r"expected UTF-8, found UTF-16\. Convert it: iconv"):
        list(open_stream("1,2\n".encode("utf-16"), "csv"))


def test_characters_across_every_edge():
    text = "é日😀" * 50
    for shift in range(70):
        (batch,) = open_stream(f"1\t{'x' * shift}{text}\n".encode(), "tsv", text_column=1)
        assert batch.X.text(0) == "x" * shift + text


# -------------------------------------------------------------------------------------------- limits


class Endless(io.RawIOBase):
    """As many bytes as anybody wants."""

    def __init__(self, head: bytes = b"", body: bytes = b"x"):
        self.head, self.body, self.given = head, body, 0

    def readable(self):
        return True

    def readinto(self, view):
        n = min(len(view), 1 << 16)
        data = (self.head + self.body * n)[:n]
        self.head = self.head[n:]
        view[:n] = data
        self.given += n
        return n


@pytest.mark.parametrize("format_", ["libsvm", "vw", "fasttext", "csv", "tsv", "jsonl"])
def test_a_line_without_end_is_refused_at_the_limit(format_):
    source = Endless(b"1 1:1\n" if format_ == "libsvm" else b"")
    limits = Limits(line_bytes=1 << 20)
    with pytest.raises(
        FormatError, match=r"line [12]: expected a line of at most 1,048,576 bytes.*line_bytes="
    ):
        list(open_stream(source, format_, limits=limits, batch_bytes=1 << 14))
    assert source.given < 4 << 20


def test_the_default_limit_stands_in_the_way_of_a_gigabyte():
    source = Endless()
    with pytest.raises(FormatError, match="expected a line of at most 16,777,216 bytes"):
        list(open_stream(source, "tsv"))
    assert source.given < 1 << 26


@pytest.mark.parametrize("batch_bytes", [16, 64, 1 << 20])
@pytest.mark.parametrize("format_", ["libsvm", "tsv"])
def test_a_long_line_can_be_skipped(batch_bytes, format_):
    row = b"1 1:%s\n" if format_ == "libsvm" else b"1\t%s\n"
    text = row % b"1" + row % (b"2" * 500) + row % b"3" + b"x" * 300
    stream = open_stream(
        text,
        format_,
        on_error="skip",
        limits=Limits(line_bytes=100),
        batch_bytes=batch_bytes,
        n_features=1,
    )
    X = [value for batch in stream for value in (batch.X.data if format_ == "libsvm" else batch.X[:, 0])]
    assert X == [1.0, 3.0] and stream.skipped == 2 and stream.first_error.line == 2


def test_a_gigantic_header_is_refused():
    text = b"," * 5000 + b"\n" + b"1\n" * 5000
    with pytest.raises(FormatError, match=r"expected at most 1,000 columns, found 5,001.*columns="):
        list(open_stream(text, "csv", limits=Limits(columns=1000)))
    with pytest.raises(FormatError, match=r"line 2, column 1: expected 5001 fields, found fewer"):
        list(open_stream(text, "csv", header=True, label_column=0))


# --------------------------------------------------------------------------------------- compression

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def packer(name):
    if name == "zst":
        return pytest.importorskip("zstandard", reason="zstandard is not installed").compress
    return PACKERS[name]


NAMES = ["gz", "bz2", "xz", "zst"]


@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_archive(name, tmp_path):
    text = b"".join(b"%d %d:%d\n" % (i % 2, i % 50 + 1, i * 7919 % 1000) for i in range(3000))
    data = packer(name)(text)
    path = tmp_path / f"a.svm.{name}"
    for cut in (len(data) - 1, len(data) - 5, len(data) // 2, 12):
        path.write_bytes(data[:cut])
        with pytest.raises(
            FormatError, match=r"a\.svm\.\w+ \(\w+\): expected the rest of the file, .*truncated"
        ):
            list(open_stream(path))


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_archive(name):
    text = b"".join(b"%d %d:%d\n" % (i % 2, i % 50 + 1, i * 7919 % 1000) for i in range(3000))
    data = bytearray(packer(name)(text))
    refused = 0
    for position in range(20, len(data) - 20, len(data) // 40):
        bad = data.copy()
        bad[position] ^= 0x55
        try:
            rows = sum(batch.n_rows for batch in open_stream(bytes(bad), "libsvm"))
            assert name == "zst" and rows  # zstd has no checksum unless it is asked for one
        except FormatError:
            refused += 1
    assert refused >= (10 if name == "zst" else 40)


@pytest.mark.parametrize("name", NAMES)
def test_something_behind_the_archive(name):
    with pytest.raises(FormatError, match="expected its end, or more compressed data, found 'something"):
        list(open_stream(packer(name)(b"1 1:1\n") + b"something else", "libsvm"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", [b"\n", b"0", b"1 1:1\n"])
def test_a_bomb_is_refused(name, body):
    member = packer(name)(body * ((4 << 20) // len(body)))
    data = member * 16  # packed once: the reader has 64 MB before it all the same
    limits = Limits(line_bytes=1 << 30, ratio=50.0)
    with pytest.raises(FormatError, match=r"expected at most 50 times the compressed size.*ratio="):
        list(open_stream(data, "libsvm", limits=limits))


@pytest.mark.parametrize("name", NAMES)
def test_the_decompressed_size_has_a_limit(name):
    data = packer(name)(b"1 1:1\n" * 100_000)
    with pytest.raises(FormatError, match="expected at most 100,000 bytes of content, found more"):
        list(open_stream(data, "libsvm", limits=Limits(decompressed_bytes=100_000)))
    assert (
        sum(b.n_rows for b in open_stream(data, "libsvm", limits=Limits(decompressed_bytes=600_000)))
        == 100_000
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")
def test_a_large_bomb_needs_little_memory():
    code = """
        import gzip
        from perceptrons.io import FormatError, Limits, open_stream
        list(open_stream(b"1 1:1\\n", "libsvm"))  # compiled
        def peak():  # of this process alone: ru_maxrss is inherited from the one that started it
            status = dict(line.split(":", 1) for line in open("/proc/self/status"))
            return int(status["VmHWM"].split()[0])
        member = gzip.compress(b"\\n" * (64 << 20))
        data = member * 8
        open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew: making the bomb took memory
        before = peak()
        for limits in (Limits(), Limits(ratio=1e9)):
            try:
                print(sum(b.n_rows for b in open_stream(data, "libsvm", limits=limits)))
            except FormatError as error:
                print("refused")
        print(peak() - before)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    refused, rows, grown = done.stdout.split()
    assert (refused, rows) == ("refused", "0") and int(grown) < 100_000  # KiB, of 512 MiB of content
