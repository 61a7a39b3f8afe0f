"""Reading ahead: a thread makes the next batches while the last one is learned."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

_PATIENCE = 1.0  # seconds for a thread that may wait for somebody else's pipe


class ReadAhead:
    """The items of an iterator, made in a thread of their own, at most ``room`` of them waiting.

    An error of the iterator is raised where the items are taken. :meth:`close` ends the thread; a thread that
    waits for a pipe ends as soon as the pipe answers, and does not keep the process alive.
    """

    def __init__(self, items: Iterator[Any], room: int, pipe: bool = False):
        self._items = items
        self._room = room
        self._pipe = pipe
        self._waiting: deque[Any] = deque()
        self._changed = threading.Condition()
        self._closed = self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="perceptrons-read-ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for item in self._items:
                with self._changed:
                    self._changed.wait_for(lambda: len(self._waiting) < self._room or self._closed)
                    if self._closed:
                        break
                    self._waiting.append(item)
                    self._changed.notify_all()
                del item  # the consumer's alone: memory stays flat
        except BaseException as error:  # raised again where the items are taken
            self._error = error
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def __iter__(self) -> ReadAhead:
        return self

    def __next__(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended or self._closed)
            if self._waiting and not self._closed:
                item = self._waiting.popleft()
                self._changed.notify_all()
                return item
        self._thread.join()
        if self._error is not None and not self._closed:
            error, self._error = self._error, None
            raise error
        raise StopIteration

    def close(self) -> None:
        """End the thread; nothing more is answered."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.join(_PATIENCE if self._pipe else None)
