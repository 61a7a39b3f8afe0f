"""What tests compare: rows, states, weights and answers of models."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import zoo
from processes import path_for_tests


def near(value: Any) -> Any:
    """A number but for rounding."""
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def augmented(X: Any, B: float = 1.0) -> np.ndarray:
    """The rows (x, B)."""
    return np.hstack([X, np.full((len(X), 1), B)])


def same_state(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Two snapshots of a model have the same values under the same names."""
    assert before.keys() == after.keys()
    for name in before:
        np.testing.assert_equal(after[name], before[name], err_msg=name)


def same_weights(*models: Any) -> None:
    """Models have made as many updates, and have the same weights to the last bit."""
    for one, other in itertools.pairwise(models):
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.intercept_, other.intercept_)
        assert one.n_updates_ == other.n_updates_


@contextmanager
def refused(
    model: Any,
    match: str,
    error: type[Exception] | tuple[type[Exception], ...] = ValueError,
    snapshot: Callable[[Any], dict[str, Any]] = zoo.snapshot,
) -> Iterator[None]:
    """The block raises, saying this, and the model is as it was."""
    before = snapshot(model)
    with pytest.raises(error, match=match):
        yield
    same_state(before, snapshot(model))


def steps_of(model: Any) -> list[Any]:
    """The sums of the steps on each row, one array per learner; None where they were not kept."""
    return [learner.steps for learner in model.run_record().learners]


def answers(script: str, **environment: str) -> Any:
    """The JSON that a script prints in a process of its own."""
    env = {**os.environ, "PYTHONPATH": path_for_tests(), **environment}
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
