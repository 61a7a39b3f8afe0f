"""fastText's supervised format: labels are words with a prefix, anywhere in a line."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons.io import FormatError, Limits, open_stream

pytestmark = pytest.mark.uncompiled


def read(content, **how):
    """(texts without blanks around them, labels)"""
    texts, y = [], []
    for batch in open_stream(content, **{"format": "fasttext", **how}):
        texts += [batch.X.text(i).strip() for i in range(len(batch.X))]
        y += [None] * len(batch.X) if batch.y is None else batch.y.tolist()
    return texts, y


LINES = (
    b"__label__a __label__b some text here\n"
    b"no label at all\n"
    b"\n"
    b"__label__a\ttabs too\r\n"
    b"in the __label__c middle, and at the end __label__b\n"
    b"__label__a __label__a x__label__y is a word\n"
)


def test_labels_are_words_with_the_prefix_wherever_they_stand():
    texts, y = read(LINES)
    assert [" ".join(text.split()) for text in texts] == [
        "some text here",
        "tabs too",
        "in the middle, and at the end",
        "x__label__y is a word",
    ]
    assert y == [("a", "b"), ("a",), ("c", "b"), ("a", "a")]


def test_a_line_without_a_label_is_left_out_unless_labels_are_not_read():
    assert len(read(LINES)[0]) == 4
    texts, y = read(LINES, labels="ignore")
    assert texts[1] == "no label at all" and y == [None] * 5
    assert read(LINES, label_column=None) == (texts, y)


def test_one_label_a_line():
    texts, y = read(b"__label__a x\n__label__b y\n")
    assert (texts, y) == (["x", "y"], ["a", "b"])
    batch = next(iter(open_stream(b"__label__a x\n__label__b y\n", labels="several")))
    assert batch.y.tolist() == [("a",), ("b",)] and batch.y.dtype == object


def test_the_first_batch_decides():
    one = b"__label__a x\n" * 4
    with pytest.raises(FormatError, match="line 5, column 1: expected one label on a line, as before"):
        read(one + b"__label__a __label__b y\n", batch_bytes=len(one))
    assert len(read(one + b"__label__a __label__b y\n", batch_bytes=len(one), labels="several")[0]) == 5
    skipped = read(one + b"__label__a __label__b y\n", batch_bytes=len(one), on_error="skip")
    assert skipped == (["x"] * 4, ["a"] * 4)


def test_another_prefix_and_another_script():
    assert read("#größe ein Wort\n#klein 字\n".encode(), label_prefix="#") == (
        ["ein Wort", "字"],
        ["größe", "klein"],
    )


@pytest.mark.parametrize(
    "content, how, words",
    [
        (b"__label__a x\n__label__ y\n", {}, "line 2, column 1: expected a name after __label__"),
        (b"__label__" + b"a" * 30 + b" x\n", {"limits": Limits(label_bytes=10)}, "at most 10 bytes"),
        (b"__label__a __label__b __label__c x\n", {"limits": Limits(values=2)}, "at most 2 labels"),
        (b"__label__a x\n__label__b x\n", {"limits": Limits(labels=1)}, "line 2.*at most 1 different"),
        (b"__label__a \xff\n", {}, "expected UTF-8"),
        (b"__label__a x\n", {"labels": "number"}, "labels of format 'fasttext'"),
        (b"__label__a x\n", {"label_prefix": "a b"}, "label_prefix must be a word"),
        (b"__label__a x\n", {"label_prefix": ""}, "label_prefix must be a word"),
    ],
)
def test_refused(content, how, words):
    with pytest.raises(ValueError, match=words):
        read(content, **how)


def test_the_format_is_told_by_the_first_lines(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(LINES)
    stream = open_stream(path)
    assert stream.format == "fasttext"
    assert sum(batch.n_rows for batch in stream) == 4 and stream.layout["labels"] == "several"


def test_batches_of_any_size_hold_the_same_lines():
    rng = np.random.default_rng(3)
    parts = [b"__label__a", b"__label__bb", b"word", b"two  ", b"\t", b"__label", b"x__label__"]
    lines = [
        b" ".join(parts[j] for j in rng.integers(len(parts), size=rng.integers(1, 7))) for _ in range(60)
    ]
    content = b"\n".join(lines) + b"\n"
    expected = []
    for line in lines:
        words = line.split()
        labels = tuple(w[9:].decode() for w in words if w.startswith(b"__label__"))
        if labels:
            expected.append((" ".join(w.decode() for w in words if not w.startswith(b"__label__")), labels))
    for size in (16, 100, 1 << 20):
        texts, y = read(content, labels="several", batch_bytes=size)
        assert [(" ".join(t.split()), labels) for t, labels in zip(texts, y, strict=True)] == expected
