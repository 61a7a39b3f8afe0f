"""Where the prediction for a text comes from: a sum over its features, with their names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._types import Label
from ..core import checks
from ..core.classifier import Classifier
from ..core.one_row import python_label
from ..io import Texts
from . import showing
from .hashing import AnyTexts, HashedRows, Hasher, csr
from .names import spelled
from .occurrences import Occurrences, occurrences


class Contribution(NamedTuple):
    """What one feature adds to a score."""

    feature: str
    value: float  #: of the feature in the row, after any scaling
    weight: float
    contribution: float  #: value times weight


class TextPart(NamedTuple):
    """A piece of a text: a token or a character with what it adds to the score, or what is between them."""

    text: str
    contribution: float  #: of an n-gram each of its tokens, or characters, has an equal share


class Explanation(NamedTuple):
    """A prediction and where it comes from: ``score`` is ``intercept`` and all contributions together."""

    label: Label  #: the label predicted
    towards: Label  #: the label that a positive contribution adds to
    score: float
    intercept: float
    contributions: list[Contribution]  #: the largest first, whatever their sign
    parts: tuple[TextPart, ...] = ()  #: the text in pieces, whose contributions add up to those above

    def __str__(self) -> str:
        head = f"{self.label}: score {self.score:+.4g} (a positive one means {self.towards})"
        lines = [f"{c.contribution:+10.4f}  {c.feature}" for c in self.contributions[:20]]
        left = len(self.contributions) - len(lines)
        if left > 0:
            lines.append(f"{sum(c.contribution for c in self.contributions[20:]):+10.4f}  {left} more")
        lines.append(f"{self.intercept:+10.4f}  (intercept)")
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        return showing.html(self)


class Explains(Classifier):
    """Explanations of a linear learner of texts, from what the learner says of its weights."""

    if TYPE_CHECKING:  # what the learner has

        @property
        def bits(self) -> int: ...

        @property
        def lowercase(self) -> bool: ...

        @property
        def names_(self) -> dict[int, str]: ...

        def _hasher(self) -> Hasher: ...

        def _texts(self, X: AnyTexts) -> Texts: ...

        def _check_width(self, reset: bool) -> None: ...

    def explain(self, text: str | bytes) -> Explanation:
        """The prediction for one text, as a sum of contributions of its features.

        With two classes contributions are those to the score, where a positive score means the larger label;
        with more, those to the score of the class predicted.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        Explanation
            ``label``, ``score``, ``intercept``, and ``contributions``: features with their value, weight and
            contribution, the largest first. ``str()`` shows them. ``parts`` is the text in pieces, which a
            notebook shows in colours: blue and ``+`` for what adds to the score, orange and ``−`` for what
            takes from it.
        """
        return explain(self, text)

    def strongest(self, n: int = 10) -> dict[Label, list[tuple[str, float]]]:
        """The features with the largest weights for each label; needs ``keep_names=True``.

        Parameters
        ----------
        n : int, default=10
            How many for each label.
        """
        return strongest(self, n)

    def _check_explained(self) -> None:
        """Raise where the scores are no sum over the features."""

    def _valued(self, rows: HashedRows) -> HashedRows:
        """The rows with the values that the weights are multiplied by, before scaling."""
        return rows

    def _weights_of(self, rows: HashedRows, column: int) -> tuple[np.ndarray, float]:
        """Weights of the features of one text, and what the constant coordinate adds, before scaling."""
        raise NotImplementedError

    def _scale_of(self, rows: HashedRows) -> float:
        if not self._unit_rows():
            return 1.0
        length = np.sqrt(np.sum(np.square(rows.data, dtype=np.float64)) + self._bias() ** 2)
        return 1.0 / float(length) if length > 0.0 else 1.0


def explain(model: Explains, text: str | bytes) -> Explanation:
    """The prediction for one text, as a sum of contributions of its features."""
    model._contract.check_fitted(model)
    model._check_explained()
    model._check_width(reset=False)
    texts = model._texts([text])
    hasher = model._hasher()
    rows = hasher.hash(texts, spans=True)
    score = np.atleast_1d(model._scores(csr(rows.indices, rows.data, rows.indptr, 1 << model.bits))[0])
    if model._several:
        code = int(np.argmax(score))
    else:
        code = int(model._decide(score[None, :] if len(score) > 1 else score)[0])
    column = code if len(score) > 1 else 0
    weights, bias = model._weights_of(rows, column)
    rows = model._valued(rows)
    scale = model._scale_of(rows)
    names = [
        spelled(texts, int(a), int(b), model.lowercase) for a, b in zip(rows.first, rows.last, strict=True)
    ]
    found = [
        Contribution(name, float(value * scale), float(weight), float(value * scale * weight))
        for name, value, weight in zip(names, rows.data, weights, strict=True)
    ]
    amounts = dict(zip(rows.indices.tolist(), (c.contribution for c in found), strict=True))
    parts = parts_of(occurrences(hasher, texts), texts, amounts)
    found.sort(key=lambda c: -abs(c.contribution))
    towards = python_label(model.classes_[code if len(score) > 1 else len(model.classes_) - 1])
    label = python_label(model.classes_[code])
    return Explanation(label, towards, float(score[column]), float(bias * scale), found, parts)


def parts_of(where: Occurrences, texts: Texts, amounts: dict[int, float]) -> tuple[TextPart, ...]:
    """The text in pieces, with a share of what each feature adds, by its column, wherever it occurs."""
    columns = where.columns.tolist()
    often = Counter(columns)
    totals = np.zeros(len(where.begins))
    for column, first, stop in zip(columns, where.first.tolist(), where.stop.tolist(), strict=True):
        totals[first:stop] += amounts.get(column, 0.0) / (often[column] * (stop - first))
    pieces, at = [], int(texts.starts[0])
    for begin, end, total in zip(where.begins.tolist(), where.ends.tolist(), totals.tolist(), strict=True):
        pieces += [(at, begin, 0.0), (begin, end, total)]
        at = end
    pieces.append((at, int(texts.stops[0]), 0.0))
    found = [
        TextPart(texts.buffer[a:b].tobytes().decode("utf-8", "replace"), total) for a, b, total in pieces
    ]
    return tuple(part for part in found if part.text)


def strongest(model: Explains, n: int) -> dict[Label, list[tuple[str, float]]]:
    """The features with the largest weights for each label."""
    model._contract.check_fitted(model)
    checks.whole("n", n)
    names = model.names_
    columns = np.fromiter(names, np.int64, len(names))
    weights = model._weights(columns)[:, :-1]
    if len(model.classes_) == 2 and not model._several:
        weights = np.concatenate([-weights, weights])
    found = {}
    for label, w in zip(model.classes_.tolist(), weights, strict=True):
        best = np.argsort(-w, kind="stable")[:n]
        found[label] = [(names[int(columns[j])], float(w[j])) for j in best if w[j] > 0.0]
    return found
