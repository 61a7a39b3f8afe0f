"""The rows that ``early_stopping`` holds out: a random part of them, each class in proportion.

The draws are those of scikit-learn's ``train_test_split(..., stratify=)``, number by number, so that the same
seed holds out the same rows. The tests compare the two.
"""

from __future__ import annotations

from math import ceil

import numpy as np


def split(codes: np.ndarray, part: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows to learn, rows to score), for the class codes of the rows and the part that is scored.

    >>> learned, scored = split(np.array([0, 0, 0, 1, 1, 1]), 1 / 3, seed=0)
    >>> sorted(learned.tolist()), sorted(scored.tolist())
    ([1, 2, 3, 5], [0, 4])
    """
    _, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    n_scored = ceil(part * len(codes))
    n_learned = len(codes) - n_scored
    if counts.min() < 2:
        raise ValueError("a class has one row only, and each needs a row to learn and a row to score.")
    for n, what in ((n_learned, "to learn"), (n_scored, "to score")):
        if n < len(counts):
            raise ValueError(f"rows {what}: {n}, fewer than the {len(counts)} classes.")
    rng = np.random.RandomState(seed)
    learned_of = _shares(counts, n_learned, rng)
    scored_of = _shares(counts - learned_of, n_scored, rng)
    learned, scored = [], []
    of_class = np.split(np.argsort(which, kind="stable"), np.cumsum(counts)[:-1])
    for rows, n, m in zip(of_class, learned_of, scored_of, strict=True):
        drawn = rows[rng.permutation(len(rows))]
        learned.append(drawn[:n])
        scored.append(drawn[n : n + m])
    return rng.permutation(np.concatenate(learned)), rng.permutation(np.concatenate(scored))


def _shares(counts: np.ndarray, n: int, rng: np.random.RandomState) -> np.ndarray:
    """How many of n rows each class gets: its share rounded down, then one more by the largest remainders.

    Classes with the same remainder, too many for what is left, are drawn at random.
    """
    shares = counts / counts.sum() * n
    rounded: np.ndarray = np.floor(shares)
    left, remainders = int(n - rounded.sum()), shares - rounded
    for remainder in np.unique(remainders)[::-1]:
        if left <= 0:
            break
        alike = np.flatnonzero(remainders == remainder)
        chosen = rng.choice(alike, size=min(len(alike), left), replace=False)
        rounded[chosen] += 1
        left -= len(chosen)
    whole: np.ndarray = rounded.astype(np.int64)
    return whole
