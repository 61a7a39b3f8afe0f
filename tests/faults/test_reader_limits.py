"""Readers refuse what they cannot hold, in time proportional to the file, and never read another number."""

from __future__ import annotations

import io
import random
import re

import numpy as np
import pytest

import perceptrons.io.libsvm as libsvm
import perceptrons.io.vw as vw
from perceptrons.io import FormatError, Limits, open_stream, read_libsvm
from perceptrons.io.records import LineBlock

# ------------------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            Limits(features=2**31),
            r"limits.features must be an integer from 1 to 2147483647; got features=2147483648",
        ),
        (Limits(features=2**33), "limits.features"),
        (Limits(features=0), "limits.features"),
        (Limits(line_bytes=-1), "limits.line_bytes"),
        (Limits(line_bytes=2**31), "limits.line_bytes"),
        (Limits(columns=1.5), "limits.columns"),
        (Limits(labels=True), "limits.labels"),
        (Limits(values="many"), "limits.values"),
        (Limits(label_bytes=None), "limits.label_bytes"),
        (Limits(decompressed_bytes=0), "limits.decompressed_bytes"),
        (Limits(ratio=float("nan")), "limits.ratio must be a number above 0"),
        (Limits(ratio=-1), "limits.ratio"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(limits, message):
    """Indices have 32 bits: beyond them 4294967297 was read as column 0."""
    with pytest.raises(ValueError, match=message):
        open_stream(b"1 4294967297:1\n", "libsvm", limits=limits)
    with pytest.raises(ValueError, match=message):
        read_libsvm(b"1 4294967297:1\n", limits=limits)


def test_limits_are_limits():
    with pytest.raises(TypeError, match=r"limits must be a perceptrons.io.Limits; got dict"):
        open_stream(b"", "libsvm", limits={"features": 5})
    with pytest.raises(ValueError, match="n_features must be an integer from 1 to 2147483647"):
        read_libsvm(b"1 1:1\n", n_features=2**31)
    with pytest.raises(ValueError, match="on_error must be 'raise' or 'skip'"):
        read_libsvm(b"1 1:1\n", on_error="ignore")
    stream = open_stream(b"1 1:1\n", "libsvm")
    with pytest.raises(ValueError, match="n_features must be an integer"):
        stream.n_features = 2**40


def test_the_largest_index_there_is():
    X, _ = read_libsvm(b"1 2147483647:1\n", limits=Limits(features=2**31 - 1))
    assert X.shape == (1, 2**31 - 1) and X.indices.tolist() == [2**31 - 2]


# ---------------------------------------------------------------------------------------- linear time

BAD = {
    "libsvm": (b"1 1:1\n", b"x\n"),
    "vw": (b"1 |a b\n", b"x\n"),
    "csv": (b"1,2\n", b"x\n"),
    "tsv": (b"1\t2\n", b"x\n"),
    "jsonl": (b'{"label": 1}\n', b"x\n"),
}


@pytest.mark.parametrize("format_", BAD)
@pytest.mark.parametrize("bad", [b"x\n", b"\xff\n", b"1e999 | a:1e999\n"])
def test_skipping_looks_at_each_line_once(format_, bad, monkeypatch):
    """The place of an error is found by counting lines from the start of its block: once, not for each."""
    good, _ = BAD[format_]
    places, loops = [], []
    place = LineBlock.place
    monkeypatch.setattr(LineBlock, "place", lambda *args: places.append(1) or place(*args))
    for module, name, loop in ((libsvm.loops, "parse_libsvm", None), (vw.loop, "parse_vw", None)):
        loop = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, loop=loop: loops.append(1) or loop(*args))
    for n in (1000, 2000):
        places.clear(), loops.clear()
        stream = open_stream(good + bad * n, format_, on_error="skip", batch_bytes=1 << 20)
        assert [batch.n_rows for batch in stream] == [1] and stream.skipped == n
        assert len(places) <= 1 and len(loops) <= 2


