"""Saving touches the file it is asked to write, and no other file of the folder."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from uncompiled import uncompiled

import perceptrons as pc
from perceptrons.models import Checkpoint, ModelError, export_onnx, files, load, save

X = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 1.0]])
Y = np.array([1, 0, 1])
with uncompiled():  # collecting tests compiles nothing
    MODEL = pc.Perceptron(shuffle=False).fit(X, Y)

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="NOT RUN: no pipes, links and modes here")


def by_save(path: Any) -> None:
    save(MODEL, path)


def by_checkpoint(path: Any) -> None:
    with Checkpoint(path) as checkpoint:
        checkpoint.save(MODEL, {"row": 1})


def by_onnx(path: Any) -> None:
    pytest.importorskip("onnx")
    export_onnx(MODEL, path)


def by_command_line(path: Any) -> None:
    from perceptrons.cli.printing import whole_file

    with whole_file(str(path)) as file:
        file.write("{}\n")


WRITERS = [by_save, by_checkpoint, by_onnx, by_command_line]
every_writer = pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__)


def stem(name: str) -> str:
    return ".perceptrons-" + hashlib.sha256(name.encode()).hexdigest()[:16]


def part(name: str, digits: str = "0123456789abcdef") -> str:
    return f"{stem(name)}-{digits}.part"


def listing(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@every_writer
def test_files_with_endings_of_locks_and_parts_are_left_alone(tmp_path, write):
    others = ["uv.lock", "uv.part", f"uv.{os.getpid()}.part", "uv.0123abcd.part", ".uv.lock", ".uv.part"]
    for name in others:
        (tmp_path / name).write_text(f"contents of {name}")
    write(tmp_path / "uv")
    for name in others:
        assert (tmp_path / name).read_text() == f"contents of {name}"
    assert listing(tmp_path) == sorted([*others, "uv"])


@posix
@every_writer
@pytest.mark.parametrize("ending", [".lock", ".part"])
def test_links_beside_the_target_are_not_followed(tmp_path, write, ending):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.symlink(victim, tmp_path / f"uv{ending}")
    write(tmp_path / "uv")
    assert victim.read_text() == "precious"
    assert os.path.islink(tmp_path / f"uv{ending}")


@posix
@every_writer
@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder", "text"])
def test_what_is_no_lock_of_ours_is_refused_and_left_alone(tmp_path, write, kind):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock = tmp_path / f"{stem('uv')}.lock"
    if kind == "link":
        os.symlink(victim, lock)
    elif kind == "hard link":
        os.link(victim, lock)
    elif kind == "pipe":
        os.mkfifo(lock)
    elif kind == "folder":
        lock.mkdir()
    else:
        lock.write_text("a list of locksmiths")
    before = listing(tmp_path)
    with pytest.raises(ModelError, match=r"uv cannot be locked: .*\.lock is no lock of this user's"):
        write(tmp_path / "uv")
    assert listing(tmp_path) == before
    assert victim.read_text() == "precious"
    assert kind != "text" or lock.read_text() == "a list of locksmiths"


@posix
@every_writer
def test_the_lock_of_another_user_is_refused(tmp_path, write, monkeypatch):
    (tmp_path / f"{stem('uv')}.lock").touch()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ModelError, match="belongs to user"):
        write(tmp_path / "uv")


@posix
@pytest.mark.parametrize("write", WRITERS[:3], ids=lambda w: w.__name__)
@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "loop"])
def test_a_target_that_is_no_regular_file_is_refused_at_once(tmp_path, write, kind):
    path = tmp_path / "uv"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        os.symlink("uv", path)
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(path))  # such names are at most some 100 bytes long
    before = listing(tmp_path)
    with pytest.raises(ModelError, match=r"is a (pipe|folder|socket|link).*only a regular file"):
        write(path)
    assert listing(tmp_path) == before


@posix
def test_a_device_is_refused():
    """Asked without writing: a test that fails must not replace a device of the machine."""
    with pytest.raises(ModelError, match=r"is a device, and only a regular file can be replaced"):
        files.target(os.devnull)


@posix
@every_writer
def test_a_link_as_the_target_is_followed(tmp_path, write):
    (tmp_path / "v1").write_text("old")
    os.symlink("v1", tmp_path / "latest")
    write(tmp_path / "latest")
    assert os.path.islink(tmp_path / "latest")
    assert (tmp_path / "v1").read_bytes() != b"old"
    assert listing(tmp_path) == ["latest", "v1"]


@posix
@every_writer
def test_new_files_by_umask_and_replaced_files_keep_their_mode(tmp_path, write):
    path = tmp_path / "uv"
    before = os.umask(0o027)
    try:
        write(path)
        assert path.stat().st_mode & 0o777 == 0o640
        os.chmod(path, 0o604)
        write(path)
        assert path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(before)


@posix
def test_nobody_else_can_open_the_new_contents_of_a_private_file(tmp_path, monkeypatch):
    path = tmp_path / "uv"
    save(MODEL, path)
    os.chmod(path, 0o600)
    modes, real = [], os.write

    def watched(handle, data):
        modes.append(os.fstat(handle).st_mode & 0o777)
        return real(handle, data)

    monkeypatch.setattr(os, "write", watched)
    before = os.umask(0)
    try:
        save(MODEL, path)
    finally:
        os.umask(before)
    assert set(modes) == {0o600}


@every_writer
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, write):
    (tmp_path / part("uv")).write_bytes(b"half a model")
    (tmp_path / part("other")).write_bytes(b"of a writer of another file")
    (tmp_path / part("uv", "not-of-our-making")).write_bytes(b"something else")
    write(tmp_path / "uv")
    assert listing(tmp_path) == sorted([part("other"), part("uv", "not-of-our-making"), "uv"])


@posix
def test_only_regular_parts_of_our_own_are_removed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.symlink(victim, tmp_path / part("uv", "1" * 16))
    os.mkfifo(tmp_path / part("uv", "2" * 16))
    (tmp_path / part("uv", "3" * 16)).mkdir()
    save(MODEL, tmp_path / "uv")
    assert victim.read_text() == "precious"
    assert {part("uv", digit * 16) for digit in "123"} <= set(listing(tmp_path))
    (tmp_path / part("uv", "4" * 16)).touch()
    monkeypatch.setattr(files.os, "geteuid", lambda: os.getuid() + 1)
    monkeypatch.setattr(files.Lock, "_opened", lambda self: os.open(self._name, os.O_RDWR | os.O_CREAT))
    save(MODEL, tmp_path / "uv")
    assert part("uv", "4" * 16) in listing(tmp_path)


def test_a_part_is_never_one_that_is_there_already(tmp_path, monkeypatch):
    (tmp_path / part("uv")).mkdir()  # stays: no regular file
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "0123456789abcdef")
    with pytest.raises(FileExistsError):
        save(MODEL, tmp_path / "uv")


@posix
def test_on_a_file_system_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    """The part may be that of another writer who is alive."""
    (tmp_path / part("uv")).write_bytes(b"half a model")
    monkeypatch.setattr(files, "_locked", lambda handle: None)
    save(MODEL, tmp_path / "uv")
    assert listing(tmp_path) == [part("uv"), "uv"]


def test_locks_are_per_target(tmp_path):
    with Checkpoint(tmp_path / "a") as one, Checkpoint(tmp_path / "b") as other:
        one.save(MODEL)
        other.save(MODEL)
        with pytest.raises(ModelError, match="being written by"):
            save(MODEL, tmp_path / "a")
    assert listing(tmp_path) == ["a", "b"]


def test_a_lock_that_was_released_writes_nothing(tmp_path):
    lock = files.Lock(tmp_path / "a")
    lock.release()
    with pytest.raises(ModelError, match="released"):
        lock.write([b"x"])
    assert listing(tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="NOT RUN: there is no kill -9 here")
def test_killed_while_it_writes_and_saved_again(tmp_path):
    (tmp_path / "uv.lock").write_text("of a package manager")
    code = f"""
        import os, signal
        import perceptrons as pc
        from perceptrons.models import files, save
        files._sync_folder = None
        real = os.fsync
        os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
        save(pc.Perceptron(), {str(tmp_path / "uv")!r})
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, timeout=120)
    assert run.returncode == -signal.SIGKILL
    left = listing(tmp_path)
    assert len(left) == 3  # its lock, its part, and the neighbour
    save(MODEL, tmp_path / "uv")
    assert listing(tmp_path) == ["uv", "uv.lock"]
    assert (tmp_path / "uv.lock").read_text() == "of a package manager"
    assert isinstance(load(tmp_path / "uv"), pc.Perceptron)
