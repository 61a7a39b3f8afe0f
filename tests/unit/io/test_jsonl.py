"""jsonl: features by name, texts, labels, bad lines."""

from __future__ import annotations

import json

import pytest

from perceptrons.io import FormatError, open_stream


def only(*rows, **options):
    text = b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)
    (batch,) = open_stream(text, "jsonl", **options)
    return batch


def test_features_of_every_kind():
    row = {
        "label": 1,
        "a": 2.5,
        "b": "red",
        "c": True,
        "d": None,
        "e": ["p", "q"],
        "f": [3, 0, 4],
        "g": {"h": 5},
    }
    X = only(row).X
    assert sorted(X.data.tolist()) == [1.0, 1.0, 1.0, 1.0, 2.5, 3.0, 4.0, 5.0]
    flat = only({"label": 1, "f.0": 3, "f.2": 4, "g.h": 5, "a": 2.5, "b": "red", "c": 1, "e": ["q", "p"]}).X
    assert (flat != X).nnz == 0


def test_texts_and_weights():
    rows = [{"y": "spam", "t": "buy ☃", "w": 2}, {"y": "ham", "t": "", "w": 0.5, "more": 1}]
    batch = only(*rows, label_column="y", text_column="t", weight_column="w")
    assert [batch.X.text(0), batch.X.text(1)] == ["buy ☃", ""]
    assert batch.y.tolist() == ["spam", "ham"] and batch.weights.tolist() == [2.0, 0.5]
    assert only({"a": 1}, label_column=None).y is None


@pytest.mark.parametrize(
    ("labels", "kind", "wanted"),
    [
        ([1, 0], "auto", [1, 0]),
        ([1, 0.5], "auto", [1.0, 0.5]),
        ([1, "b"], "auto", ["1", "b"]),
        ([1, 2], "text", ["1", "2"]),
        ([1, 2], "number", [1.0, 2.0]),
    ],
)
def test_kinds_of_labels(labels, kind, wanted):
    y = only(*({"label": label, "a": 1} for label in labels), labels=kind).y
    assert y.tolist() == wanted


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"label": 1, "a": }', r"line 2, column 19: expected JSON"),
        (b'{"label": 1', r"line 2, column 12: expected JSON"),
        (b"[1, 2]", r"line 2, column 1: expected an object"),
        (b'{"a": 1}', r"expected the key 'label'"),
        (b'{"label": null}', r"expected an integer as label, as before, found 'null'"),
        (b'{"label": NaN}', r"expected a number as label, found 'NaN'"),
        (b'{"label": [1]}', r"expected an integer as label, as before"),
        (b'{"label": 1, "a": NaN}', r"expected a finite number"),
        (b'{"label": 1, "a": 1e400}', r"expected a finite number"),
        (b'{"label": 1, "a": 1' + b"0" * 400 + b"}", r"expected a finite number"),
        (b'{"label": 1, "a": 1' + b"0" * 5000 + b"}", r"moderate numbers"),
        (b'{"label": 1, "a": ' + b"[" * 100000 + b"]" * 100000 + b"}", r"moderate depth"),
        (b'{"label": 1, "a": "\\ud800"}', r"half of a surrogate pair.*replace"),
        (b'{"label": 1, "' + b"n" * 10000 + b'": [' + b"1, " * 10000 + b"1]}", r"shorter names"),
        (b'{"label": 1, "a": "\xff"}', r"expected UTF-8"),
        (b'{"label": 1}\0', r"a NUL byte"),
    ],
)
def test_bad_lines(line, message):
    text = b'{"label": 1, "a": 1}\n' + line + b'\n{"label": 0, "a": 1}\n'
    with pytest.raises(FormatError, match=message) as caught:
        list(open_stream(text, "jsonl"))
    assert caught.value.line == 2 and len(str(caught.value)) < 300
    stream = open_stream(text, "jsonl", on_error="skip")
    assert [batch.y.tolist() for batch in stream] == [[1, 0]] and stream.skipped == 1


def test_a_label_of_another_kind_later():
    text = b'{"label": 1, "a": 1}\n' * 5 + b'{"label": "x"}\n'
    with pytest.raises(FormatError, match=r"line 6, .* an integer .* found '\"x\"'. labels='text'"):
        list(open_stream(text, "jsonl", batch_bytes=64))


def test_bad_texts_and_weights():
    with pytest.raises(FormatError, match="expected a string under 't', found '5'"):
        only({"label": 1, "t": 5}, text_column="t")
    with pytest.raises(FormatError, match="expected a number of at least 0 under 'w', found '-1'"):
        only({"label": 1, "w": -1}, weight_column="w")
    with pytest.raises(ValueError, match="In jsonl columns are keys; give text_column as a string"):
        only({"label": 1}, text_column=1)


def test_half_characters_can_be_replaced():
    batch = only(b'{"label": 1, "t": "a\\ud800b"}', text_column="t", encoding_errors="replace")
    assert batch.X.text(0) == "a?b"


def test_an_empty_key_is_a_name_like_others():
    assert only({"label": 1, "": 5}).X.data.tolist() == [5.0]
