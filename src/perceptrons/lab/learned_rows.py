"""The rows that the learners of a scene see: labels turned, the mean subtracted, and edits while it plays.

A run with edits is one learner on all rows that there ever are, which visits the present ones only. So each
row has one number for the whole run, and w goes on over an edit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .scenes import LIMITS, Scene


class RowsOfTime(NamedTuple):
    """Rows between two edits."""

    at: int  #: visits before
    rows: np.ndarray  #: their numbers among all rows
    turned: list[int]  #: places in ``rows`` of rows whose label was turned


class LearnedRows(NamedTuple):
    """All rows of a scene."""

    X: np.ndarray  #: (n, 2)
    codes: np.ndarray
    y: np.ndarray  #: labels as the learner gets them: -1 and +1 for two classes, else the codes
    parts: list[RowsOfTime]


def learned_rows(scene: Scene) -> LearnedRows:
    """The rows of a scene as they are learned; ValueError where a run cannot begin."""
    shift = scene.center * scene.X.mean(axis=0) if scene.center and len(scene.X) else np.zeros(2)
    X, given = [row for row in scene.X], scene.y.tolist()
    turned = _turned(scene)
    parts = [RowsOfTime(0, np.arange(len(X)), sorted(turned))]
    for edit in scene.edits:
        rows = _numbers(X, given, turned, parts[-1].rows, edit.X, edit.y)
        where = [place for place, i in enumerate(rows.tolist()) if i in turned]
        parts.append(RowsOfTime(edit.at, rows, where))
    first = max(k for k, part in enumerate(parts) if part.at == 0)  # an edit before the first visit
    parts = parts[first:]
    used = list(dict.fromkeys(int(i) for part in parts for i in part.rows))  # the first part has 0, 1, 2, …
    if len(used) > LIMITS.rows:
        raise ValueError(f"The edits have {len(used)} different points; the lab takes at most {LIMITS.rows}.")
    number = {i: j for j, i in enumerate(used)}
    parts = [part._replace(rows=np.array([number[int(i)] for i in part.rows], np.int64)) for part in parts]
    k = len(scene.classes)
    codes = np.array([(given[i] + turned.get(i, 0)) % k for i in used], np.int64)
    _check_classes(scene, codes, parts)
    rows = np.array(X).reshape(-1, 2)[used] - shift
    return LearnedRows(rows, codes, 2 * codes - 1 if k == 2 else codes, parts)


def _turned(scene: Scene) -> dict[int, int]:
    """Rows whose label is turned, and by how much its code grows.

    Each row has a number, drawn once; those with the smallest ones are turned, so that more noise turns the
    same rows and others.
    """
    rng = np.random.default_rng(scene.seed)
    n, k = len(scene.X), len(scene.classes)
    order, moves = np.argsort(rng.random(n)), rng.integers(1, k, n) if k > 2 else np.ones(n, np.int64)
    return {int(i): int(moves[i]) for i in order[: round(scene.noise * n)]}


def _numbers(
    X: list[np.ndarray],
    given: list[int],
    turned: dict[int, int],
    before: np.ndarray,
    new_X: np.ndarray,
    new_y: np.ndarray,
) -> np.ndarray:
    """The numbers of the rows of an edit; new rows are appended to X and ``given``.

    A row that was there keeps its number, and so does one that comes back. One that was moved has a new
    number, and its label stays turned if it was.
    """
    there: dict[tuple[float, float, int], list[int]] = {}
    for i in [*before.tolist(), *sorted(set(range(len(X))) - set(before.tolist()))]:
        there.setdefault((*X[i].tolist(), given[i]), []).append(i)
    numbers = np.full(len(new_X), -1)
    for place, (x, code) in enumerate(zip(new_X, new_y.tolist(), strict=True)):
        known = there.get((*x.tolist(), code))
        if known:
            numbers[place] = known.pop(0)
    gone = [i for i in before.tolist() if i not in set(numbers.tolist())]
    for place in np.flatnonzero(numbers < 0).tolist():
        numbers[place] = len(X)
        moved = next((i for i in gone if given[i] == new_y[place]), None)
        if moved is not None:
            gone.remove(moved)
            if moved in turned:
                turned[len(X)] = turned[moved]
        X.append(new_X[place])
        given.append(int(new_y[place]))
    return numbers


def _check_classes(scene: Scene, codes: np.ndarray, parts: list[RowsOfTime]) -> None:
    """A learner has the classes that it begins with."""
    begin = set(codes[parts[0].rows].tolist())
    if len(begin) < 2:
        raise ValueError("A run needs points of at least two classes.")
    later = sorted(set(codes.tolist()) - begin)
    if later:
        raise ValueError(
            f"The class {scene.classes[later[0]]!r} had no point when the run began; start it again with one."
        )
