"""Dask clusters on the loopback interface, of threads or of processes; every process is stopped again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from processes import path_for_tests

WAIT = 90.0  # seconds; a machine may be busy
ALLOWED_FAILURES = 1  # workers that may die of a task before the next one counts; Dask's default is 3
_FAILURES = "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"


class Processes:
    """A scheduler and some workers. A worker that dies is started again by the process that watches it."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--no-show",
            "--idle-timeout",
            "300",
        )
        self.address = self._address()
        self.workers = [self.start_worker() for _ in range(n_workers)]

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        log = open(self.folder / f"{kind}-{len(self._started)}.log", "wb")  # noqa: SIM115  # closed below
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                f"distributed.cli.dask_{kind}",
                "--scheduler-file",
                str(self.file),
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path_for_tests(), _FAILURES: str(ALLOWED_FAILURES)},
            start_new_session=True,  # the whole group can be killed
        )
        log.close()
        self._started.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self._start(
            "worker",
            *("--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"),
            *("--nanny", "--death-timeout", "60", "--local-directory", str(self.folder)),
        )

    def _address(self) -> str:
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            with contextlib.suppress(OSError, ValueError):
                return str(json.loads(self.file.read_text())["address"])
            time.sleep(0.05)
        raise TimeoutError("the scheduler has not started")

    def kill_scheduler(self) -> None:
        kill_group(self.scheduler)

    def stop(self) -> None:
        """Kill every process, and those that it has started."""
        for process in self._started:
            kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(WAIT)


@contextlib.contextmanager
def cluster(folder: Path, n_workers: int = 2) -> Iterator[tuple[Processes, Any]]:
    """The processes, and a client that waits."""
    from distributed import Client

    processes = Processes(folder, n_workers)
    try:
        with Client(processes.address, timeout=10) as client:
            if n_workers:
                client.wait_for_workers(n_workers, timeout=WAIT)
            yield processes, client
    finally:
        processes.stop()


@contextlib.contextmanager
def in_this_process(n_workers: int = 2) -> Iterator[Any]:
    """A client of workers that are threads."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"processes": False, "protocol": "tcp://", "host": "127.0.0.1"}
    options |= {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
    ):
        yield client
