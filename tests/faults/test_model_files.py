"""Model files that are damaged, cut short or hostile; disks and processes that fail."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import textwrap
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import forked

import perceptrons as pc
from perceptrons.models import Checkpoint, ModelError, load, save

RNG = np.random.default_rng(11)
X = RNG.integers(0, 2, size=(24, 4)).astype(float)
Y = (X[:, 0] > X[:, 1]).astype(int)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.model"
    save(pc.VotedPerceptron().fit(X, Y), path)
    return path


def folder(path: Any) -> list[str]:
    return sorted(os.listdir(path))


# ---------------------------------------------------------------- files that are damaged


def test_any_flipped_bit_is_found(file):
    whole = file.read_bytes()
    for at in [*range(40), *range(40, len(whole), 97), len(whole) - 1]:
        for bit in (0, 5):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << bit
            file.write_bytes(damaged)
            with pytest.raises(ModelError):
                load(file)


def test_a_flipped_bit_in_an_array_is_told_by_the_digest(file):
    damaged = bytearray(file.read_bytes())
    damaged[-3] ^= 4
    file.write_bytes(damaged)
    with pytest.raises(ModelError, match=r"damaged: its contents do not match their SHA-256\. Copy"):
        load(file)


def test_any_cut_is_found(file):
    whole = file.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, *range(200, len(whole), 211), len(whole) - 1]:
        file.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"cut short|no model"):
            load(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(ModelError, match="damaged"):
        load(file)


class Bomb:
    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_recognised_and_not_run(tmp_path, protocol):
    bomb, path = Bomb(), tmp_path / "a.model"
    bomb.mark = tmp_path / "executed"
    path.write_bytes(pickle.dumps(bomb, protocol))
    with pytest.raises(ModelError, match=r"is a pickle|no model file"):
        load(path)
    path.write_bytes(pickle.dumps(pc.Perceptron().fit(X, Y), protocol))
    with pytest.raises(ModelError, match="is a pickle"):
        load(path)
    assert folder(tmp_path) == ["a.model"]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "0 bytes"),
        (b"PK\x03\x04 and so on", "an archive or an array file"),
        (b"label,text\n1,buy now\n", "no model file"),
        (b"\xff" * 8 + b"{}", "no model file"),
        ((1 << 26).to_bytes(8, "little") + b"{", "cut short"),
        ((64 << 30).to_bytes(8, "little") + b"{", "no model file"),
    ],
)
def test_other_files(tmp_path, contents, message):
    path = tmp_path / "a.model"
    path.write_bytes(contents)
    with pytest.raises(ModelError, match=message):
        load(path)


def test_a_safetensors_file_of_somebody_else(tmp_path):
    from safetensors.numpy import save_file

    save_file({"w": np.zeros(3)}, tmp_path / "a.model")
    with pytest.raises(ModelError, match="not of a model of perceptrons"):
        load(tmp_path / "a.model")


def test_no_file_a_folder_and_a_pipe(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.model")
    with pytest.raises(ModelError, match="no ordinary file"):
        load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelError, match="no ordinary file"):
            load(tmp_path / "pipe")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(file):
    with pytest.raises(ModelError, match=rf"more than max_bytes=1000\. .* max_bytes={file.stat().st_size}"):
        load(file, max_bytes=1000)
    with open(file, "r+b") as sparse:
        sparse.truncate(1 << 40)  # a hole: it takes no room on the disk
    with pytest.raises(ModelError, match="max_bytes"):
        load(file)


@settings(deadline=None, max_examples=200)
@given(
    data=st.binary(max_size=400), start=st.sampled_from([b"", b"\x80\x04", (60).to_bytes(8, "little") + b"{"])
)
def test_any_bytes_are_refused(tmp_path_factory, data, start):
    path = tmp_path_factory.getbasetemp() / "any.model"
    path.write_bytes(start + data)
    with pytest.raises(ModelError):
        load(path)


# ---------------------------------------------------------------- disks that fail


@pytest.mark.parametrize("function", ["write", "fsync", "replace", "close"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch, function, code):
    path = tmp_path / "a.model"
    old, new = pc.Perceptron().fit(X, Y), pc.AROW().fit(X, Y)
    save(old, path)
    before = path.read_bytes()
    real, real_open, ours = getattr(os, function), os.open, set()

    def watched_open(name, *args, **kwargs):
        handle = real_open(name, *args, **kwargs)
        if str(name).endswith(".part"):
            ours.add(handle)
        return handle

    def fails(*args):
        if function == "replace" or args[0] in ours:
            if function == "close":
                ours.discard(args[0])
                real(*args)
            raise OSError(code, os.strerror(code))
        return real(*args)

    monkeypatch.setattr(os, "open", watched_open)
    monkeypatch.setattr(os, function, fails)
    with pytest.raises(OSError, match=os.strerror(code)):
        save(new, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert folder(tmp_path) == ["a.model"]
    save(new, path)
    assert isinstance(load(path), pc.AROW)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="NOT RUN: there is no /dev/full here")
def test_a_device_that_is_full():
    with pytest.raises(OSError, match="No space left"):
        from perceptrons.models import files

        handle = os.open("/dev/full", os.O_WRONLY)
        try:
            files._write_all(handle, b"x" * 100)
        finally:
            os.close(handle)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(pc.Perceptron().fit(X, Y), tmp_path / "missing" / "a.model")


def test_a_model_that_cannot_be_stored_leaves_the_old_file(file):
    before = file.read_bytes()
    model = pc.Perceptron().fit(X, Y)
    model.note_ = {"a": object()}
    with pytest.raises(ModelError, match=r"note_.* is of type builtins\.object"):
        save(model, file)
    assert file.read_bytes() == before
    assert folder(file.parent) == [file.name]


# ---------------------------------------------------------------- processes that die

RUN = """
    import os, sys
    import numpy as np
    import perceptrons as pc
    from perceptrons.models import Checkpoint

    path, stage, when = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 3, size=80)
    made = 0

    def hook(name, before):
        real = getattr(os, name)

        def hooked(*args, **kwargs):
            global made
            mine = name == "replace" or (isinstance(args[0], int) and args[0] in parts)
            if mine and before and made == when:
                if name == "write":
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])  # half of it gets there
                os.kill(os.getpid(), 9)
            answer = real(*args, **kwargs)
            if mine and not before and made == when:
                os.kill(os.getpid(), 9)
            return answer

        setattr(os, name, hooked)

    parts = set()
    real_open = os.open

    def watched(name, *args, **kwargs):
        handle = real_open(name, *args, **kwargs)
        if str(name).endswith(".part"):
            parts.add(handle)
            if stage == "opened" and made == when:
                os.kill(os.getpid(), 9)
        return handle

    os.open = watched
    if stage in ("write", "fsync", "replace"):
        hook(stage, True)
    elif stage == "renamed":
        hook("replace", False)

    with Checkpoint(path) as checkpoint:
        found = checkpoint.resume()
        model, start = found if found else (pc.VotedPerceptron(), {"row": 0})
        for row in range(start["row"], 80, 10):
            if stage == "between" and made == when:
                os.kill(os.getpid(), 9)
            model.partial_fit(X[row : row + 10], y[row : row + 10], classes=[0, 1, 2])
            checkpoint.save(model, {"row": row + 10})
            made += 1
            parts.clear()
    print(model.coef_.tobytes().hex(), model.decision_function(X).tobytes().hex(), start["row"])