def test_returns_before_a_line_end_are_passed_in_one_go():
    """A line of a million carriage returns took a million passes over all lines."""
    text = b"1,2" + b"\r" * 100_000 + b"\n" + b"\r" * 100_000 + b"\n3,4\r\n"
    (batch,) = open_stream(text, "csv")
    assert batch.X.tolist() == [[2.0], [4.0]]


def test_the_format_of_many_digits_is_told_at_once():
    with pytest.raises(ValueError, match="cannot be told"):
        open_stream(b"1" * 200_000 + b"x\n").format  # noqa: B018


@pytest.mark.parametrize("format_", ["vw", "jsonl"])
def test_values_of_a_row(format_):
    row = {"vw": b"1 |" + b" a" * 10, "jsonl": b'{"label": 1, "a": [1, 1, 1, 1, 1, 1, 1, 1]}'}[format_]
    most = {"vw": 10, "jsonl": 11}[format_]  # in jsonl brackets and the label count, too
    assert next(iter(open_stream(row, format_, limits=Limits(values=most)))).n_rows == 1
    with pytest.raises(
        FormatError, match=r"expected at most 9 (features|values) in a row.*Limits\(values=…\)"
    ):
        list(open_stream(row, format_, limits=Limits(values=9)))


@pytest.mark.parametrize("format_", ["csv", "tsv", "jsonl"])
def test_labels_have_a_length(format_):
    row = {"csv": b"%s,1\n", "tsv": b"%s\t1\n", "jsonl": b'{"label": "%s"}\n'}[format_]
    text = row % (b"a" * 1024) + row % (b"b" * 1025) + row % b"c"
    stream = open_stream(text, format_, on_error="skip")
    assert [y for batch in stream for y in batch.y.tolist()] == ["a" * 1024, "c"] and stream.skipped == 1


def test_wide_labels_come_in_smaller_batches():
    text = b"a" * 1000 + b",1\n" + b"b,2\n" * 9999
    batches = list(open_stream(text, "csv"))
    assert len(batches) > 1 and max(batch.y.nbytes for batch in batches) <= 1 << 23
    assert sum(batch.n_rows for batch in batches) == 10_000
    assert [batch.first_row for batch in batches][1] == batches[0].n_rows


# --------------------------------------------------------------------------------------- exact numbers

WORDS = [
    "nan", "inf", "-inf", "infinity", "Infinity", "NaN", "0x1p3", "0x10", "1_0", "1e", "1e+", "1e-", "e5",
    ".", "-", "+", "--1", "+-1", "1.2.3", "1e5.0", "1e1e1", "١", "½", "1d5", "1f", "0b1", "1,0",
]  # fmt: skip
GRAMMAR = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
JSON = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def spellings(n: int) -> list[str]:
    rng = random.Random(1)
    out = list(WORDS)
    out += ["0." + "1" * k + "e-300" for k in range(40, 80)]
    out += ["0" * k + "7e" + "0" * j + "3" for k in (0, 50, 61, 62, 63, 64, 65, 300) for j in (0, 1, 60, 200)]
    out += [f"{'1' * k}.{'1' * 5}e-{k}" for k in range(50, 70)] + [
        "9007199254740993",
        "1" * 400,
        "1" * 300 + "e-299",
    ]
    out += ["0." + "0" * k + f"1e{k}" for k in (22, 340, 5000)] + [
        "1" + "0" * k + f"e-{k}" for k in (22, 340, 4000)
    ]
    while len(out) < n:
        digits = "".join(
            rng.choice("0123456789") for _ in range(rng.choice([1, 3, 17, 18, 19, 25, 61, 70, 130]))
        )
        point = rng.randint(0, len(digits))
        number = digits[:point] + rng.choice([".", ""]) + digits[point:]
        if rng.random() < 0.6:
            number += (
                rng.choice("eE")
                + rng.choice(["", "+", "-"])
                + str(rng.choice([0, 5, 22, 23, 300, 400, 10**9, 10**20]))
            )
        number = rng.choice(["", "", "-", "+"]) + number
        if rng.random() < 0.05:
            at = rng.randrange(len(number) + 1)
            number = number[:at] + rng.choice("eE.+-_x0") + number[at:]
        out.append(number)
    return out


