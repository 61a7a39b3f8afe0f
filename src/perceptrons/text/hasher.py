r"""Raw texts to sparse rows, as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from .._types import SparseMatrix
from ..core import checks
from ..estimators.shell import estimator
from .hashing import AnyTexts, Hasher, csr_array
from .names import Names
from .parameters import TextParameters

if TYPE_CHECKING:
    from sklearn.utils import Tags


@estimator
class TextHasher(TransformerMixin, TextParameters, BaseEstimator):
    r"""Texts as rows of hashed words or n-grams.

    A feature :math:`f` of the text goes to column :math:`h(f) \bmod 2^{bits}`, with value :math:`c`, how
    often it occurs, or 1, or :math:`1 + \ln c`; with ``signed=True`` half of the features, by another bit of
    :math:`h`, count as :math:`-c`, so that features of the same column cancel on average. Nothing is
    learned from the data, so ``fit`` only checks parameters, and all processes have the same columns.

    Words are runs of two or more letters, marks, digits and underscores in the sense of Unicode. ``str`` and
    UTF-8 ``bytes`` give the same rows. Within a row columns are in the order in which their features occur:
    no column twice, but not sorted.

    Parameters
    ----------
    norm : {"l2", None}, default="l2"
        Divide each row by its length.
    dtype : numpy dtype, default=numpy.float64
        Of the values.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    names_ : dict
        Column to feature, with ``keep_names=True``.
    n_invalid_ : int
        Invalid bytes in the texts of this transformer so far.

    Examples
    --------
    >>> from perceptrons import TextHasher
    >>> X = TextHasher(norm=None).transform(["to be or not to be", "Überall ist Wunderland"])
    >>> X.shape, X[[0]].data, X[[1]].data
    ((2, 4194304), array([2., 2., 1., 1.]), array([1., 1., 1.]))
    """

    norm: str | None = "l2"
    dtype: npt.DTypeLike = np.float64
    n_jobs: int | None = None

    def fit(self, X: AnyTexts | None = None, y: npt.ArrayLike | None = None) -> Self:
        """Check the parameters; nothing is learned."""
        self._hasher()
        return self

    def partial_fit(self, X: AnyTexts | None = None, y: npt.ArrayLike | None = None) -> Self:
        """As :meth:`fit`."""
        return self.fit()

    def transform(self, X: AnyTexts) -> SparseMatrix:
        """Texts as a CSR array of shape (n_texts, 2^bits).

        Parameters
        ----------
        X : iterable of str or bytes, or :class:`perceptrons.io.Texts`
        """
        from joblib import effective_n_jobs  # type: ignore[import-untyped]  # it has no stubs

        hasher = self._hasher()
        texts = self._texts(X)
        names = None
        if self.keep_names:
            names = Names(1 << self.bits, self.__dict__.setdefault("_words", {}))
        rows = hasher.matrix(texts, n_threads=int(effective_n_jobs(self.n_jobs)), names=names)
        self.n_invalid_ = vars(self).get("n_invalid_", 0) + int(hasher.invalid[0])
        return csr_array(rows)

    @property
    def names_(self) -> dict[int, str]:
        """Column to the first feature that occurred there."""
        if not self.keep_names:
            raise AttributeError("names_ needs keep_names=True.")
        return dict(vars(self).get("_words", {}))

    def _hasher(self) -> Hasher:
        checks.one_of("norm", self.norm, ("l2", None))
        checks.n_jobs(self.n_jobs)
        if np.dtype(self.dtype) not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32; got dtype={self.dtype!r}.")
        return self._new_hasher(self.norm == "l2", self.dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
