"""Compiled code on disk: found again, never another user's, and nothing that is not ours is ever deleted."""

from __future__ import annotations

import logging
import os
import pickle
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from processes import forked, python

import perceptrons
from perceptrons.engine import cache as code_cache

PACKAGE = Path(perceptrons.__file__).parent
STRANGER = 54321  # a user that owns nothing
MONTHS_AGO = (0, 0)

JOB = """
import logging, sys
logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
import numpy as np
from perceptrons.engine.intake import make_rows
print(make_rows(np.array([[3.0, 4.0]]), 0.0, False).sq.tolist())
"""  # one small loop: the cheapest thing that is compiled
ANSWER = "[25.0]\n"
SPARSE = """
import scipy.sparse as sp
print(make_rows(sp.csr_array([[3.0, 4.0]]), 0.0, False).sq.tolist())
"""
LEARN = """
from perceptrons import AveragedPerceptron
model = AveragedPerceptron(shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], [1, -1, 1])
print(model.coef_.tolist())
"""

posix = pytest.mark.skipif(not code_cache.POSIX, reason="Windows has neither these owners nor these modes")
as_root = pytest.mark.skipif(
    not code_cache.POSIX or os.geteuid() != 0, reason="only root can give a file to another user"
)


def process(code: str, cache: Path, timeout: float = 280) -> subprocess.CompletedProcess[str]:
    """A new process that has compiled nothing, with its cache there."""
    run = forked(code, timeout=timeout, PERCEPTRONS_CACHE=str(cache))
    assert run.returncode == 0, run.stdout + run.stderr
    return run


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Name, time and content of what is compiled in a cache."""
    return {
        p.name: (p.stat().st_mtime_ns, p.read_bytes())
        for p in folder.rglob("*")
        if p.is_file() and p.name != code_cache.MARKER
    }


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def warnings_in(run) -> list[str]:
    return [line for line in run.stderr.splitlines() if line.startswith("WARNING")]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that one process has filled."""
    folder = tmp_path_factory.mktemp("cache")
    assert process(JOB, folder).stdout == ANSWER
    return folder


@pytest.fixture
def cache(filled, tmp_path):
    """A copy of that cache."""
    return Path(shutil.copytree(filled, tmp_path / "cache"))


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(code_cache, "_warned", False)


# --------------------------------------------------------------------------------------------- kept and found


def test_the_folder_is_named_by_the_sources(filled):
    (folder,) = filled.iterdir()
    assert folder.name == code_cache.source_key()
    assert {Path(name).suffix for name in files(folder)} == {".nbi", ".nbc"}
    assert all(code_cache._FILE.fullmatch(name) for name in files(folder))
    assert (folder / code_cache.MARKER).is_file()


@pytest.mark.parametrize("job", [JOB, LEARN], ids=["loop", "learner"])
def test_a_second_process_writes_nothing(cache, job):
    first = process(job, cache)
    before = files(cache)
    second = process(job, cache)
    assert second.stdout == first.stdout
    assert second.stderr == ""
    assert files(cache) == before


def change(path: Path, how: str) -> None:
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(
        {
            "empty": b"",
            "cut": content[:half],
            "flipped": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :],
            "garbage": b"\x80\x04garbage" * 10,
        }[how]
    )


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "garbage"])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_made_anew(cache, damage, suffix):
    for path in cache.rglob(f"*{suffix}"):
        change(path, damage)
    assert process(JOB, cache).stdout == ANSWER
    before = files(cache)
    run = process(JOB, cache)  # and then it is whole again
    assert run.stdout == ANSWER
    assert run.stderr == ""
    assert files(cache) == before


def test_files_cannot_change_places():
    """The digest of a file covers its name: whole code under another name is not run."""
    sealed = code_cache._seal("one.nbc", b"code")
    assert code_cache._unseal("one.nbc", sealed) == b"code"
    with pytest.raises(ValueError, match=r"two\.nbc is damaged"):
        code_cache._unseal("two.nbc", sealed)


