"""scikit-learn's own checks on every transformer; each expected failure says why."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from perceptrons import preprocessing
from perceptrons.preprocessing import (
    Augmenter,
    Bucketizer,
    CategoricalToBinary,
    OrderedLevels,
    StreamingScaler,
)

TRANSFORMERS = [
    Augmenter(),
    Bucketizer(edges=[-1.0, 0.5], encode="ordinal"),
    Bucketizer(preset="age"),
    CategoricalToBinary(),
    CategoricalToBinary(sparse_output=False),
    OrderedLevels(),
    StreamingScaler(),
    StreamingScaler(center=None),
    StreamingScaler(center="midpoint", scale=False),
    StreamingScaler(densify=True),
]

WORDS = "the check compares answers by their distance, and names have none; encode='ordinal' passes it"

COMPARED = (
    "check_pipeline_consistency",
    "check_estimators_pickle",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
)


def expected_failures(transformer: BaseEstimator) -> dict[str, str]:
    if isinstance(transformer, Bucketizer) and transformer.encode == "label":
        return dict.fromkeys(COMPARED, WORDS)
    return {}


def test_every_public_transformer_is_checked():
    public = {getattr(preprocessing, name) for name in preprocessing.__all__}
    classes = {thing for thing in public if inspect.isclass(thing)}
    assert classes - {Normalizer} == {type(transformer) for transformer in TRANSFORMERS}


@parametrize_with_checks(TRANSFORMERS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)
def test_pandas_answers_carry_the_names(transformer):
    import pandas as pd

    transformer = clone(transformer)
    if isinstance(transformer, CategoricalToBinary):
        transformer.set_params(sparse_output=False)
    table = pd.DataFrame({"a": [1.0, 2.0, 50.0], "b": [3.0, 3.0, 70.0]}, index=[5, 6, 7])
    plain = transformer.fit_transform(table, [0, 1, 1])
    names = transformer.get_feature_names_out()
    named = transformer.set_output(transform="pandas").fit_transform(table, [0, 1, 1])
    assert named.columns.tolist() == list(names) and named.index.tolist() == [5, 6, 7]
    assert np.array_equal(named.to_numpy(), plain)
