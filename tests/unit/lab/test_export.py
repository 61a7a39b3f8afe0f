"""The export: the same answers as the server's, in files that the page finds."""

from __future__ import annotations

import gzip
import json

import pytest

from perceptrons.lab import export, owned
from perceptrons.lab.catalog import catalog
from perceptrons.lab.runs import run

pytestmark = pytest.mark.uncompiled


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    told = []
    done = export.export(
        folder,
        sets=["four_points", "xor"],
        learners=["Perceptron", "KernelPerceptron", "Elimination"],
        progress=lambda *words: told.append(words),
    )
    return folder, done, told


def test_what_is_written_is_said(exported):
    folder, done, told = exported
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != owned.LIST]
    assert done.n_bytes == sum(path.stat().st_size for path in files)
    assert f"{done.n_runs} recorded runs" in str(done) and str(folder) in str(done)
    assert [words[:2] for words in told] == [(k, 6) for k in range(7)]
    assert {path.name for path in folder.iterdir()} == {
        "index.html",
        "catalog.json",
        "static",
        "runs",
        owned.LIST,
    }


def test_learners_that_cannot_take_a_set_are_named_with_the_reason(exported):
    _, done, _ = exported
    assert done.n_runs == 4 and len(done.skipped) == 2
    assert [entry[:2] for entry in done.skipped] == [("Elimination", "four_points"), ("Elimination", "xor")]
    (line,) = [line for line in str(done).splitlines() if "not recorded" in line]
    assert line.startswith("not recorded: Elimination on four_points, xor. Negative values")


def test_the_catalog_names_a_file_for_each_run(exported):
    folder, done, _ = exported
    found = json.loads((folder / "catalog.json").read_bytes())
    offered = catalog()
    assert {name: found[name] for name in offered} == json.loads(json.dumps(offered))
    assert len(found["recorded"]) == done.n_runs
    for entry in found["recorded"]:
        assert entry["params"] == {}  # the defaults
        answer = json.loads(gzip.decompress((folder / entry["file"]).read_bytes()))
        toy = next(one for one in offered["sets"] if one["name"] == entry["set"])
        assert [answer["scene"][name] for name in ("X", "y", "classes")] == [
            toy[name] for name in ("X", "y", "classes")
        ]
        assert answer["scene"]["learner"] == {"name": entry["learner"], "params": entry["params"]}


def test_a_recording_is_what_the_server_answers(exported):
    folder, *_ = exported
    answer = json.loads(gzip.decompress((folder / "runs" / "xor-Perceptron.json.gz").read_bytes()))
    again = json.loads(json.dumps(run(answer["scene"], grid=export.GRID)))
    for found in (answer, again):
        for one in found["runs"]:
            one.pop("certificate")  # it has the time that its solver took
    assert answer == again


def test_the_page_is_told_where_it_is(exported):
    folder, *_ = exported
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert 'data-source="recorded"' in index and 'data-source="server"' not in index
    for name in ("lab.js", "lab.css"):
        assert f'"static/{name}"' in index
        assert (folder / "static" / name).read_bytes() == (export.STATIC / name).read_bytes()
    assert "://" not in index


def test_too_large_a_folder_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="would take"):
        export.export(tmp_path / "site", sets=["xor"], learners=["Perceptron"])
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("wrong", [{"sets": ["moons"]}, {"learners": ["SVC"]}])
def test_names_that_are_not_there(tmp_path, wrong):
    with pytest.raises(ValueError, match=r"There is no (set|learner) '(moons|SVC)'; there are "):
        export.export(tmp_path / "site", **wrong)
