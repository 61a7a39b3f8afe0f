"""The benchmarks run; what they measure is nobody's business here."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def quick_run(tmp_path, only, **environment):
    """The output of a smoke run, and the lines it reports; g, which compiles everything anew, is left out."""
    report = tmp_path / "report.json"
    command = [
        sys.executable,
        str(BENCHMARKS / "linear.py"),
        "--quick",
        "--only",
        only,
        "--json",
        str(report),
    ]
    others = {name: value for name, value in os.environ.items() if name != "PERCEPTRONS_DATA"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**others, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(report.read_text())["lines"]


def test_a_quick_run_reports_every_line(tmp_path):
    printed, lines = quick_run(tmp_path, "a,c,d,e,f")
    assert {line["key"] for line in lines} == set("abcdef")
    for line in lines:
        if line["key"] in "ce":  # a real set that is not here is named
            assert line["verdict"] == "not run" and "PERCEPTRONS_DATA" in line["detail"]
        else:
            assert line["measured"] is not None and line["verdict"] == "no goal"
        assert line["work"].split(",")[0] in printed
    assert "scikit-learn" in printed and "the numbers below mean nothing" in printed


@pytest.mark.data
@pytest.mark.skipif("PERCEPTRONS_DATA" not in os.environ, reason="PERCEPTRONS_DATA names no folder")
def test_a_quick_run_on_real_sets(tmp_path):
    _, lines = quick_run(tmp_path, "c,e", PERCEPTRONS_DATA=os.environ["PERCEPTRONS_DATA"])
    assert [line["key"] for line in lines] == list("ccee")
    assert all(line["measured"] is not None for line in lines)


@pytest.fixture
def helpers(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import data
    import linear
    import objective

    yield data, objective, linear
    for name in ("data", "linear", "objective"):
        del sys.modules[name]


def test_text_like_rows_look_like_text(helpers):
    data = helpers[0]
    X, y = data.text_like(rows=1000, features=5000)
    assert X.shape == (1000, 5000) and X.dtype == np.float32 and X.has_canonical_format
    assert 50 < X.nnz / 1000 < 90
    assert set(y.tolist()) == {-1, 1}
    twins = X[:10] != X[-10:]
    assert twins.nnz == 0 and (y[:10] == -y[-10:]).all()  # so nothing separates them


def test_idx_files(helpers, tmp_path):
    data = helpers[0]
    path = tmp_path / "bytes.gz"
    path.write_bytes(gzip.compress(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])))
    assert data.read_idx(path).tolist() == [[1, 2, 3], [4, 5, 6]]
    path.write_bytes(gzip.compress(bytes([0, 0, 13, 1])))
    with pytest.raises(ValueError, match="IDX"):
        data.read_idx(path)


def test_slope_leaves_the_set_up_out(helpers, monkeypatch):
    objective = helpers[1]
    clock = [0.0]

    def fit(epochs):
        clock[0] += 3.0 + 0.5 * epochs

    monkeypatch.setattr(objective, "seconds", lambda work, _: -clock[0] + (work(), clock[0])[1])
    cost = objective.slopes({"ours": fit}, objective.Effort(), rounds=2)["ours"]
    assert cost == (0.5, 3.0, 5.5)


def test_verdicts(helpers):
    Line = helpers[1].Line
    assert Line("a", "w", "p", 0.9, 0.9).verdict == "met"
    assert Line("a", "w", "p", 0.8, 0.9).verdict == "NOT MET"
    assert Line("a", "w", "p", 1.2, 1.0, "µs", False).verdict == "NOT MET"
    assert Line("a", "w", "p").verdict == "not run"
    assert Line("a", "w", "p", 1.0).verdict == "no goal"


def test_only(helpers):
    chosen = helpers[2].chosen
    assert chosen(None) == list("acdefg")
    assert chosen("f, b") == ["a", "f"]  # a and b are one measurement
    with pytest.raises(SystemExit, match=r"--only takes letters from a to g.*'a,z'"):
        chosen("a,z")
