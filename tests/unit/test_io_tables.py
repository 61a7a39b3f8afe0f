"""csv and tsv: headers, quotes, kinds of columns and labels, texts."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons.io import FormatError, Limits, Texts, open_stream


def only(source, *args, **options):
    """The one batch of a source."""
    (batch,) = open_stream(source, *args, **options)
    return batch


def texts(batch):
    return [batch.X.text(i) for i in range(len(batch.X))]


# ------------------------------------------------------------------------------------------------- numbers


def test_numbers_become_a_dense_array():
    batch = only(b"1,0.5,-2e1\n0, 3 ,4.25\n", "csv")
    assert batch.X.tolist() == [[0.5, -20.0], [3.0, 4.25]] and batch.X.dtype == np.float64
    assert batch.y.tolist() == [1, 0] and batch.y.dtype == np.int64 and batch.weights is None


def test_columns_by_name_and_from_the_end():
    text = b"a,w,b,y\n1,2,3,0\n4,0.5,6,1\n"
    batch = only(text, "csv", label_column="y", weight_column="w")
    assert batch.X.tolist() == [[1, 3], [4, 6]] and batch.weights.tolist() == [2.0, 0.5]
    assert only(text, "csv", label_column=-1).y.tolist() == [0, 1]
    assert only(text, "csv", label_column=None).y is None
    with pytest.raises(ValueError, match=r"no column 'z'; it has a, w, b, y"):
        list(open_stream(text, "csv", label_column="z"))
    with pytest.raises(ValueError, match="4 columns; there is no column 4"):
        list(open_stream(text, "csv", label_column=4))
    with pytest.raises(ValueError, match="has no header"):
        list(open_stream(b"1,2\n", "csv", label_column="y", header=False))


@pytest.mark.parametrize(
    ("text", "rows"),
    [(b"y,x\n1,2\n", 1), (b"label,x\na,b\n", 1), (b"1,2\n3,4\n", 2), (b"a,b\nc,d\n", 2), (b"a,1\nb,2\n", 2)],
)
def test_a_header_is_recognised(text, rows):
    assert only(text, "csv").n_rows == rows


def test_header_said():
    assert only(b"1,2\n3,4\n", "csv", header=True).n_rows == 1
    assert only(b"label,x\na,b\n", "csv", header=False).n_rows == 2
    assert list(open_stream(b"y,x\n", "csv")) == []


def test_every_file_has_its_header(tmp_path):
    for name, rows in (("a.csv", "1,2\n"), ("b.csv", "3,4\n")):
        (tmp_path / name).write_text("y,x\n" + rows)
    batches = list(open_stream([tmp_path / "a.csv", tmp_path / "b.csv"]))
    assert [batch.y.tolist() for batch in batches] == [[1], [3]]
    assert [batch.first_row for batch in batches] == [0, 1]
    (tmp_path / "b.csv").write_text("y,z\n1,2\n")
    with pytest.raises(FormatError, match="expected the header of the first file, found 'y,z'"):
        list(open_stream([tmp_path / "a.csv", tmp_path / "b.csv"]))


# -------------------------------------------------------------------------------------------------- quotes


def test_quotes_as_in_rfc_4180():
    batch = only(b'"spam","buy, ""now"""\n"ham",see you\nham,\n', "csv", text_column=1)
    assert texts(batch) == ['buy, "now"', "see you", ""] and batch.y.tolist() == ["spam", "ham", "ham"]


def test_tsv_has_no_quotes_and_the_last_text_may_hold_tabs():
    batch = only(b'spam\t"buy\tnow\nham\tsee "you"\n', "tsv", text_column=1)
    assert texts(batch) == ['"buy\tnow', 'see "you"']


def test_a_text_in_the_middle():
    batch = only(b"id\ttext\tlabel\n7\thello\tyes\n", "tsv", text_column="text", label_column="label")
    assert texts(batch) == ["hello"] and batch.y.tolist() == ["yes"]


def test_other_delimiters():
    assert only(b"1;2,5\n0;3\n", "csv", delimiter=";", label_column=0, categorical=[1]).n_rows == 2
    assert only(b"1|2\n", "csv", delimiter="|").X.tolist() == [[2.0]]
    for bad in ("", ",,", "5", "e", '"', "é"):
        with pytest.raises(ValueError, match="delimiter must be one character"):
            list(open_stream(b"1,2\n", "csv", delimiter=bad or "\n"))


# --------------------------------------------------------------------------------------------------- words


def test_words_are_hashed_by_name():
    text = b"y,age,job\n1,31,clerk\n0,0,\n1,45,clerk\n"
    X = only(text, "csv", label_column="y", bits=10).X
    assert X.shape == (3, 1024) and X.has_canonical_format
    rows = X.toarray()
    assert sorted(rows[0][rows[0] != 0]) == [1.0, 31.0] and rows[1].sum() == 0.0
    assert rows[0].argmin() == rows[2].argmin() and (rows[0] == 1.0).tolist() == (rows[2] == 1.0).tolist()
    other = only(text, "csv", label_column="y", bits=10, seed=1).X.toarray()
    assert not np.array_equal(rows, other)


