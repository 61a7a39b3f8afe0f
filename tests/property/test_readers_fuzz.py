"""Readers on arbitrary bytes: rows, or an error that says what is wrong; what is written is what is read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptrons.io import FormatError, Limits, Texts, open_stream, read_libsvm

FORMATS = ["libsvm", "vw", "fasttext", "csv", "tsv", "jsonl"]
SEEDS = {
    "libsvm": [b"+1 1:0.5 3:2e-1 # note\n", b"-1 2:1\n", b"3\n", b"1 67108864:1\n"],
    "vw": [b"1 2.0 'tag|ns:2 a:3 b |x c\n", b"-1 | d e:-1\n", b"1 t|x\n"],
    "fasttext": [b"__label__a __label__b a text\n", b"no label\n", b"x __label__c y __label__\n"],
    "csv": [b'1,2.5,red,"a ""b"""\n', b"0,-3,green,c\n", b"y,a,b,c\n", b'"1",2,"x,y",\n'],
    "tsv": [b"1\t2.5\tred\n", b"0\t\tgreen\n"],
    "jsonl": [b'{"label": 1, "a": 2.5, "b": "red", "c": [1, {"d": null}]}\n', b'{"label": "x", "a": true}\n'],
}
MARKS = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b":",
    b"|",
    b",",
    b"\t",
    b'"',
    b"nan",
    b"1e400",
    b"-",
    b"#",
]
LIMITS = Limits(line_bytes=4096, labels=50)


@st.composite
def documents(draw, format_):
    """Lines of a format, with some bytes of them changed."""
    lines = draw(st.lists(st.one_of(st.sampled_from(SEEDS[format_]), st.binary(max_size=30)), max_size=12))
    text = bytearray(b"".join(lines))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["put", "cut", "set"]))
        if kind == "put":
            text[at:at] = draw(st.one_of(st.sampled_from(MARKS), st.binary(min_size=1, max_size=4)))
        elif kind == "cut":
            del text[at : at + draw(st.integers(1, 5))]
        elif at < len(text):
            text[at] = draw(st.integers(0, 255))
    return bytes(text)


def checked(batches):
    """Every batch is well formed; answers the rows."""
    rows = 0
    for batch in batches:
        assert batch.first_row == rows
        rows += batch.n_rows
        assert batch.y is None or len(batch.y) == batch.n_rows
        assert batch.weights is None or ((batch.weights >= 0).all() and len(batch.weights) == batch.n_rows)
        if isinstance(batch.X, Texts):
            for i in range(len(batch.X)):
                batch.X.raw(i).decode()
        elif sp.issparse(batch.X):
            batch.X.check_format(full_check=True)
            assert np.isfinite(batch.X.data).all() and batch.X.has_canonical_format
        else:
            assert np.isfinite(batch.X).all()
        if batch.y is not None and batch.y.dtype.kind == "f":
            assert np.isfinite(batch.y).all()
    return rows


@pytest.mark.parametrize("format_", FORMATS)
@given(data=st.data())
@settings(max_examples=150)
def test_rows_or_an_error_that_says_where(format_, data):
    text = data.draw(documents(format_))
    options = {"limits": LIMITS, "read_ahead": 0}
    options["batch_bytes"] = data.draw(st.sampled_from([16, 50, 1 << 16]))
    options["encoding_errors"] = data.draw(st.sampled_from(["refuse", "replace"]))
    if format_ in ("csv", "tsv"):
        options["text_column"] = data.draw(st.sampled_from([None, -1]))
        options["label_column"] = data.draw(st.sampled_from([None, 0]))
        options["header"] = data.draw(st.sampled_from(["auto", True, False]))
    try:
        checked(open_stream(text, format_, **options))
    except FormatError as error:
        assert error.file.startswith("<bytes>") and "expected" in str(error) and "\n" not in str(error)
        if error.file != "<bytes>":  # by chance it began like an archive
            return
        assert error.line is None or 1 <= error.line <= text.count(b"\n") + 1
        stream = open_stream(text, format_, on_error="skip", **options)
        try:
            checked(stream)
            assert stream.skipped > 0
        except FormatError as error:  # some things concern the whole file
            assert "labels" in str(error) or "UTF-16" in str(error) or "float32" in str(error)
        except ValueError as error:  # without the bad lines it is a table of one column, as below
            assert "column" in str(error)
    except ValueError as error:
        assert "column" in str(error)  # a table of one column has no label and text


