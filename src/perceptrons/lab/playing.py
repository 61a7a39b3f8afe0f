"""Run a learner on the rows of a scene, visit by visit, over edits.

The run is :func:`perceptrons.trace`, so it is ``fit``. With edits it is ``fit`` with ``order=``: one learner
on all rows that there ever are, which visits those of the present. After an edit it makes epochs over the
present rows until one is clean, as at the beginning.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.kernel_based import KernelBased
from ..engine import free_margins
from ..proofs.tracing import Trace, trace
from . import geometry
from .learned_rows import LearnedRows, RowsOfTime
from .scenes import Scene

#: Numbers that the coefficients of all visits of a kernel learner may take together.
MOST_COEFFICIENTS = 500_000
_VISITS = 256  # whose scores are computed at once
#: Relative error of a score of three terms, with room for rows that were scaled; and what underflow may lose.
_ROOM, _LEAST = 64.0 * 2.0**-53, 1e-300


class Stretch(NamedTuple):
    """Visits between two edits."""

    part: RowsOfTime
    first: int  #: visits before
    end: int
    reason: str  #: why it ended


class Played(NamedTuple):
    """A run."""

    model: Any  #: the learner, not fitted, with numbers in the place of words such as "auto"
    trace: Trace  #: of all visits, on all rows
    order: list[np.ndarray] | None  #: the rows of each epoch, where the run is not that of a plain ``fit``
    stretches: list[Stretch]
    max_steps: int

    @property
    def epochs(self) -> list[np.ndarray]:
        """The rows of each epoch."""
        found = self.trace
        return [found.row[found.epoch == e] for e in np.unique(found.epoch)]


def play(model: Any, rows: LearnedRows, scene: Scene, u: npt.ArrayLike | None) -> Played:
    """Run the learner; ``u`` is a comparator for the convergence proof, or None."""
    first = rows.parts[0].rows
    model = settled(model, rows.X[first], rows.y[first])
    n_steps = _most_steps(model, rows, scene)
    order: list[np.ndarray] | None = None
    stretches: list[Stretch] = []
    if len(rows.parts) > 1:
        order, stretches = _over_edits(model, rows, scene, n_steps)
        n_steps = sum(map(len, order))
    found = trace(model, rows.X, rows.y, order=order, u=u, gamma_low="visits", max_steps=n_steps)
    if not stretches:
        stretches = [Stretch(rows.parts[0], 0, len(found), found.stop_reason)]
    return Played(model, found, order, stretches, n_steps)


def settled(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """A copy of the learner in which words that stand for numbers are the numbers that ``fit`` takes."""
    made = fresh(model)
    if any(getattr(model, name, None) == "auto" for name in ("gamma", "intercept_scaling")):
        fitted = fresh(model).fit(X, y)
        for name in ("gamma", "intercept_scaling"):
            if getattr(model, name, None) == "auto":
                setattr(made, name, float(getattr(fitted, f"{name}_")) or 1.0)
    if isinstance(model, KernelBased):
        made.kernel = kernels.as_kernel(model.kernel).fitted(X)
    return made


def fresh(model: Any, **changes: Any) -> Any:
    """A copy that has learned nothing, with these parameters changed."""
    names = inspect.signature(type(model)).parameters
    return type(model)(**{name: copy.copy(getattr(model, name)) for name in names} | changes)


def _most_steps(model: Any, rows: LearnedRows, scene: Scene) -> int:
    if not isinstance(model, KernelBased):
        return scene.max_steps
    size = len(rows.X) * (1 if len(np.unique(rows.codes)) == 2 else len(scene.classes))
    return max(1, min(scene.max_steps, MOST_COEFFICIENTS // max(1, size)))


# ------------------------------------------------------------------------------------------------ edits


def _over_edits(
    model: Any, rows: LearnedRows, scene: Scene, max_steps: int
) -> tuple[list[np.ndarray], list[Stretch]]:
    """The rows of each epoch, and the visits between edits."""
    order: list[np.ndarray] = []
    stretches: list[Stretch] = []
    made = 0
    for k, part in enumerate(rows.parts):
        last = k + 1 == len(rows.parts)
        end = max_steps if last else min(max_steps, rows.parts[k + 1].at)
        epochs, reason = _stretch(model, rows, scene, order, part, end - made, k)
        if reason == "cut":
            reason = "max_steps" if end == max_steps else "edit"
        order += epochs
        before, made = made, made + sum(map(len, epochs))
        stretches.append(Stretch(part, before, made, reason))
    return order, stretches


def _stretch(
    model: Any, rows: LearnedRows, scene: Scene, order: list[np.ndarray], part: RowsOfTime, room: int, k: int
) -> tuple[list[np.ndarray], str]:
    """The epochs over the rows of a part, ``room`` visits at most, and why they ended."""
    if room <= 0:
        return [], "cut"
    if not len(part.rows):
        return [], "no rows"
    if k == 0:
        run = trace(model, rows.X[part.rows], rows.y[part.rows], gamma_low=None, max_steps=room)
        epochs = [part.rows[run.row[run.epoch == e]] for e in np.unique(run.epoch)]
        return epochs, "cut" if run.truncated else run.stop_reason
    rng = np.random.default_rng([scene.seed, k])
    n_epochs = min(scene.max_iter, -(-room // len(part.rows)))
    epochs = [rng.permutation(part.rows) if scene.shuffle else part.rows for _ in range(n_epochs)]
    history = fresh(model).fit(rows.X, rows.y, order=[*order, *epochs]).history_[len(order) :]
    clean = next((e for e, record in enumerate(history) if not record["updates"]), None)
    reason = "max_iter" if clean is None else "clean pass"
    epochs = epochs if clean is None else epochs[: clean + 1]
    over = sum(map(len, epochs)) - room
    if over > 0:
        epochs[-1] = epochs[-1][: len(epochs[-1]) - over]
        reason = "cut"
    return epochs, reason


# --------------------------------------------------------------------------------------------- segments


def segment(played: Played, rows: LearnedRows, stretch: Stretch) -> Trace:
    """The trace of the visits between two edits, on the rows of the time.

    Rows that are gone but still have a coefficient of a kernel learner come after those that are there.
    Nothing is said about a margin where w has been made of rows that are gone.
    """
    whole = played.trace
    if len(played.stretches) == 1:
        return whole
    visits, states = slice(stretch.first, stretch.end), slice(stretch.first, stretch.end + 1)
    chosen = _chosen(whole, stretch, states)
    place = np.full(len(rows.X), -1)
    place[chosen] = np.arange(len(chosen))
    changes: dict[str, Any] = {name: getattr(whole, name)[visits] for name in _BY_VISIT}
    changes["row"] = place[whole.row[visits]]
    for name in ("dual", "average", "w", "threshold"):
        values = getattr(whole, name)
        if values is not None:
            by_row = name == "dual" or (name == "average" and whole.dual is not None)
            changes[name] = values[states][..., chosen] if by_row else values[states]
    if whole.step_sum is not None:
        changes["step_sum"] = whole.step_sum[visits]
    return dataclasses.replace(
        whole,
        **changes,
        **_brackets(whole, rows, stretch, visits),
        X=rows.X[chosen],
        y=rows.y[chosen],
        stop_reason=stretch.reason,
        truncated=stretch.reason == "max_steps",
        proof=_proof(whole, states),
    )


_BY_VISIT = ("epoch", "label", "score", "margin", "kind", "keep", "step", "norm2", "n_mistakes", "n_updates")


def _chosen(whole: Trace, stretch: Stretch, states: slice) -> np.ndarray:
    """The rows of a segment, and then those that are gone and have a coefficient."""
    if whole.dual is None:
        return stretch.part.rows
    used = np.zeros(whole.dual.shape[-1], bool)
    for values in (whole.dual, whole.average):
        if values is not None:
            used |= values[states].reshape(-1, values.shape[-1]).any(axis=0)
    used[stretch.part.rows] = False
    return np.concatenate([stretch.part.rows, np.flatnonzero(used)])


def _brackets(whole: Trace, rows: LearnedRows, stretch: Stretch, visits: slice) -> dict[str, Any]:
    """The ends of both brackets for the rows of the time, where w is a sum of steps on such rows.

    With a free offset, rows of one class have no largest margin.
    """
    low = up = low_free = up_free = None
    if whole.w is not None and whole.w.ndim == 2 and whole.step_sum is not None:
        low = _lower_ends(whole, rows, stretch)
        both = len(np.unique(rows.y[stretch.part.rows])) == 2
        if whole.gamma_low_free is not None and both:
            w = whole.w[stretch.first + 1 : stretch.end + 1]
            low_free = np.array([free_margins.lower_end(*pair) for pair in zip(low.tolist(), w, strict=True)])
        updated = whole.row[: stretch.end][whole.kind[: stretch.end] != "none"]
        if whole.gamma_up is not None and np.isin(updated, stretch.part.rows).all():
            up = whole.gamma_up[visits]
            if whole.gamma_up_free is not None and both:
                up_free = whole.gamma_up_free[visits]
    return {"gamma_low": low, "gamma_up": up, "gamma_low_free": low_free, "gamma_up_free": up_free}


def _lower_ends(whole: Trace, rows: LearnedRows, stretch: Stretch) -> np.ndarray:
    """The margin of w on the rows of the time after each visit, rounded down.

    -inf where w does not separate them; NaN where rounding hides which it is, and where there are no rows.
    """
    assert whole.w is not None
    sign = np.where(rows.y == whole.classes[1], 1.0, -1.0)
    chosen = stretch.part.rows
    Z = sign[chosen, None] * geometry.augmented(rows.X[chosen], whole.bias, whole.unit)
    out = np.full(stretch.end - stretch.first, np.nan)
    for start in range(0, len(out) if len(Z) else 0, _VISITS):
        W = whole.w[stretch.first + 1 : stretch.end + 1][start : start + _VISITS]
        with np.errstate(all="ignore"):  # what is no number is NaN below
            scores, room = W @ Z.T, _ROOM * (np.abs(W) @ np.abs(Z).T) + _LEAST
            low = np.min(scores - room, axis=1) / (np.linalg.norm(W, axis=1) * (1.0 + _ROOM))
            wrong = np.min(scores + room, axis=1) <= 0.0
        part = np.where(low > 0.0, low, np.where(wrong | ~W.any(axis=1), -np.inf, np.nan))
        out[start : start + _VISITS] = np.where(np.isfinite(scores).all(axis=1), part, np.nan)
    return out


def _proof(whole: Trace, states: slice) -> Any:
    """The convergence proof of these visits, for a u that separates all rows of the run."""
    if whole.proof is None:
        return None
    names = ("dot", "dot_bound", "norm", "norm_bound", "distance")
    found = {name: getattr(whole.proof, name) for name in names}
    return dataclasses.replace(whole.proof, **{name: a[states] for name, a in found.items() if a is not None})