def test_no_writable_folder(tmp_path):
    """It works, uncached, and says so in the log only."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    run = process(JOB, in_the_way / "cache")
    assert run.stdout == ANSWER
    assert "INFO perceptrons: No compiled-code cache:" in run.stderr
    assert in_the_way.read_text() == "not a folder"


def test_a_disk_that_is_full_when_code_is_saved(tmp_path):
    full = """
from perceptrons.engine import cache
cache.open_folder()
def full(*args): raise OSError(28, "No space left on device")
cache.write_file = full
"""
    run = process(full + JOB, tmp_path)
    assert run.stdout == ANSWER
    assert "Compiled code was not saved" in run.stderr
    assert files(tmp_path) == {}


def test_a_write_that_fails_leaves_no_file(tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(code_cache.os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        code_cache.write_file(str(tmp_path / "a"), b"1")
    assert list(tmp_path.iterdir()) == []


def test_numba_cannot_be_told_another_folder(tmp_path):
    """NUMBA_CACHE_LOCATOR_CLASSES and NUMBA_CACHE_DIR name folders that nobody has checked."""
    elsewhere = tmp_path / "elsewhere"
    run = python(
        JOB,
        PERCEPTRONS_CACHE=str(tmp_path / "cache"),
        NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator",
        NUMBA_CACHE_DIR=str(elsewhere),
    )
    assert run.stdout == ANSWER
    assert not elsewhere.exists()
    assert files(tmp_path / "cache")


KEYS = """
import sys
from pathlib import Path
from perceptrons.engine import cache
from perceptrons.text import loops
package = Path(cache.__file__).parent.parent
assert package.parent == Path(sys.path[0]), package

def keys(*names):
    for name in names:
        path = package / name
        path.write_text(path.read_text() + "\\n# edited\\n")
    cache._source_key.cache_clear()
    print(*names, cache.source_key(), cache.source_key(cache.package_of(loops.hash_rows.function)))

keys()
for name in NAMES:
    keys(name)
