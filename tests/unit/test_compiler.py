"""Compiled code: built on first use, kept on disk under a hash of the sources, and never needed there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import perceptrons
from perceptrons.engine import compiler

PACKAGE = Path(perceptrons.__file__).parent

JOB = """
import logging, sys
logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(name)s: %(message)s")
import numpy as np
from perceptrons.engine.intake import make_rows
print(make_rows(np.array([[3.0, 4.0]]), 0.0, False).sq.tolist())
"""  # one small loop: the cheapest thing that is compiled
ANSWER = "[25.0]\n"
LEARN = """
from perceptrons import AveragedPerceptron
model = AveragedPerceptron(shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], [1, -1, 1])
print(model.coef_.tolist())
"""


def python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache that one process has filled."""
    folder = tmp_path_factory.mktemp("cache")
    assert python(JOB, PERCEPTRONS_CACHE=str(folder)).stdout == ANSWER
    return folder


def test_the_folder_is_named_by_the_sources(cache):
    assert [p.name for p in cache.iterdir()] == [compiler.source_key()]
    kinds = {Path(name).suffix for name in files(cache)}
    assert kinds == {".nbi", ".nbc"}


@pytest.mark.parametrize("job", [JOB, LEARN], ids=["loop", "learner"])
def test_a_second_process_writes_nothing(cache, tmp_path, job):
    folder = tmp_path / "cache"
    shutil.copytree(cache, folder)
    first = python(job, PERCEPTRONS_CACHE=str(folder))
    before = files(folder)
    second = python(job, PERCEPTRONS_CACHE=str(folder))
    assert second.stdout == first.stdout
    assert second.stderr == ""
    assert files(folder) == before


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "garbage"])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_made_anew(cache, tmp_path, damage, suffix):
    folder = tmp_path / "cache"
    shutil.copytree(cache, folder)
    for path in folder.rglob(f"*{suffix}"):
        content = path.read_bytes()
        half = len(content) // 2
        flipped = bytes([content[half] ^ 1])
        path.write_bytes(
            {
                "empty": b"",
                "cut": content[:half],
                "flipped": content[:half] + flipped + content[half + 1 :],
                "garbage": b"\x80\x04garbage" * 10,
            }[damage]
        )
    assert python(JOB, PERCEPTRONS_CACHE=str(folder)).stdout == ANSWER
    before = files(folder)
    run = python(JOB, PERCEPTRONS_CACHE=str(folder))  # and then it is whole again
    assert run.stdout == ANSWER
    assert run.stderr == ""
    assert files(folder) == before


def test_no_writable_folder(tmp_path):
    """It works, uncached, and says so in the log only."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    run = python(JOB, PERCEPTRONS_CACHE=str(in_the_way / "cache"))
    assert run.stdout == ANSWER
    assert "perceptrons: No compiled-code cache:" in run.stderr
    assert in_the_way.read_text() == "not a folder"


def test_a_folder_that_may_only_be_read(cache, tmp_path, monkeypatch):
    """Unwritable for the user: mkdir is fine, a file in it is not."""
    monkeypatch.setenv("PERCEPTRONS_CACHE", str(tmp_path))

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(compiler.tempfile, "TemporaryFile", refuse)
    assert compiler.cache_folder.__wrapped__() is None


def test_a_disk_that_is_full_when_code_is_saved(tmp_path):
    full = """
from numba.core import caching
def full(*args): raise OSError(28, "No space left on device")
caching.IndexDataCacheFile._open_for_write = full
"""
    run = python(full + JOB, PERCEPTRONS_CACHE=str(tmp_path))
    assert run.stdout == ANSWER
    assert "Compiled code was not saved" in run.stderr
    assert files(tmp_path) == {}


def test_caches_that_nobody_has_used_for_a_month_go(tmp_path):
    old, recent, mine = (tmp_path / name for name in ("old", "recent", "mine"))
    for folder in (old, recent, mine):
        folder.mkdir()
        (folder / "code.nbc").write_text("")
    os.utime(old, (0, 0))
    compiler._drop_stale(mine)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "recent"]


def test_loops_of_another_room_have_a_key_of_their_own(tmp_path):
    """An edit there leaves the engine's code as it is; an edit of the engine makes both anew."""
    from perceptrons.text import loops

    room = compiler.room_of(loops.hash_rows.function)
    assert room.name == "text"
    shutil.copytree(PACKAGE, tmp_path / "perceptrons", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "from perceptrons.engine import compiler; from perceptrons.text import loops; "
        "print(compiler.source_key(), compiler.source_key(compiler.room_of(loops.hash_rows.function)))"
    )

    def keys() -> list[str]:
        return python(code, PYTHONPATH=str(tmp_path)).stdout.split()

    engine, text = keys()
    assert (engine, text) == (compiler.source_key(), compiler.source_key(room))
    path = tmp_path / "perceptrons" / "text" / "tables.py"
    path.write_text(path.read_text() + "\n# edited\n")
    assert keys()[0] == engine
    assert keys()[1] != text


