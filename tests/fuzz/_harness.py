"""Runs the cases of a target in a child process: a crash, a hang or too much memory ends the child only.

A case is a function of the seed and of its number alone, so that each can be repeated. The child writes the
number of its case into a file that both map. A case that does not end in time is a hang; one during which the
child dies, or that raises what it should not, is a crash. The run goes on behind it.
"""

from __future__ import annotations

import argparse
import importlib
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
_HANG = 60.0  # seconds of one case
_ROOM = 3 << 30  # bytes of address space above what the child has after its first cases
_MOST_FAILURES = 20
_STATE = struct.Struct("<qqqq")  # the present case, cases done, peak in KiB above the start, done


def main(target: str, argv: list[str], cases: int = 20_000, most_mb: float | None = None) -> int:
    """Run a target by its module name; 0 if nothing went wrong.

    ``most_mb`` is what the peak may grow by. The last line that is printed says what was found.
    """
    parser = argparse.ArgumentParser(prog=f"python -m fuzz.{target}")
    parser.add_argument(
        "--cases", type=int, default=None, help=f"default {cases:,}, or any number with --seconds"
    )
    parser.add_argument("--seconds", type=float, default=None, help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    args = parser.parse_args(argv)
    if args.cases is None:
        args.cases = cases if args.seconds is None else 1 << 40
    return _Run(target, args, most_mb).all()


class _Run:
    def __init__(self, target: str, args: argparse.Namespace, most_mb: float | None):
        self.target, self.args, self.most_mb = target, args, most_mb
        self.crashes: list[int] = []
        self.hangs: list[int] = []
        self.done = self.peak = 0
        self.began = time.monotonic()

    def all(self) -> int:
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder) / "state"
            state.write_bytes(_STATE.pack(-1, 0, 0, 0))
            first, stop = self.args.first, self.args.first + self.args.cases
            while first < stop and not self._late() and len(self.crashes) + len(self.hangs) < _MOST_FAILURES:
                last = self._child(folder, state, first, stop)
                if last is None:
                    break
                first = last + 1
            failed = Path(f"{state}.failed")
            if failed.exists():
                self.crashes += [int(case) for case in failed.read_text().split()]
        name = self.target.removeprefix("read_")
        line = f"{name}: {self.done} cases, {len(self.crashes)} crashes, {len(self.hangs)} hangs"
        print(f"{line}, peak +{self.peak / 1024:.0f} MB", flush=True)
        for kind, found in (("crash", self.crashes), ("hang", self.hangs)):
            for case in found:
                print(
                    f"  {kind}: python -m fuzz.{self.target} --seed {self.args.seed} --first {case} --cases 1"
                )
        too_much = self.most_mb is not None and self.peak > 1024 * self.most_mb
        if too_much:
            print(f"  the peak may grow by {self.most_mb:.0f} MB")
        return 1 if self.crashes or self.hangs or too_much else 0

    def _late(self) -> bool:
        return self.args.seconds is not None and time.monotonic() - self.began > self.args.seconds

    def _child(self, folder: str, state: Path, first: int, stop: int) -> int | None:
        """Run from a case on; the case at which the child ended, or None when all are done."""
        left = None if self.args.seconds is None else self.began + self.args.seconds - time.monotonic()
        command = [sys.executable, "-m", "fuzz._harness", self.target, str(state), str(self.args.seed)]
        command += [str(first), str(stop), str(left if left is not None else -1)]
        state.write_bytes(_STATE.pack(-1, 0, 0, 0))
        env = environment(folder) | {"FUZZ_MOST_MB": str(self.most_mb or 0)}
        child = subprocess.Popen(command, env=env)
        seen, since = -1, time.monotonic()
        while child.poll() is None:
            time.sleep(0.05)
            now = _STATE.unpack(state.read_bytes())[0]
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > (_HANG if seen >= 0 else 20 * _HANG):  # the first ones compile
                child.kill()
                child.wait()
                self._count(state)
                self.hangs.append(max(seen, first))
                return max(seen, first)
        case, _, _, finished = _STATE.unpack(state.read_bytes())
        self._count(state)
        if finished and child.returncode == 0:
            return None
        print(f"{self.target}: the child ended with {child.returncode} in case {case}", file=sys.stderr)
        self.crashes.append(max(case, first))
        return max(case, first)

    def _count(self, state: Path) -> None:
        _, done, peak, _ = _STATE.unpack(state.read_bytes())
        self.done += done
        self.peak = max(self.peak, peak)


def environment(folder: str) -> dict[str, str]:
    """Bounds checking on, and a cache of its own: loops compiled without it must not be found."""
    tests = str(HERE.parent)
    path = os.pathsep.join([tests, str(HERE.parent.parent / "src"), os.environ.get("PYTHONPATH", "")])
    cache = os.environ.get("PERCEPTRONS_FUZZ_CACHE", os.path.join(folder, "cache"))
    more = {"NUMBA_BOUNDSCHECK": "1", "PERCEPTRONS_CACHE": cache, "PYTHONPATH": path}
    return {**os.environ, **more, "OMP_NUM_THREADS": "1"}


# ------------------------------------------------------------------------------------------- the child


def status(name: str) -> int:
    """A line of /proc/self/status in KiB; 0 where there is none."""
    try:
        with open("/proc/self/status") as file:
            return int(dict(line.split(":", 1) for line in file)[name].split()[0])
    except (OSError, KeyError):
        return 0


def limit_memory(room: int) -> None:
    """Let the address space grow by so many bytes, where the system can do that."""
    try:
        import resource

        most = status("VmSize") * 1024 + room
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, ValueError, OSError):
        pass


def child(target: str, state: str, seed: int, first: int, stop: int, seconds: float) -> int:
    module = importlib.import_module(f"fuzz.{target}")
    for case in range(200):  # compile, and load what is loaded once
        run_one(module.case, seed + 1_000_003, case)
    limit_memory(_ROOM)
    before = status("VmHWM")
    end = time.monotonic() + seconds if seconds >= 0 else float("inf")
    peak, most_mb = 0, float(os.environ.get("FUZZ_MOST_MB", "0"))
    with open(state, "r+b") as file, mmap.mmap(file.fileno(), _STATE.size) as shared:
        done = 0
        for case in range(first, stop):
            shared[:8] = struct.pack("<q", case)
            if not run_one(module.case, seed, case):
                with open(f"{state}.failed", "a") as failed:
                    failed.write(f"{case}\n")
                    if failed.tell() > 8 * _MOST_FAILURES:
                        break
            done += 1
            if most_mb and done % 16 == 0 and status("VmHWM") - before > max(peak, 1024 * most_mb):
                peak = status("VmHWM") - before
                print(
                    f"{target}: a peak of +{peak / 1024:.0f} MB in case {case} or 15 before", file=sys.stderr
                )
            if done % 256 == 0 or case == stop - 1:
                shared[8:24] = struct.pack("<qq", done, status("VmHWM") - before)
                if time.monotonic() > end:
                    break
        shared[8:] = struct.pack("<qqq", done, status("VmHWM") - before, 1)
    return 0


def run_one(case: Callable[[random.Random], Any], seed: int, number: int) -> bool:
    """Whether a case does what it should; else what went wrong is printed."""
    try:
        case(random.Random(seed * 1_000_000_007 + number))
    except Exception:
        traceback.print_exc()
        return False
    return True


def corpus(name: str) -> list[bytes]:
    """The files of a folder of the corpus."""
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


if __name__ == "__main__":
    sys.exit(child(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), float(sys.argv[6])))  # type: ignore[arg-type]
