"""A classifier of texts that predicts by a table of a few weights: what a model is shrunk to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._sparse import is_sparse
from .._types import Label, Record
from ..core import changing
from ..core.one_row import python_label, python_scores
from ..core.parameters import names_of, spec
from ..core.threads import n_threads
from ..engine import spaces
from ..io import Texts
from .explaining import Explains
from .hashing import HashedRows, Hasher
from .intakes import OfTexts
from .parameters import TextParameters
from .weight_table import WeightTable

_NO_SPANS = np.empty(0, np.uint64)


class SmallIntake(OfTexts):
    """Texts, which are hashed piece by piece while they are scored."""

    __slots__ = ()

    model: SmallTextClassifierSpec

    def checked(self, X: Any, *, reset: bool) -> Texts:
        return self.some_texts(X, reset)


@spec
class SmallTextClassifierSpec(TextParameters, Explains):
    """Parameters and predictions of :class:`perceptrons.SmallTextClassifier`.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads for hashing.
    """

    n_jobs: int | None = None

    if TYPE_CHECKING:  # what shrinking sets
        _table: WeightTable = field(init=False)
        _words: dict[int, str] = field(init=False)  #: names of columns, where they are kept
        _framed: spaces.Frame = field(init=False)

    # ------------------------------------------------------------ texts

    @property
    def _intake(self) -> SmallIntake:
        return SmallIntake(self)

    def _check_width(self, reset: bool) -> None:
        changing.check_unchanged(self, tuple(names_of(TextParameters)))

    def _hasher(self) -> Hasher:
        recipe = self._recipe()
        kept = vars(self).get("_hashing")
        if kept is None or kept[0] != recipe:
            kept = self._hashing = (recipe, self._new_hasher(False, np.float32))
        return kept[1]

    def _recipe(self) -> Record:
        others = (getattr(self, name) for name in names_of(TextParameters) if name != "stop_words")
        return (*others, self._stop_key())

    @property
    def n_invalid_(self) -> int:
        """Bytes that were read over because they are no UTF-8."""
        return int(self._hasher().invalid[0])

    @property
    def n_weights_(self) -> int:
        """How many weights are left, those of the constant coordinate not counted."""
        return len(self._fitted("n_weights_").codes)

    @property
    def kept_by_(self) -> str:
        """What weights were kept by: "weight times frequency", or "weight" where no texts were counted."""
        counted = self._fitted("kept_by_").idf is not None
        return "weight times frequency" if counted else "weight"

    @property
    def names_(self) -> dict[int, str]:
        """Column to the first feature that occurred there, for the columns of the table."""
        if "_words" not in vars(self):
            raise AttributeError("names_ needs a model with keep_names=True, shrunk with keep_names=True.")
        return dict(self._words)

    # ------------------------------------------------------------ scores

    def _pieces(self, X: Texts | Any) -> Iterator[HashedRows]:
        """X as hashed rows, some at a time."""
        if is_sparse(X):
            yield HashedRows(X.indices.view(np.uint32), X.data, X.indptr, _NO_SPANS, _NO_SPANS, 0)
            return
        hasher = self._hasher()
        for rows in hasher.pieces(X, n_threads=n_threads(self.n_jobs)):
            hasher.invalid += rows.n_invalid
            yield rows

    def _linear_scores(self, X: Texts | Any) -> np.ndarray:
        return np.concatenate([self._scores_of(rows) for rows in self._pieces(X)])

    def _scores_of(self, rows: HashedRows) -> np.ndarray:
        table, frame = self._table, self._frame_in_force()
        places = table.places(rows.indices)
        data = table.values(rows.data, places)
        scores = table.products(data, rows.indptr, places) + frame.bias * table.bias
        if frame.unit:
            numbers = np.repeat(np.arange(len(scores)), np.diff(rows.indptr))
            squares = np.bincount(numbers, np.square(data), len(scores)) + frame.bias**2
            scores /= np.sqrt(np.where(squares > 0.0, squares, 1.0))[:, None]
        return scores

    def score_one(self, x: str | bytes) -> float | list[float]:
        """Score of one text: a float, or a list of one per class for more than two classes."""
        return python_scores(self.decision_function([x])[0])

    def predict_one(self, x: str | bytes) -> Label:
        """Label of one text as a type of Python: an int, a str, …"""
        return python_label(self.predict([x])[0])

    # ------------------------------------------------------------ where a prediction comes from

    def _valued(self, rows: HashedRows) -> HashedRows:
        table = self._table
        return rows._replace(data=table.values(rows.data, table.places(rows.indices)))

    def _weights_of(self, rows: HashedRows, column: int) -> tuple[np.ndarray, float]:
        weights = self._table.of_columns(rows.indices)[:, column]
        return weights, float(self._bias() * self._table.bias[column])

    def _weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        """(1 or n_classes, columns + 1): all weights, the bias coordinate last."""
        table = self._table
        columns = np.arange(table.n_columns) if columns is None else columns
        return np.column_stack([table.of_columns(columns.astype(np.uint32)).T, table.bias])

    def _fitted(self, name: str) -> WeightTable:
        if "_table" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is empty: perceptrons.shrink makes one.")
        return self._table

    # ------------------------------------------------------------ nothing is learned

    def fit(self, X: Any, y: Any = None) -> NoReturn:
        """Raise: a small model only predicts."""
        raise TypeError(self._refusal())

    @property
    def partial_fit(self) -> NoReturn:
        """Not there: a small model only predicts."""
        raise AttributeError(self._refusal())

    @property
    def learn_one(self) -> NoReturn:
        """Not there: a small model only predicts."""
        raise AttributeError(self._refusal())

    def run_record(self, *, evidence: bool = True) -> NoReturn:
        """Raise: what is known of the run belongs to the model that learned."""
        raise ValueError(
            f"A {type(self).__name__} holds rounded weights and no record of a run; ask the model that it "
            "was made from."
        )

    def _refusal(self) -> str:
        return (
            f"A {type(self).__name__} only predicts: most of its weights are gone, the others are rounded. "
            "Train the model that it was made from, and shrink that again."
        )

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_hashing"}
