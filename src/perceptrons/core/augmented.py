"""Parameters of the augmented row: the constant coordinate, and the scaling to length 1."""

from __future__ import annotations

from .classifier import Classifier
from .parameters import spec


@spec
class FitIntercept(Classifier):
    r"""Learners that may have an intercept.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Learn the weight of a constant coordinate :math:`B`, which is appended to every row.
    """

    fit_intercept: bool = True


@spec
class InterceptScaling(Classifier):
    r"""Learners whose intercept is the weight of a constant coordinate.

    Parameters
    ----------
    intercept_scaling : float or "auto", default=1.0
        :math:`B`. It counts in the length of a row. ``"auto"``: 0.3 times the median length of the rows of a
        ``fit``, kept as ``intercept_scaling_``. Use it where rows are not much longer than 1, such as tf-idf
        rows of length 1: with :math:`B = 1` half of each step would go to the intercept. ``partial_fit`` and
        ``learn_one`` do not see all rows and take a number.
    """

    intercept_scaling: float | str = 1.0


@spec
class RowNorm(Classifier):
    r"""Learners that may divide each row by its length.

    Parameters
    ----------
    row_norm : {None, "l2"}, default=None
        ``"l2"`` divides each row, with its constant coordinate, by its length.
    """

    row_norm: str | None = None


@spec
class CalibrationRows(Classifier):
    r"""Learners that can record the score of a row before it is learned.

    Parameters
    ----------
    calibration_rows : {"first visits", "held out"}, default="first visits"
        Which scores ``probability=True`` fits its curve to. ``"first visits"``: that of each row before it is
        learned for the first time, in ``fit``, ``partial_fit`` and ``learn_one`` alike; a bounded sample of
        them is kept, and visit t of n counts with weight :math:`(2t - 1)/n`. Rows given to ``partial_fit``
        again count as new ones, see ``set_progressive``; a warm start records nothing. ``"held out"``:
        ``validation_fraction`` of the rows of ``fit``, which are then not learned. A row counts with the
        weight that it is learned with.
    """

    calibration_rows: str = "first visits"


@spec
class Augmented(FitIntercept, InterceptScaling, RowNorm, CalibrationRows):
    """All four: linear online learners."""
