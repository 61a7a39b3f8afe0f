"""Ctrl-C and SIGTERM end a command: at once, but between two batches while a model is learning."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from signal import _HANDLER

_ENDING = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """SIGINT or SIGTERM has arrived."""

    def __init__(self, signum: int, message: str = "interrupted."):
        super().__init__(message)
        self.signum = signum


class Signals:
    """While it is open SIGINT and SIGTERM raise :class:`Interrupted`; after :meth:`hold` they wait.

    A second signal does not wait; then ``torn`` is true: what was held may be half done.
    """

    def __init__(self) -> None:
        self.signum: int | None = None
        self.held = self.torn = False
        self._old: dict[signal.Signals, _HANDLER] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():  # no other thread gets signals
            for number in _ENDING:
                self._old[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _arrived(self, signum: int, frame: FrameType | None) -> None:
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
        """Raise, if a signal has waited."""
        if self.signum is not None:
            raise Interrupted(self.signum)