"""


def test_the_key_follows_every_source_that_is_compiled(tmp_path):
    """numba does not notice an edit in another module; the key does.

    An edit in another package leaves the engine's key as it is; an edit of the engine changes both.
    """
    from perceptrons.text import loops

    package = code_cache.package_of(loops.hash_rows.function)
    assert package.name == "text"
    shutil.copytree(PACKAGE, tmp_path / "perceptrons", ignore=shutil.ignore_patterns("__pycache__"))
    of_all = ["rules.py", "rows.py", "engine/loops/linear.py", "engine/compiler.py"]
    of_one, of_none = "text/tables.py", "estimators/perceptron.py"  # nothing in the last is compiled
    code = f"NAMES = {[*of_all, of_one, of_none]}; import sys; sys.path.insert(0, {str(tmp_path)!r})\n{KEYS}"
    first, *others = (line.split() for line in python(code).stdout.splitlines())
    here = [code_cache.source_key(), code_cache.source_key(package)]
    assert first == here  # the same sources, in any folder
    before = first
    for name, *now in others:
        assert (now[0] != before[0]) == (name in of_all)
        assert (now[1] != before[1]) == (name in [*of_all, of_one])
        before = now
    assert len(others) == 6


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_BOUNDSCHECK", "1"),
        ("NUMBA_OPT", "1"),
        ("NUMBA_OPT", "max"),
        ("NUMBA_CPU_NAME", "generic"),
        ("NUMBA_CPU_FEATURES", "+sse2"),
        ("NUMBA_ENABLE_AVX", "0"),
        ("NUMBA_DEBUGINFO", "1"),
        ("NUMBA_FULL_TRACEBACKS", "1"),
        ("NUMBA_LOOP_VECTORIZE", "0"),
        ("NUMBA_SLP_VECTORIZE", "1"),
    ],
)
def test_settings_that_change_the_code_are_in_the_key(monkeypatch, name, value):
    from numba.core import config

    before = code_cache.source_key()
    with monkeypatch.context() as patch:
        patch.setenv(name, value)
        changed = code_cache.source_key()
    config.reload_config()
    assert changed != before
    assert code_cache.source_key() == before


def test_the_default_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("PERCEPTRONS_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for base, root in [("/a/b", "/a/b"), ("", f"{tmp_path}/.cache"), ("relative", f"{tmp_path}/.cache")]:
        monkeypatch.setenv("XDG_CACHE_HOME", base)
        assert code_cache.root_folder().path == os.path.join(root, "perceptrons")
    monkeypatch.setenv("PERCEPTRONS_CACHE", "")  # not the working folder
    assert code_cache.root_folder().is_ours
    monkeypatch.setenv("PERCEPTRONS_CACHE", "/c")
    assert code_cache.root_folder()[:2] == ("/c", False)


# ------------------------------------------------------------------------------------------------- the sweep

HEX = "0123456789abcdef0123"


def old_cache(path: Path) -> Path:
    path.mkdir(parents=True)
    for name in (
        code_cache.MARKER,
        "linear.run-0.py311-0123456789abcdef.nbi",
        "linear.run-0.py311-0123456789abcdef.1.nbc",
        "linear.run-0.py311-0123456789abcdef.1.nbc.tmp.0123456789abcdef",
    ):
        (path / name).write_text("")
    os.utime(path, MONTHS_AGO)
    return path


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_caches_that_nobody_has_used_for_a_month_go(tmp_path):
    gone, mine = old_cache(tmp_path / HEX), old_cache(tmp_path / HEX[::-1])
    recent = old_cache(tmp_path / f"{HEX[1:]}a")
    os.utime(recent)
    code_cache.drop_stale(mine)
    assert not gone.exists()
    assert mine.exists() and recent.exists()


def stranger_things(root: Path) -> None:
    """What must outlive any sweep, all of it untouched for years."""
    for name in ("documents", ".git", HEX.upper(), HEX[:-1], f"{HEX}0", f"{HEX[:-1]}g"):
        old_cache(root / name)
    (root / "documents" / "thesis.tex").write_text("years of work")
    (root / ("b" * 20)).mkdir()  # named like a cache, but without the marker
    (root / ("b" * 20) / "linear.run-0.py311-0123456789abcdef.nbi").write_text("")
    (root / ("c" * 20)).write_text("a file")
    (root / ("d" * 20)).symlink_to(old_cache(root / "elsewhere" / HEX), target_is_directory=True)
    (root / ("e" * 20)).mkdir()
    (root / ("e" * 20) / code_cache.MARKER).mkdir()  # a folder is no marker
    for path in root.iterdir():
        os.utime(path, MONTHS_AGO, follow_symlinks=False)


def test_the_sweep_leaves_all_else_alone(tmp_path):
    stranger_things(tmp_path)
    before = everything(tmp_path)
    code_cache.drop_stale(tmp_path / HEX)
    assert everything(tmp_path) == before


def test_a_fit_in_a_folder_of_documents_deletes_none_of_them(tmp_path):
    stranger_things(tmp_path)
    before = everything(tmp_path)
    assert process(JOB, tmp_path).stdout == ANSWER
    left = [name for name in everything(tmp_path) if not name.startswith(code_cache.source_key())]
    assert left == before


def test_a_file_of_the_users_in_an_old_cache_stays(tmp_path):
    folder = old_cache(tmp_path / HEX)
    (folder / "notes.txt").write_text("mine")
    (folder / "folder.nbi").mkdir()
    (folder / "linear.run-0.py311-0123456789abcdef.2.nbc").symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("kept")
    os.utime(folder, MONTHS_AGO)
    code_cache.drop_stale(tmp_path / HEX[::-1])
    left = ["folder.nbi", "linear.run-0.py311-0123456789abcdef.2.nbc", "notes.txt"]
    assert everything(folder) == left
    assert (tmp_path / "target").read_text() == "kept"


@as_root
def test_an_old_cache_of_another_user_stays(tmp_path):
    folder = old_cache(tmp_path / HEX)
    os.chown(folder, STRANGER, -1)
    before = everything(tmp_path)
    code_cache.drop_stale(tmp_path / HEX[::-1])
    assert everything(tmp_path) == before


# ----------------------------------------------------------------------------------------- trust in folders


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_new_folders_and_files_are_private_whatever_the_umask(tmp_path, umask):
    code = f"import os; os.umask({umask}); from perceptrons.engine import cache as c; c.open_folder()\n"
    code += "path = str(c.cache_folder() / 'a'); c.write_file(path, b'1'); assert c.read_file(path) == b'1'"
    process(code, tmp_path / "new" / "cache")
    folder = tmp_path / "new" / "cache" / code_cache.source_key()
    assert [mode(p) for p in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3
    assert mode(folder / "a") == mode(folder / code_cache.MARKER) == 0o600


@posix
def test_a_link_on_the_way_is_followed_and_what_it_leads_to_is_checked(tmp_path):
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "far").symlink_to(tmp_path / "link" / "inner" / ".." / "inner")
    assert code_cache.trusted_folder(str(tmp_path / "far" / "cache"))[0] == str(tmp_path / "real/inner/cache")
    (tmp_path / "real").chmod(0o777)
    with pytest.raises(code_cache.Untrusted, match="real is writable by group or others"):
        code_cache.trusted_folder(str(tmp_path / "far" / "cache"))
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="Too many levels"):
        code_cache.trusted_folder(str(tmp_path / "round"))


@posix
@pytest.mark.parametrize("bits", [0o777, 0o775, 0o757])
def test_an_ancestor_that_others_can_write_is_refused(tmp_path, bits):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(bits)
    run = process(JOB + SPARSE, shared / "cache")  # several loops, one warning
    assert run.stdout == ANSWER * 2
    (warning,) = warnings_in(run)
    assert f"{shared} is writable by group or others" in warning
    assert f"chmod go-w {shared}" in warning and "PERCEPTRONS_CACHE" in warning
    assert list(shared.iterdir()) == []
    assert mode(shared) == bits  # not ours to change


@posix
def test_a_sticky_ancestor_is_trusted(tmp_path):
    tmp_path.chmod(0o1777)
    for root in (tmp_path / "cache", tmp_path):
        run = process(JOB, root)
        assert run.stdout == ANSWER and not warnings_in(run)
        assert files(root / code_cache.source_key())
        assert mode(tmp_path) == 0o1777


@posix
def test_a_named_folder_with_other_things_in_it_keeps_its_mode(tmp_path, unwarned, caplog, monkeypatch):
    """It is refused, not set to 0700: the user may share it for another reason."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "data.csv").write_text("")
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.setenv("PERCEPTRONS_CACHE", str(tmp_path / "shared"))
    with caplog.at_level(logging.WARNING, "perceptrons"):
        assert code_cache.cache_folder() is None
        assert code_cache.cache_folder(PACKAGE / "text") is None
    assert mode(tmp_path / "shared") == 0o777
    assert len(caplog.records) == 1


