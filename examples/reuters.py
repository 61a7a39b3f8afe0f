r"""What a story is about: Reuters-21578, split ModApte, the ten largest topics, each against the rest.

    python examples/reuters.py

9,603 stories of spring 1987 to learn, 3,299 later ones to judge; a story may have several topics, or none,
and counts for every one of the ten as a yes or a no. The ten are those with most training stories. Words are
hashed and weighed by tf-idf; how rare a word is, the training stories say. A parameter is chosen on a fifth
of the training stories, one value for all ten topics, by their micro F1; see `_shared.py`.

F1 is :math:`2tp/(2tp + fp + fn)` at the learner's own threshold. The break-even point moves the threshold
until as many stories are called positive as are: then precision and recall are one number, which judges the
order of the scores alone. "micro" adds up the counts of the ten topics first, so that large ones weigh more;
"macro" is the mean of the ten numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _shared import Task, run, some, text_task

from perceptrons import datasets

NAME, TITLE = "reuters21578", "Reuters-21578"
SEEDS = 3
TOPICS = 10
HEADS = ("1 - micro F1, %", "micro F1, %", "macro F1, %", "micro b-e, %", "macro b-e, %")
VOTED = False


class Counts(NamedTuple):
    """One topic: stories found, false alarms, stories missed, and those found at the break-even point."""

    found: int
    alarms: int
    missed: int
    even: int


def load(seeds: int, limit: int | None = None) -> list[Task]:
    """The one split, for every run; y has a column for each of the largest topics."""
    stories = datasets.load_reuters()
    largest = np.argsort(-stories.y.sum(axis=0), kind="stable")[:TOPICS]
    train, test = some(stories.X, stories.y, limit), some(stories.X_test, stories.y_test, limit)
    return [text_task(train[0], train[1][:, largest], test[0], test[1][:, largest])] * seeds


def counts(truth: np.ndarray, guess: np.ndarray, scores: np.ndarray) -> Counts:
    """Of one topic, from what is so, what was said, and how sure."""
    first = np.argsort(-scores, kind="stable")[: int(truth.sum())]
    return Counts(
        int(np.sum(guess & truth)),
        int(np.sum(guess & ~truth)),
        int(np.sum(~guess & truth)),
        int(truth[first].sum()),
    )


def f1(found: Any, alarms: Any, missed: Any) -> Any:
    """2tp/(2tp + fp + fn); nothing there and nothing said is as good as can be."""
    total = 2 * found + alarms + missed
    return np.where(total > 0, 2 * found / np.maximum(total, 1), 1.0)


def summary(table: np.ndarray) -> np.ndarray:
    """Micro and macro F1 and break-even point, in per cent, from one row of counts per topic."""
    found, alarms, missed, even = table.T
    positive = found + missed
    macro_even = np.where(positive > 0, even / np.maximum(positive, 1), 1.0).mean()
    micro_even = even.sum() / max(positive.sum(), 1)
    micro = float(f1(found.sum(), alarms.sum(), missed.sum()))
    return 100.0 * np.array([1.0 - micro, micro, f1(found, alarms, missed).mean(), micro_even, macro_even])


def measure(fresh: Callable[[], Any], task: Task) -> np.ndarray:
    """One learner for each topic."""
    table = []
    for y, truth in zip(task.y.T, task.y_test.T):
        if len(np.unique(y)) < 2:  # a small part of the data may lack a topic
            guess, scores = np.full(len(truth), y[0]), np.zeros(len(truth))
        else:
            model = fresh().fit(task.X, y)
            scores = model.decision_function(task.X_test)
            guess = model.predict(task.X_test)
        table.append(counts(truth, guess, scores))
    return summary(np.array(table))


def headline(task: Task) -> str:
    sizes = task.y_test.sum(axis=0)
    rows = f"{len(task.y):,} stories to learn, {len(task.y_test):,} to judge"
    return f"Reuters-21578: {rows}, {sizes.max():,} to {sizes.min():,} of a topic"


if __name__ == "__main__":
    sys.exit(run(sys.modules[__name__]))
