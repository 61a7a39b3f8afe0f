"""How well labels are predicted where a row may have several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .printing import label, percent, plain, table

if TYPE_CHECKING:
    from .._types import JsonObject
    from ..text.learner import TextClassifierSpec

KS = (1, 3, 5)  #: how many of the best labels are looked at
_MOST_SHOWN = 100  # labels in the table, the most frequent ones


class LabelReport:
    """F1, precision and recall of lists of labels, added batch by batch."""

    def __init__(self) -> None:
        from ..text.label_scores import LabelCounts

        self.counts = LabelCounts()
        self.hits, self.given = dict.fromkeys(KS, 0), dict.fromkeys(KS, 0)

    def add(self, model: TextClassifierSpec, X: Any, y: Any) -> None:
        """Add rows with their labels."""
        from ..core.label_lists import of_one
        from ..text.several import ranked_and_predicted

        ranked, predicted = ranked_and_predicted(model, X, max(KS))
        self.counts.add(y, predicted)
        for one, best in zip(y, ranked, strict=True):
            true = set(of_one(one))
            for k in KS:
                self.hits[k] += len(true.intersection(best[:k]))
                self.given[k] += len(best[:k])

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def right(self) -> int:
        """Rows of which all labels were right."""
        return self.counts.right

    def as_dict(self) -> JsonObject:
        f1, n = self.counts.f1(), self.counts.true.total()
        return {
            "rows": self.n_rows,
            "errors": self.n_rows - self.right,
            "accuracy": self.right / self.n_rows if self.n_rows else None,
            "micro_f1": f1.micro,
            "macro_f1": f1.macro,
            "precision_at": {str(k): self.hits[k] / self.given[k] if self.given[k] else None for k in KS},
            "recall_at": {str(k): self.hits[k] / n if n else None for k in KS},
            "labels": [self._of_label(one) for one in self.counts.labels],
        }

    def _of_label(self, one: Any) -> JsonObject:
        counts = self.counts
        return {
            "label": plain(one),
            "rows": counts.true[one],
            "precision": counts.both[one] / counts.predicted[one] if counts.predicted[one] else None,
            "recall": counts.both[one] / counts.true[one] if counts.true[one] else None,
            "f1": counts.f1_of(one),
        }

    def __str__(self) -> str:
        found = self.as_dict()
        head = [
            f"all labels right in {percent(self.right, self.n_rows)}: {self.right:,} of {self.n_rows:,} rows",
            f"F1 {found['micro_f1']:.3f} micro, {found['macro_f1']:.3f} macro",
        ]
        for k in KS:
            precision, recall = found["precision_at"][str(k)], found["recall_at"][str(k)]
            head.append(f"{k} best: precision {_three(precision)}, recall {_three(recall)}")
        best = sorted(found["labels"], key=lambda one: -one["rows"])[:_MOST_SHOWN]
        rows = [
            [label(one["label"]), f"{one['rows']:,}", *map(_three, list(one.values())[2:])] for one in best
        ]
        return "\n".join([*head, "", table(["label", "rows", "precision", "recall", "F1"], rows)])


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