@posix
@pytest.mark.parametrize("bits", [0o755, 0o775, 0o777])
@pytest.mark.parametrize("marked", [True, False], ids=["marked", "of an earlier version"])
def test_our_own_old_folders_are_set_to_0700(cache, bits, marked):
    (folder,) = cache.iterdir()
    if not marked:
        (folder / code_cache.MARKER).unlink()
    folder.chmod(bits)
    cache.chmod(bits)
    before = files(cache)
    run = process(JOB, cache)
    assert run.stdout == ANSWER and not warnings_in(run)
    assert mode(folder) == 0o700
    assert mode(cache) == (0o700 if bits & 0o022 else bits)
    assert (files(cache) == before) == (bits == 0o755)  # code that others could have moved there is made anew


@posix
def test_the_default_root_is_set_to_0700(tmp_path, monkeypatch):
    monkeypatch.delenv("PERCEPTRONS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    root = tmp_path / "perceptrons"
    root.mkdir()
    root.chmod(0o775)
    assert code_cache.cache_folder() == root / code_cache.source_key()
    assert mode(root) == 0o700


@posix
def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch, unwarned, caplog):
    """The same as below, without being root: the process takes itself for somebody else."""
    monkeypatch.setattr(code_cache.os, "geteuid", lambda: STRANGER)
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("PERCEPTRONS_CACHE", str(tmp_path / "cache"))
    if os.stat(tmp_path).st_uid == 0:
        os.chown(tmp_path / "cache", STRANGER + 1, -1)
    with caplog.at_level(logging.WARNING, "perceptrons"):
        assert code_cache.cache_folder() is None
    (record,) = caplog.records
    assert "belongs to user" in record.message and "PERCEPTRONS_CACHE" in record.message


