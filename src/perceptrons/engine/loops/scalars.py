"""The learner's scalars, kept in one float64 array that compiled loops read and write."""

from __future__ import annotations

import numpy as np

SCALE = 0  #: w = SCALE * v, where v is the stored vector
N = 1  #: squared length of w
TAU = 2  #: sum of the steps, shrunk with w; NaN when a step was negative
SCALE_SUM = (
    3  #: sum over the examples of the factor that v had; the average is (SCALE_SUM * v + A) / EXAMPLES
)
EXAMPLES = 4  #: t
UPDATES = 5  #: k
MISTAKES = 6
ERRORS = 7
REFUSED = 8  #: updates that a rule's test called for and that do not exist
LOSS2 = 9  #: sum of squared hinge losses
SUM_Q = 10  #: sum of ||x||^2 over the updates
LOWEST = 11  #: smallest signed margin met since it was last set to infinity
LONGEST = 12  #: largest squared length of a row that was learned on its own
DRIFT = 13  #: how far rounding may have taken N away, by rules that scale w
ERROR = 14  #: bound on the distance between w and the exact sum of its steps, see engine.margins
NORM_ERROR = 15  #: bound on |N - ||w||^2|
SIZE = 16

#: The norm is updated step by step and recomputed after this many updates, wherever a pass begins or
#: ends, so that a run cut into pieces makes the same numbers.
REFRESH = 4096
#: It is recomputed sooner when its drift exceeds so many tolerances: a factor above 1 magnifies the error.
DRIFT_LIMIT = 100.0
#: Squared norms beyond these stop a run before a weight can overflow.
NORM_LIMIT = {np.dtype(np.float64): 1e300, np.dtype(np.float32): 1e76}
#: w = SCALE * v is multiplied out when the scale leaves this range. The average loses as many digits.
SCALE_LOW, SCALE_HIGH = 1e-4, 1e4
#: The square of a step outside this range is never computed on its own.
SQUARE_LOW, SQUARE_HIGH = 1e-290, 1e290

#: How a pass over rows can end.
DONE, BAD_SCORE, BAD_STEP, BUSY = 0, 1, 2, 3


def fresh() -> np.ndarray:
    """The scalars of a learner that has seen nothing and whose w is 0."""
    scalars = np.zeros(SIZE)
    scalars[SCALE] = 1.0
    scalars[LOWEST] = np.inf
    return scalars
