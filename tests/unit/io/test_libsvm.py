"""The libsvm reader: small files one can check by eye, and every number as Python's float reads it."""

from __future__ import annotations

import gzip
import math
import os
import random
import struct

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from perceptrons.io import FormatError, open_stream, read_libsvm


def test_a_small_file():
    X, y = read_libsvm(b"+1 1:0.5 3:2\n\n# nothing here\n-1 2:-1e-1 # a note\n2.5\n")
    assert X.toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, -0.1, 0.0], [0.0, 0.0, 0.0]]
    assert y.tolist() == [1.0, -1.0, 2.5]
    assert X.indices.dtype == X.indptr.dtype == np.int32 and X.has_sorted_indices


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf1 1:1 2:2\n-1 2:3\n",
        b"1 1:1 2:2\r\n-1 2:3\r\n",
        b"1 1:1 2:2\n-1 2:3",
        b"  1\t1:1   2:2 \n\n\n\t-1 2:3\t#\n",
    ],
    ids=["mark", "windows", "no final line end", "blanks"],
)
def test_what_is_accepted(text):
    X, y = read_libsvm(text)
    assert X.toarray().tolist() == [[1.0, 2.0], [0.0, 3.0]] and y.tolist() == [1.0, -1.0]


def test_options():
    assert read_libsvm(b"1 0:5\n", zero_based=True)[0].toarray().tolist() == [[5.0]]
    assert read_libsvm(b"1 1:5\n", n_features=4)[0].shape == (1, 4)
    X, y = read_libsvm(b"1 1:0.1\n", dtype=np.float32)
    assert X.dtype == np.float32 and y.dtype == np.float64 and X.data[0] == np.float32(0.1)
    assert read_libsvm(b"")[0].shape == (0, 0)


def test_many_files_are_one(tmp_path):
    (tmp_path / "a").write_bytes(b"1 1:1\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"2 3:1\n"))
    X, y = read_libsvm([tmp_path / "a", str(tmp_path / "b.gz")])
    assert X.toarray().tolist() == [[1, 0, 0], [0, 0, 1]] and y.tolist() == [1, 2]


# ------------------------------------------------------------------------------------------------ numbers


def decimals(n: int) -> list[str]:
    """Numbers of every shape, many of them hard to round."""
    rng = random.Random(0)
    out = ["0", "-0", "+0.0", "5.", ".5", "1e22", "1e23", "9007199254740993", "9007199254740992", "0e999"]
    out += ["2.2250738585072011e-308", "4.9e-324", "2.4703282292062327208e-324", "1.7976931348623157e308"]
    out += ["0." + "0" * 400 + "1", "1" * 300, "123456789012345678", "1234567890123456789", "1e-400"]
    for _ in range(n):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 25)))
        point = rng.randint(0, len(digits))
        number = digits[:point] + rng.choice([".", ""]) + digits[point:]
        if rng.random() < 0.6:
            number += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.randint(0, 30))
        out.append(rng.choice(["", "-", "+"]) + number)
    for _ in range(n):  # any double, and the number half-way to the next
        (double,) = struct.unpack("<d", struct.pack("<q", rng.getrandbits(63)))
        if math.isfinite(double):
            out.append(repr(double))
    for _ in range(n // 10):
        m, e = rng.randrange(2**52, 2**53), rng.randrange(-60, 60)
        half = (2 * m + 1) * 2**e if e >= 0 else None
        out.append(str(half) if half is not None else f"{(2 * m + 1) * 5**-e}e{e}")
    return out


def test_every_number_is_rounded_as_python_rounds_it():
    texts = [text for text in decimals(3000) if abs(float(text)) < math.inf]
    # an integer that a double cannot hold is a value, but no label: as a label it could become another one
    labels = ["0" if text.strip("+-").isdigit() and int(text) != float(text) else text for text in texts]
    lines = "".join(f"{label} 1:{text}\n" for label, text in zip(labels, texts)).encode()
    X, y = read_libsvm(lines)
    for found, written in ((X.data, texts), (y, labels)):
        wanted = np.asarray([float(text) for text in written])
        assert (found.view(np.int64) == wanted.view(np.int64)).all()  # the sign of zero too


def test_the_same_as_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "some.svm"
    with path.open("w") as file:
        for _ in range(300):
            columns = np.flatnonzero(rng.random(50) < 0.2) + 1
            pairs = " ".join(f"{j}:{rng.normal():.{rng.integers(1, 12)}g}" for j in columns)
            file.write(f"{rng.integers(-1, 3)} {pairs}\n")
    X, y = read_libsvm(path)
    theirs, labels = load_svmlight_file(str(path))
    assert X.shape == theirs.shape and (y == labels).all()
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(X, name), getattr(theirs, name)), name


@pytest.mark.data
@pytest.mark.skipif("PERCEPTRONS_DATA" not in os.environ, reason="PERCEPTRONS_DATA names no folder")
@pytest.mark.parametrize("name", ["a9a.gz", "sector.scale.bz2"])
def test_the_same_as_scikit_learn_on_real_files(name):
    path = os.path.join(os.environ["PERCEPTRONS_DATA"], "libsvm", name)
    X, y = read_libsvm(path)
    theirs, labels = load_svmlight_file(path)
    assert X.shape == theirs.shape and (y == labels).all()
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(X, part), getattr(theirs, part))


# ------------------------------------------------------------------------------------------------ streams


@pytest.mark.parametrize("batch_bytes", [16, 17, 64, 1000])
def test_batches_are_the_whole_file(batch_bytes):
    text = b"".join(b"%d %d:%d.25 %d:1\n" % (i % 3, i % 7 + 1, i, i % 7 + 2) for i in range(200))
    X, y = read_libsvm(text)
    batches = list(open_stream(text, "libsvm", n_features=X.shape[1], batch_bytes=batch_bytes))
    assert np.array_equal(np.vstack([batch.X.toarray() for batch in batches]), X.toarray())
    assert np.array_equal(np.concatenate([batch.y for batch in batches]), y)
    assert len(batches) > 1
    assert [batch.first_row for batch in batches] == np.cumsum(
        [0] + [b.n_rows for b in batches[:-1]]
    ).tolist()


def test_columns_so_far_and_measured():
    stream = open_stream(b"1 1:1      \n1 1:1 3:1\n1 2:1\n", "libsvm", batch_bytes=16)
    assert [batch.X.shape[1] for batch in stream] == [1, 3]
    assert stream.n_features is None and stream.measure() == 3 and stream.n_features == 3
    assert {batch.X.shape[1] for batch in stream} == {3}


def test_skipped_lines_leave_nothing():
    text = b"1 1:1 2:2\n1 3:1 4:x\n2 1:1e400\n3 2:5\nq\n"
    X, y = read_libsvm(text, on_error="skip")
    assert X.toarray().tolist() == [[1, 2], [0, 5]] and y.tolist() == [1, 3]
    stream = open_stream(text, "libsvm", on_error="skip")
    assert sum(batch.n_rows for batch in stream) == 2 and stream.skipped == 3
    assert isinstance(stream.first_error, FormatError) and stream.first_error.line == 2