@as_root
@pytest.mark.parametrize("whose", ["cache", "folder", "link"])
def test_what_another_user_owns_is_refused(cache, tmp_path, whose):
    (folder,) = cache.iterdir()
    link = tmp_path / "link"
    link.symlink_to(cache)
    os.lchown({"cache": cache, "folder": folder, "link": link}[whose], STRANGER, -1)
    before = files(cache)
    run = process(JOB, link if whose == "link" else cache)
    assert run.stdout == ANSWER
    (warning,) = warnings_in(run)
    assert f"belongs to user {STRANGER}" in warning
    assert files(cache) == before


READ_AS_STRANGER = f"""
import os
import numba
numba.njit(lambda x: x.sum())(__import__("numpy").ones(2))  # numba loads the rest of itself
from perceptrons.engine import cache, intake
cache.source_key()
os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER})
"""


@as_root
def test_a_read_only_cache_of_root_serves_all_users(cache):
    """As in an image: root fills it, makes it read-only, and everybody reads it. Root leaves it alone too."""
    for path in [*cache.rglob("*"), cache]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in cache.parents:  # pytest makes them private
        parent.chmod(parent.stat().st_mode | 0o011)
    before = files(cache)
    for job in (READ_AS_STRANGER + JOB, JOB):
        run = process(job, cache)
        assert run.stdout == ANSWER
        assert run.stderr == ""  # found: nothing was compiled, so nothing was tried to be saved
        assert files(cache) == before
        assert mode(cache) == 0o555
    lacking = process(READ_AS_STRANGER + JOB.replace("[3.0, 4.0]", "[3, 4]"), cache)
    assert lacking.stdout == ANSWER and not warnings_in(lacking)
    assert files(cache) == before


# ------------------------------------------------------------------------------------------- trust in files


class Payload:
    def __reduce__(self):
        return exec, ("print('PAYLOAD RUN')",)


def plant(folder: Path, suffix: str) -> list[Path]:
    """Replace files by whole ones whose unpickling runs code."""
    planted = list(folder.rglob(f"*{suffix}"))
    for path in planted:
        path.write_bytes(code_cache._seal(path.name, pickle.dumps(Payload())))
    return planted


@posix
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_planted_code_is_not_run(cache, tmp_path, suffix):
    """A file that others can write, a link or a FIFO: neither unpickled nor waited for, and made anew."""
    planted = plant(cache, suffix)
    control = process(JOB, shutil.copytree(cache, tmp_path / "control"))
    assert "PAYLOAD RUN" in control.stdout  # it would run: the tests below say something
    for path in planted:
        path.chmod(0o666)
    run = process(JOB, cache)
    assert run.stdout == ANSWER
    (warning,) = warnings_in(run)
    assert "is writable by group or others" in warning
    assert process(JOB, cache).stderr == ""  # healed
    for path in plant(cache, suffix):
        path.rename(tmp_path / path.name)
        path.symlink_to(tmp_path / path.name)
    assert process(JOB, cache).stdout == ANSWER
    assert process(JOB, cache).stderr == ""
    for path in planted:
        path.unlink()
        os.mkfifo(path)
    assert process(JOB, cache, timeout=100).stdout == ANSWER
    assert process(JOB, cache).stderr == ""


@as_root
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_code_of_another_user_is_not_run(cache, suffix):
    for path in plant(cache, suffix):
        os.chown(path, STRANGER, -1)
    run = process(JOB, cache)
    assert run.stdout == ANSWER
    (warning,) = warnings_in(run)
    assert f"belongs to user {STRANGER}" in warning
    assert process(JOB, cache).stderr == ""  # our own file has taken its place


@as_root
def test_code_planted_in_a_shared_folder_is_not_run(cache):
    """A folder for all, where another user made the cache: the attack that ran as root."""
    plant(cache, ".nbi")
    for path in cache.rglob("*"):
        os.chown(path, STRANGER, -1)
    cache.chmod(0o777)
    run = process(JOB, cache)
    assert run.stdout == ANSWER
    assert len(warnings_in(run)) == 1


