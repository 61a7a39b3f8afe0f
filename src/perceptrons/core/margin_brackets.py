"""Brackets around the best margin as attributes: the pairs that a run keeps, with their space.

Those with a free offset are computed here, from the weights, the steps and the longest row: see
:mod:`perceptrons.engine.free_margins`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, overload

import numpy as np

from ..engine import free_margins, spaces
from ..engine.margins import U, up_by_one
from ..theory.brackets import Bracket, gamma_up_free, margin_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.free_margins import SumOfSteps
    from ..engine.spaces import Bracket as Pair
    from ..engine.spaces import Frame, Space
    from .solved import Descent


@overload
def in_space(pairs: None, space: str) -> None: ...


@overload
def in_space(pairs: list[Pair], space: str) -> list[Bracket]: ...


@overload
def in_space(pairs: Pair | list[Pair] | None, space: str) -> Bracket | list[Bracket] | None: ...


def in_space(pairs: Pair | list[Pair] | None, space: str) -> Bracket | list[Bracket] | None:
    """The pair, or each of several, as brackets of this space; None where nothing is claimed."""
    if pairs is None:
        return None
    if isinstance(pairs, list):
        return [Bracket(low, up, space) for low, up in pairs]
    low, up = pairs
    return Bracket(low, up, space)


def free_of_run(space: Space, pairs: Sequence[Pair], radius: float, both: bool) -> list[Bracket] | None:
    """The brackets with a free offset of an online run; None where nothing is claimed.

    ``pairs`` are those of the learner's own space. ``both``: rows of both classes are known to be there;
    otherwise steps on both must prove it.
    """
    frame = space.frame
    if not (isinstance(space, (spaces.Linear, spaces.OneVsRest)) and _has_free_offset(frame)):
        return None
    learners = [learner for learner in space.learners if isinstance(learner, spaces.Linear)]
    if len(learners) < len(space.learners) or not space.from_zero:
        return None
    found = []
    for learner, pair in zip(learners, pairs, strict=True):
        steps = free_margins.steps_of_run(learner.v, learner.state, frame.bias)
        found.append(_free(learner.v, steps, pair, radius, frame.bias, both))
    return found


def free_of_descents(
    runs: Sequence[Descent],
    alphas: Sequence[np.ndarray | None] | None,
    pairs: Sequence[Pair],
    frame: Frame,
    radius: float,
    both: bool,
) -> list[Bracket] | None:
    """The brackets with a free offset of descents; None where nothing is claimed.

    ``both``: there are rows of both classes.
    """
    if not _has_free_offset(frame) or alphas is None:
        return None
    found = []
    for run, alpha, pair in zip(runs, alphas, pairs, strict=True):
        if alpha is None:  # it did not start at 0, or from a row
            return None
        sizes = [len(rows) for rows in run.chosen]
        steps = free_margins.steps_of_descent(run.w, run.steps, sizes, alpha, frame.bias, radius)
        found.append(_free(run.w, steps, pair, radius, frame.bias, both))
    return found


def _has_free_offset(frame: Frame) -> bool:
    return frame.bias > 0.0 and not frame.unit


def _free(
    v: np.ndarray, steps: SumOfSteps | None, pair: Pair, radius: float, bias: float, both: bool
) -> Bracket:
    low, up = pair
    above = inf
    if steps is not None and (both or steps.of_both_classes):
        R = free_margins.radius_without(radius, bias, v.shape[0])
        ends = (gamma_up_free(steps.norm, steps.mass, delta, R) for delta in (steps.least, steps.most))
        above = up_by_one(max(ends) + 16.0 * U * radius)  # rows rounded from integers are off by less
        above = min(above, free_margins.from_augmented(up, R, bias))
    return Bracket(free_margins.lower_end(low, v), above, margin_space(free=True))
