"""What learners of whole data sets keep of a run; model files hold it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.solvers.result import Answer


class NotSeparableError(ValueError):
    """No hyperplane separates the classes; ``certificate`` has the proof.

    Its ``numerators`` over its ``denominator`` weigh the rows in ``support`` so that
    :math:`\\sum\\lambda_iy_ix_i = 0` exactly, with a bias each class having the weight 1/2: the convex hulls
    of the classes meet. Where the kernel is a function of the user's, the statement is about its values as
    they were returned.
    """

    def __init__(self, message: str, certificate: Any):
        super().__init__(message)
        self.certificate = certificate


class Problem(NamedTuple):
    """One class against another, solved."""

    answer: Answer
    support: np.ndarray
    coef: np.ndarray  #: alpha_i y_i on the support
    w: np.ndarray | None  #: without the bias; None in the space of a kernel
    b: float
    norm: float


class Descent(NamedTuple):
    """What one descent left behind."""

    w: np.ndarray
    risks: list[float]
    chosen: list[np.ndarray]  #: the rows of each step
    steps: list[float]
    reason: str
    on_boundary: int
