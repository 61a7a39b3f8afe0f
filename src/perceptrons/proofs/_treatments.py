"""Treatments of the rows that `advise` compares: other scales, buckets, products of features."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

from .._sparse import is_sparse
from .._types import Matrix, SparseMatrix
from ..core import classifier
from ..core.intakes import plain_lengths
from ..theory import _rational as rational
from ._measuring import Measured, TreatedRows

BINS = 5


def treatments(X: Matrix, y: np.ndarray, notes: list[str]) -> Iterator[tuple[str, str, TreatedRows]]:
    """All that does not depend on the first measurement."""
    yield "no intercept", "fit_intercept=False", TreatedRows(X, y, bias=0.0)
    if not is_sparse(X):
        yield "centred at the mean", "StandardScaler(with_std=False)", _standard(X, y, with_std=False)
        with np.errstate(all="ignore"):
            middle = X[y > 0].mean(axis=0) / 2.0 + X[y < 0].mean(axis=0) / 2.0
            centred = X - middle
        yield (
            "centred between the classes",
            "X - (mean of + and mean of -)/2",
            TreatedRows(centred, y, shift=middle),
        )
    else:
        notes.append("Centring was left out: it would make the sparse rows dense.")
    yield "unit variance", "StandardScaler(with_mean=False)", _standard(X, y, with_mean=False)
    if not is_sparse(X):
        yield "centred, unit variance", "StandardScaler()", _standard(X, y)
    yield "L2 rows", 'row_norm="l2"', TreatedRows(X, y, unit=True)
    if is_sparse(X):
        notes.append("Bucketing was left out: on sparse rows most values of a feature are 0.")
        return
    many = np.array([len(np.unique(column)) > BINS for column in X.T])
    if not many.any():
        notes.append(f"Bucketing was left out: no feature has more than {BINS} values.")
        return
    try:
        with np.errstate(all="ignore"):
            buckets = _buckets(X, many)
    except (ValueError, IndexError):  # scikit-learn finds no bins
        notes.append("Bucketing was left out: the values of a feature are too near to each other, or to 0.")
        return
    yield f"{BINS} buckets a feature", f"KBinsDiscretizer({BINS})", TreatedRows(buckets, y, scale=None)


def _standard(X: Matrix, y: np.ndarray, **options: bool) -> TreatedRows:
    """Rows as a StandardScaler gives them; they may be no numbers where squares leave the range."""
    scaler = StandardScaler(**options)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = scaler.fit_transform(X)
        scale = 1.0 if scaler.scale_ is None else 1.0 / scaler.scale_
    shift = scaler.mean_ if options.get("with_mean", True) else 0.0
    return TreatedRows(rows, y, shift=shift, scale=scale)


def _buckets(X: np.ndarray, many: np.ndarray) -> SparseMatrix:
    """Quantiles as 0/1 features; a feature with few values has a bucket for each."""
    binned = KBinsDiscretizer(BINS, encode="onehot", quantile_method="averaged_inverted_cdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantiles that coincide make fewer bins
        parts = [binned.fit_transform(X[:, many])]
    if not many.all():
        parts.append(OneHotEncoder().fit_transform(X[:, ~many]))
    return sparse.csr_array(sparse.hstack(parts))


def auto_scaling(X: Matrix) -> float:
    """B of ``intercept_scaling="auto"`` on these rows."""
    with np.errstate(all="ignore"):
        return classifier.auto_scaling(plain_lengths(X))


def scalings(base: Measured, X: Matrix, y: np.ndarray) -> Iterator[tuple[str, str, TreatedRows]]:
    """Other constant coordinates: R, and sqrt(R|b|) for the plane that was found."""
    R = float(TreatedRows(X, y, bias=0.0).radius())
    with np.errstate(all="ignore"):
        length = float(np.linalg.norm(base.w[:-1]))
    offset = abs(float(base.w[-1])) / length if length > 0.0 else 0.0
    tried = [1.0]
    for name, B in (("√(R|b|)", math.sqrt(R) * math.sqrt(offset)), ("R", R)):
        B = float(f"{B:.4g}")  # what is measured is what is printed
        if 0.0 < B < math.inf and all(abs(B - other) > 0.05 * other for other in tried):
            tried.append(B)
            yield f"B = {name}", f"intercept_scaling={B:.4g}", TreatedRows(X, y, bias=B)


def quadratic(X: np.ndarray, y: np.ndarray) -> TreatedRows:
    """The features of (1 + <x, z>)², the constant 1 among them."""
    i, j = np.triu_indices(X.shape[1])
    with np.errstate(over="ignore", under="ignore"):
        rows = np.hstack([math.sqrt(2.0) * X, X[:, i] * X[:, j] * np.where(i == j, 1.0, math.sqrt(2.0))])
    k, _ = rational.whole(X, axis=0)  # columns in other units are separable by the same planes
    k = k.astype(object)
    whole = np.hstack([k, k[:, i] * k[:, j], np.ones((len(k), 1), dtype=object)])
    return TreatedRows(rows, y, scale=None, rounded=8.0 * rational.UNIT, whole=whole)
