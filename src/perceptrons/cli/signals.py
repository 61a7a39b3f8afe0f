"""Ctrl-C and SIGTERM: at once where nothing can break, between two batches where a model is learning."""

from __future__ import annotations

import signal
import threading
from typing import Any

_ENDING = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """A signal asked the process to end."""

    def __init__(self, signum: int, message: str = "interrupted."):
        super().__init__(message)
        self.signum = signum


class Signals:
    """While it is open SIGINT and SIGTERM raise :class:`Interrupted`, or wait where :meth:`hold` says so.

    A second signal does not wait; ``torn`` then says that what was held may be half done.
    """

    def __init__(self) -> None:
        self.signum: int | None = None
        self.held = self.torn = False
        self._old: dict[Any, Any] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():  # no other thread is told of signals
            for number in _ENDING:
                self._old[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _arrived(self, signum: int, frame: Any) -> None:
        again = self.signum is not None
        self.signum = signum
        if not self.held or again:
            self.torn = self.held
            raise Interrupted(signum)

    def hold(self) -> None:
        """From here on a signal waits for :meth:`check`."""
        self.held = True

    def release(self) -> None:
        """From here on a signal does not wait."""
        self.held = False

    def check(self) -> None:
        """End, if a signal has waited."""
        if self.signum is not None:
            raise Interrupted(self.signum)
