"""``callback=`` and scikit-learn's own callbacks."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.model_selection import GridSearchCV
from zoo import ONLINE, X, fitted, make, y, y3

from perceptrons import MarginPerceptron, Perceptron

# ------------------------------------------------------------------------------------------ callback=


@pytest.mark.parametrize("name", ONLINE)
def test_called_after_each_epoch_with_the_estimator(name):
    seen = []
    model = make(name, max_iter=3, callback=lambda m: seen.append((m, m.n_iter_, m.coef_)) and None)
    params = {} if name != "MarginPerceptron" else {"gamma": 0.5}
    model.set_params(**params).fit(X, y)
    assert [n for _, n, _ in seen] == list(range(1, model.n_iter_ + 1))
    assert all(m is model for m, _, _ in seen)
    np.testing.assert_array_equal(seen[-1][2], model.coef_)


def test_a_true_answer_stops():
    contradiction = np.array([1, 0, 1, 0, 1, 0, 0, 1])
    model = make("Perceptron", fit_intercept=False, callback=lambda m: m.n_iter_ == 2)
    model.fit(np.ones((8, 1)), contradiction)
    assert (model.n_iter_, model.stop_reason_) == (2, "callback")
    clean = make("Perceptron", callback=lambda m: m.history_[-1]["updates"] == 0).fit(X, y)
    assert clean.stop_reason_ == "clean pass"  # the better reason
    ordered = make("Perceptron", callback=lambda m: True).fit(X, y, order=[range(8)] * 4)
    assert ordered.n_iter_ == 4  # an order is followed to its end


def test_an_error_in_a_callback_ends_the_fit_and_frees_the_model():
    def broken(model):
        raise KeyError("mine")

    model = make("Perceptron", callback=broken)
    with pytest.raises(KeyError, match="mine"):
        model.fit(X, y)
    assert model.stop_reason_ == "failed"
    model.set_params(callback=None).fit(X, y)
    assert model.stop_reason_ == "clean pass"


# ------------------------------------------------------------------------------------------ scikit-learn's


class Diary:
    """A callback that writes down what it is told."""

    def __init__(self, stop_at: int | None = None):
        self.lines: list[str] = []
        self.models: list = []
        self.stop_at = stop_at

    def setup(self, estimator, context):
        self.lines.append(f"setup {context.max_subtasks}")

    def teardown(self, estimator, context):
        self.lines.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.lines.append(f"begin {context.task_name} {context.task_id} {len(X)} {len(y)}")

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.lines.append(f"end {context.task_name} {context.task_id}")
        self.models.append(fitted_estimator)
        self.metadata = metadata
        return context.task_id == self.stop_at


def test_a_fit_is_a_task_and_an_epoch_a_subtask():
    diary = Diary()
    model = make("Perceptron", max_iter=2).set_callbacks(diary)
    assert model.fit(X, y, sample_weight=np.full(8, 2.0)) is model
    assert diary.lines == [
        "setup 2",
        "begin fit 0 8 8",
        "begin epoch 0 8 8",
        "end epoch 0",
        "begin epoch 1 8 8",
        "end epoch 1",
        "end fit 0",
        "teardown",
    ]
    np.testing.assert_array_equal(diary.metadata["sample_weight"], np.full(8, 2.0))
    np.testing.assert_array_equal(
        model.coef_, make("Perceptron", max_iter=2).fit(X, y, np.full(8, 2.0)).coef_
    )
    assert not [name for name in vars(model) if "ctx" in name or "teardown" in name]
    model.set_callbacks().fit(X, y)
    assert len(diary.lines) == 8


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", ONLINE)
def test_the_model_of_an_epoch_stays_that_of_the_epoch(name):
    diary = Diary()
    params = {"gamma": 0.5} if name == "MarginPerceptron" else {}
    make(name, max_iter=3, **params).set_callbacks(diary).fit(X, y3)
    for n, model in enumerate(diary.models[:-1], 1):
        alone = make(name, max_iter=n, **params).fit(X, y3)
        np.testing.assert_array_equal(model.coef_, alone.coef_)
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))


def test_a_callback_may_stop():
    diary = Diary(stop_at=1)
    model = make("Perceptron", fit_intercept=False).set_callbacks(diary).fit(np.ones((4, 1)), [0, 1, 0, 1])
    assert (model.n_iter_, model.stop_reason_) == (2, "callback")
    assert diary.lines[-1] == "teardown"


def test_teardown_comes_after_an_error_too():
    diary = Diary()
    model = make("Perceptron", callback=lambda m: 1 / 0).set_callbacks(diary)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert diary.lines[-1] == "teardown"
    before = len(diary.lines)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((8, 5), np.nan), y)  # refused before the fit began
    assert len(diary.lines) == before


def test_gamma_auto_has_any_number_of_epochs():
    diary = Diary()
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    model = MarginPerceptron(eps=0.1, max_iter=None, fit_intercept=False, shuffle=False)
    model.set_callbacks(diary).fit(rows, [1, 1, 0, 0])
    assert diary.lines[0] == "setup None"
    assert sum(line.startswith("end epoch") for line in diary.lines) >= model.n_iter_


def test_what_is_no_callback_is_refused():
    with pytest.raises(TypeError, match="FitCallback"):
        Perceptron().set_callbacks(print)


def test_copies_take_their_callbacks_along():
    diary = Diary()
    model = make("Perceptron").set_callbacks(diary)
    clone(model).fit(X, y)
    assert diary.lines[-1] == "teardown"
    copy.deepcopy(fitted("Perceptron").set_callbacks()).fit(X, y)


def test_scikit_learns_monitor():
    monitor = ScoringMonitor(scoring="accuracy")
    model = make("Perceptron").set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs()
    rows = log.data if hasattr(log, "data") else log
    assert len(rows) >= model.n_iter_


def test_scikit_learns_progress_bar(capsys):
    make("Perceptron").set_callbacks(ProgressBar()).fit(X, y)
    out, err = capsys.readouterr()
    assert "Perceptron" in out + err


def test_inside_a_search(capsys):
    search = GridSearchCV(make("Perceptron"), {"max_iter": [1, 2]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert search.best_estimator_.coef_.shape == (1, 5)


def test_nothing_is_loaded_for_those_who_set_none():
    code = (
        "import sys; from perceptrons import Perceptron; Perceptron().fit([[1.0], [-1.0]], [1, 0])\n"
        "assert 'sklearn.callback' not in sys.modules and 'rich' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code]).returncode == 0
