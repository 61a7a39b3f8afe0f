"""What goes wrong on a worker, for tests: functions that workers import by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def kill(block: np.ndarray) -> np.ndarray:
    """Rows whose first number is 13 kill the process that reads them."""
    if (block[:, 0] == 13.0).any():
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def slow_down(folder: str, seconds: float) -> int:
    """Let every pass on this worker note that it runs, and then wait; returns the number of the process."""
    from perceptrons.mixing import cluster

    plain = cluster.shard_epoch

    def slow(job: Any, state: Any, shard: Any, number: int) -> Any:
        (Path(folder) / f"{os.getpid()}-{number}-{shard.number}").touch()
        time.sleep(seconds)
        return plain(job, state, shard, number)

    cluster.shard_epoch = slow
    return os.getpid()


def speed_up() -> None:
    """Let passes on this worker be as they are."""
    from perceptrons.mixing import cluster, shard_epoch

    cluster.shard_epoch = shard_epoch.shard_epoch


def fail_in_round(round_number: int) -> None:
    """Let every pass of a round on this worker fail, until :func:`speed_up` is called."""
    from perceptrons.mixing import cluster

    plain = cluster.shard_epoch

    def failing(job: Any, state: Any, shard: Any, number: int) -> Any:
        if number == round_number:
            raise ArithmeticError(f"pass {number} of shard {shard.number}")
        return plain(job, state, shard, number)

    cluster.shard_epoch = failing


def wait_for_round(folder: Path, number: int, timeout: float) -> tuple[int, int, int]:
    """(process, round, shard) of the first pass of a round that was slowed down."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        for path in sorted(folder.iterdir()):
            process, begun, shard = map(int, path.name.split("-"))
            if begun == number:
                return process, begun, shard
        time.sleep(0.02)
    raise TimeoutError(f"round {number} has not begun")


def pretend_version(version: str) -> None:
    """Let this worker have another version of the package."""
    from perceptrons.mixing import cluster

    cluster.__version__ = version


def rounds_kept() -> int:
    """How many results of rounds this process keeps for rounds that follow."""
    from perceptrons.mixing import cluster

    return len(cluster._mixed_here)


def forget_rounds() -> None:
    """Lose them, as a worker does that writes what it holds to its disk."""
    from perceptrons.mixing import cluster

    cluster._mixed_here.clear()