def test_jsonl_and_csv_agree_on_columns():
    table = only(b"label,age,job\n1,31,clerk\n", "csv")
    lines = only(b'{"label": 1, "age": 31, "job": "clerk"}\n', "jsonl")
    assert (table.X != lines.X).nnz == 0


def test_names_on_one_column_are_added():
    X = only(b"y,a,b,c,d\n1,1,2,4,x\n", "csv", bits=1).X
    assert X.sum() == 8.0 and X.nnz <= 2


def test_a_stray_word_among_numbers_is_an_error_with_a_way_out():
    text = b"y,age,z\n1,31,0\n0,unknown,0\n1,45,0\n"
    with pytest.raises(
        FormatError, match=r"line 3, column 3: .*a finite number, found 'unknown'.*categorical"
    ):
        list(open_stream(text, "csv"))
    stream = open_stream(text, "csv", on_error="skip")
    assert [batch.X.tolist() for batch in stream] == [[[31.0, 0.0], [45.0, 0.0]]] and stream.skipped == 1
    assert only(text, "csv", categorical=["age"]).X.shape == (3, 1 << 18)


@pytest.mark.parametrize("value", ["nan", "inf", "1e400", "", "1,5", "0x10", "1_0"])
def test_values_that_are_no_finite_numbers(value):
    rows = "".join(f"1;{v}\n" for v in ["1", "2", value, "3"]).encode()
    with pytest.raises(FormatError, match=r"line 3, column 3: expected a finite number"):
        list(open_stream(rows, "csv", delimiter=";"))


# -------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "kind", "wanted"),
    [
        (["1", "-2"], "auto", [1, -2]),
        (["1", "2.5"], "auto", [1.0, 2.5]),
        (["1", "b"], "auto", ["1", "b"]),
        (["1", "2"], "text", ["1", "2"]),
        (["1", "2"], "number", [1.0, 2.0]),
        ([" a", "b "], "auto", ["a", "b"]),
        (["ä", "日本"], "auto", ["ä", "日本"]),
    ],
)
def test_kinds_of_labels(labels, kind, wanted):
    batch = only("".join(f"{label},1\n" for label in labels).encode(), "csv", labels=kind)
    assert batch.y.tolist() == wanted and batch.y.dtype == np.asarray(wanted).dtype


def test_a_label_of_another_kind_later():
    text = b"1,1\n" * 10 + b"1.5,1\n"
    with pytest.raises(FormatError, match=r"line 11, column 1: expected an integer.*'1.5'.*labels='text'"):
        list(open_stream(text, "csv", batch_bytes=16))
    with pytest.raises(FormatError, match="line 2, column 1: expected a number as label, found 'b'"):
        list(open_stream(b"1,1\nb,1\n", "csv", labels="number"))
    with pytest.raises(FormatError, match="line 2, column 1: expected a label, found nothing"):
        list(open_stream(b"a,1\n,1\n", "csv"))


def test_many_labels_and_too_many():
    names = [f"class {i}" for i in range(500)]
    text = "".join(f"{name}\ttext of {name}\n" for name in names * 2).encode()
    batch = only(text, "tsv", text_column=1)
    assert batch.y.tolist() == names * 2
    with pytest.raises(FormatError, match="line 101, column 1: expected at most 100 different labels"):
        list(open_stream(text, "tsv", text_column=1, limits=Limits(labels=100)))


# ---------------------------------------------------------------------------------------------- bad lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1,2,3\n1,2\n", r"line 2, column 1: expected 3 fields, found fewer in '1,2'"),
        (b"1,2\n1,2,3\n", r"line 2, column 1: expected 2 fields, found more .* between quotes"),
        (b'a,"b\nc",1\n', r"expected a closing quote .* Line breaks within quotes are not read"),
        (b'1,2\n1,"2\n', r"line 2, column 1: expected a closing quote"),
        (b'1,2\n1,"2"3\n', r"line 2, column 1: expected ',' or the end of the line after a closing quote"),
    ],
)
def test_lines_that_do_not_fit(text, message):
    with pytest.raises(FormatError, match=message):
        list(open_stream(text, "csv", header=False))


def test_weights():
    text = b"1,2,x\n0,-1,y\n"
    with pytest.raises(FormatError, match="line 2, column 3: expected a weight of at least 0, found '-1'"):
        list(open_stream(text, "csv", weight_column=1, text_column=2))
    stream = open_stream(text, "csv", weight_column=1, text_column=2, on_error="skip")
    (batch,) = stream
    assert batch.weights.tolist() == [2.0] and batch.y.tolist() == [1] and texts(batch) == ["x"]


def test_precision():
    assert only(b"1,0.1\n", "csv", dtype="float32").X.dtype == np.float32
    for text, format_ in ((b"1,1e39\n", "csv"), (b"1 1:1e39\n", "libsvm"), (b"1 |a b:1e39\n", "vw")):
        with pytest.raises(FormatError, match="within float32, found 1e\\+39"):
            list(open_stream(text, format_, dtype="float32"))


def test_texts():
    some = Texts.of(["spam", b"ham", ""])
    assert len(some) == 3 and some.raw(1) == b"ham" and some.text(2) == "" and len(some.after(2)) == 1
    assert len(Texts.of([])) == 0
