"""``perceptrons train --tune``: the parameters are chosen by held-out errors."""

from __future__ import annotations

import json
import re
import signal
import threading
from typing import TYPE_CHECKING, Any

from . import printing, progress, rows
from .errors import Misuse

if TYPE_CHECKING:
    from fractions import Fraction

    from .._types import JsonObject
    from .learners import AnyLearner
    from .training import Session, TrainingRun

_SHOWN = 10  # trials in the table
_PER_LETTER, _LEAST = 4e-6, 4e-4  # megabytes of the layout, which is JSON text within JSON text
_ENOUGH = {"s": 1.0, "m": 60.0, "h": 3600.0}


def budget(text: str) -> tuple[float | None, int | None]:
    """(seconds, trials) of --tune, one of them None.

    >>> budget("60s"), budget("5m"), budget("20trials")
    ((60.0, None), (300.0, None), (None, 20))
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|m|h|trials?)?\s*", text)
    unit = (match[2] or "s") if match else "s"
    if match is None or float(match[1]) <= 0.0 or (unit not in _ENOUGH and "." in match[1]):
        raise Misuse(f"--tune takes a time, as 60s or 5m, or a number of trials, as 20trials; got {text!r}.")
    return (float(match[1]) * _ENOUGH[unit], None) if unit in _ENOUGH else (None, int(match[1]))


def check(run: TrainingRun) -> None:
    """Refuse options that a search for parameters has no use for."""
    running = run.running
    if running.tune is None:
        if running.size_mb is not None:
            raise Misuse("--size-mb is for --tune; perceptrons shrink makes a small copy of a model.")
        return
    budget(running.tune)
    for option, given in (
        ("--checkpoint", run.checkpoint_file),
        ("--workers", running.workers),
        ("--cluster", running.cluster),
        ("--shuffle", running.shuffle or None),
        ("--passes", running.passes),
    ):
        if given is not None:
            raise Misuse(f"--tune tries the learner on rows in memory; drop {option}.")
    if running.size_mb is not None and not run.learning.text:
        raise Misuse("--size-mb is for texts; give --text.")


def tuned(session: Session, model: AnyLearner, part: Fraction | None, layout: JsonObject) -> AnyLearner:
    """The learner with the best parameters, fitted."""
    from ..core.parameters import names_of
    from ..tuning.search import tune

    run = session.run
    rows.settle_width(session.stream)
    session.stream.select(holdout=part)
    X, y, weights = rows.whole(session.stream)
    session.bad_lines, session.missing = session.stream.skipped, session.stream.missing
    if weights is not None:
        raise Misuse("--tune takes no weights of rows; drop --weight-column.")
    classes = rows.Classes(run.running.max_classes, session.stream.layout.get("label_column"))
    classes.add(y)
    classes.check(len(y))
    usual = type(model)()
    fixed = [name for name in names_of(type(model)) if getattr(model, name) != getattr(usual, name)]
    seconds, trials = budget(str(run.running.tune))
    more: dict[str, Any] = {} if trials is None else {"trials": trials}
    session.watch = progress.Stopwatch()
    with _interruptible():
        found: AnyLearner = tune(
            model,
            X,
            y,
            seconds=seconds,
            size_mb=_size_left(run.running.size_mb, rows.settled(session.stream, layout)),
            fixed=fixed,
            random_state=run.running.seed,
            verbose=0 if run.quiet else 1,
            **more,
        )
    session.watch.stop()
    return found


def _size_left(size_mb: float | None, layout: JsonObject) -> float | None:
    """The size of the model alone, in a file that holds the layout of the rows as well."""
    return None if size_mb is None else size_mb - _PER_LETTER * len(json.dumps(layout)) - _LEAST


class _interruptible:
    """Ctrl-C raises KeyboardInterrupt here, which ends the trials and keeps the best."""

    def __enter__(self) -> None:
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *error: object) -> None:
        if self.main:
            signal.signal(signal.SIGINT, self.before)


def lines(model: Any, seconds: float) -> list[tuple[str, str]]:
    """How the parameters were chosen, for people to read."""
    table = model.tuning_
    tried = len({row["trial"] for row in table})
    return [
        ("tuned", f"{printing.counted(tried, 'set')} of parameters, {len(table)} trials, {seconds:.1f} s"),
        *(("", line) for line in table_of(table).split("\n")),
    ]


def table_of(trials: list[dict[str, Any]]) -> str:
    """The best trials on the most rows, then those on fewer."""
    best = sorted(trials, key=lambda row: (-row["rows"], row["errors"], row["trial"]))[:_SHOWN]
    cells = [
        (
            ", ".join(f"{k}={v}" for k, v in row["parameters"].items()) or "as given",
            f"{row['rows']:,}",
            printing.percent(row["errors"], row["tested"]) if not row["failure"] else "refused",
        )
        for row in best
    ]
    return printing.table(("parameters", "rows", "wrong"), cells)
