"""The picture of the packages and their imports is made from the import graph."""

from __future__ import annotations

import sys
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import architecture  # a script of ours, in no package

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def picture() -> str:
    return architecture.picture()


def test_an_arrow_is_left_out_where_others_lead_the_same_way():
    edges = {("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d"), ("b", "e")}
    assert architecture.reduced(edges) == {("a", "b"), ("b", "c"), ("c", "d"), ("b", "e")}


def test_packages_that_import_each_other_are_refused():
    with pytest.raises(ValueError, match="in a circle: a, b"):
        architecture.reduced({("a", "b"), ("b", "a"), ("b", "c")})


def test_imports_that_do_not_go_down_are_refused(monkeypatch, capsys):
    with pytest.raises(ValueError, match="lower layers: rows imports rules"):
        architecture.svg([["engine"], ["rows", "rules"]], {("engine", "rows"), ("rows", "rules")})
    monkeypatch.setattr(architecture, "HOLDS", {})
    assert architecture.main(["--check"]) == 1
    assert "a line of HOLDS: _deferred, _garbage, _sparse" in capsys.readouterr().out


def test_a_picture_that_differs_is_found(picture, tmp_path, monkeypatch, capsys):
    stored = tmp_path / "architecture.svg"
    monkeypatch.setattr(architecture, "PICTURE", stored)
    assert architecture.main(["--check"]) == 1
    assert architecture.main([]) == 0
    assert stored.read_text() == picture
    assert architecture.main(["--check"]) == 0
    stored.write_text(picture.replace(">core<", ">kern<"))
    assert architecture.main(["--check"]) == 1
    assert "run python tools/architecture.py" in capsys.readouterr().out


def test_boxes_hold_their_text_and_lie_apart(picture):
    tree = ElementTree.fromstring(picture)
    boxes = [
        tuple(float(box.get(name)) for name in ("x", "y", "width", "height"))
        for box in tree.iter(f"{SVG}rect")
        if box.get("rx")
    ]
    names, held = (
        [(text.text, float(text.get("x"))) for text in group]
        for group in tree.findall(f"{SVG}g")
        if group.get("font-size")
    )
    assert len(boxes) == len(names) == len(held)
    for (x, _, wide, _), (name, middle), (words, _) in zip(boxes, names, held, strict=True):
        assert abs(x + wide / 2 - middle) < 0.2
        assert wide >= max(
            0.6 * architecture.NAME_SIZE * len(name), 0.57 * architecture.HELD_SIZE * len(words)
        )
    for (x, y, wide, _), (other_x, other_y, other_wide, _) in combinations(boxes, 2):
        assert y != other_y or x + wide < other_x or other_x + other_wide < x


def test_no_arrow_crosses_a_box():
    rows = [["cli"], ["demo"], ["proofs", "models"], ["text"]]
    edges = {("cli", "demo"), ("demo", "proofs"), ("cli", "text"), ("demo", "models"), ("cli", "models")}
    lines = architecture.chains(rows, edges)
    order = architecture.ordered(rows, lines)
    centre = architecture.placed(order, lines)
    assert max(map(len, lines)) == 4  # one goes through two rows
    for row in order:
        for a, b in pairwise(row):
            assert centre[b] - centre[a] > (architecture.width(a) + architecture.width(b)) / 2 + 10
