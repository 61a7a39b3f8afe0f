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
    assert only(b"1,2\n3,4\n", "csv", header=True, label_column=0).n_rows == 1
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


# ---------------------------------------------------------------------------------------- roles of columns


def test_the_label_is_found_by_its_name():
    batch = only(b"customer_id,age,Target\n7,41,1\n8,17,0\n", "csv")
    assert batch.y.tolist() == [1, 0] and batch.X.tolist() == [[7, 41], [8, 17]]
    for text, said in (
        (
            b"customer_id,age,churn\n7,41,1\n",
            "say which is the label; the columns are customer_id, age, churn",
        ),
        (b"y,age,class\n7,41,1\n", "say which of y, class is the label; the columns are y, age, class"),
    ):
        with pytest.raises(ValueError, match=f"one column named label, target, class or y, or .*{said}"):
            list(open_stream(text, "csv"))
    assert only(b"customer_id,age,churn\n7,41,1\n", "csv", label_column=0).y.tolist() == [7]
    assert only(b"7,41,1\n", "csv").y.tolist() == [7]  # without a header it is the first


def test_the_text_is_found_by_its_name():
    assert texts(only(b"id\ttext\tlabel\n1\tto be\tyes\n", "tsv", text_column="auto")) == ["to be"]
    assert texts(only(b"label,id,text\nyes,1,to be\n", "csv", text_column="auto")) == ["to be"]
    assert texts(only(b"review,label\nto be,yes\n", "csv", text_column="auto")) == ["to be"]


def test_features_by_name_and_in_order():
    text = b"id,b,a,label\n7,1,2,yes\n"
    assert only(text, "csv", columns=["a", "b"]).X.tolist() == [[2, 1]]
    stream = open_stream(text, "csv", columns=["a", "b"])
    list(stream)
    again = only(b"b,label,a\n3,no,4\n", "csv", **{k: v for k, v in stream.layout.items() if k != "format"})
    assert again.X.tolist() == [[4, 3]]
    with pytest.raises(ValueError, match="no column 'c'; it has id, b, a, label"):
        list(open_stream(text, "csv", columns=["c"]))
    with pytest.raises(ValueError, match="columns must name each column of features once"):
        list(open_stream(text, "csv", columns=["a", "label"]))


def test_labels_that_are_not_read_may_be_missing():
    for text in (b"a,b\n1,2\n", b"a,label,b\n1,,2\n", b"a,label,b\n1,yes,2\n"):
        batch = only(text, "csv", label_column="label", labels="ignore")
        assert batch.y is None and batch.X.tolist() == [[1, 2]]
    assert only(b"a,b\n1,2\n", "csv", header=True, labels="ignore").X.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="no column 'label'"):
        list(open_stream(b"a,b\n1,2\n", "csv", label_column="label"))


def test_another_delimiter_is_named():
    for text in (b"y;a;b\n1;2;3\n", b"1;2;3\n"):
        with pytest.raises(ValueError, match=r"one column, '.;.;.': its delimiter is not ','; give .*';'"):
            list(open_stream(text, "csv", categorical=[]))
    assert only(b"1\n2\n", "csv", categorical=[]).X.shape == (2, 0)  # nothing but labels


# ---------------------------------------------------------------------------------------- missing numbers

HOLES = b"y,a,b\n1,,10\n0,2,NA\n1,4,20\n0,?,null\n1,nan,N/A\n0,None,30\n"


