"""A folder of files of one's own: replaced as a whole, and nothing else is touched."""

from __future__ import annotations

import json
import os

import pytest

from perceptrons.lab import owned

FIRST = {"runs/a.json": b"a", "runs/b.json": b"b", "index.html": b"one"}
SECOND = {"runs/b.json": b"bb", "runs/c.json": b"c", "index.html": b"two"}


def contents(folder):
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    found.pop(owned.LIST, None)
    return found


def test_files_are_replaced_and_those_that_are_no_longer_needed_removed(tmp_path):
    folder = tmp_path / "new" / "site"
    owned.replace(folder, FIRST)
    assert contents(folder) == FIRST
    owned.replace(folder, SECOND)
    assert contents(folder) == SECOND
    owned.replace(folder, {"index.html": b"three"})
    assert contents(folder) == {"index.html": b"three"} and not (folder / "runs").exists()


def test_files_of_others_stay(tmp_path):
    owned.replace(tmp_path, FIRST)
    (tmp_path / "CNAME").write_bytes(b"example.org")
    (tmp_path / "runs" / "mine.json").write_bytes(b"mine")
    owned.replace(tmp_path, {"index.html": b"two"})
    assert contents(tmp_path) == {"index.html": b"two", "CNAME": b"example.org", "runs/mine.json": b"mine"}


@pytest.mark.parametrize("name", ["index.html", "runs/b.json"])
def test_a_file_of_somebody_else_is_not_overwritten(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(ValueError, match=f"{name} is there and is not as an export wrote it"):
        owned.replace(tmp_path, FIRST)
    assert contents(tmp_path) == {name: b"mine"}


def test_a_file_that_was_changed_since_is_somebody_elses(tmp_path):
    owned.replace(tmp_path, FIRST)
    (tmp_path / "index.html").write_bytes(b"one, and my words")
    with pytest.raises(ValueError, match="nothing was written"):
        owned.replace(tmp_path, SECOND)
    assert contents(tmp_path) == FIRST | {"index.html": b"one, and my words"}
    (tmp_path / "index.html").unlink()
    (tmp_path / "runs" / "a.json").write_bytes(b"changed")
    owned.replace(tmp_path, SECOND)
    assert contents(tmp_path) == SECOND | {"runs/a.json": b"changed"}


def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.json").write_bytes(b"b")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "runs").symlink_to(outside)
    with pytest.raises(ValueError, match="is no folder"):
        owned.replace(folder, FIRST)
    (folder / "runs").unlink()
    (folder / "index.html").symlink_to(outside / "b.json")
    with pytest.raises(ValueError, match="is not as an export wrote it"):
        owned.replace(folder, FIRST)
    with pytest.raises(ValueError, match="is there and is no folder"):
        owned.replace(folder / "index.html", FIRST)
    assert contents(outside) == {"b.json": b"b"}


@pytest.mark.parametrize("name", ["../victim", "/victim", "a/../../victim", "a/b/victim", ".", ""])
def test_a_forged_list_removes_nothing_elsewhere(tmp_path, name):
    folder = tmp_path / "site"
    owned.replace(folder, FIRST)
    (tmp_path / "victim").write_bytes(b"v")
    listed = json.loads((folder / owned.LIST).read_bytes())
    digest = "4c94485e0c21ae6c41ce1dfe7b6bfaceea5ab68e40a2476f50208e526f506080"  # of b"v"
    listed["files"][name] = [digest]
    (folder / owned.LIST).write_text(json.dumps(listed))
    owned.replace(folder, SECOND)
    assert (tmp_path / "victim").read_bytes() == b"v" and contents(folder) == SECOND


@pytest.mark.parametrize("text", ["", "[]", '{"format": "else"}', "[" * 100_000, "\xff"])
def test_a_list_that_is_none_is_refused(tmp_path, text):
    (tmp_path / owned.LIST).write_text(text)
    with pytest.raises(ValueError, match="is not the list that an export writes"):
        owned.replace(tmp_path, FIRST)
    assert (tmp_path / owned.LIST).read_text() == text and contents(tmp_path) == {}


def test_an_interrupted_call_is_repeated(tmp_path, monkeypatch):
    owned.replace(tmp_path, FIRST)
    moved = []

    def failing(source, target, replace=os.replace):
        moved.append(target)
        if len(moved) == 3:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(owned.os, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        owned.replace(tmp_path, SECOND)
    monkeypatch.undo()
    assert not list(tmp_path.rglob(".part-*"))
    owned.replace(tmp_path, SECOND)
    assert contents(tmp_path) == SECOND