@pytest.mark.parametrize("format_", FORMATS)
@given(data=st.data())
def test_the_cut_into_batches_changes_no_row(format_, data):
    lines = data.draw(st.lists(st.sampled_from(SEEDS[format_][:2]), min_size=1, max_size=30))
    text = b"".join(lines)

    def rows(batch_bytes):
        found = []
        # a table's kinds are decided by its first batch: let it be the same in both
        more = {"categorical": [2, 3], "labels": "text"} if format_ == "csv" else {"labels": "text"}
        if format_ == "tsv":
            more["text_column"] = 2
        for batch in open_stream(text, format_, n_features=3, batch_bytes=batch_bytes, **more):
            X = batch.X
            for i in range(batch.n_rows):
                row = (
                    X.raw(i) if isinstance(X, Texts) else X[[i]].tocoo() if sp.issparse(X) else X[i].tolist()
                )
                row = (row.coords[1].tolist(), row.data.tolist()) if sp.issparse(row) else row
                found.append((row, str(batch.y[i])))
        return found

    assert rows(16) == rows(77) == rows(1 << 20)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@given(data=st.data())
def test_damaged_archives(pack, data):
    packed = bytearray(pack(b"1 1:1 2:2\n-1 3:1\n" * 20))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(packed) - 1))
        packed[at] = data.draw(st.integers(0, 255))
    packed = packed[: data.draw(st.integers(1, len(packed)))]
    try:
        checked(open_stream(bytes(packed), "libsvm", read_ahead=0))
    except FormatError as error:
        assert "\n" not in str(error)


# --------------------------------------------------------------------------------- written, then read

doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(doubles, st.dictionaries(st.integers(1, 40), doubles, max_size=6)), max_size=8))
def test_libsvm_to_the_last_bit(rows):
    text = "".join(
        f"{label!r} " + " ".join(f"{j}:{v!r}" for j, v in sorted(pairs.items())) + "\n"
        for label, pairs in rows
    )
    X, y = read_libsvm(text.encode(), n_features=40)
    wanted = [v for _, pairs in rows for _, v in sorted(pairs.items())]
    assert X.data.tobytes() == np.asarray(wanted, np.float64).tobytes()
    assert y.tobytes() == np.asarray([label for label, _ in rows], np.float64).tobytes()


@given(st.text(st.characters(codec="ascii", categories=["N", "P"]), max_size=30))
def test_a_number_is_what_python_says(text):
    """Where both read a number, it is the same; underscores and words are Python's alone."""
    try:
        wanted = float(text)
    except ValueError:
        wanted = None
    try:
        (value,) = read_libsvm(f"1 1:{text}\n".encode())[0].data
    except (FormatError, ValueError):
        assert wanted is None or "_" in text or "#" in text or not np.isfinite(wanted)
    else:
        assert value == (float(text.split("#")[0]) if "#" in text else wanted)


lines_of_text = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=20)


@given(st.lists(st.tuples(st.sampled_from(["a", "b c", 'd"e']), lines_of_text), min_size=1, max_size=8))
def test_texts_of_csv_and_jsonl(rows):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([("label", "text"), *rows])
    (batch,) = open_stream(written.getvalue().encode(), "csv", label_column="label", text_column="text")
    assert [batch.X.text(i) for i in range(len(batch.X))] == [text for _, text in rows]
    assert batch.y.tolist() == [label for label, _ in rows]
    lines = "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in rows)
    (batch,) = open_stream(lines.encode(), "jsonl", text_column="text")
    assert [batch.X.text(i) for i in range(len(batch.X))] == [text for _, text in rows]


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), lines_of_text), min_size=1, max_size=8))
def test_texts_of_tsv(rows):
    text = "".join(f"{label}\t{text}\n" for label, text in rows)
    (batch,) = open_stream(text.encode(), "tsv", text_column=1, header=False)
    assert [batch.X.text(i) for i in range(len(batch.X))] == [text for _, text in rows]
