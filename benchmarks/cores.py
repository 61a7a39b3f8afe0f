"""Whether threads have a processor core each, which a virtual machine does not say.

    .venv/bin/python benchmarks/cores.py        watch it for half a minute

What a virtual machine calls its cores may be hyperthreads. Two of them may lie on one core, or beside those
of another machine, and this changes from second to second. So a benchmark of threads asks between its rounds:
products of numbers that stay in the nearest cache need nothing but a core, and take as long in two threads as
in one, if each has a core of its own. On hyperthreads of one core they take twice as long. Products keep the
units of a core busy; additions that wait for each other would not, and would take as long in any case.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

from perceptrons.engine import compiler
from perceptrons.rows import gather_dot

#: Threads had a core each where products took at most so many times as long as in one of them alone.
SLACK = 1.15
ENTRIES = 2_000
#: Of slowdowns: a core each, a core that is shared with somebody else, one core for both.
BANDS = ((0.0, SLACK), (SLACK, 1.7), (1.7, np.inf))


def products() -> Any:
    """The compiled loop: the sum of n products of one sparse row with weights."""
    compiler._register_with_numba()

    @numba.njit(**compiler.OPTIONS)
    def loop(data, indices, w, n):
        total = 0.0
        for k in range(n):
            total += gather_dot(data, indices, np.uint64(k & 1), np.uint64(data.shape[0]), w)
        return total

    return loop


class Cores:
    """Asks whether two threads have a core each.

    It has threads of its own. Where there are two cores only, each stays on one: the system may begin a
    thread that has slept on the core of the one that wakes it, and moves it some milliseconds later.
    """

    def __init__(self, n_products: int = 1_000):
        free = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        cpus = iter(free if len(free) == 2 else [])
        together = threading.Barrier(2)

        def begin() -> None:
            if (cpu := next(cpus, None)) is not None:
                os.sched_setaffinity(0, {cpu})  # of this thread alone

        self._pools = [ThreadPoolExecutor(1, initializer=begin) for _ in range(2)]
        loop = products()
        self._alone = [self._work(loop, None, n_products) for _ in self._pools]
        self._both = [self._work(loop, together, n_products) for _ in self._pools]
        self.slowdown()  # compiles

    @staticmethod
    def _work(loop: Any, together: threading.Barrier | None, n: int) -> Callable[[], float]:
        data, w = np.ones(ENTRIES, np.float32), np.ones(ENTRIES, np.float32)
        indices = np.random.default_rng(0).permutation(ENTRIES).astype(np.uint32)

        def seconds() -> float:
            if together is not None:
                together.wait()
            start = time.perf_counter()
            loop(data, indices, w, n)
            return time.perf_counter() - start

        return seconds

    def slowdown(self) -> float:
        """How many times as long the slower thread takes beside the other as the quicker one takes alone."""
        alone = [pool.submit(call).result() for pool, call in zip(self._pools, self._alone, strict=True)]
        both = [pool.submit(call) for pool, call in zip(self._pools, self._both, strict=True)]
        return max(each.result() for each in both) / min(alone)

    def close(self) -> None:
        for pool in self._pools:
            pool.shutdown()


def main() -> None:
    cores, found = Cores(), []
    for _ in range(600):
        found.append(cores.slowdown())
        time.sleep(0.05)
    cores.close()
    shares = [np.mean((low < np.array(found)) & (np.array(found) <= high)) for low, high in BANDS]
    print("how many times as long products take in two threads at the same time as in one")
    for (low, high), share in zip(BANDS, shares, strict=True):
        print(f"more than {low:4.2f}, up to {high:4.2f}  {share:6.1%} of the time")


if __name__ == "__main__":
    main()
