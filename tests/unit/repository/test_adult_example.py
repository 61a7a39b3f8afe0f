"""examples/adult.py runs, and says what to do when it has nothing to run on."""

from __future__ import annotations

import importlib.util
import re

import pytest
from places import ROOT

from perceptrons import datasets

EXAMPLE = ROOT / "examples" / "adult.py"


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("adult_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_the_data_it_says_how_to_fetch_them(example, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("PERCEPTRONS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert example.main() == 0
    told = capsys.readouterr().out
    assert "pip install 'perceptrons[data]'" in told and 'datasets.fetch("adult")' in told


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(
    datasets.find("adult") is None, reason="adult is not in the folder PERCEPTRONS_DATA names"
)
def test_every_step_and_every_learner_is_printed(example, monkeypatch, capsys):
    monkeypatch.setattr(example, "EPOCHS", 1)
    monkeypatch.setattr(example, "SEEDS", range(1))
    assert example.main() == 0
    told = capsys.readouterr().out
    assert "32,561 training and 16,281 test rows" in told
    for name in [*example.STEPS, *example.FAMILY]:
        line = next(line for line in told.splitlines() if line.startswith(name))
        error = float(re.findall(r"\d+\.\d\d(?=\s|$)", line)[-1])
        assert 10.0 < error < 24.0  # who says no to all errs on 23.62 %
