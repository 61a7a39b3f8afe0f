"""The examples run; one that needs data which are not here says how to get them, and ends well."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from places import ROOT

from perceptrons import datasets
from perceptrons.engine.cache import cache_folder

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith("_"))
NEEDS = {
    "adult": "adult",
    "enron": "enron_spam",
    "imdb": "imdb",
    "newsgroups": "20newsgroups",
    "reuters": "reuters21578",
    "sms": "sms_spam",
}
LIMITED = [name for name in NEEDS if name != "adult"]  # it has tests of its own


def run(name, tmp_path, *options, **environment):
    """What a script prints."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *options]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", [path.stem for path in SCRIPTS])
def test_without_data(name, tmp_path):
    nowhere = {"PERCEPTRONS_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    if (compiled := cache_folder()) is not None:  # the data are to be missing, not the compiled code
        nowhere["PERCEPTRONS_CACHE"] = str(compiled.parent)
    told = run(name, tmp_path, **nowhere)
    if name in NEEDS:
        assert "pip install 'perceptrons[data]'" in told and f'datasets.fetch("{NEEDS[name]}")' in told
    else:
        assert told.strip()


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITED)
def test_a_small_part_of_the_data(name, tmp_path):
    if datasets.find(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not in the folder PERCEPTRONS_DATA names")
    runs = [] if name == "enron" else ["--seeds", "1"]
    told = run(name, tmp_path, "--data-limit", "300", *runs)
    lines = [line for line in told.splitlines() if re.search(r"\d\.\d\d", line)]
    assert len(lines) >= 17
    for start in ("Perceptron ", "AROW ", "scikit-learn SGDClassifier ", "scikit-learn LinearSVC "):
        assert sum(line.startswith(start) for line in lines) == 1


@pytest.mark.data
@pytest.mark.slow
def test_the_mistake_curve_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    if datasets.find("enron_spam") is None:
        pytest.skip("enron_spam is not in the folder PERCEPTRONS_DATA names")
    told = run("enron", tmp_path, "--data-limit", "250", "--plot", "curve.png")
    assert "kept: curve.png" in told
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
