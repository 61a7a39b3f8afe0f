"""Sessions of the pages run as they are written: the same commands, the same output.

A session is a block marked ``console``: ``$`` begins a command, ``>`` goes on with it, and what follows is
what the terminal shows. ``...`` stands for anything, as in doctests: times, for example. All blocks of a page
share a folder.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def steps(text):
    """(command, expected output) of every block, in order."""
    found = []
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append([line[2:], ""])
            elif line.startswith("> ") and not found[-1][1]:
                found[-1][0] += "\n" + line[2:]
            else:
                found[-1][1] += line + "\n"
    return [tuple(step) for step in found]


def shown(command, folder):
    """What a terminal shows of a command."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    return done.stdout.decode()


def disagreements(text, folder):
    """The first command whose output is not the one that is written, if any."""
    checker = doctest.OutputChecker()
    for command, expected in steps(text):
        found = shown(command, folder)
        if not checker.check_output(expected, found, LOOSELY):
            return f"$ {command}\nexpected:\n{expected}\nfound:\n{found}"
    return None


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_sessions_of_the_pages(tmp_path):
    sessions = {path.stem: path.read_text(encoding="utf-8") for path in PAGES}
    assert len(steps(sessions["command_line"])) >= 6
    for name, text in sessions.items():
        folder = tmp_path / name
        folder.mkdir()
        wrong = disagreements(text, folder)
        assert wrong is None, f"{name}: {wrong}"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_another_output_is_noticed(tmp_path):
    session = "```console\n$ printf 'a\\n' > f\n$ cat f \\\n>   f\na\n...\n```\n"
    assert steps(session) == [("printf 'a\\n' > f", ""), ("cat f \\\n  f", "a\n...\n")]
    assert disagreements(session, tmp_path) is None
    assert "expected:\nb" in disagreements(session.replace("\na\n...", "\nb\n..."), tmp_path)