# ------------------------------------------------------------------------------------------------ Triton's


@pytest.fixture
def triton(tmp_path, monkeypatch, unwarned):
    """The folder that Triton uses after the check, and the log."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PERCEPTRONS_CACHE", str(tmp_path / "ours"))
    monkeypatch.delenv("TRITON_HOME", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", "to be restored")
    monkeypatch.delenv("TRITON_CACHE_DIR")
    monkeypatch.delitem(code_cache.sys.modules, "triton.knobs", raising=False)
    default = tmp_path / ".triton" / "cache"

    def checked() -> str:
        folder = code_cache.check_triton_cache.__wrapped__()
        assert folder == os.environ.get("TRITON_CACHE_DIR", str(default))
        return folder

    return checked


@posix
def test_tritons_own_folder_is_made_private_and_kept(triton, tmp_path):
    default = tmp_path / ".triton" / "cache"
    assert triton() == str(default)
    assert mode(default) == 0o700
    (default / "a").mkdir()
    (default / "a" / "kernel.cubin").write_text("")
    assert triton() == str(default)
    assert not (tmp_path / "ours").exists()


def planted_for_triton(folder: Path, how: str) -> None:
    (folder / "a").mkdir(parents=True)
    kernel = folder / "a" / "launcher.so"
    kernel.write_text("")
    if how == "a folder others can write":
        folder.chmod(0o777)
    elif how == "an inner folder others can write":
        (folder / "a").chmod(0o775)
    elif how == "a file others can write":
        kernel.chmod(0o666)
    elif how == "a link":
        (folder / "a" / "other.so").symlink_to(kernel)
    elif how == "a sticky folder":
        folder.chmod(0o1777)


@posix
@pytest.mark.parametrize(
    "how",
    [
        "a folder others can write",
        "an inner folder others can write",
        "a file others can write",
        "a link",
        "a sticky folder",
    ],
)
def test_triton_gets_our_folder_where_others_could_write_its_own(triton, tmp_path, caplog, monkeypatch, how):
    planted_for_triton(tmp_path / ".triton" / "cache", how)
    with caplog.at_level(logging.WARNING, "perceptrons"):
        assert triton() == str(tmp_path / "ours" / "triton")
    assert mode(tmp_path / "ours" / "triton") == 0o700
    assert not caplog.records  # nothing is lost: no reason to warn
    planted_for_triton(tmp_path / "named", how)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "named"))
    with caplog.at_level(logging.WARNING, "perceptrons"):
        assert triton() == str(tmp_path / "ours" / "triton")
    (record,) = caplog.records  # the user asked for another folder
    assert "TRITON_CACHE_DIR is not used" in record.message


@posix
def test_triton_gets_a_temporary_folder_where_ours_is_refused_too(triton, tmp_path, caplog):
    planted_for_triton(tmp_path / ".triton" / "cache", "a link")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours").chmod(0o777)
    with caplog.at_level(logging.WARNING, "perceptrons"):
        folder = Path(triton())
    assert "perceptrons-triton-" in folder.name and mode(folder) == 0o700 and not list(folder.iterdir())
    assert len(caplog.records) == 1


@as_root
def test_kernels_of_another_user_are_not_used(triton, tmp_path):
    folder = tmp_path / ".triton" / "cache"
    planted_for_triton(folder, "a file of another user")
    assert triton() == str(folder)
    os.chown(folder / "a" / "launcher.so", STRANGER, -1)
    assert triton() == str(tmp_path / "ours" / "triton")


def test_a_folder_that_the_program_gave_triton_is_checked_too(triton, tmp_path, monkeypatch):
    from types import SimpleNamespace

    knobs = SimpleNamespace(cache=SimpleNamespace(dir=str(tmp_path / "set")))
    monkeypatch.setitem(code_cache.sys.modules, "triton.knobs", knobs)
    assert code_cache.check_triton_cache.__wrapped__() == str(tmp_path / "set")
    if code_cache.POSIX:
        (tmp_path / "set").chmod(0o777)
        assert triton() == knobs.cache.dir == str(tmp_path / "ours" / "triton")
