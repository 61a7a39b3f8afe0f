"""The golden preprocessing, through the public transformers: dense, CSR, and in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from golden.cases import Case, close, load, read

from perceptrons import MaxMargin
from perceptrons.preprocessing import (
    Augmenter,
    Bucketizer,
    CategoricalToBinary,
    Normalizer,
    StreamingScaler,
    best_constant,
)

CASES = load("preprocessing")
MATRICES = {
    "center": lambda params: StreamingScaler(scale=False, densify=True),
    "standardize": lambda params: StreamingScaler(densify=True),
    "l2": lambda params: Normalizer(),
    "linf": lambda params: Normalizer(norm="max"),
    "augment": lambda params: Augmenter(B=params["bias"]),
}


def of(*operations: str) -> list[Case]:
    return [case for case in CASES if case.params["op"] in operations]


def full(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


def test_every_case_is_run():
    known = {*MATRICES, "bucket", "one_hot", "augmented_margin"}
    assert {case.params["op"] for case in CASES} <= known
    assert len(CASES) == len(read("preprocessing")["cases"]) == len(of(*known))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix], ids=["dense", "csr", "matrix"])
@pytest.mark.parametrize("case", of(*MATRICES), ids=str)
def test_matrix(case, make):
    transformer = MATRICES[case.params["op"]](case.params)
    assert close(full(transformer.fit_transform(make(case.X))), case.expected["X"])
    if "mean" in case.expected:
        assert close(transformer.center_, case.expected["mean"])
    if "scale" in case.expected:
        assert close(transformer.scale_, case.expected["scale"])


@pytest.mark.parametrize("case", of("center", "standardize"), ids=str)
def test_one_row_at_a_time(case):
    transformer = MATRICES[case.params["op"]](case.params)
    for x in case.X:
        transformer.partial_fit([x])
    assert close(transformer.transform(case.X), case.expected["X"])


@pytest.mark.parametrize("case", of("bucket"), ids=str)
def test_bucket(case):
    values = np.array(case.raw["values"])[:, None]
    edges, labels, expected = case.params["edges"], case.params["labels"], case.expected["bucket"]
    codes = Bucketizer(edges=edges, encode="ordinal").fit_transform(values)
    assert codes.ravel().tolist() == expected
    preset = Bucketizer(preset=case.name.removeprefix("bucket_")).fit(values)
    assert preset.transform(values).ravel().tolist() == [labels[k] for k in expected]
    named = Bucketizer(edges=edges, labels=labels).fit_transform(values)
    assert named.tolist() == preset.transform(values).tolist()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("case", of("one_hot"), ids=str)
def test_one_hot(case, sparse):
    rows = case.raw["rows"]
    binary = CategoricalToBinary(sparse_output=sparse).fit(case.params.get("fit_rows", rows))
    assert full(binary.transform(rows)).tolist() == case.expected["X"]


@pytest.mark.parametrize("case", of("augmented_margin"), ids=str)
def test_augmented_margin(case):
    X, y, B, expected = case.X, case.y, case.params["bias"], case.expected
    rows = Augmenter(B=B).fit_transform(X)
    assert close(np.linalg.norm(rows, axis=1).max(), expected["radius_augmented"])
    free = MaxMargin().fit(X, y)
    offset = free.intercept_[0] / np.linalg.norm(free.coef_)
    assert close(free.margin_, expected["margin_with_free_bias"], 1e-6)  # the solver's tolerance
    assert close(offset, expected["offset"], 1e-6)
    assert close(free.margin_ / np.hypot(1.0, offset / B), expected["lower"], 1e-6)
    augmented = MaxMargin(fit_intercept=False).fit(rows, y).margin_
    assert close(augmented, expected["margin_augmented"], 1e-6)
    assert expected["lower"] - 1e-6 <= augmented <= free.margin_ + 1e-6


def test_the_best_constant_has_the_smallest_bound():
    R, offset = 3.0, -0.75
    bounds = {
        B: (R * R + B * B) * (1.0 + (offset / B) ** 2) for B in (0.25, 1.0, 4.0, best_constant(R, offset))
    }
    assert min(bounds, key=bounds.__getitem__) == best_constant(R, offset) == 1.5
    assert bounds[1.5] == (R + abs(offset)) ** 2
