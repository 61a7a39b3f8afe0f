r"""From scores to probabilities: Platt's sigmoid and isotonic regression.

Both are fitted to scores, one column per class, and to outcomes: whether a row was of the class. Both learn
smoothed targets instead of 1 and 0: with :math:`W_+` and :math:`W_-` the weights of the rows of the class and
of the others, :math:`t_+ = (W_+ + 1)/(W_+ + 2)` and :math:`t_- = 1/(W_- + 2)`, so that no finite number of
rows makes a probability of 0 or 1. The weights are scaled to a mean of 1. Neither curve falls: rows are in
the order of their scores.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

METHODS = ("sigmoid", "isotonic")
FARTHEST = 36.0  #: log odds beyond which a probability is rounded to 0 or 1
_MOST_STEPS = 100  # of Newton's method: it takes about ten
_LEAST_GAIN = 1e-14  # of the loss of a row


class Sigmoids(NamedTuple):
    r""":math:`p = 1/(1 + e^{-z})`, :math:`z = a(2^{-e}s - c) + b`, for each column of scores s.

    The exponent e and the centre c keep the numbers in range, however large, small or close the scores are.
    Below the least score that a sigmoid was fitted to, and above the largest, it is constant.
    """

    a: np.ndarray  #: float64, at least 0
    b: np.ndarray  #: float64
    c: np.ndarray  #: float64
    e: np.ndarray  #: int64
    low: np.ndarray  #: float64: the least 2^-e s
    high: np.ndarray  #: float64: the largest

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """z, for scores of shape (rows, columns), between -FARTHEST and FARTHEST."""
        with np.errstate(over="ignore", under="ignore"):
            x = np.clip(np.ldexp(scores, -self.e), self.low, self.high) - self.c
        z: np.ndarray = np.clip(self.a * x + self.b, -FARTHEST, FARTHEST)
        return z


class Steps(NamedTuple):
    """Points (2^-e s, p) for each column of scores: p is linear between two of them, constant beyond."""

    ends: np.ndarray  #: int64, (columns + 1,): where the points of each column begin, and end
    x: np.ndarray  #: float64, ascending within a column
    p: np.ndarray  #: float64, in (0, 1), ascending within a column
    e: np.ndarray  #: int64

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """ln(p/(1 - p)), for scores of shape (rows, columns)."""
        out = np.empty(scores.shape)
        with np.errstate(over="ignore", under="ignore"):
            x = np.ldexp(scores, -self.e)
        for r in range(scores.shape[1]):
            own = slice(int(self.ends[r]), int(self.ends[r + 1]))
            p = np.interp(x[:, r], self.x[own], self.p[own])
            out[:, r] = np.log(p) - np.log1p(-p)
        return out


Curves: TypeAlias = Sigmoids | Steps


class Calibrated(NamedTuple):
    """Curves that were fitted to rows which were not learned."""

    curves: Curves
    readout: str  #: whose scores they were


def fitted(method: str, scores: np.ndarray, outcomes: np.ndarray, weights: np.ndarray) -> Curves:
    """The curves of each column.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    scores : ndarray of shape (rows, columns)
        NaN where a row has no score in a column.
    outcomes : ndarray of bool of shape (rows, columns)
    weights : ndarray of shape (rows,)
        Positive.
    """
    fit = _sigmoid if method == "sigmoid" else _isotonic
    with np.errstate(under="ignore"):
        weights = weights / np.max(weights, initial=0.0) if len(weights) else weights
    found = []
    for s, outcome in zip(scores.T, outcomes.T, strict=True):
        there = np.isfinite(s) & (weights > 0.0)  # beside a much larger weight one may vanish
        w = weights[there]
        w = w / np.mean(w) if len(w) else w
        e = int(np.frexp(np.max(np.abs(s[there]), initial=0.0))[1])
        with np.errstate(under="ignore"):
            x = np.ldexp(s[there], -e)
        low, high = (float(np.min(x)), float(np.max(x))) if len(x) else (0.0, 0.0)
        found.append((*fit(x, _targets(outcome[there], w), w), e, low, high))
    if method == "sigmoid":
        a, b, c, e_of, lows, highs = map(np.array, zip(*found, strict=True))
        return Sigmoids(a, b, c, e_of.astype(np.int64), lows, highs)
    xs, ps, exponents, *_ = zip(*found, strict=True)
    ends = np.concatenate([[0], np.cumsum([len(x) for x in xs])]).astype(np.int64)
    return Steps(ends, np.concatenate(xs), np.concatenate(ps), np.array(exponents, np.int64))


def _targets(outcome: np.ndarray, w: np.ndarray) -> np.ndarray:
    """What is learned in place of 1 and 0."""
    of_class, others = float(np.sum(w[outcome])), float(np.sum(w[~outcome]))
    return np.where(outcome, (of_class + 1.0) / (of_class + 2.0), 1.0 / (others + 2.0))


def _sigmoid(x: np.ndarray, t: np.ndarray, w: np.ndarray) -> tuple[float, float, float]:
    r"""(a, b, c) with the least :math:`\sum w(\ln(1 + e^z) - tz)` over a of at least 0; c is the mean of x.

    Newton's method with halved steps, from a = 0. Where the best a is negative, 0 is the best that is not:
    the loss is convex.
    """
    total = float(np.sum(w))
    if not total:
        return 0.0, 0.0, 0.0
    mean = float(np.sum(w * t)) / total
    level = float(np.log(mean) - np.log1p(-mean))  # the best b for a = 0
    c = float(np.sum(w * x)) / total
    x = x - c

    def loss(a: float, b: float) -> float:
        z = a * x + b
        return float(np.sum(w * (np.logaddexp(0.0, z) - t * z)))

    a, b = 0.0, level
    now = loss(a, b)
    for _ in range(_MOST_STEPS):
        p = _logistic(a * x + b)
        g, h = w * (p - t), w * p * (1.0 - p)
        slope_a, slope_b = float(np.sum(g * x)), float(np.sum(g))
        aa, ab, bb = float(np.sum(h * x * x)), float(np.sum(h * x)), float(np.sum(h))
        spread = aa - ab * ab / bb if bb > 0.0 else 0.0
        if not spread > 1e-14 * aa:
            break  # all scores are the same, or nothing is left to gain
        step_a = -(slope_a - ab / bb * slope_b) / spread
        step_b = -(slope_b + ab * step_a) / bb
        gain = -(slope_a * step_a + slope_b * step_b)
        if not gain > _LEAST_GAIN * total:
            break
        part = 1.0
        while (ahead := loss(a + part * step_a, b + part * step_b)) > now - 1e-4 * part * gain:
            part /= 2.0
            if part < 1e-9:
                return (a, b, c) if a > 0.0 else (0.0, level, c)
        a, b, now = a + part * step_a, b + part * step_b, ahead
    return (a, b, c) if a > 0.0 else (0.0, level, c)


def _isotonic(x: np.ndarray, t: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Points of the ascending function with the least :math:`\sum w(t - p(x))^2`, by pooling neighbours."""
    if not len(x):
        return np.zeros(1), np.full(1, 0.5)
    values, place = np.unique(x, return_inverse=True)
    weight = np.bincount(place, w)
    height = np.bincount(place, w * t) / weight
    blocks: list[tuple[float, float, int]] = []  # (height, weight, first value)
    for i, (p, v) in enumerate(zip(height.tolist(), weight.tolist(), strict=True)):
        first = i
        while blocks and blocks[-1][0] >= p:
            other, more, first = blocks.pop()
            p, v = (other * more + p * v) / (more + v), more + v
        blocks.append((p, v, first))
    firsts = np.array([first for *_, first in blocks])
    lasts = np.append(firsts[1:] - 1, len(values) - 1)
    ends = np.unique(np.stack([firsts, lasts], axis=1).ravel())
    p = np.array([p for p, *_ in blocks])
    return values[ends], np.clip(p[np.searchsorted(firsts, ends, "right") - 1], t.min(), t.max())


def _logistic(z: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.exp(-np.logaddexp(0.0, -z))
    return found


def log_shares(log_odds: np.ndarray) -> np.ndarray:
    """ln p of each column by itself: several labels a row are no alternatives."""
    found: np.ndarray = -np.logaddexp(0.0, -log_odds)
    return found


def log_probabilities(log_odds: np.ndarray) -> np.ndarray:
    """ln p of each class, for log odds of shape (rows, columns).

    A single column is the probability of the second of two classes. Several columns are one class against the
    rest each; they are divided by their sum, and are equal where all of them are 0.
    """
    if log_odds.shape[1] == 1:
        found: np.ndarray = -np.logaddexp(0.0, np.concatenate([log_odds, -log_odds], axis=1))
        return found
    log_p = log_shares(log_odds)
    highest = log_p.max(axis=1, keepdims=True)
    log_p = np.where(np.isneginf(highest), 0.0, log_p - np.where(np.isneginf(highest), 0.0, highest))
    shares: np.ndarray = log_p - np.log(np.sum(np.exp(log_p), axis=1, keepdims=True))
    return shares
