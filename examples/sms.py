"""Spam among text messages: the SMS Spam Collection, 5,574 messages.

    python examples/sms.py

The collection has no split, so a third of the messages is drawn for the test, in the shares of both classes,
anew for every run. Words are hashed and weighed by tf-idf. A parameter is chosen on a fifth of the training
messages; see `_shared.py`. The last column of numbers is the F1 of spam: one message in seven is spam, and
who never says so errs on 13.4 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from _shared import Task, run, some, text_task
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from perceptrons import datasets

NAME, TITLE = "sms_spam", "The SMS Spam Collection"
SEEDS = 5
HEADS = ("test error, %", "F1 of spam, %")
VOTED = True


def load(seeds: int, limit: int | None = None) -> list[Task]:
    """A split for every run."""
    messages = datasets.load_sms()
    texts, y = some(messages.X, messages.y, limit)
    tasks = []
    for seed in range(seeds):
        parts = train_test_split(texts, y, test_size=1 / 3, stratify=y, random_state=seed)
        tasks.append(text_task(parts[0], parts[2], parts[1], parts[3]))
    return tasks


def measure(fresh: Callable[[], Any], task: Task) -> np.ndarray:
    guess = fresh().fit(task.X, task.y).predict(task.X_test)
    error = np.mean(guess != task.y_test)
    return 100.0 * np.array([error, f1_score(task.y_test, guess, zero_division=0.0)])


def headline(task: Task) -> str:
    spam = 100 * task.y_test.mean()
    return f"SMS: {len(task.y):,} messages to learn, {len(task.y_test):,} to judge, {spam:.1f} % of them spam"


if __name__ == "__main__":
    sys.exit(run(sys.modules[__name__]))
