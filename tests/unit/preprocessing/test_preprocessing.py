"""Preprocessing by cases one can check on paper, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from perceptrons.preprocessing import (
    EDUCATION,
    Augmenter,
    Bucketizer,
    CategoricalToBinary,
    OrderedLevels,
    StreamingScaler,
    best_constant,
)

# ---------------------------------------------------------------------------------------- buckets


def test_an_edge_belongs_to_the_lower_bucket():
    values = [[24.99], [25], [25.01], [65], [66], [-1e300], [1e300]]
    ages = Bucketizer(preset="age").fit_transform(values).ravel().tolist()
    assert ages == ["Young", "Young", "Middle-aged", "Senior", "Old", "Young", "Old"]


def test_missing_values_have_a_bucket_of_their_own():
    values = np.array([[30, None], [np.nan, 70]], dtype=object)
    assert Bucketizer(preset="age").fit_transform(values).tolist() == [
        ["Middle-aged", "missing"],
        ["missing", "Old"],
    ]
    assert Bucketizer(preset="age", encode="ordinal").fit_transform(values).tolist() == [[1, 4], [4, 3]]
    assert Bucketizer(preset="age", missing_label="?").fit_transform(values)[1, 0] == "?"


def test_buckets_without_names_are_written_out():
    assert Bucketizer(edges=[0.5]).fit([[0.0]]).labels_ == ["(-inf, 0.5]", "(0.5, inf)"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "needs either edges or a preset, one of 'age', 'hours'"),
        ({"edges": [1], "preset": "age"}, "needs either edges or a preset"),
        ({"preset": "height"}, "preset must be one of 'age', 'hours'; got preset='height'"),
        ({"edges": [2, 1]}, r"edges must be finite numbers in ascending order; got edges=\[2, 1\]"),
        ({"edges": [1, 1]}, "ascending"),
        ({"edges": [0, np.inf]}, "finite"),
        ({"edges": []}, "ascending"),
        ({"edges": [1, 2], "labels": ["low", "high"]}, "labels must name 3 buckets.*got 2"),
        ({"edges": [1], "encode": "onehot"}, "encode must be one of 'label', 'ordinal'"),
    ],
)
def test_bad_buckets_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        Bucketizer(**params).fit([[1.0]])


def test_words_are_no_numbers():
    with pytest.raises(ValueError, match="could not convert string to float"):
        Bucketizer(preset="age").fit([["old"]])


# ------------------------------------------------------------------------------------- categories


def test_two_values_are_one_column_and_one_value_is_none():
    rows = np.array([["a", "x", "same"], ["b", "y", "same"], ["c", "x", "same"]], dtype=object)
    binary = CategoricalToBinary(sparse_output=False).fit(rows)
    assert binary.get_feature_names_out().tolist() == ["x0_a", "x0_b", "x0_c", "x1_y"]
    assert binary.transform(rows).tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_constant_columns_alone_leave_nothing():
    for sparse in (True, False):
        binary = CategoricalToBinary(sparse_output=sparse).fit([["z"], ["z"]])
        assert binary.transform([["z"], ["other"]]).shape == (2, 0)


def test_a_missing_value_is_a_value():
    rows = np.array([["a"], [None], ["b"]], dtype=object)
    binary = CategoricalToBinary(sparse_output=False).fit(rows)
    assert binary.get_feature_names_out(["c"]).tolist() == ["c_a", "c_b", "c_None"]
    assert binary.transform(rows).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_an_unknown_value_is_zeros_or_an_error():
    rows = [["a", 1], ["b", 2], ["c", 2]]
    unseen = [["d", 3]]
    assert CategoricalToBinary(sparse_output=False).fit(rows).transform(unseen).tolist() == [[0, 0, 0, 0]]
    strict = CategoricalToBinary(unknown="error").fit(np.array(rows, dtype=object))
    with pytest.raises(ValueError, match=r"unknown categories \['d'\] in column 0"):
        strict.transform(np.array(unseen, dtype=object))
    with pytest.raises(ValueError, match="unknown must be one of 'zeros', 'error'; got unknown='nan'"):
        CategoricalToBinary(unknown="nan").fit(rows)


def test_education_is_a_level_from_1_to_16():
    names = np.array(EDUCATION, dtype=object)[:, None]
    assert OrderedLevels(levels="education").fit_transform(names).ravel().tolist() == list(range(1, 17))
    assert OrderedLevels(levels="education").fit(names[:3]).transform([["Doctorate"]]) == 16


def test_an_unknown_level_is_named():
    school = OrderedLevels(levels="education")
    with pytest.raises(ValueError, match=r"'Kindergarten'.*'Preschool' \(1\) to 'Doctorate' \(16\)"):
        school.fit([["HS-grad"], ["Kindergarten"]])
    with pytest.raises(ValueError, match=r"'\?'.*in column 0 during transform.*give levels"):
        school.fit([["HS-grad"]]).transform([["?"]])


def test_a_missing_level_is_an_error():
    rows = np.array([["HS-grad"], [None]], dtype=object)
    with pytest.raises(ValueError, match=r"\[None\].*give levels"):
        OrderedLevels(levels="education").fit(rows)
    with pytest.raises(ValueError, match=r"Column 0 of X has missing values \(None\)"):
        OrderedLevels().fit(rows)
    assert np.array_equal(OrderedLevels().fit_transform([[5.0], [np.nan]]), [[1.0], [np.nan]], equal_nan=True)


def test_levels_of_ones_own():
    sizes = OrderedLevels(levels=("S", "M", "L")).fit([["M", "S"]])
    assert sizes.transform([["L", "M"]]).tolist() == [[3, 2]]
    assert OrderedLevels().fit([["b"], ["a"]]).transform([["b"]]) == 2
    for levels, message in (
        (["a", "a"], "each level once"),
        ("schools", "must be 'education'"),
        ([], "once"),
    ):
        with pytest.raises(ValueError, match=message):
            OrderedLevels(levels=levels).fit([["a"]])


# ---------------------------------------------------------------------------------- centre, scale


def test_scale_is_that_of_the_population():
    scaler = StreamingScaler().fit([[0.0, 7.0], [2.0, 7.0], [4.0, 7.0]])
    assert scaler.mean_.tolist() == [2, 7] and np.allclose(scaler.var_, [8 / 3, 0])
    assert np.allclose(scaler.scale_, [np.sqrt(8 / 3), 1.0])
    assert scaler.n_samples_seen_ == 3


def test_a_constant_column_stays_constant_whatever_the_rounding():
    X = np.full((1000, 1), 0.1)
    scaler = StreamingScaler()
    for start in range(0, 1000, 7):
        scaler.partial_fit(X[start : start + 7])
    assert scaler.scale_.tolist() == [1.0]
    assert np.abs(scaler.transform(X)).max() < 1e-15


def test_large_numbers_close_together_keep_their_digits():
    X = 1e9 + np.arange(100.0)[:, None]
    scaler = StreamingScaler()
    for x in X:
        scaler.partial_fit([x])
    assert np.isclose(scaler.var_[0], np.arange(100.0).var(), rtol=1e-9)


def test_sparse_rows_are_not_filled_unasked():
    X = sp.csr_array(np.eye(3))
    with pytest.raises(ValueError, match="fill a sparse matrix: pass center=None, or densify=True"):
        StreamingScaler().fit(X)
    scaled = StreamingScaler(center=None).fit_transform(X)
    assert sp.issparse(scaled) and np.allclose(scaled.toarray(), np.eye(3) / np.std([1, 0, 0]))
    assert isinstance(StreamingScaler(densify=True).fit_transform(X), np.ndarray)
    untouched = StreamingScaler(center=None, scale=False).fit_transform(X)
    assert (untouched != X).nnz == 0


def test_an_entry_in_two_parts_is_one_entry():
    X = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    scaler = StreamingScaler(center=None).fit(X)
    assert scaler.mean_.tolist() == [3.5] and scaler.var_.tolist() == [0.25] and X.nnz == 3


def test_float32_stays_float32():
    X = np.array([[1, 2], [3, 5]], dtype=np.float32)
    assert StreamingScaler().fit_transform(X).dtype == np.float32
    assert StreamingScaler(center=None).fit_transform(sp.csr_array(X)).dtype == np.float32
    assert StreamingScaler(center=None).fit(X).mean_.dtype == np.float64


def test_the_midpoint_lies_between_the_classes():
    X, y = np.array([[0.0], [0.0], [0.0], [4.0]]), np.array(["a", "a", "a", "b"])
    assert StreamingScaler(scale=False).fit(X).center_.tolist() == [1.0]
    middle = StreamingScaler(center="midpoint", scale=False).fit(X, y)
    assert middle.center_.tolist() == [2.0] and middle.mean_.tolist() == [1.0]
    assert {label: mean.tolist() for label, mean in middle.class_means_.items()} == {"a": [0], "b": [4]}
    piecewise = StreamingScaler(center="midpoint", scale=False)
    for row, label in zip(X, y):
        piecewise.partial_fit([row], [label])
    assert piecewise.center_.tolist() == [2.0]


def test_the_midpoint_needs_two_classes():
    with pytest.raises(ValueError, match="requires y to be passed"):
        StreamingScaler(center="midpoint").fit([[1.0]])
    with pytest.raises(ValueError, match="needs two classes; got one class: 5"):
        StreamingScaler(center="midpoint").fit([[1.0], [2.0]], [5, 5])
    with pytest.raises(
        ValueError, match="center must be one of 'mean', 'midpoint', None; got center='median'"
    ):
        StreamingScaler(center="median").fit([[1.0]])


def test_centring_the_unbalanced_example_of_the_specification():
    X = np.repeat([[1.0, 0.0], [-1.0, 0.0]], [95, 5], axis=0)
    y = np.repeat([1, -1], [95, 5])
    at_mean = np.abs(StreamingScaler(scale=False).fit_transform(X)[:, 0])
    at_middle = np.abs(StreamingScaler(center="midpoint", scale=False).fit(X, y).transform(X)[:, 0])
    assert np.isclose(at_mean.max(), 1.9) and np.isclose(at_mean.min(), 0.1)
    assert np.allclose(at_middle, 1.0)


def test_fit_forgets_and_partial_fit_does_not():
    scaler = StreamingScaler().fit([[100.0]]).fit([[1.0], [3.0]])
    assert scaler.mean_.tolist() == [2.0]
    assert scaler.partial_fit([[5.0]]).mean_.tolist() == [3.0]


# ----------------------------------------------------------------------------------- augmentation


def test_the_constant_is_the_last_coordinate():
    X = np.array([[1.0, 2.0], [0.0, 0.0]])
    expected = [[1, 2, -3], [0, 0, -3]]
    augment = Augmenter(B=-3.0).fit(X)
    assert augment.transform(X).tolist() == expected
    for make in (sp.csr_array, sp.csr_matrix):
        assert augment.transform(make(X)).toarray().tolist() == expected
    assert augment.get_feature_names_out().tolist() == ["x0", "x1", "constant"]


@pytest.mark.parametrize("B", [0.0, np.nan, np.inf, "1", None])
def test_a_bad_constant_is_refused(B):
    with pytest.raises(ValueError, match="B must be a finite number other than 0"):
        Augmenter(B=B).fit([[1.0]])


def test_best_constant():
    assert best_constant(R=9.0, b=-4.0) == 6.0 and best_constant(R=9.0, b=0.0) == 0.0
    with pytest.raises(ValueError, match="R must be a positive number; got R=-1"):
        best_constant(R=-1, b=1)
    with pytest.raises(ValueError, match="b must be a finite number"):
        best_constant(R=1, b=float("nan"))


# --------------------------------------------------------------------------------------- together


def test_raw_columns_to_rows():
    raw = np.array(
        [
            [39, "Bachelors", "State-gov", "Male", 40],
            [70, "HS-grad", "Private", "Female", 13],
            [20, "9th", None, "Male", 61],
        ],
        dtype=object,
    )
    prepared = make_pipeline(
        make_column_transformer(
            (make_pipeline(Bucketizer(preset="age"), CategoricalToBinary()), [0]),
            (OrderedLevels(levels="education"), [1]),
            (CategoricalToBinary(), [2, 3]),
            (make_pipeline(Bucketizer(preset="hours"), CategoricalToBinary()), [4]),
            sparse_threshold=0.0,
        ),
        StreamingScaler(),
    )
    X = prepared.fit_transform(raw)
    assert X.shape == (3, 3 + 1 + (3 + 1) + 3)
    assert np.allclose(X.mean(axis=0), 0.0) and np.allclose(X.std(axis=0), 1.0)
    names = prepared.get_feature_names_out().tolist()
    assert "pipeline-1__x0_Middle-aged" in names and "categoricaltobinary__x3_Male" in names


@pytest.mark.parametrize(
    "transformer",
    [Augmenter(), Bucketizer(preset="age"), CategoricalToBinary(), OrderedLevels(), StreamingScaler()],
)
def test_transform_comes_after_fit(transformer):
    with pytest.raises(NotFittedError):
        transformer.transform([[1.0]])
