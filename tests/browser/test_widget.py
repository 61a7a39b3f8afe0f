"""The widget in a notebook: marimo serves the page, and its kernel makes the runs."""

from __future__ import annotations

import socket

import numpy as np
import pytest
from lab_page import LabPage
from lab_servers import process
from places import TESTS

from perceptrons import PassiveAggressive, datasets, trace

NOTEBOOK = TESTS / "browser" / "notebook_of_the_lab.py"


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    port = free_port()
    words = ["-m", "marimo", "run", str(NOTEBOOK), "--headless", "--no-token", "--host", "127.0.0.1"]
    home = str(tmp_path_factory.mktemp("home"))  # no settings of the user are read or written
    with process(*words, "--port", str(port), says="URL:", XDG_CONFIG_HOME=home, XDG_STATE_HOME=home):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def widget(open_page, notebook):
    return LabPage(open_page(notebook)).ready()


def test_the_run_of_the_rows_that_were_given(widget):
    X, y, *_ = datasets.clouds_near()
    traced = trace(
        PassiveAggressive(C=0.5, shuffle=False, random_state=0, max_iter=100), X, y, max_steps=2000
    )
    assert widget.position == (0, len(traced))
    assert widget.n_points == len(X)
    for t in range(3):
        widget["step"].click()
        widget.settle()
        assert widget.weights().tolist() == traced.w[t + 1].tolist()


def test_points_are_added_and_learners_switched(widget):
    n = widget.n_points
    widget.click_at("xspace", [0.5, 0.25])
    widget[f"point-{n}"].wait_for()
    before = widget["position"].inner_text()
    widget["learner"].select_option("Perceptron")
    widget.page.wait_for_function("before => before !== null", arg=before)
    widget["step"].click()
    widget.settle()
    assert np.isfinite(widget.weights()).all()


def test_a_refusal_is_shown(widget):
    widget["load-csv"].set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": b"1,2\n"})
    widget["run-error"].wait_for()
    assert "column" in widget["run-error"].inner_text()
