"""VW text: labels, importance, tags, namespaces, scales."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons.io import FormatError, open_stream


def only(source, **options):
    (batch,) = open_stream(source, "vw", **options)
    return batch


def test_labels_importance_and_tags():
    batch = only(b"1 2.5 'tag|a x\n-1 |a x\n0.5 third|a x\n2 3 4|a x\n")
    assert batch.y.tolist() == [1.0, -1.0, 0.5, 2.0]
    assert batch.weights.tolist() == [2.5, 1.0, 1.0, 3.0]
    assert only(b"1 |a x\n").weights is None


def test_values_scales_and_defaults():
    X = only(b"1 |a x:3 y:-0.5 z |b:2 x:3 y\n").X
    assert sorted(X.data.tolist()) == [-0.5, 1.0, 2.0, 3.0, 6.0] and X.shape == (1, 1 << 18)


def test_a_column_is_namespace_and_feature():
    X = only(b"1 |a x |b x\n1 |a x x\n1 | x\n1 |b x |a\n").X.toarray()
    assert (X[0] != 0).sum() == 2 and (X[1] != 0).sum() == 1 and X[1].max() == 2.0  # said twice: added
    assert not (X[2] * X[0]).any() and (X[3] * X[0]).sum() == 1.0


def test_the_hash_is_for_ever():
    X = only(b"1 |a x\n1 | x\n").X
    assert X.indices.tolist() == only(b"1 |a x\n1 | x\n", seed=0, bits=18).X.indices.tolist() == COLUMNS
    assert only(b"1 |a x\n1 | x\n", seed=7).X.indices.tolist() != COLUMNS
    assert only(b"1 |a x\n1 | x\n", bits=8).X.indices.tolist() == [column & 255 for column in COLUMNS]


COLUMNS = [29602, 154333]


def test_what_is_accepted():
    batch = only(b"\xef\xbb\xbf1 | a:1 b\r\n\r\n  -1   |  a  \r\n1 |ns \xc3\xa4\xe6\x97\xa5:2")
    assert batch.y.tolist() == [1, -1, 1] and batch.X.nnz == 4


def test_rows_without_labels():
    batch = only(b"| a b\n'tag | c\n|x\n")
    assert batch.y is None and batch.n_rows == 3 and batch.X.nnz == 3
    with pytest.raises(FormatError, match=r"line 2, column 1: expected no label, as before, found '1'"):
        only(b"| a\n1 | b\n")
    with pytest.raises(FormatError, match=r"line 3, column 1: expected a label, as before"):
        only(b"1 | a\n\n| b\n")


def test_numbers_of_many_digits():
    text = "0.1234567890123456789012345"
    batch = only(f"{text} {text} |a:{text} x:{text} y\n".encode())
    value = float(text)
    assert batch.y[0] == value and batch.weights[0] == value
    assert sorted(batch.X.data) == sorted([value * value, value])


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (b"1 a:2 b", 3, "expected label, importance and tag"),
        (b"", None, None),
        (b"1 2", 4, r"expected \| before the features, found the end of the line"),
        (b"1|a x", 1, r"expected a space between the number and \|"),
        (b"1 2|a x", 3, "a tag to Vowpal Wabbit"),
        (b"1 2 3 |a x", 5, "expected label, importance and tag"),
        (b"spam |a x", 1, "expected label, importance and tag"),
        (b"1:0.5 |a x", 1, "Other labels of Vowpal Wabbit are not read"),
        (b"1 -2 |a x", 3, "expected an importance of at least 0, found '-2'"),
        (b"1 |a :3", 6, "expected feature or feature:value, found ':3'"),
        (b"1 |a x:", 6, "expected a finite number as value, found 'x:'"),
        (b"1 |a x:1:2", 6, "expected a finite number as value"),
        (b"1 |a x:one", 6, "expected a finite number as value, found 'x:one'"),
        (b"1 |a x:nan", 6, "finite number"),
        (b"1 |a x:inf", 6, "finite number"),
        (b"1 |a x:1e400", 8, "finite number"),
        (b"1e400 |a x", 1, "finite number"),
        (b"1 |a:x y", 5, "expected a number as the namespace's scale"),
        (b"1 |a\0 y", 5, "expected text, found a NUL byte"),
        (b"1 |a \xff", 6, "expected UTF-8"),
    ],
)
def test_bad_lines(line, column, message):
    text = b"1 |a x\n" + line + b"\n-1 |a y\n"
    if message is not None:
        with pytest.raises(FormatError, match=message) as caught:
            only(text)
        assert caught.value.line == 2 and caught.value.column == column
    stream = open_stream(text, "vw", on_error="skip")
    (batch,) = stream
    assert batch.y.tolist() == [1.0, -1.0] and batch.X.nnz == 2 and stream.skipped == (message is not None)


def test_a_scale_that_makes_infinity():
    with pytest.raises(FormatError, match="expected finite values"):
        only(b"1 |a:1e300 x:1e300\n")
    assert list(open_stream(b"1 |a:1e300 x:1e300\n", "vw", on_error="skip")) == []


def test_bytes_that_are_not_utf8_can_be_replaced():
    X = only(b"1 |a x\xff\n1 |a x\xef\xbf\xbd\n", encoding_errors="replace").X
    assert X.indices[0] == X.indices[1] and np.array_equal(X.data, [1.0, 1.0])


def test_a_feature_whose_values_add_up_to_infinity_is_refused():
    with pytest.raises(FormatError, match="expected finite values, found values of one column that add up"):
        only(b"1 |a x:1.7e308 x:1.7e308\n")
