"""The widget: what it is given, what it answers, and what it says without its package."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from perceptrons import KernelPerceptron, PassiveAggressive, datasets, kernels, plots
from perceptrons.lab.catalog import catalog
from perceptrons.lab.runs import run
from perceptrons.lab.widget import STATIC, answer

pytestmark = pytest.mark.uncompiled


def test_rows_and_learners_are_those_that_were_given():
    X, y, *_ = datasets.clouds_near()
    scene = plots.lab(X, y, PassiveAggressive(C=0.5), "ROMMA", seed=3, max_iter=7).scene
    assert scene["X"] == X.tolist() and scene["classes"] == ["-1", "1"]
    assert np.array(scene["classes"], int)[scene["y"]].tolist() == y.tolist()
    assert scene["learner"]["name"] == "PassiveAggressive" and scene["learner"]["params"]["C"] == 0.5
    assert scene["second"]["name"] == "ROMMA"
    assert (scene["seed"], scene["max_iter"], scene["shuffle"]) == (3, 7, False)
    assert json.loads(json.dumps(scene, allow_nan=False)) == scene
    assert len(run(scene)["runs"]) == 2


def test_a_kernel_is_given_by_its_parameters():
    X, y, *_ = datasets.xor()
    scene = plots.lab(X, y, KernelPerceptron(kernel=kernels.Polynomial(degree=2))).scene
    params = scene["learner"]["params"]["kernel"]
    assert params["params"]["degree"] == 2
    assert run(scene)["runs"][0]["reason"] == "clean pass"


def test_without_rows_the_page_chooses():
    assert plots.lab().scene is None
    first = catalog()["sets"][0]
    assert plots.lab(learner="ALMA").scene["X"] == first["X"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"X": np.zeros((3, 3)), "y": [0, 1, 1]}, r"X must have two columns; got \(3, 3\)"),
        ({"X": np.zeros((3, 2))}, "X without y"),
        ({"X": np.zeros((3, 2)), "y": [1, 1, 1]}, "at least two"),
        ({"X": [[0, np.nan], [1, 1]], "y": [0, 1]}, "coordinate 1 of point 0"),
        ({"learner": "SVC"}, "There is no learner 'SVC'"),
        ({"theme": "pink"}, "theme must be one of"),
    ],
)
def test_what_the_lab_cannot_show_is_said_at_once(words, says):
    with pytest.raises(ValueError, match=says):
        plots.lab(**words)


def test_messages_are_answered():
    widget, sent = plots.lab(), []
    widget.send = lambda message, buffers=None: sent.append(message)
    X, y, *_ = datasets.four_points()
    scene = plots.lab(X, y).scene
    table = {"text": "1,2,a\n3,4,b\n", "columns": None}
    for k, (ask, body) in enumerate([("catalog", None), ("run", scene), ("table", table)]):
        widget._handle_custom_msg({"id": k, "ask": ask, "body": body}, [])
    assert [one["id"] for one in sent] == [0, 1, 2]
    assert sent[0]["answer"] == catalog()
    assert sent[1]["answer"]["runs"][0]["segments"] == run(scene)["runs"][0]["segments"]
    assert sent[2]["answer"]["X"] == [[1, 2], [3, 4]]
    json.dumps(sent, allow_nan=False)


@pytest.mark.parametrize(
    ("ask", "body"),
    [
        ("run", {}),
        ("run", None),
        ("table", {"text": "a", "columns": None}),
        ("table", None),
        ("else", 1),
        (None, None),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(ask, body):
    (error,) = answer(ask, body).values()
    assert isinstance(error, str) and error.endswith(".") and "\n" not in error


@pytest.mark.parametrize("message", [None, 3, "run", {}, {"ask": "run"}])
def test_a_message_without_an_id_is_not_answered(message):
    widget, sent = plots.lab(), []
    widget.send = sent.append
    widget._handle_custom_msg(message, [])
    assert sent == []


def test_the_bundle_of_the_widget_is_the_page():
    widget = plots.lab()
    assert str(widget._esm) == (STATIC / "lab.js").read_text(encoding="utf-8")
    assert str(widget._css) == (STATIC / "lab.css").read_text(encoding="utf-8")


def test_without_anywidget(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "perceptrons.lab.widget", raising=False)
    with pytest.raises(ImportError, match=r"plots\.lab needs anywidget: pip install 'perceptrons\[lab\]'"):
        plots.lab()
