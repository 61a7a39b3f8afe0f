"""Comparators that need a solver: the soft-margin separator in the space of a learner.

Any vector is a valid comparator, so nothing rests on how well the solver has done.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..theory import gram
from ..theory.evidence import Evidence, Vector

GRAM_LIMIT = 5_000  # rows whose kernel matrix is computed


def soft_margin(e: Evidence, part: int, C: float) -> Vector | None:
    r"""u that about minimises :math:`\frac12 R^2\|u\|^2 + C\sum\max(0, 1 - y\langle u, x\rangle)`.

    With C the number of visits to each row this is half the hinge bound; with a large C it is the
    maximum-margin separator, if there is one. None where the problem is too large.
    """
    R, signs = max(e.radius, np.finfo(float).tiny), e.signs(part)
    if len(np.unique(signs)) < 2:
        return None
    return _by_kernel(e, signs, R, C) if e.space.kernel is not None else _by_rows(e, signs, R, C)


def _by_rows(e: Evidence, signs: np.ndarray, R: float, C: float) -> Vector:
    from sklearn.svm import LinearSVC

    X: Any = e.X
    if e.space.bias:
        constant: Any = np.full((e.n_rows, 1), e.space.bias)
        X = sparse.hstack([X, constant]).tocsr() if gram.is_sparse(X) else np.hstack([X, constant])
    if e.space.unit:
        X = sparse.diags_array(1.0 / np.where(e.q > 0.0, np.sqrt(e.q), 1.0)) @ X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # any vector will do
        svm = LinearSVC(loss="hinge", fit_intercept=False, C=C, max_iter=20_000, tol=1e-6, random_state=0)
        w = svm.fit(X / R, signs).coef_[0] / R
    w = w if e.space.bias else np.append(w, 0.0)
    return Vector(w[None, :])


def _by_kernel(e: Evidence, signs: np.ndarray, R: float, C: float) -> Vector | None:
    from sklearn.svm import SVC

    if e.n_rows > GRAM_LIMIT:
        return None
    K = e._kernel(None, np.arange(e.n_rows))
    svm = SVC(kernel="precomputed", C=C).fit(K / R**2, signs)
    return Vector(None, svm.support_.astype(np.int64), svm.dual_coef_ / R**2)
