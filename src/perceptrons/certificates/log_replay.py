"""The log of a run, replayed: w is the sum of its updates, each made where the rule updates.

Which of this applies follows from the rule that the certificate names. Learners without a rule of the form
w <- keep w + alpha x have logs that nothing here can check; they are listed as reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._types import Json
from .agreement import need
from .evidence import Evidence
from .facts import LoggedUpdates

if TYPE_CHECKING:
    from .certificate import Certificate

# The checker does not import the rules, so what it needs of them is written once more. A test compares it
# with the rule table.
#: Rules that never shrink w.
ADDITIVE = (
    *("Perceptron", "RateByUpdates", "RateByExamples", "Margin", "MIRA", "GeometricMIRA", "PA", "PA1", "PA2"),
    "NormMinimising",
)
#: Rules that update only on rows on the wrong side, or on the hyperplane; some with these parameters only.
CONSERVATIVE: dict[str, dict[str, float]] = {
    **{name: {} for name in ("Perceptron", "RateByUpdates", "RateByExamples", "ROMMA", "NormMinimising")},
    "MIRA": {"p": 0.0},
    "GeometricMIRA": {"p": 0.0},
    "ALMA": {"alpha": 1.0},
}


def replays(c: Certificate) -> bool:
    """Whether the log gives back w."""
    return c.updates is not None and "rule" in c.model["parameters"]


def conservative(parameters: Mapping[str, Json]) -> bool:
    """Whether every update is one on a mistake."""
    needed = CONSERVATIVE.get(parameters.get("rule", ""))
    return needed is not None and all(parameters.get(name) == value for name, value in needed.items())


def check_log(c: Certificate, e: Evidence) -> None:
    """Every update is one that the run can have made, and w is what they leave."""
    u, run = c.updates, c.run
    assert u is not None
    for r in range(e.n_parts):
        own = u.of(r)
        claimed = run["parts"][r]["updates"]
        need(len(own.row) == claimed, f"the log has {len(own.row)} updates, the run {claimed}")
        need(np.all(np.diff(own.epoch) >= 0), "the epochs are out of order")
        last = int(own.epoch[-1]) if len(own.epoch) else 0
        need(last <= (run["epochs"] or 0), f"the log has an epoch {last}, the run {run['epochs']} epochs")
        if replays(c):
            _kept(c, own)
            _signs(e, own, r)
            _squares(c, e, own, r)
    if replays(c):
        _replay(c, e)
        if conservative(c.model["parameters"]):
            _mistaken(c, e)


def _kept(c: Certificate, own: LoggedUpdates) -> None:
    """By what w was multiplied: 1 where the rule does not shrink it, and where it was 0."""
    need(np.all(own.keep >= 0.0), "w is multiplied by a negative number")
    if c.model["parameters"]["rule"] in ADDITIVE:
        need(np.all(own.keep == 1.0), "the rule does not shrink w")
    elif len(own.keep) and "start" not in c.vectors:
        need(own.keep[0] == 1.0, "the first update starts from w = 0")


def _signs(e: Evidence, own: LoggedUpdates, r: int) -> None:
    """Every update moves w towards its row."""
    if e.problem == "joint":
        true = e.codes[own.row]
        gains = own.alpha[np.arange(len(true)), true]
        need(np.all(gains >= 0.0), "an update lowers the true class")
    else:
        need(np.all(own.alpha[:, 0] * e.signs(r)[own.row] >= 0.0), "an update goes the wrong way")


def _squares(c: Certificate, e: Evidence, own: LoggedUpdates, r: int) -> None:
    """Q is the sum of the squared lengths of the rows updated on."""
    part = c.run["parts"][r]
    if "sum_sq_norms" not in part:
        return
    claimed, found = part["sum_sq_norms"], float(np.sum(e.lengths[own.row] ** 2))
    if claimed is None:
        need(not found < (2.0**120 if c.run["single_precision"] else 2.0**1000), f"Q is {found!r}")
        return
    unit = _unit(c, own)
    need(abs(claimed - found) <= unit * max(found, claimed, 1e-300), f"Q is {found!r}, not {claimed!r}")


def _replay(c: Certificate, e: Evidence) -> None:
    """w is what the updates leave."""
    u, v = c.updates, c.vectors["w"]
    assert u is not None
    for r in range(e.n_parts):
        rows, a = u.coefficients(r)
        columns = range(len(a)) if e.problem == "joint" else [r]
        own = u.of(r)
        tol = _coefficient_room(c, own)
        need(tol < np.inf, "the steps are beyond the range of floats")
        for j, column in enumerate(columns):
            if v.weights is None:
                assert v.rows is not None and v.coefficients is not None
                claimed = dict(zip(v.rows.tolist(), v.coefficients[column].tolist()))
                left = dict(zip(rows.tolist(), a[j].tolist()))
                for i in sorted({*claimed, *left}):
                    value = left.get(i, 0.0)
                    need(abs(claimed.get(i, 0.0) - value) <= tol, f"row {i} has coefficient {value!r}")
                continue
            start = _start(c, column)
            w = _combined(e, rows, a[j]) + start
            apart = float(np.abs(w - v.weights[column]).max())
            within = _room(c, e, own, float(np.abs(start).max()))
            need(apart <= within < np.inf, f"the updates leave a w that is {apart:.3g} away")


def _start(c: Certificate, column: int) -> np.ndarray:
    start = c.vectors.get("start")
    return np.asarray(0.0 if start is None or start.weights is None else start.weights[column])


def _unit(c: Certificate, own: LoggedUpdates) -> float:
    """How far rounding may move a sum of updates, relative to the sum of their sizes."""
    single = c.run["single_precision"]
    rounding = 2.0**-24 if single else 2.0**-53
    return max(1e-5 if single else 1e-9, 4.0 * (len(own.row) + 8) * rounding)


def _least(c: Certificate) -> float:
    """What underflow may change of one number."""
    return 2.0**-149 if c.run["single_precision"] else 2.0**-1074


def _left(own: LoggedUpdates) -> np.ndarray:
    """By what later updates have multiplied each."""
    later = np.ones(len(own.keep))
    if len(later):
        later[:-1] = np.cumprod(own.keep[:0:-1])[::-1]
    return later


def _steps(own: LoggedUpdates) -> np.ndarray:
    """The sizes of the steps."""
    return np.asarray(np.abs(own.alpha).max(axis=1, initial=0.0))


def _coefficient_room(c: Certificate, own: LoggedUpdates) -> float:
    """How far rounding may have moved the coefficient of a row."""
    return float(_left(own) @ (_unit(c, own) * _steps(own) + _least(c))) + _least(c)


def _room(c: Certificate, e: Evidence, own: LoggedUpdates, start: float) -> float:
    """How far rounding may have moved an entry of w: each step is rounded, then the sum."""
    lengths = _seen(e)[own.row]
    moved = _unit(c, own) * _steps(own) * lengths + _least(c) * (1.0 + lengths)
    return float(_left(own) @ moved) + _unit(c, own) * start + _least(c)


def _seen(e: Evidence) -> np.ndarray:
    """Euclidean lengths of the rows as the learner has seen them."""
    lengths = e.scaled_lengths
    return (lengths > 0.0).astype(float) if e.space.unit else np.ldexp(lengths, e.shift)


def _combined(e: Evidence, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
    if e.space.unit:
        lengths = np.ldexp(e.scaled_lengths[rows], e.shift)
        a = a / np.where(lengths > 0.0, lengths, 1.0)  # a zero row stays zero
    if not len(rows):
        return np.zeros(e.n_features + 1)
    w = np.asarray(e.X[rows].T @ a, dtype=float).ravel()
    return np.append(w, e.space.bias * a.sum())


def _mistaken(c: Certificate, e: Evidence) -> None:
    """Every update was made on a row on the wrong side, or on the hyperplane."""
    u = c.updates
    assert u is not None
    if e.space.kernel is not None or e.problem == "joint":
        return
    seen = _seen(e)
    for r in range(e.n_parts):
        own, signs = u.of(r), e.signs(r)
        w = np.zeros(e.n_features + 1)
        slack = max(_unit(c, own), 1e-4 if c.run["single_precision"] else 1e-9)
        moved = 0.0  # how far w may be off, as in _room
        for i, keep, alpha in zip(own.row.tolist(), own.keep.tolist(), own.alpha[:, 0].tolist()):
            x = _combined(e, np.asarray([i]), np.ones(1))
            m = signs[i] * float(w @ x)
            within = moved * float(seen[i]) + _least(c)
            need(m <= within < np.inf, f"row {i} was updated on at margin {m:.6g}")
            w = keep * w + alpha * x
            moved = keep * moved + slack * abs(alpha) * float(seen[i]) + _least(c) * (1.0 + float(seen[i]))