def test_missing_numbers():
    with pytest.raises(
        FormatError, match=r"line 2.*a finite number, found nothing\. missing=… says"
    ) as caught:
        list(open_stream(HOLES, "csv"))
    assert "categorical" not in str(caught.value)
    zero = only(HOLES, "csv", missing="zero")
    assert zero.X.tolist() == [[0, 10], [2, 0], [4, 20], [0, 0], [0, 0], [0, 30]]
    stream = open_stream(HOLES, "csv", missing="skip")
    (batch,) = stream
    assert batch.X.tolist() == [[4, 20]] and batch.y.tolist() == [1]
    assert stream.missing == (0, 5) and stream.skipped == 0
    for options, said in (
        ({"missing": "median"}, "missing must be one of 'refuse', 'zero', 'mean', 'skip'"),
        ({"missing": "zero", "means": [1, 2]}, "means are for missing='mean'"),
        ({"missing": "mean", "means": [1, np.nan]}, "means must be finite numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            open_stream(HOLES, "csv", **options)
    with pytest.raises(ValueError, match="one for each column of features, 2; got 3"):
        list(open_stream(HOLES, "csv", missing="mean", means=[1, 2, 3]))
    with pytest.raises(ValueError, match="missing is for columns of csv, tsv and parquet; in libsvm"):
        list(open_stream(b"1 1:1\n", "libsvm", missing="mean"))
    with pytest.raises(FormatError, match=r"found 'word'\. categorical="):  # a stray word is none
        list(open_stream(HOLES + b"1,word,3\n", "csv", missing="mean"))


def test_a_missing_number_becomes_the_mean_of_those_before_it():
    stream = open_stream(HOLES, "csv", missing="mean")
    expected = [[0, 10], [2, 10], [4, 20], [3, 15], [3, 15], [3, 30]]
    for _ in range(2):  # every pass has the same rows
        (batch,) = stream
        assert batch.X.tolist() == expected
        assert stream.missing == (7, 0) and stream.layout["means"] == [3, 20]
    frozen = only(b"y,a,b\n1,,\n0,9,\n", "csv", missing="mean", means=stream.layout["means"])
    assert frozen.X.tolist() == [[3, 20], [9, 20]]
    stream.freeze_means()
    assert next(iter(stream)).X[0].tolist() == [3, 10]


@pytest.mark.parametrize("words", [False, True])
def test_means_do_not_depend_on_the_cut_into_batches(words):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-3, 9, (300, 3))
    lines = [",".join("" if rng.random() < 0.3 else repr(float(v)) for v in row) for row in rows]
    text = ("y,a,b,c" + ",w" * words + "\n").encode()
    text += "".join(f"{i % 2},{line}{',x' * words}\n" for i, line in enumerate(lines)).encode()
    found = []
    for batch_bytes in (60, 500, 1 << 20):
        kinds = ["w"] if words else []
        stream = open_stream(
            text, "csv", missing="mean", batch_bytes=batch_bytes, categorical=kinds, labels="number", bits=8
        )
        parts = [batch.X.toarray() if words else batch.X for batch in stream]
        found.append((np.concatenate(parts).tolist(), stream.layout["means"]))
        stream.skip(100)
        assert next(iter(stream)).first_row == 100
        rest = open_stream(
            text, "csv", missing="mean", batch_bytes=batch_bytes, categorical=kinds, labels="number", bits=8
        )
        rest.skip(100)
        parts = [batch.X.toarray() if words else batch.X for batch in rest]
        assert np.concatenate(parts).tolist() == found[0][0][100:]
    assert found[0] == found[1] == found[2]
    if not words:
        present = [[float(v) for v in column if v] for column in zip(*(line.split(",") for line in lines))]
        assert np.allclose(found[0][1], [np.mean(column) for column in present], rtol=1e-12)


def test_a_column_of_many_holes_holds_numbers():
    """Most of its fields are empty: the others decide."""
    batch = only(b"y,a,b\n1,,x\n0,,y\n1,5,x\n", "csv", missing="zero", bits=6)
    numbers = only(b"y,a,b\n1,0,x\n0,0,y\n1,5,x\n", "csv", bits=6)
    assert (batch.X != numbers.X).nnz == 0
    with pytest.raises(FormatError, match="missing=… says"):
        list(open_stream(b"y,a,b\n1,,x\n0,,y\n1,5,x\n", "csv"))