@pytest.mark.parametrize("format_", ["libsvm", "vw", "csv", "tsv", "jsonl"])
def test_every_spelling_is_read_as_python_reads_it_or_refused(format_):
    row = {"libsvm": "1 1:%s\n", "vw": "1 |n a:%s\n", "csv": "1,%s\n", "tsv": "1\t%s\n",
           "jsonl": '{"label": 1, "a": %s}\n'}[format_]  # fmt: skip
    texts = [text for text in spellings(20_000) if not (format_ in ("csv", "jsonl") and "," in text)]
    grammar = JSON if format_ == "jsonl" else GRAMMAR
    good = [text for text in texts if grammar.fullmatch(text) and abs(float(text)) < np.inf]
    options = {"n_features": 1} if format_ == "libsvm" else {"bits": 1}
    options |= {"categorical": [], "header": False} if format_ in ("csv", "tsv") else {}
    stream = open_stream("".join(row % text for text in texts).encode(), format_, on_error="skip", **options)
    found = np.concatenate([np.asarray(batch.X.sum(axis=1)).reshape(-1) for batch in stream])
    wanted = np.asarray([float(text) for text in good])
    assert len(good) > 9_000 and stream.skipped == len(texts) - len(good)
    assert np.array_equal(found, wanted)


def test_an_exponent_that_takes_back_a_million_zeros():
    text = "0." + "0" * 1_000_100 + "1e2000000"
    with pytest.raises(FormatError, match="expected a finite number as value"):
        read_libsvm(f"1 1:{text}\n".encode())
    X, _ = read_libsvm(("1 1:0." + "0" * 1_000_100 + "15e1000099\n").encode())
    assert X.data.tolist() == [0.015]


@pytest.mark.parametrize("format_", ["csv", "tsv", "jsonl"])
def test_integer_labels_are_kept_exactly(format_):
    row = {"csv": "%s,1\n", "tsv": "%s\t1\n", "jsonl": '{"label": %s}\n'}[format_]
    labels = [9007199254740993, 9007199254740992, -9223372036854775807, 9223372036854775807, 0]
    (batch,) = open_stream("".join(row % label for label in labels).encode(), format_)
    assert batch.y.dtype == np.int64 and batch.y.tolist() == labels
    with pytest.raises(FormatError, match=r"expected .*integer.*label.*labels='text'"):
        list(open_stream((row % 1 + row % 2**63).encode(), format_))
    (batch,) = open_stream((row % (2**63) + row % (2**63 + 1)).encode(), format_, labels="text")
    assert batch.y.tolist() == [str(2**63), str(2**63 + 1)]


@pytest.mark.parametrize("format_", ["libsvm", "vw", "csv", "tsv", "jsonl"])
def test_an_integer_label_among_floats_is_exact_or_refused(format_):
    row = {
        "libsvm": "%s 1:1\n",
        "vw": "%s |a b\n",
        "csv": "%s,1\n",
        "tsv": "%s\t1\n",
        "jsonl": '{"label": %s}\n',
    }
    text = "".join(row[format_] % label for label in ("0.5", 2**53, 2**53 + 1, 2**53 + 2, "007", 2**60))
    stream = open_stream(text.encode(), format_, on_error="skip")
    wanted = [0.5, 2.0**53, 2.0**53 + 2, 7.0, 2.0**60]
    if format_ == "jsonl":
        wanted.remove(7.0)  # no JSON
    assert [y for batch in stream for y in batch.y.tolist()] == wanted
    assert stream.skipped == 6 - len(wanted)


