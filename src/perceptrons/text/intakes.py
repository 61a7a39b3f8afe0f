"""What a text classifier takes in: texts, or rows that it has hashed before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._types import SparseMatrix
from ..core.intakes import NumberIntake
from ..engine import running_idf, spaces
from ..io import Texts
from ..rows import Csr
from .prepared import Hashed

if TYPE_CHECKING:
    from .learner import TextClassifierSpec
    from .small import SmallTextClassifierSpec


class OfTexts(NumberIntake):
    """Texts for a model that hashes them."""

    __slots__ = ()

    model: TextClassifierSpec | SmallTextClassifierSpec

    def tags(self) -> dict[str, bool]:
        return {"string": True, "two_d_array": False, "sparse": False}

    def some_texts(self, X: Any, reset: bool) -> Texts:
        """X as texts, of which there must be one, for the columns that the model has."""
        texts = self.model._texts(X)
        if not len(texts):
            raise ValueError("Found array with 0 sample(s): X holds no text, and at least one is required.")
        self.model._check_width(reset)
        return texts


class TextIntake(OfTexts):
    """Texts, or rows that a model has hashed for itself."""

    __slots__ = ()

    model: TextClassifierSpec

    def checked(self, X: Any, *, reset: bool) -> SparseMatrix:
        model = self.model
        if isinstance(X, Hashed):
            return model._own_rows(X, reset)
        texts = self.some_texts(X, reset)
        return model._hasher().matrix(texts, model.cache_mb, model._n_threads())

    def exact(self, given: object, X: object) -> bool:
        return True  # the rows are those that the texts are hashed to

    def form(self, x: Any) -> tuple[int, Any]:
        model = self.model
        model.n_features_in_ = 1 << model.bits
        return model.n_features_in_, np.dtype(model.precision)

    def rows(self, X: SparseMatrix, learn: bool = False, frame: spaces.Frame | None = None) -> Csr:
        """X as the loops read it; to be scored, with values by the counts of texts so far."""
        rows = cast(Csr, super().rows(X, learn, frame))
        df = None if learn else self.model._counts()
        return rows if df is None else running_idf.present(rows, df)

    def one(self, x: Any) -> tuple[SparseMatrix, list[str]]:
        if not isinstance(x, (str, bytes)):
            raise ValueError(f"x must be a text, str or bytes; got {type(x).__name__}.")
        self.model._check_width(reset=False)
        return self.model._hasher().matrix(self.model._texts([x])), []
