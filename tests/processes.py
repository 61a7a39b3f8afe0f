"""Python code in a process of its own.

``python`` starts an interpreter, which imports everything anew: for what happens at the start, and for
settings that are read there. ``forked`` and ``Forked`` fork a process that has imported the package and numba
and has compiled nothing of ours: for all that happens later, and many times as quick.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from places import ROOT, TESTS


def python(code: str, *, timeout: float = 280, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code with every warning an error; fails, with its output, unless the exit status is 0."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run


def path_for_tests() -> str:
    """PYTHONPATH for a new process that imports the package and modules of the tests."""
    return os.pathsep.join(filter(None, [str(ROOT / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]))


# ------------------------------------------------------------------------------------------ forked processes

#: The process that is forked: it reads jobs, and a child of it becomes what a job asks for.
_SERVER = """
import atexit, gc, json, os, socket, sys, threading, traceback, warnings
import numba, numba.core.caching, numba.extending, numpy, scipy.sparse
import perceptrons.cli, perceptrons.engine.intake, perceptrons.io, perceptrons.models
from perceptrons import *
numba.njit(lambda x: x)(0)  # at the first compilation numba sets itself up: once here, and in no child
gc.freeze()
jobs = socket.socket(fileno=int(sys.argv[1]))
while True:
    words, handles, _, _ = socket.recv_fds(jobs, 1 << 18, 3)
    if not words:
        os._exit(0)
    with warnings.catch_warnings(action="ignore"):  # of Python 3.12: threads of NumPy's are of no account
        child = os.fork()
    if child == 0:
        break
    for handle in handles:
        os.close(handle)
    jobs.send(str(child).encode())
    jobs.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
jobs.close()
job = json.loads(words)
for number, handle in enumerate(handles):
    os.dup2(handle, number)
    os.close(handle)
os.environ.clear()
os.environ.update(job["env"])
os.chdir(job["cwd"])
sys.argv = ["-c", *job["argv"]]
status = 0
try:
    exec(compile(job["code"], "<string>", "exec"), {"__name__": "__main__"})
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else int(end.code is not None)
except BaseException:
    traceback.print_exc()
    status = 1
threading._shutdown()  # what an interpreter does at its end, but for taking every module apart
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
"""


class _Server:
    def __init__(self) -> None:
        self.jobs, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _SERVER, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": path_for_tests()},
            start_new_session=True,  # Ctrl-C is for the tests
        )
        theirs.close()
        self.running: Forked | None = None
        atexit.register(self.stop)

    def stop(self) -> None:
        if self.running is not None:
            self.running.kill()
        self.jobs.close()
        self.process.wait()


@functools.cache
def _server() -> _Server:
    return _Server()


class Forked:
    """A process that runs code; ``stdin``, ``stdout`` and ``stderr`` are handles of open files."""

    def __init__(self, code: str, *argv: str, stdin: int, stdout: int, stderr: int, **env: str) -> None:
        self.returncode: int | None = None
        self._server = _server()
        if self._server.running is not None:  # left behind by a test that failed
            self._server.running.kill()
            self._server.running.wait()
        job = {"code": code, "argv": argv, "env": {**os.environ, **env}, "cwd": os.getcwd()}
        self._server.running = self
        socket.send_fds(self._server.jobs, [json.dumps(job).encode()], [stdin, stdout, stderr])
        self.pid = int(self._answer(280))

    def _answer(self, timeout: float | None) -> bytes:
        self._server.jobs.settimeout(timeout)
        answer = self._server.jobs.recv(100)
        assert answer, "the process that is forked has ended"
        return answer

    def wait(self, timeout: float | None = 280) -> int:
        """The exit status; minus the signal for a process that was killed."""
        if self.returncode is None:
            self.returncode = int(self._answer(timeout))
            self._server.running = None
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(BlockingIOError):
            self.wait(0.0)
        return self.returncode

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def script(path: Path) -> str:
    """Code that runs a file as a script."""
    return f"""
import runpy, sys
sys.path.insert(0, {str(path.parent)!r})
runpy.run_path({str(path)!r}, run_name="__main__")
"""


def forked(
    code: str, *argv: str, given: bytes = b"", timeout: float = 280, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run code; ``given`` comes through a pipe to its standard input."""
    reading, writing = os.pipe()
    assert len(given) <= 1 << 16, "more than a pipe holds"
    os.write(writing, given)
    os.close(writing)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        run = Forked(code, *argv, stdin=reading, stdout=out.fileno(), stderr=err.fileno(), **env)
        os.close(reading)
        try:
            status = run.wait(timeout)
        except TimeoutError:
            run.kill()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(code, status, out.read().decode(), err.read().decode())
