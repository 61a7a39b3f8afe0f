"""Checkpoints: a long run that can be killed at any moment and resumed from its last checkpoint."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from . import files, registry, saving
from .errors import ModelError

if TYPE_CHECKING:
    from .._types import Json, JsonObject
    from ..io.fitting import FitReport
    from .registry import Model


def _stated(report: FitReport | JsonObject) -> JsonObject:
    return report.to_dict() if hasattr(report, "to_dict") else dict(report)


def _rows_at(position: Json) -> int:
    """Rows that were learned at a stored position: those of its report; 0 where it says nothing of rows."""
    report = position.get("report", position) if isinstance(position, dict) else None
    rows = report.get("rows") if isinstance(report, dict) else None
    return rows if isinstance(rows, int) else 0


class Checkpoint:
    """A model file that a run writes again and again, together with its position in the data.

    While a Checkpoint is open no other process can write the file. A run that is killed, by whatever
    signal and at whatever moment, leaves the last whole checkpoint; learning from there on makes the same
    model, to the last bit, as a run that was never interrupted.

    Parameters
    ----------
    path : path
        The file; :func:`perceptrons.models.load` reads it as well. A link is followed.
    every_rows : int or None, default=None
        :meth:`due` after so many rows.
    every_seconds : float or None, default=30.0
        :meth:`due` after so much time.
    objects : dict, optional
        For :meth:`resume`: see :func:`perceptrons.models.load`.

    Examples
    --------
    >>> import os, tempfile
    >>> from perceptrons import Perceptron
    >>> from perceptrons.models import Checkpoint
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "run.model")
    >>> with Checkpoint(path) as checkpoint:
    ...     clf = Perceptron().partial_fit([[1.0], [-1.0]], [1, 0])
    ...     checkpoint.save(clf, {"pass": 0, "row": 2})
    >>> with Checkpoint(path) as checkpoint:
    ...     clf, position = checkpoint.resume()
    >>> clf.coef_, position
    (array([[2.]]), {'pass': 0, 'row': 2})
    >>> folder.cleanup()

    With :func:`perceptrons.io.fit_stream` it saves by itself:
    ``fit_stream(clf, stream, checkpoint=checkpoint)``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every_rows: int | None = None,
        every_seconds: float | None = 30.0,
        objects: Mapping[str, object] | None = None,
    ):
        for name, value in (("every_rows", every_rows), ("every_seconds", every_seconds)):
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be a positive number or None; got {name}={value!r}.")
        self.every_rows = every_rows
        self.every_seconds = every_seconds
        self.objects = objects
        lock = files.Lock(path)
        self._lock: files.Lock | None = lock
        self.path = lock.path
        self.classes: Callable[[str], type] = registry.estimator  #: the class of each name in a file
        self.position: Callable[[JsonObject], JsonObject] = dict  #: what is stored for a report
        self._rows = self._seen = 0
        self._saved_at = time.monotonic()

    def __call__(self, model: Model, report: FitReport | JsonObject) -> None:
        """Save if it is time to: ``fit_stream(model, stream, checkpoint=checkpoint)``.

        Parameters
        ----------
        model : estimator
        report : dict, or an object with ``to_dict()``
            The position. Its ``rows``, if it has them, count the rows learned so far.
        """
        stated = None if hasattr(report, "rows") else _stated(report)  # a report with a long curve is slow
        rows = int(cast("FitReport", report).rows if stated is None else stated.get("rows", 0))
        if self.due(max(0, rows - self._seen)):
            self.save(model, self.position(_stated(report) if stated is None else stated))
        self._seen = rows

    def due(self, rows: int = 0) -> bool:
        """Whether it is time to save, ``rows`` rows after the last call of this method.

        Parameters
        ----------
        rows : int, default=0

        Returns
        -------
        due : bool
        """
        self._rows += rows
        by_rows = self.every_rows is not None and self._rows >= self.every_rows
        waited = time.monotonic() - self._saved_at
        return by_rows or (self.every_seconds is not None and waited >= self.every_seconds)

    def save(self, model: Model, position: Json = None) -> None:
        """Store the model and its position in the data.

        Parameters
        ----------
        model : estimator
        position : dict, optional
            All that the run needs to resume: numbers, strings, lists and dicts of them.
        """
        if self._lock is None:
            raise ModelError(f"The checkpoint of {self.path} is closed.")
        saving.write(self._lock, saving.pieces(model, position))
        self._rows = 0
        self._saved_at = time.monotonic()

    def resume(self) -> tuple[Any, Json] | None:
        """(model, position) of the last whole checkpoint; None where there is none yet."""
        if not os.path.exists(self.path):
            return None
        stored = saving.read(self.path, self.objects, sys.maxsize, self.classes)  # of any size: its own file
        self._seen = max(self._seen, _rows_at(stored.position))
        return stored.model, stored.position

    def close(self) -> None:
        """Release the lock: other processes can write the file."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
