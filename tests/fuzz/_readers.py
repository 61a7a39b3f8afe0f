"""What the targets for text readers share: documents that are nearly right, and what holds of the rows."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptrons.io import FormatError, Limits, Texts, open_stream

LIMITS = Limits(line_bytes=2048, labels=50, columns=64, label_bytes=64, values=128)
NUMBERS = [
    b"0", b"1", b"-1", b"+1", b"0.5", b"-.5", b"5.", b"1e3", b"1E-3", b"1e+22", b"1e23", b"1e400",
    b"-1e400", b"1e-400", b"9007199254740993", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551616", b"67108864", b"67108865", b"2147483647", b"2147483648", b"4294967297", b"nan",
    b"inf", b"-inf", b"infinity", b"0x1p3", b"1_0", b"1e", b"1e+", b".", b"-", b"+", b"e5", b"--1",
    b"1.2.3", b"00012", b"0." + b"1" * 60 + b"e-300", b"1" * 40, b"0." + b"0" * 70 + b"1e70", b"4.9e-324",
    b"2.4703282292062327208e-324", b"1.7976931348623159e308", b"0.1000000000000000055511151231257827",
]  # fmt: skip
MARKS = [
    b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b":", b"|", b",",
    b"\t", b" ", b'"', b'""', b"#", b"'", b"{", b"}", b"[", b"]", b"\\", b"\\u", b"\\ud83d", b"\\ude00",
    b"\\u00e9", b"null", b"true", b"qid:1", b"\n\n\n",
]  # fmt: skip
PACKS = [gzip.compress, lambda data: bz2.compress(data, 1), lambda data: lzma.compress(data, preset=0)]


def mutated(rng: random.Random, text: bytes, others: list[bytes]) -> bytes:
    """A document with some bytes, numbers or lines changed."""
    data = bytearray(text)
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(8)
        if kind == 0:
            data[at:at] = rng.choice(MARKS)
        elif kind == 1:
            data[at:at] = rng.choice(NUMBERS)
        elif kind == 2:
            del data[at : at + rng.randrange(1, 9)]
        elif kind == 3 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start : start + rng.randrange(1, 60)]
        elif kind == 5:
            start = rng.randrange(len(data) + 1)
            data[at:at] = data[start : start + rng.randrange(1, 40)]
        elif kind == 6:  # a number, wherever one stands
            end = at
            while end < len(data) and data[end] in b"0123456789.eE+-":
                end += 1
            data[at:end] = rng.choice(NUMBERS)
        else:
            data[at : at + 1] = data[at : at + 1] * rng.choice([2, 3, 70, 300])
    return bytes(data)


def check(rng: random.Random, text: bytes, format_: str, options: dict[str, Any]) -> None:
    """Rows that are well formed, or an error of one line that names the file."""
    options = {"limits": LIMITS, "read_ahead": 0, **options}
    options["batch_bytes"] = rng.choice([16, 100, 400, *[1 << 14] * 5])
    options["on_error"] = rng.choice(["raise", "skip"])
    options["dtype"] = rng.choice([np.float64, np.float64, np.float32])
    lines = float(text.count(b"\n") + 1)
    if rng.random() < 0.02:
        text = rng.choice(PACKS)(text)
        if rng.random() < 0.7:
            lines = float("inf")  # until a sum is found to be wrong, anything may come out
            at = rng.randrange(len(text))
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
    try:
        well_formed(open_stream(text, format_, **options))
    except FormatError as error:
        said = str(error)
        assert "expected" in said and "\n" not in said and len(said) < 600, said
        assert error.file.startswith("<bytes>")
        assert error.line is None or 1 <= error.line <= lines, said
    except ValueError as error:  # what was asked for does not fit the table
        assert "column" in str(error).lower() and "\n" not in str(error), error


def well_formed(stream: Any) -> None:
    rows = 0
    for batch in stream:
        n = batch.n_rows
        assert batch.first_row == rows and n > 0
        rows += n
        assert batch.y is None or len(batch.y) == n
        assert batch.weights is None or ((batch.weights >= 0).all() and len(batch.weights) == n)
        X = batch.X
        if isinstance(X, Texts):
            assert (X.starts >= 0).all() and (X.starts <= X.stops).all() and (X.stops <= len(X.buffer)).all()
            for i in range(n):
                X.raw(i).decode()
        elif sp.issparse(X):
            X.check_format(full_check=True)
            assert np.isfinite(X.data).all() and X.has_canonical_format
        else:
            assert np.isfinite(X).all()
        if batch.y is not None and batch.y.dtype.kind == "f":
            assert np.isfinite(batch.y).all()
    assert stream.skipped == 0 or stream.first_error is not None
