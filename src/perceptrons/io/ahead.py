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
#: An item was read; some thread finishes it; it is finished.
READ, IN_WORK, FINISHED = range(3)


class _Waiting(Generic[Item]):
    """An item on its way."""

    __slots__ = ("error", "item", "size", "state")

    def __init__(self, item: Item, size: int):
        self.item, self.size = item, size
        self.state = READ
        self.error: BaseException | None = None


class ReadAhead(Generic[Item]):
    """The items of an iterator, made in a thread of their own, at most ``room`` of them waiting.

    An error of the iterator is raised where the items are taken. :meth:`close` ends the thread; a thread that
    is blocked in a read of a pipe ends when the read returns, and does not keep the process alive.

    ``finish(item)`` does the rest of the work on an item that the iterator has read; None: there is none.
    ``shared``: two items may be finished at the same time, in any order. Then the thread that takes the items
    finishes some itself, rather than wait.

    ``size(item)`` is its bytes. Fewer items wait where they are large, and behind one of more than 8 MB
    nothing is made before the next one is requested: memory is bounded by bytes, not by the number of items.
    """

    def __init__(
        self,
        items: Iterator[Item],
        room: int,
        pipe: bool = False,
        size: Callable[[Item], int] = lambda _: 0,
        finish: Callable[[Item], Item] | None = None,
        shared: bool = False,
    ):
        self._items = items
        self._room = room
        self._pipe = pipe
        self._size = size
        self._finish = finish
        self._shared = shared
        self._requested = False  # whether the consumer waits for an item
        self._waiting: deque[_Waiting[Item]] = deque()
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
                    self._waiting.append(_Waiting(item, size))
                    del item  # the consumer's alone: memory stays flat
                    self._changed.notify_all()
                self._finish_some()
                if size > _HEAVY:
                    self._wait_for_request()
            self._finish_some(last=True)
        except BaseException as error:  # raised again where the items are taken
            self._error = error
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _wait_for_request(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: (self._requested and not self._waiting) or self._closed)

    def _finish_some(self, last: bool = False) -> None:
        """Finish items; where the work is shared one stays for the consumer, unless it was the ``last``."""
        while True:
            with self._changed:
                found = [one for one in self._waiting if one.state == READ]
                alone = self._shared and not last and len(found) == 1 and self._has_room(found[0].size)
                if self._closed or not found or alone:
                    return
                found[0].state = IN_WORK
            self._finished(found[0])
            if found[0].size > _HEAVY:
                self._wait_for_request()

    def _finished(self, one: _Waiting[Item]) -> None:
        """Finish an item that is in work; an error is kept for the place where it is taken."""
        try:
            item = one.item if self._finish is None else self._finish(one.item)
            size = self._size(item)
        except Exception as error:
            with self._changed:
                one.state, one.error = FINISHED, error
                self._changed.notify_all()
            return
        except BaseException:  # an interruption of the consumer: the item is as it was
            with self._changed:
                one.state = READ
                self._changed.notify_all()
            raise
        with self._changed:
            one.item, one.size, one.state = item, size, FINISHED
            self._changed.notify_all()

    def _has_room(self, size: int) -> bool:
        """Whether an item of this size may wait, or the thread is to end."""
        waiting = sum(one.size for one in self._waiting)
        few = not self._waiting or (len(self._waiting) < self._room and waiting + size <= _WAITING)
        return few or self._closed

    def _next(self) -> _Waiting[Item] | None:
        """The first item if it is finished, else one for the consumer to finish, if there is any."""
        if self._waiting and self._waiting[0].state == FINISHED:
            return self._waiting[0]
        return next((one for one in self._waiting if self._shared and one.state == READ), None)

    def __iter__(self) -> ReadAhead[Item]:
        return self

    def __next__(self) -> Item:
        while True:
            with self._changed:
                if self._next() is None:
                    self._requested = True
                    self._changed.notify_all()
                    self._changed.wait_for(self._something_to_do)
                    self._requested = False
                found = self._next()
                if found is None or self._closed:
                    break
                if found.state == FINISHED:
                    self._waiting.popleft()
                    self._changed.notify_all()
                    if found.error is None:
                        return found.item
                    self._closed, self._error = True, None  # nothing follows
                    self._waiting.clear()
                    raise found.error
                found.state = IN_WORK
            self._finished(found)
        self._thread.join()
        if self._error is not None and not self._closed:
            error, self._error = self._error, None
            raise error
        raise StopIteration

    def _something_to_do(self) -> bool:
        return self._next() is not None or self._ended or self._closed

    def close(self) -> None:
        """End the thread; no further item is returned."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.join(_CLOSE_SECONDS if self._pipe else None)
