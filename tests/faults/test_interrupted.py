"""Runs that are cut off: signals, kill -9, a full disk, two writers, caches and rules that fail."""

from __future__ import annotations

import errno
import os
import signal
import textwrap
import time

import numpy as np
import pytest
from processes import Forked, forked

from perceptrons import OnlineClassifier, rules
from perceptrons.cli import main
from perceptrons.core.learner import Learner
from perceptrons.io import fit_stream, open_stream
from perceptrons.models import Checkpoint, container, files, load
from perceptrons.text.learner import TextClassifierSpec

PROGRAM = "import sys; from perceptrons.cli import main; sys.exit(main(sys.argv[1:]))"
WAIT = 120.0  # seconds; a machine may be busy, and loops may have to be compiled


def text(n=400, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        x = rng.integers(0, 3, 8)
        label = 1 if x[0] + rng.integers(0, 2) > x[1] else -1
        lines.append(f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) + "\n")
    return "".join(lines).encode()


OPTIONS = ["--readout", "average", "--shuffle", "--seed", "5", "--features", "8", "--batch-bytes", "500"]
CHECKPOINT = ["--checkpoint", "run.ckpt", "--checkpoint-every", "1rows", "-q"]


def command(data="data.svm", model="m", options=OPTIONS, passes=3):
    more = ["--passes", str(passes)] if data != "-" else []
    return ["train", data, "-m", model, *options, *CHECKPOINT, *more]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.svm").write_bytes(text())
    return tmp_path


def whole(options=OPTIONS, data="data.svm", passes=3):
    """The bytes of the model of a run that nobody interrupts."""
    assert main(["train", data, "-m", "whole", *options, "--passes", str(passes), "-q"]) == 0
    with open("whole", "rb") as file:
        return file.read()


def stored(path="m"):
    with open(path, "rb") as file:
        return file.read()


# -------------------------------------------------------------------------------------------- kill -9

STAGES = {
    "before it is written": "checkpoint.Checkpoint, 'save'",
    "while it is written": "files, '_write_all'",
    "before it is renamed": "files.os, 'replace'",
    "after it is renamed": "files, '_sync_folder'",
}


@pytest.mark.parametrize("number", [1, 23])
@pytest.mark.parametrize("stage", STAGES)
def test_killed_at_every_stage_of_a_checkpoint(folder, stage, number):
    """The process kills itself: no handler runs, nothing is flushed."""
    place = STAGES[stage]
    child = textwrap.dedent(f"""
        import os, signal, sys
        from perceptrons.cli import main
        from perceptrons.models import checkpoint, files
        target, name = {place}
        inner, count = getattr(target, name), [0]
        def killed(*args, **more):
            count[0] += 1
            if count[0] == {number if "while" not in stage else 2 * number}:
                os.kill(os.getpid(), signal.SIGKILL)
            return inner(*args, **more)
        setattr(target, name, killed)
        sys.exit(main(sys.argv[1:]))
    """)
    done = forked(child, *command(), timeout=WAIT)
    assert done.returncode == -signal.SIGKILL and not os.path.exists("m"), done.stderr
    assert main(command()) == 0
    assert stored() == whole()
    assert sorted(os.listdir()) == ["data.svm", "m", "whole"]  # no checkpoint, lock or half file is left


def fed(n_bytes, words):
    """A process that has been given so many bytes and waits for more, its checkpoint written."""
    reading, writing = os.pipe()
    with open("stderr", "wb") as errors, open(os.devnull, "wb") as nothing:
        process = Forked(PROGRAM, *words, stdin=reading, stdout=nothing.fileno(), stderr=errors.fileno())
    os.close(reading)
    os.write(writing, text()[:n_bytes])
    until = time.monotonic() + WAIT
    while not os.path.exists("run.ckpt"):
        assert process.poll() is None and time.monotonic() < until, stored("stderr")
        time.sleep(0.01)
    return process, writing


def ended(fed, signum):
    """(exit code, standard error) of a process after a signal."""
    process, writing = fed
    process.send_signal(signum)
    code = process.wait(WAIT)  # its input stays open: the signal has to be enough
    os.close(writing)
    return code, stored("stderr")


