"""Which of twenty: 20 newsgroups, 11,314 older posts to learn and 7,532 later ones to sort.

    python examples/newsgroups.py

Posts are taken whole, with their headers, as the publisher split them by date. Words are hashed and weighed
by tf-idf; how rare a word is, the training posts say. A parameter is chosen on a fifth of the training
posts, which are of the same weeks: expect it to be less cautious than a later post deserves. Runs differ in
the order in which posts are learned.

Perceptron, its average, the margin perceptron, MIRA, PA and ROMMA learn all groups at once: the true group
must beat the best of the others. ALMA, AROW, SCW, both Winnows and scikit-learn's learn each group against
the rest, and the highest score wins.
"""

from __future__ import annotations

import sys

from _shared import Task, run, some, test_error, text_task

from perceptrons import datasets

NAME, TITLE = "20newsgroups", "20 newsgroups"
SEEDS = 3
HEADS = ("test error, %",)
VOTED = False
measure = test_error


def load(seeds: int, limit: int | None = None) -> list[Task]:
    """The one split, for every run."""
    posts = datasets.load_20newsgroups()
    train, test = some(posts.X, posts.y, limit), some(posts.X_test, posts.y_test, limit)
    return [text_task(*train, *test)] * seeds


def headline(task: Task) -> str:
    return f"20 newsgroups: {len(task.y):,} posts to learn, {len(task.y_test):,} to sort"


if __name__ == "__main__":
    sys.exit(run(sys.modules[__name__]))
