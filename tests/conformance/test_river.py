"""River's own checks of estimators, on our learners behind a thin adapter."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import pytest
from river import base, checks
from sklearn.exceptions import NotFittedError
from uncompiled import uncompiled

import perceptrons as pc


class InRiver(base.Classifier):
    """One of our learners by its name. River asks for predictions before anything was learned: None."""

    def __init__(self, name: str = "Perceptron", seed: int = 0):
        self.name = name
        self.seed = seed
        self.model = getattr(pc, name)(random_state=seed)

    def _more_tags(self) -> set[str]:
        return {base.tags.POSITIVE_INPUT} if self.name == "Winnow" else set()

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        self.model.learn_one(x, y)

    def predict_one(self, x: dict[str, Any], **others: Any) -> Any:
        try:
            return self.model.predict_one(x)
        except NotFittedError:
            return None


def takes_named_features(name: str) -> bool:
    learner = getattr(pc, name)
    if not inspect.isclass(learner) or not inspect.isfunction(getattr(learner, "learn_one", None)):
        return False
    try:
        with uncompiled():
            learner().learn_one({"a": 0.5}, 1)
    except (TypeError, ValueError):  # of those that learn from a kernel, and from texts
        return False
    return True


LEARNERS = [name for name in pc.__all__ if takes_named_features(name)]
IN_MEMORY = ("Perceptron", "AROW", "Winnow")
"""Learners of one kind need the same memory: the check is the longest of all, so one of each kind has it."""

COMPILED = (*IN_MEMORY, "BalancedWinnow")
"""One learner of each family of loops; in the others they are plain Python."""


def cases() -> list[Any]:
    """Every check for every learner: on all data sets of river's for the first, for others on one in turn."""
    found = []
    for turn, name in enumerate(LEARNERS):
        seen: Counter[str] = Counter()
        made = list(checks.yield_checks(InRiver(name)))
        times = Counter(check.__name__ for check in made)
        for i, check in enumerate(made):
            word, number = check.__name__, seen[check.__name__]
            seen[word] += 1
            if word == "check_bounded_memory_growth" and name not in IN_MEMORY:
                continue
            if name == LEARNERS[0] or number == turn % times[word]:
                found.append(pytest.param(name, check, id=f"{name}-{word}-{i}"))
    return found


def test_the_learners_that_are_checked():
    assert {"Perceptron", "AveragedPerceptron", "PassiveAggressive", "AROW", "Winnow"} <= set(LEARNERS)


@pytest.mark.parametrize("name, check", cases())
def test_river(name, check):
    with uncompiled(name not in COMPILED):
        check(InRiver(name))
