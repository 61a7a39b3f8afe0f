"""Reading ahead: a thread makes the next batches while the last one is learned."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

_CLOSE_SECONDS = 1.0  # how long to wait for the end of a thread that may be blocked in a read of a pipe
_WAITING = 1 << 24  # bytes of items that may wait; one item may be larger
_HEAVY = 1 << 23  # bytes of an item after which nothing is made before the next one is requested


class ReadAhead(Generic[Item]):
    """The items of an iterator, made in a thread of their own, at most ``room`` of them waiting.

    An error of the iterator is raised where the items are taken. :meth:`close` ends the thread; a thread that
    is blocked in a read of a pipe ends when the read returns, and does not keep the process alive.

    ``size(item)`` is its bytes. Fewer items wait where they are large, and behind one of more than 8 MB
    nothing is made before the next one is requested: memory is bounded by bytes, not by the number of items.
    """

    def __init__(
        self, items: Iterator[Item], room: int, pipe: bool = False, size: Callable[[Item], int] = lambda _: 0
    ):
        self._items = items
        self._room = room
        self._pipe = pipe
        self._size = size
        self._requested = False  # whether the consumer waits for an item
        self._waiting: deque[tuple[Item, int]] = deque()
        self._changed = threading.Condition()
        self._closed = self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="perceptrons-read-ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for item in self._items:
                size = self._size(item)
                with self._changed:
                    self._changed.wait_for(functools.partial(self._has_room, size))
                    if self._closed:
                        break
                    self._waiting.append((item, size))
                    del item  # the consumer's alone: memory stays flat
                    self._changed.notify_all()
                    if size > _HEAVY:
                        self._changed.wait_for(
                            lambda: (self._requested and not self._waiting) or self._closed
                        )
        except BaseException as error:  # raised again where the items are taken
            self._error = error
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _has_room(self, size: int) -> bool:
        """Whether an item of this size may wait, or the thread is to end."""
        waiting = sum(n for _, n in self._waiting)
        few = not self._waiting or (len(self._waiting) < self._room and waiting + size <= _WAITING)
        return few or self._closed

    def __iter__(self) -> ReadAhead[Item]:
        return self

    def __next__(self) -> Item:
        with self._changed:
            if not self._waiting:
                self._requested = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._ended or self._closed)
                self._requested = False
            if self._waiting and not self._closed:
                item, _ = self._waiting.popleft()
                self._changed.notify_all()
                return item
        self._thread.join()
        if self._error is not None and not self._closed:
            error, self._error = self._error, None
            raise error
        raise StopIteration

    def close(self) -> None:
        """End the thread; no further item is returned."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.join(_CLOSE_SECONDS if self._pipe else None)
