"""The table of the lectures: every item is there, what it names exists, and its pages have the words.

``make docs`` runs the lines of the table; here nothing is run.
"""

from __future__ import annotations

import doctest
import importlib.util
import re
import sys
import tomllib
from types import SimpleNamespace

import pytest
from places import ROOT

from perceptrons.theory import bounds


def _extension():
    spec = importlib.util.spec_from_file_location("docs_lectures", ROOT / "docs" / "_ext" / "lectures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for it there
    spec.loader.exec_module(module)
    return module


lectures = _extension()
TABLE = lectures.read()
PAGES = lectures.pages(TABLE)


def test_all_items_in_their_order():
    assert list(TABLE.items) == list(range(1, 128))
    assert list(TABLE.lectures) == ["blum", "cuny", "gouleakis", "risk", "joachims"]
    ends = [(one.first, one.last) for one in TABLE.lectures.values()]
    assert ends == [(1, 39), (40, 85), (86, 95), (96, 115), (116, 127)]


def test_every_item_says_what_it_is():
    for item in TABLE.items.values():
        assert item.title and item.words.endswith((".", "?")), item.number
        assert item.run or item.note or item.out_of_scope, item.number
        assert bool(item.calls) != bool(item.out_of_scope), item.number
        assert bool(item.theirs) == bool(item.ours), item.number
    assert sum(bool(item.run) for item in TABLE.items.values()) >= 120


def test_every_name_exists():
    entries = [*TABLE.items.values(), *TABLE.theorems, *TABLE.loose.values()]
    for name in {name for entry in entries for name in entry.calls}:
        assert lectures.found(name) is not None
    with pytest.raises(lectures.LectureError, match=r"theory\.novikov does not exist"):
        lectures.found("perceptrons.theory.novikov")


def test_every_picture_exists():
    for item in TABLE.items.values():
        if item.picture.startswith("plot_"):
            assert (ROOT / "examples" / f"{item.picture}.py").is_file(), item.number
        elif item.picture:
            assert (ROOT / "docs" / item.picture).is_file(), item.number


def test_every_run_is_a_doctest_with_an_output():
    for one in lectures.snippets(TABLE):
        examples = doctest.DocTestParser().get_examples(one.run + "\n")
        assert examples and any(example.want for example in examples), one.name


def test_numbers_of_items_are_those_of_the_table():
    named = {n for entry in (*TABLE.theorems, *TABLE.loose.values()) for n in entry.items}
    named |= {n for item in TABLE.items.values() for n in item.see}
    assert named <= set(TABLE.items)
    linked = {int(n) for text in PAGES.values() for n in re.findall(r"\(#lecture-item-(\d+)\)", text)}
    assert linked <= set(TABLE.items)
    labels = {f"loose-{key}" for key in TABLE.loose}
    used = {label for text in PAGES.values() for label in re.findall(r"\(#(loose-[a-z-]+)\)", text)}
    assert used <= labels


def test_the_numbers_of_mnist_are_those_that_were_measured():
    """Both sides of Table 3, as docs/measured/mnist_table.txt has them."""
    text = (ROOT / "docs" / "measured" / "mnist_table.txt").read_text(encoding="utf-8")
    for name, *pairs in TABLE.items[69].numbers[1:]:
        (line,) = re.findall(rf"^{re.escape(name)}, 5 shuffles .*$", text, re.MULTILINE)
        found = re.findall(r"(\d\.\d\d) ± \d\.\d\d, (\d\.\d\d)", line)
        assert pairs == [f"{theirs}, {ours}" for ours, theirs in found]


def test_every_bound_is_in_the_theorem_index():
    listed = {name.rpartition(".")[2] for theorem in TABLE.theorems for name in theorem.calls}
    assert {name for name in bounds.__all__ if name != "AS_PUBLISHED"} <= listed


def test_the_loose_slides_are_the_five():
    assert list(TABLE.loose) == ["start", "winnow", "ties", "large-steps", "shuffling"]
    assert TABLE.loose["shuffling"].data == "adult"


@pytest.mark.parametrize(
    "word",
    (
        "AMIRA",
        "SVM",
        "string kernel",
        "mistake bound",
        "Novikoff",
        "hinge loss",
        "functional margin",
        "Winnow",
        "feasible cone",
        "fictitious dimension",
        "line search",
        "support vector",
        "compression",
        "XOR",
        "voted perceptron",
        "slab",
        "PAC",
        "disjunction",
        "augmented space",
        "Mark I",
    ),
)
def test_words_of_the_lectures_are_on_a_page(word):
    assert any(word in PAGES[f"{key}.md"] for key in TABLE.lectures)


# ---------------------------------------------------------------------------------------------- the generator


def test_a_page_for_each_lecture_with_all_its_items():
    assert set(PAGES) == {"index.md", "theorems.md", "loose.md", *(f"{key}.md" for key in TABLE.lectures)}
    for key, lecture in TABLE.lectures.items():
        labels = re.findall(r"^\(lecture-item-(\d+)\)=$", PAGES[f"{key}.md"], re.MULTILINE)
        assert list(map(int, labels)) == list(range(lecture.first, lecture.last + 1))


def test_another_output_is_noticed():
    right = lectures.Snippet("right", ">>> a = 1", ">>> a + 1\n2")
    wrong = lectures.Snippet("wrong", ">>> a = 1", ">>> a + 1\n3")
    raises = lectures.Snippet("raises", "", ">>> nothing_of_this_name")
    assert lectures.differs(right) == ""
    assert "Expected:\n    3\nGot:\n    2" in lectures.differs(wrong)
    assert "NameError" in lectures.differs(raises)
    assert lectures.outputs(wrong) == right.run


def test_a_build_ends_at_a_wrong_line(monkeypatch, tmp_path):
    monkeypatch.setenv("PERCEPTRONS_GALLERY", "1")
    monkeypatch.setattr(lectures, "failures", lambda table: "item 1 differs")
    app = SimpleNamespace(srcdir=tmp_path)
    (tmp_path / "lectures").mkdir()
    with pytest.raises(lectures.LectureError, match="item 1 differs"):
        lectures.build(app)
    assert not list((tmp_path / "lectures").iterdir())
    monkeypatch.setattr(lectures, "failures", lambda table: "")
    lectures.build(app)
    assert {path.name for path in (tmp_path / "lectures").iterdir()} == set(PAGES)


def test_data_that_are_not_there_are_said_to_be_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PERCEPTRONS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = lectures.pages(TABLE)["loose.md"]
    assert "The data set adult is not on the machine that built this page: the output is stored." in text
    assert "18.65" in text


def test_a_table_with_an_unknown_field_is_refused(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TABLE.text.replace("words = ", "word = ", 1))
    with pytest.raises(lectures.LectureError, match="word"):
        lectures.read(path)
    with pytest.raises(tomllib.TOMLDecodeError):
        path.write_text(TABLE.text + "\n[item.1]\n")
        lectures.read(path)
