"""The record of a run, visit by visit."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ._convergence import ProofTrace

#: Arrays with an entry per visit.
BY_VISIT = (
    "epoch",
    "row",
    "label",
    "score",
    "margin",
    "kind",
    "keep",
    "step",
    "norm2",
    "step_sum",
    "gamma_low",
    "gamma_up",
    "gamma_low_free",
    "gamma_up_free",
    "n_mistakes",
    "n_updates",
)
KINDS = ("none", "margin", "mistake")


class TracedVisit(NamedTuple):
    """One visit of a trace: its entries, and w (or the dual coefficients) after it."""

    epoch: int
    row: int
    label: Any
    score: Any
    margin: Any
    kind: str
    keep: Any
    step: Any
    norm2: Any
    step_sum: Any
    gamma_low: Any
    gamma_up: Any
    gamma_low_free: Any
    gamma_up_free: Any
    n_mistakes: int
    n_updates: int
    w: np.ndarray | None
    dual: np.ndarray | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace:
    r"""A run of a learner, with one entry per visit of a row; see :func:`trace`.

    T is the number of visits, d that of the features, n that of the rows, k that of the classes. One-vs-rest
    has k learners: where it says (T,), its arrays are (T, k). What has no meaning for a learner is None.
    """

    epoch: np.ndarray  #: (T,): from 0
    row: np.ndarray  #: (T,): the row of X
    label: np.ndarray  #: (T,): its label
    #: (T,), for several classes (T, k): what is compared with 0, or with one another, before the update
    score: np.ndarray
    #: (T,): y times the score, where the second of ``classes`` has y = 1; of prototypes learned together the
    #: score of the label minus the best other one
    margin: np.ndarray
    #: (T,): "mistake" where ``n_mistakes_`` counts one, a margin of at most 0; "margin": an update on another
    #: row; "none": no update. Of several learners, the first of these that one of them has
    kind: np.ndarray
    keep: np.ndarray  #: (T,): κ of w ← κw + τyx; 1 where there was no update
    step: np.ndarray  #: (T,): τ; 0 where there was no update; with a covariance, that of w ← w + τyΣx
    norm2: np.ndarray  #: (T,): ‖w‖² after the visit
    step_sum: np.ndarray | None  #: (T,): Στ, shrunk with w, where w is a sum of such steps
    gamma_low: (
        np.ndarray | None
    )  #: (T,): a margin that w reaches; -inf: w does not separate; NaN: not computed
    gamma_up: np.ndarray | None  #: (T,): no separator has a margin beyond it
    space: str | None  #: the space of these margins, as ``Bracket.space``
    #: (T,): as gamma_low and gamma_up, around the best margin with a free offset: ``free_margin_bounds_``
    gamma_low_free: np.ndarray | None
    gamma_up_free: np.ndarray | None
    n_mistakes: np.ndarray  #: (T,): up to the visit and with it, of all learners
    n_updates: np.ndarray  #: (T,)
    #: (T + 1, d + 1), for several classes (T + 1, k, d + 1): w before the first visit and after each; the
    #: last column is the weight of the constant coordinate ``bias``
    w: np.ndarray | None
    dual: (
        np.ndarray | None
    )  #: with a kernel, (T + 1, n) or (T + 1, k, n): coefficients of the rows, with signs
    average: np.ndarray | None  #: as w or dual: the average that predicts, where the learner has this readout
    #: (T + 1,) or (T + 1, k): what <w, x> is compared with, where that is not 0
    threshold: np.ndarray | None
    X: Any  #: the rows, as the learner took them
    y: np.ndarray  #: the labels
    bias: float  #: B, the constant coordinate; 0 without an intercept
    unit: bool  #: rows are divided by their length
    radius: float  #: length of the longest row
    classes: np.ndarray
    learner: str  #: its repr
    seed: int | None  #: the integer that ``random_state`` is, or that was drawn for it
    stop_reason: str  #: as ``fit`` says; "max_steps" where the trace was cut
    truncated: bool  #: there were more than ``max_steps`` visits
    proof: ProofTrace | None  #: with a comparator

    def __len__(self) -> int:
        return len(self.epoch)

    def __getitem__(self, t: int) -> TracedVisit:
        t = range(len(self))[operator.index(t)]
        entries = {name: None if a is None else _entry(a[t]) for name, a in self._by_visit().items()}
        w = None if self.w is None else self.w[t + 1]
        dual = None if self.dual is None else self.dual[t + 1]
        return TracedVisit._make([*entries.values(), w, dual])

    def __iter__(self) -> Iterator[TracedVisit]:
        return (self[t] for t in range(len(self)))

    def _by_visit(self) -> dict[str, np.ndarray | None]:
        return {name: getattr(self, name) for name in BY_VISIT}

    def to_arrays(self) -> dict[str, Any]:
        """All fields by name: arrays, and what there is one of. The proof is a dict of its own, or None."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "proof"}
        proof = None
        if self.proof is not None:
            proof = {name: getattr(self.proof, name) for name in self.proof.__dataclass_fields__}
        return found | {"proof": proof}

    def to_frame(self) -> Any:
        """A pandas data frame with a row per visit; several classes have a column each: ``score_cat``."""
        import pandas as pd  # type: ignore[import-untyped]  # it has no stubs

        columns: dict[str, Any] = {}
        for name, a in self._by_visit().items():
            if a is not None and a.ndim == 2:
                columns |= {f"{name}_{label}": a[:, r] for r, label in enumerate(self.classes.tolist())}
            elif a is not None:
                columns[name] = a
        if self.proof is not None:
            after = {name: getattr(self.proof, name) for name in ("dot", "dot_bound", "norm", "norm_bound")}
            columns |= {name: a[1:] for name, a in after.items() if a is not None}
        return pd.DataFrame(columns)

    def to_json(self, indent: int | None = None) -> str:
        """The trace as JSON. Numbers are read back as they are; NaN is null, infinity "inf" or "-inf"."""
        from ._trace_json import written

        return written(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes, max_bytes: int = 256 * 2**20) -> Trace:
        """Read a trace that :meth:`to_json` wrote; ValueError says what is wrong with any other text."""
        from ._trace_json import read

        return read(text, max_bytes)

    def __repr__(self) -> str:
        return f"<Trace of {self.learner}: {len(self)} visits, {self._last('n_updates')} updates>"

    def _last(self, name: str) -> Any:
        found = getattr(self, name)
        return found[-1] if len(found) else 0

    def __str__(self) -> str:
        epochs = int(self._last("epoch")) + 1 if len(self) else 0
        lines = [
            f"{self.learner}",
            f"{_counted(len(self), 'visit')} in {_counted(epochs, 'epoch')}: "
            f"{_counted(self._last('n_mistakes'), 'mistake')}, "
            f"{_counted(self._last('n_updates'), 'update')}; stopped: {self.stop_reason}",
        ]
        if self.truncated:
            lines.append(f"truncated: the run goes on; give max_steps above {len(self)} to see more")
        lines += self._bracket_line() + self._proof_lines()
        return "\n".join(lines)

    def _bracket_line(self) -> list[str]:
        if self.gamma_up is None or not len(self) or self.gamma_up.ndim > 1 or self.gamma_up[-1] == np.inf:
            return []
        low = np.nan if self.gamma_low is None else self.gamma_low[-1]
        lower = f"{low:.6g} ≤ " if np.isfinite(low) else ""
        where = f" ({self.space})" if self.space else ""
        upper = f"γ* ≤ {self.gamma_up[-1]:.6g}"
        return [f"margin of the best separator{where}: {lower}{upper}; R = {self.radius:.6g}"]

    def _proof_lines(self) -> list[str]:
        proof = self.proof
        if proof is None:
            return []
        if proof.gamma is None:
            return ["u has no positive margin on these rows: nothing is claimed"]
        line = f"u has margin {proof.gamma:.6g}, R = {proof.radius:.6g}"
        if proof.bound is not None:
            line += f": at most {_counted(proof.bound, 'update')}"
        done = ", ".join(f"{name} {count}×" for name, count in proof.checked.items())
        return [line, f"claims that hold: {done}" if done else "no claim to check"]


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _entry(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
