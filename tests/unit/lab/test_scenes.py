"""What the lab takes from outside, and what it refuses, in one sentence."""

from __future__ import annotations

import json

import pytest
from lab_scenes import scene_of

from perceptrons import datasets
from perceptrons.lab.scenes import LIMITS, scene_from, table

FOUR = datasets.four_points()


def test_a_scene_is_read_as_it_is_written():
    edits = [{"at": 3, "X": [[0.5, 1.5]], "y": [1]}]
    given = scene_of(FOUR, noise=0.25, center=True, seed=7, edits=edits, second={"name": "MIRA"})
    scene = scene_from(given)
    written = json.loads(json.dumps(scene.to_dict()))
    assert written["format"] == "perceptrons lab scene" and written["schema"] == 1
    assert written["second"] == {"name": "MIRA", "params": {}}
    assert scene_from(written).to_dict() == written
    assert (scene.noise, scene.center, scene.seed, scene.edits[0].at) == (0.25, 1.0, 7, 3)
    assert written["center"] == 1.0 and written["center"] is not True  # it was a switch once


DEEP: list = []
for _ in range(50):
    DEEP = [DEEP]
HUGE = 10**400

WRONG = {
    "no object": ([], "The scene must be an object"),
    "another format": ({"format": "x"}, "This version reads scenes"),
    "a later schema": ({"schema": 2}, "This version reads scenes"),
    "a strange field": ({"Foo": 1}, "The scene has no field 'Foo'"),
    "no points": ({"X": None}, "X must be a list"),
    "three numbers": ({"X": [[1, 2, 3]], "y": [0]}, "Point 0 must be two numbers"),
    "a text as a number": ({"X": [["1", 2]], "y": [0]}, "coordinate 0 of point 0 must be a number"),
    "a truth value as a number": ({"X": [[True, 2]], "y": [0]}, "coordinate 0 of point 0 must be a number"),
    "NaN": ({"X": [[float("nan"), 2]], "y": [0]}, "coordinate 0 of point 0 must be a number"),
    "infinity": ({"X": [[1, float("inf")]], "y": [0]}, "coordinate 1 of point 0 must be a number"),
    "a huge whole number": ({"X": [[HUGE, 2]], "y": [0]}, "coordinate 0 of point 0 must be a number"),
    "lists in lists": ({"X": DEEP, "y": [0]}, "Point 0 must be two numbers"),
    "too many points": ({"X": [[0, 0]] * 10_000, "y": [0] * 10_000}, "X has 10000 entries; the lab takes at"),
    "fewer classes than points": ({"X": [[0, 0]], "y": []}, "There are 1 points and 0 classes"),
    "a class that is not there": ({"X": [[0, 0]], "y": [2]}, "the class of point 0 must be a whole number"),
    "a class as a float": ({"X": [[0, 0]], "y": [1.0]}, "the class of point 0 must be a whole number"),
    "one class": ({"classes": ["a"]}, "classes must be at least two names"),
    "a class twice": ({"classes": ["a", "a"]}, "classes must be at least two names"),
    "a long name": ({"classes": ["a" * 50, "b"]}, "classes must be names of 1 to 40"),
    "a number as a name": ({"classes": [1, 2]}, "classes must be names"),
    "no learner": ({"learner": None}, "learner must be an object"),
    "a learner without a name": ({"learner": {"params": {}}}, "learner.name must be the name"),
    "parameters in a list": ({"learner": {"name": "MIRA", "params": []}}, "learner.params must be an object"),
    "more than the mean": ({"center": 1.25}, "center must be a number from 0 to 1"),
    "a text as a share": ({"center": "1"}, "center must be a number from 0 to 1"),
    "NaN as a share": ({"center": float("nan")}, "center must be a number from 0 to 1"),
    "shuffle as a number": ({"shuffle": 1}, "shuffle must be true or false"),
    "a negative seed": ({"seed": -1}, "seed must be a whole number from 0"),
    "no epochs": ({"max_iter": 0}, "max_iter must be a whole number from 1"),
    "too many steps": (
        {"max_steps": LIMITS.max_steps + 1},
        "max_steps must be a whole number",
    ),
    "too much noise": ({"noise": 0.6}, "noise must be a number from 0 to 0.5"),
    "an edit that is none": ({"edits": [1]}, r"edits\[0\] must be an object"),
    "an edit without rows": ({"edits": [{"at": 1}]}, r"edits\[0\].X must be a list"),
    "an edit before another": (
        {"edits": [{"at": 2, "X": [], "y": []}, {"at": 1, "X": [], "y": []}]},
        r"edits\[1\].at must not be below",
    ),
    "too many edits": ({"edits": [{"at": 1, "X": [], "y": []}] * 101}, "edits has 101 entries"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_scene_is_refused(name):
    changes, message = WRONG[name]
    given = changes if isinstance(changes, list) else scene_of(FOUR) | changes
    with pytest.raises(ValueError, match=message):
        scene_from(given)


def test_a_scene_needs_points_and_a_learner():
    for name in ("X", "y", "learner"):
        with pytest.raises(ValueError, match=f"The scene has no {name}"):
            scene_from({key: value for key, value in scene_of(FOUR).items() if key != name})


def test_tables():
    found = table("a,b,c,class\n1,2,x,no\n3,4.5,y,yes\n")
    assert found == {"X": [[1, 2], [3, 4.5]], "y": [0, 1], "classes": ["no", "yes"], "columns": ["a", "b"]}
    assert table("1;2;10\n\n3;4;9\r\n")["classes"] == ["9", "10"]
    assert table("\ufeff1\t2\t-1\n3\t4\t1")["y"] == [0, 1]
    chosen = table("a,b,c,class\n1,2,3,no\n3,4,5,yes", ["c", "a"])
    assert chosen["X"] == [[3, 1], [5, 3]] and chosen["columns"] == ["a", "b", "c"]
    assert table("1,2,a\n1,2,b", ["column 2", "column 1"])["X"] == [[2, 1], [2, 1]]


@pytest.mark.parametrize(
    "text, columns, message",
    [
        ("", None, "The table is empty"),
        (None, None, "A table is a text"),
        ("x" * (LIMITS.table + 1), None, "A table is a text"),
        ("a,b,class\n", None, "no rows below its header"),
        ("1,2\n3,4", None, "needs three columns"),
        ("1,2,a\n3,b", None, "Line 2 has 2 columns; the first line has 3"),
        ("1,2,a\nx,4,b", None, "Line 2, column 1: 'x' is no number"),
        ("1,2,a\nnan,4,b", None, "Line 2, column 1: 'nan' is no number"),
        ("1,2,a\n1e300,4,b", None, "Line 2, column 1: '1e300' is no number of a size"),
        ("x,2,a,b", None, "two columns of numbers"),
        ("1,2,a\n3,4,a", None, "one class only"),
        ("\n".join(f"1,2,{i}" for i in range(7)), None, "7 different values"),
        ("1,2,a\n" * 1001, None, "1001 rows"),
        ('1,2,a\n"3,4,b', None, "Line 2 has 1 columns"),
        ("1,2,a\n3,4,b", ["x", "y"], "no column of numbers called 'x'"),
        ("1,2,a\n3,4,b", "ab", "names of two columns"),
        ("1,2,a\n3,4,b", [1, {}], "no column of numbers called 1"),
        ("1,2,\n3,4,b", None, "classes must be names"),
    ],
)
def test_tables_that_are_none(text, columns, message):
    with pytest.raises(ValueError, match=message):
        table(text, columns)
