"""The record of a run: what certificates and the run-time checks read of a learner, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import zoo
from ways import WAYS, fitted

import perceptrons as pc
from perceptrons import theory

SOURCE = Path(pc.__file__).parent
READERS = ["theory", "certificates", "proofs"]
KEEPERS = ["core", "estimators", "engine/spaces"]


@pytest.mark.parametrize(("name", "params"), WAYS, ids=lambda p: str(p) if p else "default")
def test_a_record_has_the_counts_of_its_learner(name, params):
    for y in (zoo.y, zoo.y3):
        clf = fitted(name, params, y)
        record = clf.run_record()
        assert isinstance(record, theory.RunRecord)
        learner = clf.estimator_ if name == "ParameterMixing" else clf  # the learner that was mixed
        assert record.kind is type(learner) and record.classes.tolist() == np.unique(y).tolist()
        assert len(record.learners) == (len(clf.classes_) if record.problem == "one-vs-rest" else 1)
        for what, count in record.counts().items():
            assert count == getattr(clf, f"n_{what}_", 0)
        assert record.parameters.items() >= {"fit_intercept": learner.fit_intercept}.items()
        assert len(record.brackets) in (0, len(record.learners))
        last = record.weights["last"]
        assert len(last) == (1 if len(clf.classes_) == 2 else len(clf.classes_))
        if record.kernel is None and not record.free and record.readout == "last":
            assert np.array_equal(last[:, :-1], clf.coef_)


def test_a_record_does_not_change_when_the_learner_goes_on():
    clf = pc.AveragedPerceptron(log_updates=True).partial_fit(zoo.X, zoo.y)
    record = clf.run_record()
    before = record.updates, len(record.history), record.weights["average"].copy(), record.learners[0].log
    rows = before[3].row.copy()
    clf.partial_fit(zoo.X, 1 - zoo.y)
    assert (record.updates, len(record.history)) == before[:2]
    assert np.array_equal(record.weights["average"], before[2])
    assert np.array_equal(record.learners[0].log.row, rows)
    assert clf.run_record().updates > record.updates


def test_a_record_has_the_parameters_that_the_run_went_by():
    clf = pc.PassiveAggressive(C=0.5).fit(zoo.X, zoo.y)
    clf.set_params(C=2.0)
    assert clf.run_record().parameters["C"] == 0.5
    assert clf.run_record().rule == pc.rules.PA1(0.5)


def test_nothing_else_of_a_learner_is_read():
    """No attribute that learners and spaces keep for themselves is named where runs are judged."""
    private = set()
    for path in (path for room in KEEPERS for path in sorted((SOURCE / room).glob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                private.add(node.attr)
            elif isinstance(node, ast.FunctionDef):
                private.add(node.name)
    private = {name for name in private if name.startswith("_") and not name.startswith("__")}
    assert {"_space", "_journals", "_bounds", "_steps", "_rule", "_weights"} <= private
    for path in (path for room in READERS for path in sorted((SOURCE / room).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in private:
                assert isinstance(node.value, ast.Name), f"{path.name}:{node.lineno} reads {node.attr}"
                assert node.value.id in ("self", "cls"), f"{path.name}:{node.lineno} reads {node.attr}"
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in private, f"{path.name}:{node.lineno} names {node.value}"


def test_an_old_file_that_speaks_of_too_many_rows_has_no_steps():
    model = pc.RiskDescent(max_steps=3).fit([[1.0], [-1.0], [2.0]], [1, 0, 0])
    del model._steps  # as in a file of format 1
    assert model.run_record().learners[0].steps is not None
    model._descents = [run._replace(chosen=[np.array([2**40])], steps=[1.0]) for run in model._descents]
    assert model.run_record().learners[0].steps is None
