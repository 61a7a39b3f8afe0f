"""tune: successive halving over the parameters of an estimator."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from math import ceil, inf, sqrt
from typing import Any

import numpy as np

from ..core import checks
from ..core.classifier import Classifier
from ..models.shrinking import shrunk
from ..text.hashing import as_texts
from ..text.learner import TextClassifierSpec
from . import ranges as values
from .trials import LISTS, Data, Trial, as_lists, made, tried

_SHARE = 3  # of the candidates one in three goes on, to three times the rows
_LEAST_ROWS = 300  # that a trial learns


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    seconds: float | None = 60.0,
    trials: int = 27,
    size_mb: float | None = None,
    ranges: Mapping[str, Iterable[Any]] | None = None,
    fixed: Iterable[str] = (),
    random_state: int = 0,
    verbose: int = 0,
) -> Any:
    """Choose the parameters of an estimator by held-out errors, and fit it.

    ``trials`` sets of parameters are drawn, the first of them those of the estimator. With 27 of them all are
    tried on a ninth of the rows, the best 9 on a third, the best 3 of these on all but the rows held out; the
    best of those is fitted on all rows. Errors are counted on rows that the trial has not learned: a fifth of
    them, and where that is less than 5000, further fifths in the same way. Among equal errors the first drawn
    wins, so the given parameters win a tie. Fewer sets need fewer rounds; a round of less than 300 rows is
    omitted. A set of parameters that the estimator refuses counts as worse than all others.

    The draws depend on ``random_state`` alone, and so do the rows of each trial: two calls with the same
    arguments give the same model, unless ``seconds`` ends one earlier. The errors of the best trial are a
    little too good an estimate for new rows, as they are the least of many: test the result on rows of its
    own.

    Ctrl-C ends the trials, and the best so far is fitted; before the first trial is done, and while that is
    fitted, it raises ``KeyboardInterrupt``.

    Parameters
    ----------
    estimator : estimator of perceptrons
        It is not changed.
    X : array-like, CSR matrix, texts, or whatever the estimator takes
    y : array-like
        Labels, one for each row; or several: an indicator matrix or, for texts, lists of labels. Then all of
        them have to be right.
    seconds : float or None, default=60
        Each round has an equal share of the time that the fit in the end will probably leave, and no trial
        is begun that would probably end later; the first trial and the fit are always made. None: no limit.
    trials : int, default=27
        How many sets of parameters.
    size_mb : float, optional
        For a :class:`~perceptrons.TextClassifier`: each model is shrunk to this size (see
        :func:`perceptrons.shrink`) before it is tested, and so is the result.
    ranges : dict, optional
        Parameter to a list of its values, in place of the library's own.
    fixed : sequence of str, optional
        Parameters that keep the value of the estimator.
    random_state : int, default=0
        Seed of the draws, and of the models where the estimator has ``random_state=None``.
    verbose : int, default=0
        1: a line for each trial on standard error.

    Returns
    -------
    model : estimator
        Fitted, with ``tuning_``: a list with a dict for each trial, which has the number of its set of
        parameters (``trial``), the ``rows`` that it learned, ``tested``, ``errors``, and the ``parameters``
        that differ from those given.

    Examples
    --------
    >>> from perceptrons import AROW, datasets, tune
    >>> toy = datasets.rings()
    >>> clf = tune(AROW(), toy.X, toy.y, trials=3, seconds=None)
    >>> len({row["trial"] for row in clf.tuning_})
    3
    """
    _check(estimator, trials, size_mb, seconds, random_state, verbose)
    start = time.perf_counter()
    X, y = _rows(estimator, X, y)
    rng = np.random.default_rng(random_state)
    data = Data(X, y, rng)
    found = (
        values.of_estimator(estimator, data.n_classes) if ranges is None else values.given(ranges, estimator)
    )
    found = values.without(found, estimator, fixed)
    if getattr(estimator, "random_state", 0) is None:
        estimator = made(estimator, {"random_state": random_state})
    drawn = values.candidates(estimator, found, trials, rng)
    search = Halving(estimator, drawn, size_mb, start, inf if seconds is None else seconds, verbose)
    model = made(estimator, drawn[search.best(data)]).fit(X, y)
    if size_mb is not None:
        return shrunk(model, size_mb, notes={"tuning_": search.table()})
    model.tuning_ = search.table()
    return model


def _check(
    estimator: Any, trials: int, size_mb: float | None, seconds: float | None, seed: int, verbose: int
) -> None:
    if not isinstance(estimator, Classifier) or not hasattr(estimator, "fit"):
        raise TypeError(f"tune takes an estimator of perceptrons; got {type(estimator).__name__}.")
    checks.whole("trials", trials)
    if seconds is not None:
        checks.positive("seconds", seconds)
    if size_mb is not None:
        checks.positive("size_mb", size_mb)
        if not isinstance(estimator, TextClassifierSpec):
            raise ValueError(f"size_mb is for a TextClassifier; got {type(estimator).__name__}.")
    checks.whole("random_state", seed, least=0)
    checks.verbose(verbose)


def _rows(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """X and y, of which parts can be taken."""
    if isinstance(estimator, TextClassifierSpec):
        X = as_texts(X, estimator.errors == "replace")
    elif isinstance(X, (list, tuple)) and not all(isinstance(row, (str, bytes, dict)) for row in X):
        X = np.asarray(X)
    if isinstance(y, (list, tuple)) and any(isinstance(one, LISTS) for one in y):
        y = as_lists(y)
    y = y if hasattr(y, "shape") else np.asarray(y)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n != y.shape[0]:
        raise ValueError(f"X and y must have as many rows as labels; got {n} and {y.shape[0]}.")
    return X, y.to_numpy() if hasattr(y, "to_numpy") else y


class Halving:
    """The trials of a call, and the time that is left."""

    def __init__(
        self,
        estimator: Any,
        candidates: list[values.Change],
        size_mb: float | None,
        start: float,
        seconds: float,
        verbose: int,
    ):
        self.estimator, self.candidates, self.size_mb = estimator, candidates, size_mb
        self.start, self.seconds, self.verbose = start, seconds, verbose
        self.trials: list[Trial] = []

    def best(self, data: Data) -> int:
        """The number of the best candidate, when all rounds are done or the time is up."""
        alive = list(range(len(self.candidates)))
        sizes = rounds(data.most, len(alive))
        for k, rows in enumerate(sizes):
            done: list[Trial] = []
            try:
                for number in alive:
                    if self._too_late(data, rows, (k + 1) / len(sizes)):
                        self._say(f"stopped round {k + 1} of {len(sizes)} after {len(done)} trials")
                        break
                    done.append(self._try(data, number, rows))
            except KeyboardInterrupt:
                if not self.trials:
                    raise
                self._say(f"interrupted after {len(self.trials)} trials")
                return ranked(done)[0] if done else alive[0]
            if done and all(trial.failure is not None for trial in done):
                raise done[0].failure or AssertionError
            alive = ranked(done)[: max(_SHARE, ceil(len(done) / _SHARE))] if done else alive
            if len(alive) == 1:
                break
        return alive[0]

    def finished(self, model: Any) -> Any:
        """A fitted model, as small as it will be."""
        return model if self.size_mb is None else shrunk(model, self.size_mb)

    def _try(self, data: Data, number: int, rows: int) -> Trial:
        change = self.candidates[number]
        trial = tried(data, self.estimator, change, number, rows, self.finished)
        self.trials.append(trial)
        told = f"{100.0 * trial.error:.2f} % wrong of {trial.tested:,}"
        if trial.failure is not None:
            told = f"refused: {trial.failure!s:.100}"
        self._say(f"trial {number + 1}/{len(self.candidates)}  {trial.rows:,} rows  {told}  {_told(change)}")
        return trial

    def _too_late(self, data: Data, rows: int, share: float) -> bool:
        """Whether a trial of so many rows would probably end after this share of the time for trials."""
        # the first trial compiles, or loads what was compiled
        measured = [trial.seconds / (data.folds * sqrt(trial.rows)) for trial in self.trials[1:]]
        # of one row, by the last three: memory takes a time that does not grow with the rows
        one_fit = sum(measured[-3:]) / 3.0 if len(measured) > 2 else min(measured, default=0.0)
        spent = time.perf_counter() - self.start
        until = share * (self.seconds - one_fit * sqrt(data.n))  # the last fit takes some of it
        return bool(self.trials) and spent + one_fit * sqrt(rows) * data.folds > until

    def _say(self, text: str) -> None:
        if self.verbose:
            sys.stderr.write(f"tune: {text}\n")

    def table(self) -> list[dict[str, Any]]:
        """The trials as plain data; seconds are left out, so that equal runs give equal tables."""
        return [
            {
                "trial": one.number,
                "rows": one.rows,
                "tested": one.tested,
                "errors": one.errors,
                "failure": "" if one.failure is None else f"{one.failure!s:.200}",
                "parameters": {name: _plain(value) for name, value in self.candidates[one.number].items()},
            }
            for one in self.trials
        ]


def rounds(most: int, n_candidates: int) -> list[int]:
    """How many rows are learned in each round: all of them in the last one, which has three candidates."""
    sizes = [most]
    while n_candidates >= _SHARE ** (len(sizes) + 1) and sizes[0] // _SHARE >= _LEAST_ROWS:
        sizes.insert(0, sizes[0] // _SHARE)
    return sizes[-3:]


def ranked(trials: list[Trial]) -> list[int]:
    """Numbers of candidates, the fewest errors first; among equals the first drawn."""
    return [trial.number for trial in sorted(trials, key=lambda trial: (trial.error, trial.number))]


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _told(change: values.Change) -> str:
    return ", ".join(f"{name}={value}" for name, value in change.items()) or "as given"
