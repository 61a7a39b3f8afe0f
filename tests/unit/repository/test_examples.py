"""The examples run; one that needs data which are not here says how to get them, and ends well."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from places import ROOT
from processes import forked, script

from perceptrons import datasets
from perceptrons.engine.cache import cache_folder

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith(("_", "plot_")))
NEEDS = {
    "adult": "adult",
    "enron": "enron_spam",
    "imdb": "imdb",
    "newsgroups": "20newsgroups",
    "reuters": "reuters21578",
    "sms": "sms_spam",
}
LIMITED = [name for name in NEEDS if name != "adult"]  # it has tests of its own


def run(name, monkeypatch, tmp_path, *options, **environment):
    """What a script prints."""
    monkeypatch.chdir(tmp_path)
    path = EXAMPLES / f"{name}.py"
    if "NUMBA_DISABLE_JIT" in environment:  # it is read when numba is imported
        command = [sys.executable, "-W", "error", str(path), *options]
        env = {**os.environ, **environment}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    else:
        done = forked(script(path), *options, timeout=300, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", [path.stem for path in SCRIPTS])
def test_without_data(name, tmp_path, monkeypatch):
    nowhere = {"PERCEPTRONS_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    if (compiled := cache_folder()) is not None:  # the data are to be missing, not the compiled code
        nowhere["PERCEPTRONS_CACHE"] = str(compiled.parent)
    told = run(name, monkeypatch, tmp_path, **nowhere)
    if name in NEEDS:
        assert "pip install 'perceptrons[data]'" in told and f'datasets.fetch("{NEEDS[name]}")' in told
    else:
        assert told.strip()


#: Learners of the family that are in every table, and scikit-learn's.
SOME = ("Perceptron", "AROW", "scikit-learn SGDClassifier", "scikit-learn LinearSVC")
#: The whole family learns the smallest set and, batch after batch, the mails; a few learn the others.
FEW = [word for name in SOME for word in ("--learner", name)]
OPTIONS = {
    "enron": ["--data-limit", "80"],
    "imdb": ["--data-limit", "200", "--seeds", "1", *FEW],
    "newsgroups": ["--data-limit", "200", "--seeds", "1", *FEW],
    "reuters": ["--data-limit", "300", "--seeds", "1", *FEW],
    "sms": ["--data-limit", "300", "--seeds", "1"],
}
#: 80 mails are learned sooner than the loops for them are compiled.
PLAIN = {"enron": {"NUMBA_DISABLE_JIT": "1"}}


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITED)
def test_a_small_part_of_the_data(name, tmp_path, monkeypatch):
    if datasets.find(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not in the folder PERCEPTRONS_DATA names")
    plot = name == "enron" and importlib.util.find_spec("matplotlib") is not None
    options = [*OPTIONS[name], *["--plot", "curve.png"] * plot]
    told = run(name, monkeypatch, tmp_path, *options, **PLAIN.get(name, {}))
    lines = [line for line in told.splitlines() if re.search(r"\d\.\d\d", line)]
    assert len(lines) == len(SOME) if "--learner" in OPTIONS[name] else len(lines) >= 17
    for start in SOME:
        assert sum(line.startswith(f"{start} ") for line in lines) == 1
    if plot:
        assert "kept: curve.png" in told
        assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_languages_are_told_apart_by_their_spelling(tmp_path, monkeypatch):
    told = run("language_identification", monkeypatch, tmp_path, "--texts", "80")
    right = {int(n): float(whole) for n, whole in re.findall(r"^ +(\d) +([\d.]+) %", told, re.M)}
    assert right.keys() == {1, 2, 4, 8} and right[8] > 90.0 and right[1] > 30.0  # of ten languages
    assert "German: score +" in told
