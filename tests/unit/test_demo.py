"""The demo prints every learner, and no count above its bound."""

import contextlib
import io
import math
import re

import numpy as np
import pytest

from perceptrons import demo


@pytest.fixture(scope="module", params=["two classes", pytest.param("all", marks=pytest.mark.exhaustive)])
def tasks(request):
    """All, or all but the digits: ten classes need loops that nothing else in ``make test`` compiles."""
    found = list(demo.tasks())
    return found if request.param == "all" else found[:-1]


@pytest.fixture(scope="module")
def printed(tasks):
    """What ``main()`` prints where there is no terminal."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setattr(demo, "tasks", lambda: iter(tasks))
        demo.main()
    return out.getvalue()


@pytest.fixture(scope="module")
def lines(printed):
    """The rows of the table: (rule, epochs, updates, rest of the line)."""
    row = re.compile(r"^(\S.*?)  +([\d,]+)  +([\d,]+)  (.*) ms$", re.MULTILINE)
    return [
        (rule, count(epochs), count(updates), rest) for rule, epochs, updates, rest in row.findall(printed)
    ]


def count(text):
    return int(text.replace(",", ""))


def test_every_learner_has_a_row(tasks, printed, lines):
    assert [rule for rule, *_ in lines] == [name for task in tasks for name in task.learners]
    assert all(task.title in printed for task in tasks)


def test_no_count_is_above_its_bound(tasks, lines):
    bounded = empty = 0
    for rule, _, updates, rest in lines:
        found = re.match(r" *([\d,]*) +([\d,]+|says nothing)  ([A-Z])", rest)
        if found is None:
            continue
        mistakes, bound, letter = found.groups()
        assert letter in demo.THEOREMS
        if bound == "says nothing":
            empty += 1
            continue
        assert (count(mistakes) if mistakes else updates) <= count(bound), rule
        bounded += 1
    several = any(len(np.unique(task.y)) > 2 for task in tasks)
    assert bounded >= (15 if several else 14) and bounded + empty >= 25


def test_a_bound_that_no_run_could_exceed_says_nothing():
    assert [demo.bound_in_words(bound, 80) for bound in (79, 80, 1079)] == ["79", *["says nothing"] * 2]


def test_every_letter_is_explained(printed, lines):
    letters = {match for *_, rest in lines for match in re.findall(r"  ([A-Z])  ", rest)}
    assert letters
    for letter in letters:
        assert f" {letter}  {demo.THEOREMS[letter]}" in printed


def test_every_margin_has_its_space(tasks, printed):
    several = any(len(np.unique(task.y)) > 2 for task in tasks)
    assert "\nmargins: given rows\n" in printed
    assert ("\nmargins: augmented rows, joint\n" in printed) == several
    assert "\nmargins: augmented rows, L1; augmented rows, L1.333 for PNormPerceptron(p=4)\n" in printed


def test_piped_output_is_plain_text_of_one_width(printed):
    assert "\x1b" not in printed and "…" not in printed
    assert max(map(len, printed.splitlines())) <= demo.WIDTH


def test_says_where_to_go_next(printed):
    assert "README.md" in printed and "make test" in printed


def test_brackets_are_rounded_outwards():
    assert demo.between((0.0002139, 0.0638)) == "0.00021 to 0.064"
    assert demo.between((-1.0, 0.0631)) == "up to 0.064"
    assert demo.between((None, math.inf)) == ""
    assert demo.between((0.0366, math.inf)) == "from 0.036"
    assert demo.between(None) == ""


def test_margins_of_several_classes_are_over_the_best_rival():
    u = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    rows = np.array([[3.0, 1.0], [3.0, 1.0]])
    assert demo.margins(u, rows, np.array([0, 1])).tolist() == [2.0, -2.0]


def test_margins_of_two_classes_are_signed():
    assert demo.margins(np.array([[2.0]]), np.array([[1.0], [3.0]]), np.array([0, 1])).tolist() == [-2.0, 6.0]
