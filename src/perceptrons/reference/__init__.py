"""Every algorithm of the library again in plain NumPy, as on the blackboard.

Slow, short, and written from the papers: nothing here shares a line with the compiled engine, so
the two can judge each other. Examples are dense, labels are -1 and +1 or 0..k-1, and the order of
visiting is given as one list of rows an epoch. Every function returns a `Run`, the weights with a
record of what happened on the way.

Examples
--------
>>> from perceptrons import reference
>>> run = reference.perceptron([[1, 2], [2, 1], [-1, -1], [-1, 1]], [1, 1, -1, -1], order=[[0, 1, 2, 3]] * 2)
>>> run.w, run.updates, run.errors
(array([2., 1.]), [[0, 3], []], [2, 0])
>>> reference.average(run)
array([1.625, 1.375])
"""

from .additive import (
    alma,
    margin_perceptron,
    mira,
    passive_aggressive,
    perceptron,
    romma,
    voted_perceptron,
)
from .multiclass import (
    crammer_singer,
    multiclass_margin_perceptron,
    multiclass_mira,
    multiclass_passive_aggressive,
    multiclass_perceptron,
    multiclass_romma,
    project_on_simplex,
)
from .multiplicative import balanced_winnow, elimination, pnorm, winnow
from .readout import average, average_scores, last_scores, lazy_average, random_scores, vote_scores
from .record import LOSS_TOL, Run, decide, rows
from .risk import line_search, risk_descent, risk_gd, risk_minibatch, risk_sgd
from .second_order import arow, scw, second_order_perceptron
from .structured import structured_perceptron

__all__ = [
    "LOSS_TOL",
    "Run",
    "alma",
    "arow",
    "average",
    "average_scores",
    "balanced_winnow",
    "crammer_singer",
    "decide",
    "elimination",
    "last_scores",
    "lazy_average",
    "line_search",
    "margin_perceptron",
    "mira",
    "multiclass_margin_perceptron",
    "multiclass_mira",
    "multiclass_passive_aggressive",
    "multiclass_perceptron",
    "multiclass_romma",
    "passive_aggressive",
    "perceptron",
    "pnorm",
    "project_on_simplex",
    "random_scores",
    "risk_descent",
    "risk_gd",
    "risk_minibatch",
    "risk_sgd",
    "romma",
    "rows",
    "scw",
    "second_order_perceptron",
    "structured_perceptron",
    "vote_scores",
    "voted_perceptron",
    "winnow",
]