def test_the_key_follows_every_source_that_is_compiled(tmp_path):
    """numba does not notice an edit in another module; the key does."""
    shutil.copytree(PACKAGE, tmp_path / "perceptrons", ignore=shutil.ignore_patterns("__pycache__"))
    code = "from perceptrons.engine import compiler; print(compiler.__file__, compiler.source_key())"

    def key() -> str:
        where, answer = python(code, PYTHONPATH=str(tmp_path)).stdout.split()
        assert Path(where).is_relative_to(tmp_path)
        return answer

    keys = [key()]
    assert keys[0] == compiler.source_key()  # the same sources, in whatever folder
    for name in ("rules.py", "rows.py", "engine/linear.py"):
        path = tmp_path / "perceptrons" / name
        path.write_text(path.read_text() + "\n# edited\n")
        keys.append(key())
    assert len(set(keys)) == 4
    path = tmp_path / "perceptrons" / "estimators" / "perceptron.py"  # nothing in there is compiled
    path.write_text(path.read_text() + "\n# edited\n")
    assert key() == keys[-1]


def test_importing_is_quick():
    """Neither numba nor rich nor scikit-learn's callbacks before they are needed."""
    python(
        "import sys, perceptrons, perceptrons.rules\n"
        "heavy = [m for m in ('numba', 'sklearn', 'scipy') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
        "perceptrons.Perceptron(), perceptrons.AROW(), perceptrons.Winnow()\n"
        "heavy = [m for m in ('numba', 'rich', 'sklearn.callback') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
    )


FAMILY = """
import numpy as np
import scipy.sparse as sp
import zoo
from zoo import X, make, y, y3
rng = np.random.default_rng(0)
out = {}
for name in zoo.NAMES:
    for labels in (y, y3):
        for kind in (np.asarray, sp.csr_array):
            rows = kind(X if name in ("Winnow", "Elimination") else X + rng.integers(-2, 3, X.shape) / 4)
            model = make(name, **({} if name == "RiskDescent" else {"max_iter": 2})).fit(rows, labels)
            out[f"{name} {len(out)}"] = np.hstack([model.coef_, model.intercept_[:, None]])
for params in ({"readout": "average"}, {"readout": "vote"}, {"scheme": "uniform"}):
    model = make("Perceptron", **params)
    for x, label in zip(X, y3):
        model.learn_one(x, label)
    out[f"one by one {params}"] = model.decision_function(X)
for params in ({"solver": "exact"}, {"solver": "exact", "variant": "II"}):
    out[f"exact {params}"] = make("PassiveAggressive", **params).fit(X, y3).coef_
model = make("MIRA", variant="crammer_singer").fit(X, y3, coef_init=np.arange(15.0).reshape(3, 5))
out["crammer_singer"] = model.coef_
"""


def test_without_a_compiler_the_weights_are_the_same(tmp_path):
    """NUMBA_DISABLE_JIT=1 runs the same source as plain Python: weights to 1e-12."""
    path = tmp_path / "plain.npz"
    tests = str(Path(__file__).parents[1])
    code = FAMILY + f"np.savez({str(path)!r}, **out)\nimport sys\nassert 'numba' not in sys.modules\n"
    python(code, NUMBA_DISABLE_JIT="1", PYTHONPATH=tests)
    compiled: dict = {}
    exec(FAMILY, compiled)
    with np.load(path) as plain:
        assert set(plain) == set(compiled["out"])
        for name in plain:
            np.testing.assert_allclose(
                plain[name], compiled["out"][name], rtol=1e-12, atol=1e-12, err_msg=name
            )