"""


def train(path: Any, stage: str = "never", when: int = 0) -> subprocess.CompletedProcess[str]:
    return forked(textwrap.dedent(RUN), str(path), stage, str(when), NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="NOT RUN: there is no kill -9 here")
def test_killed_at_every_stage_of_a_checkpoint(tmp_path):
    whole = train(tmp_path / "whole.model")
    assert whole.returncode == 0, whole.stderr
    weights, scores, _ = whole.stdout.split()
    for number, stage in enumerate(["between", "opened", "write", "fsync", "replace", "renamed"]):
        path = tmp_path / f"{stage}.model"
        killed = train(path, stage, when=number % 4)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        again = train(path)
        assert again.returncode == 0, again.stderr
        assert again.stdout.split()[:2] == [weights, scores], stage
        kept = number % 4 + (stage == "renamed")
        assert int(again.stdout.split()[2]) == 10 * kept, stage  # nothing that was whole is lost
    assert folder(tmp_path) == sorted(
        f"{n}.model" for n in ["whole", "between", "opened", "write", "fsync", "replace", "renamed"]
    )


# ---------------------------------------------------------------- two writers


def test_two_writers_are_refused(tmp_path):
    path = tmp_path / "a.model"
    model = pc.Perceptron().fit(X, Y)
    with Checkpoint(path) as first:
        first.save(model)
        with pytest.raises(ModelError, match=rf"being written by process {os.getpid()}\. Wait"):
            Checkpoint(path)
        with pytest.raises(ModelError, match="being written by"):
            save(model, path)
        other = forked(f"from perceptrons.models import Checkpoint; Checkpoint({str(path)!r})")
        assert f"being written by process {os.getpid()}" in other.stderr
    save(model, path)
    assert folder(tmp_path) == ["a.model"]
    with pytest.raises(ModelError, match="closed"):
        first.save(model)


def test_the_lock_of_a_dead_process_blocks_nobody(tmp_path):
    path = tmp_path / "a.model"
    code = f"""
        import os
        from perceptrons.models import Checkpoint
        kept = Checkpoint({str(path)!r})
        os._exit(9)
    """
    assert forked(textwrap.dedent(code)).returncode == 9
    (left,) = folder(tmp_path)
    assert left.startswith(".perceptrons-") and left.endswith(".lock")
    with Checkpoint(path) as checkpoint:
        assert checkpoint.resume() is None
        checkpoint.save(pc.Perceptron().fit(X, Y), {"row": 3})
    assert folder(tmp_path) == ["a.model"]