@pytest.mark.parametrize("n_bytes", [1100, 4000, 9000])
def test_a_pipe_killed_and_given_again(folder, n_bytes):
    code, _ = ended(fed(n_bytes, command("-")), signal.SIGKILL)
    assert code == -signal.SIGKILL
    _, position = _peek()
    assert 0 < position["report"]["row"] < 400
    done = forked(PROGRAM, *command("-"), given=text(), timeout=WAIT)
    assert done.returncode == 0, done.stderr
    whole(passes=1)
    assert weights("m") == weights("whole") and not os.path.exists("run.ckpt")


def _peek():
    from perceptrons.models.saving import read

    return read("run.ckpt")


def weights(path):
    """All arrays of a model file: what was learned."""
    return {name: a.tobytes() for name, a in container.read(path).arrays.items()}


# -------------------------------------------------------------------------------------------- signals


@pytest.mark.parametrize("signum, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_waiting_for_a_pipe(folder, signum, code):
    found, said = ended(fed(4000, command("-")), signum)
    assert found == code and b"Traceback" not in said and said.count(b"\n") == 1
    assert b"perceptrons train: interrupted after" in said and b"goes on from run.ckpt" in said
    done = forked(PROGRAM, *command("-"), given=text(), timeout=WAIT)
    assert done.returncode == 0
    whole(passes=1)
    assert weights("m") == weights("whole")


def signalled(monkeypatch, signum, at, times=1, cls=Learner):
    """Have the learner be interrupted in the middle of its batch number ``at``."""
    inner, count = cls.partial_fit, [0]

    def partial_fit(self, *args, **more):
        count[0] += 1
        answer = inner(self, *args, **more)
        if count[0] == at:
            for _ in range(times):
                os.kill(os.getpid(), signum)
        return answer

    monkeypatch.setattr(cls, "partial_fit", partial_fit)


@pytest.mark.parametrize("signum, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_of_an_epoch(folder, monkeypatch, capsys, signum, code):
    expected = whole()
    rare = [word if word != "1rows" else "1000" for word in command()]  # the signal alone stores anything
    with monkeypatch.context() as patched:
        signalled(patched, signum, at=30)
        assert main(rare) == code
    assert "Traceback" not in (said := capsys.readouterr().err) and said.count("\n") == 1
    assert _peek().position["report"]["batches"] == 30 and not os.path.exists("m")
    assert main(rare) == 0
    assert stored() == expected


@pytest.mark.compiled_later
def test_texts_held_out_rows_and_several_files(folder, monkeypatch):
    """The second pass is cut off in the second file."""
    for name in ("a", "b"):
        words = text(seed=ord(name)).decode().replace(":", " w").splitlines()
        (folder / f"{name}.tsv").write_text("".join(line.replace(" ", "\t", 1) + "\n" for line in words))
    options = ["b.tsv", "--text", "--bits", "8", "--rule", "pa1", "--holdout", "0.3", "--batch-bytes", "900"]
    expected = whole(options, "a.tsv", passes=2)
    batches = sum(record["examples"] > 0 for record in load("whole").history_)
    with monkeypatch.context() as patched:
        signalled(patched, signal.SIGTERM, at=batches - 3, cls=TextClassifierSpec)
        assert main(command("a.tsv", options=options, passes=2)) == 143
    assert _peek().position["report"]["passes"] == 1
    assert main(command("a.tsv", options=options, passes=2)) == 0 and stored() == expected


def test_a_second_signal_does_not_wait_and_stores_nothing_half_done(folder, monkeypatch):
    expected = whole()
    with monkeypatch.context() as patched:
        signalled(patched, signal.SIGINT, at=30, times=2)
        assert main(command()) == 130
    assert _peek().position["report"]["batches"] == 29
    assert main(command()) == 0 and stored() == expected


def test_without_a_checkpoint_nothing_is_stored(folder, monkeypatch, capsys):
    signalled(monkeypatch, signal.SIGTERM, at=3)
    assert main(["train", "data.svm", "-m", "m", *OPTIONS]) == 143
    assert "--checkpoint FILE keeps the work" in capsys.readouterr().err
    assert os.listdir() == ["data.svm"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # handlers are put back


# ------------------------------------------------------------------------------ other runs, two writers


@pytest.fixture
def cut(folder, monkeypatch):
    """A folder with the checkpoint of a run that was cut off."""
    with monkeypatch.context() as patched:
        signalled(patched, signal.SIGINT, at=9)
        assert main(command()) == 130
    return folder


def refusal(words, capsys):
    capsys.readouterr()
    before = stored("run.ckpt")
    assert main(words) == 1
    assert stored("run.ckpt") == before and not os.path.exists("m")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_checkpoint_of_another_run_is_refused(cut, capsys):
    other = [word if word != "average" else "last" for word in command()]
    said = refusal(other, capsys)
    assert "belongs to a run with --readout average; this one has --readout last." in said
    assert "another --checkpoint" in said
    assert "a run with --passes 3; this one has --passes 4" in refusal(command(passes=4), capsys)
    assert "with --shuffle; this one has no --shuffle" in refusal(
        [word for word in command() if word != "--shuffle"], capsys
    )
    assert "with no --weight-column; this one has --weight-column 2" in refusal(
        [*command(), "--weight-column", "2"], capsys
    )
    (cut / "data.svm").write_bytes(text() + b"1 1:1\n")
    assert "The data have changed" in refusal(command(), capsys)


def test_what_is_no_checkpoint_is_refused(cut, capsys):
    (cut / "run.ckpt").write_bytes(whole())
    assert "run.ckpt is no checkpoint of this command" in refusal(command(), capsys)
    (cut / "run.ckpt").write_bytes(b"hello")
    assert "cut short, or no model file" in refusal(command(), capsys)


def test_a_checkpoint_is_no_model(cut, capsys):
    assert main(["predict", "run.ckpt", "data.svm"]) == 1
    assert "checkpoint of a run that is not done" in capsys.readouterr().err
    assert main(["info", "run.ckpt"]) == 0
    assert "its command, run again, goes on" in capsys.readouterr().out


def test_two_writers(cut, capsys):
    with Checkpoint("run.ckpt"):
        assert f"run.ckpt is being written by process {os.getpid()}" in refusal(command(), capsys)
    with Checkpoint("m"):
        assert main(["train", "data.svm", "-m", "m", *OPTIONS]) == 1
    assert "is being written by process" in capsys.readouterr().err


# ---------------------------------------------------------------------------------- disks and folders


def test_a_full_disk_leaves_the_old_model(folder, monkeypatch, capsys):
    old = whole()
    os.rename("whole", "m")

    def full(handle, piece):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_write_all", full)
    assert main(["train", "data.svm", "-m", "m"]) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said and said.count("\n") == 1
    assert stored() == old and sorted(os.listdir()) == ["data.svm", "m"]


def test_a_cache_that_cannot_be_written(folder):
    """Loops are compiled for this process alone; no word about it."""
    (folder / "file").write_text("")
    environment = {"PERCEPTRONS_CACHE": str(folder / "file" / "cache")}
    done = forked(PROGRAM, "train", "data.svm", "-m", "m", "-q", timeout=WAIT, **environment)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert main(["train", "data.svm", "-m", "n", "-q"]) == 0 and weights("m") == weights("n")


# ------------------------------------------------------------------------------- a rule of the user's


@pytest.mark.compiled_later
def test_a_rule_that_fails_leaves_the_last_checkpoint(folder):
    """The rule answers nan once it has made enough updates; what was learned before is kept and goes on."""

    @rules.rule
    def fails(m, q, state):
        if m > 0.0:
            return rules.NO_STEP
        return 1.0, 1.0 if state.k < 20 else np.nan

    model = OnlineClassifier(rule=fails)
    stream = open_stream("data.svm", n_features=8, batch_bytes=500)
    with Checkpoint("run.ckpt", every_rows=1) as checkpoint:

        def keep(model, report):
            checkpoint.save(model, report.to_dict())

        with pytest.raises(ValueError, match=r"rule 'fails'.*returned \(1.0, nan\)"):
            fit_stream(model, stream, checkpoint=keep)
        stream.close()
    kept = load("run.ckpt", objects={"rule": fails})
    assert 0 < kept.n_updates_ <= 20 and np.isfinite(kept.coef_).all()
    assert kept.predict(np.ones((1, 8))).shape == (1,)