def test_floats_of_json_beyond_2_to_the_53_are_no_labels():
    stream = open_stream(b'{"label": 9007199254740993.0}\n{"label": 1.5}\n', "jsonl", on_error="skip")
    assert [batch.y.tolist() for batch in stream] == [[1.5]] and stream.skipped == 1


# ------------------------------------------------------------------------------------ errors, not crashes


@pytest.mark.parametrize("blank", [b"\x0b", b"\x0c", b"\x1c", b"\x1f", b"\x85", b"\x0b\x0c"])
@pytest.mark.parametrize(
    ("format_", "rows"),
    [
        ("libsvm", [b"%s", b"%s 1:1", b"1 %s", b"1 %s1:1", b"1 1:%s", b"1 1:1 %s"]),
        ("vw", [b"%s", b"%s | a", b"1 |a b:%s", b"1 |a:%s b"]),
        ("csv", [b"1,%s", b"%s,1,1"]),
        ("tsv", [b"1\t%s", b"%s\t1\t1"]),
        ("jsonl", [b"%s", b'{"label": %s}']),
    ],
)
def test_white_space_of_python_is_no_blank(format_, rows, blank):
    """``bytes.split`` takes these for white space, and found no token in them."""
    good = BAD[format_][0]
    for row in rows:
        with pytest.raises(FormatError) as caught:
            more = {"categorical": [], "header": False} if format_ in ("csv", "tsv") else {}
            list(open_stream(good + row % blank + b"\n", format_, **more))
        assert "line 2" in str(caught.value) and "\n" not in str(caught.value)


def test_a_surrogate_half_of_jsonl_beside_other_escapes():
    text = rb'{"label": "\u00e9", "text": "\\u00e9 \u00e9\ud83d\ude00 \n \u0041"}' + b"\n"
    (batch,) = open_stream(text, "jsonl", text_column="text")
    assert batch.X.text(0) == "\\u00e9 é😀 \n A" and batch.y.tolist() == ["é"]
    half = rb'{"label": 1, "text": "a\ud83db\ude00"}' + b"\n"
    with pytest.raises(FormatError, match="half of a surrogate pair"):
        list(open_stream(half, "jsonl", text_column="text"))
    (batch,) = open_stream(half, "jsonl", text_column="text", encoding_errors="replace")
    assert batch.X.text(0) == "a?b?"


def test_keys_beyond_ascii():
    text = '{"étiquette": "ü", "wört": 2, "日": {"é": "ß"}}\n'
    text += '{"\\u00e9tiquette": "ü", "w\\u00f6rt": 2, "日": {"\\u00e9": "ß"}}\n'
    (batch,) = open_stream(text.encode(), "jsonl", label_column="étiquette", bits=10)
    assert batch.y.tolist() == ["ü", "ü"] and (batch.X[[0]] != batch.X[[1]]).nnz == 0 and batch.X.nnz == 4


def test_a_message_is_short_however_long_the_names_are():
    name = "n" * 100_000
    with pytest.raises(FormatError) as caught:
        list(open_stream(f'{{"label": 1, "{name}": NaN}}\n'.encode(), "jsonl"))
    assert len(str(caught.value)) < 300 and "under 'nnn" in str(caught.value)
    with pytest.raises(ValueError, match=r"no column 'x'; it has y, nnn") as caught:
        list(open_stream(f"y,{name[:1000]}\n1,2\n".encode(), "csv", label_column="x"))
    assert len(str(caught.value)) < 300


def test_names_of_parquet_are_shown_on_one_line():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    target = io.BytesIO()
    pq.write_table(pa.table({"y": [1], "a\nb": [np.nan], "n" * 50_000: [1.0]}), target)
    for options in ({}, {"label_column": "z"}):
        with pytest.raises(ValueError, match=r"a\\n") as caught:
            list(open_stream(target.getvalue(), **options))
        assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)
