"""How well labels are predicted where a text may have several: precision and recall at k, and F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.label_lists import of_one

if TYPE_CHECKING:
    from .._types import Label


class F1(NamedTuple):
    """F1 over all pairs of a text and a label, and the mean over the labels."""

    micro: float
    macro: float


class LabelCounts:
    """How often each label was there, was predicted, and both; texts are added one after the other.

    A label that a text has twice counts once.
    """

    def __init__(self) -> None:
        self.true: Counter[Label] = Counter()
        self.predicted: Counter[Label] = Counter()
        self.both: Counter[Label] = Counter()
        self.n_rows = 0
        self.right = 0  #: texts of which all labels were right

    def add(self, y: Iterable[Any], predicted: Iterable[Any]) -> None:
        """Add texts by their labels and those that were predicted."""
        for one, other in zip(y, predicted, strict=True):
            labels, guess = set(of_one(one)), set(of_one(other))
            self.true.update(labels)
            self.predicted.update(guess)
            self.both.update(labels & guess)
            self.right += labels == guess
            self.n_rows += 1

    @property
    def labels(self) -> list[Label]:
        """Labels that were there, or predicted."""
        return sorted(self.true.keys() | self.predicted.keys(), key=str)

    def f1_of(self, label: Label) -> float:
        """2 both / (true + predicted)."""
        return 2.0 * self.both[label] / (self.true[label] + self.predicted[label])

    def f1(self) -> F1:
        """Micro and macro F1; 0 where there is no label."""
        labels, n = self.labels, self.true.total() + self.predicted.total()
        if not labels:
            return F1(0.0, 0.0)
        return F1(2.0 * self.both.total() / n, sum(map(self.f1_of, labels)) / len(labels))


def f1_scores(y: Iterable[Any], predicted: Iterable[Any]) -> F1:
    r"""Micro and macro F1 of lists of labels.

    With :math:`n` texts that have a label, :math:`p` for which it was predicted, and :math:`b` of both,
    :math:`F_1 = 2b/(n + p)`; micro: of the sums over all labels, macro: its mean over the labels.

    Parameters
    ----------
    y : list of lists of labels
        What the texts have. A label that is in no list is one label.
    predicted : list of lists of labels
        As ``TextClassifier.predict`` gives them.

    Returns
    -------
    F1
        ``micro`` and ``macro``, over the labels that occur in ``y`` or in ``predicted``.

    Examples
    --------
    >>> f1_scores([["a"], ["a", "b"]], [["a"], ["a", "c"]])
    F1(micro=0.6666666666666666, macro=0.3333333333333333)
    """
    found = LabelCounts()
    found.add(y, predicted)
    return found.f1()


def _hits(y: Iterable[Any], ranked: Iterable[Sequence[Label]], k: int) -> tuple[int, int, int]:
    """(labels that are there among the first k, how many these are, how many labels are there)."""
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"k must be an integer of at least 1; got k={k!r}.")
    hits = given = there = 0
    for one, best in zip(y, ranked, strict=True):
        labels, first = set(of_one(one)), list(of_one(best))[:k]
        if labels:  # a text without labels is not counted
            hits += len(labels.intersection(first))
            given += len(first)
            there += len(labels)
    return hits, given, there


def precision_at_k(y: Iterable[Any], ranked: Iterable[Sequence[Label]], k: int = 1) -> float:
    """The share of right labels among the k best of each text.

    Texts without labels are left out, as ``fasttext test`` does.

    Parameters
    ----------
    y : list of lists of labels
        What the texts have.
    ranked : list of lists of labels
        The best one first, as ``predict(texts, k=...)`` gives them.
    k : int, default=1

    Returns
    -------
    precision : float
        0 where nothing was counted.

    Examples
    --------
    >>> precision_at_k([["a"], ["a", "b"]], [["a", "c"], ["b", "a"]], k=2)
    0.75
    """
    hits, given, _ = _hits(y, ranked, k)
    return hits / given if given else 0.0


def recall_at_k(y: Iterable[Any], ranked: Iterable[Sequence[Label]], k: int = 1) -> float:
    """The share of the labels of all texts that are among the k best of their text.

    Parameters
    ----------
    y : list of lists of labels
        What the texts have.
    ranked : list of lists of labels
        The best one first.
    k : int, default=1

    Returns
    -------
    recall : float
        0 where nothing was counted.

    Examples
    --------
    >>> recall_at_k([["a"], ["a", "b"]], [["a", "c"], ["b", "a"]], k=1)
    0.6666666666666666
    """
    hits, _, there = _hits(y, ranked, k)
    return hits / there if there else 0.0
