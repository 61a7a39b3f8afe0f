"""Accuracy, precision, recall and confusions, class by class."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .printing import label, percent, plain, table

if TYPE_CHECKING:
    import numpy as np

    from .._types import JsonObject, Label

_WIDEST = 20  # classes whose confusions are shown as a square


class Confusion:
    """How often each class was predicted for each; a class that the model does not have counts as wrong."""

    def __init__(self, classes: np.ndarray):
        self.classes = [plain(one) for one in classes]
        self.pairs: Counter[tuple[Label, Label]] = Counter()

    def add(self, y: np.ndarray, predicted: np.ndarray) -> None:
        self.pairs.update(zip(map(plain, y.tolist()), map(plain, predicted.tolist())))

    @property
    def n_rows(self) -> int:
        return sum(self.pairs.values())

    @property
    def right(self) -> int:
        return sum(n for (true, guess), n in self.pairs.items() if true == guess)

    @property
    def labels(self) -> list[Label]:
        """The classes of the model, then those that only the data have."""
        known = set(self.classes)
        return self.classes + sorted({true for true, _ in self.pairs if true not in known}, key=str)

    def of_classes(self) -> list[JsonObject]:
        r"""Precision, recall and :math:`F_1 = 2PR/(P+R)` of each class; None where nothing was counted."""
        true: Counter[Label] = Counter()
        predicted: Counter[Label] = Counter()
        hits: Counter[Label] = Counter()
        for (a, b), n in self.pairs.items():
            true[a] += n
            predicted[b] += n
            if a == b:
                hits[a] += n
        return [
            {
                "label": one,
                "rows": true[one],
                "precision": hits[one] / predicted[one] if predicted[one] else None,
                "recall": hits[one] / true[one] if true[one] else None,
                "f1": 2 * hits[one] / (true[one] + predicted[one]) if true[one] + predicted[one] else None,
            }
            for one in self.labels
        ]

    def as_dict(self) -> JsonObject:
        labels = self.labels
        return {
            "rows": self.n_rows,
            "errors": self.n_rows - self.right,
            "accuracy": self.right / self.n_rows if self.n_rows else None,
            "classes": self.of_classes(),
            "labels": labels,
            "confusion": [[self.pairs[true, guess] for guess in labels] for true in labels],
        }

    def __str__(self) -> str:
        head = f"accuracy {percent(self.right, self.n_rows)}: {self.right:,} of {self.n_rows:,} rows"
        rows = [
            [label(found["label"]), f"{found['rows']:,}", *map(_three, list(found.values())[2:])]
            for found in self.of_classes()
        ]
        parts = [head, "", table(["class", "rows", "precision", "recall", "F1"], rows)]
        return "\n".join([*parts, "", self._confusions()])

    def _confusions(self) -> str:
        labels = self.labels
        if len(labels) <= _WIDEST:
            names = [label(one) for one in labels]
            rows = [
                [name, *(f"{self.pairs[true, guess]:,}" for guess in labels)]
                for name, true in zip(names, labels)
            ]
            return table(["true \\ predicted", *names], rows)
        worst = sorted(
            ((n, pair) for pair, n in self.pairs.items() if pair[0] != pair[1]), key=lambda t: -t[0]
        )
        rows = [[label(true), label(guess), f"{n:,}"] for n, (true, guess) in worst[:_WIDEST]]
        return table(["true", "predicted", "rows"], rows) if rows else "no row was predicted wrongly"


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
