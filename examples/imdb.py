"""For or against: IMDB, 25,000 film reviews to learn and 25,000 to judge.

    python examples/imdb.py

Words are hashed and weighed by tf-idf; how rare a word is, the training reviews say. A parameter is chosen on
a fifth of the training reviews; see `_shared.py`. Runs differ in the order in which reviews are learned.
Half of the reviews are for, half against. There is no voted perceptron here: it would ask some ten thousand
vectors about each of 25,000 reviews.
"""

from __future__ import annotations

import sys

from _shared import Task, run, some, test_error, text_task

from perceptrons import datasets

NAME, TITLE = "imdb", "IMDB"
SEEDS = 3
HEADS = ("test error, %",)
VOTED = False
measure = test_error


def load(seeds: int, limit: int | None = None) -> list[Task]:
    """The one split, for every run."""
    reviews = datasets.load_imdb()
    train, test = some(reviews.X, reviews.y, limit), some(reviews.X_test, reviews.y_test, limit)
    return [text_task(*train, *test)] * seeds


def headline(task: Task) -> str:
    return f"IMDB: {len(task.y):,} reviews to learn, {len(task.y_test):,} to judge"


if __name__ == "__main__":
    sys.exit(run(sys.modules[__name__]))
