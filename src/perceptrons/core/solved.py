"""Results of learners of whole data sets, as model files store them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.solvers.result import Answer

if TYPE_CHECKING:
    from ..theory.separability import Separability


class NotSeparableError(ValueError):
    """No hyperplane separates the classes; ``certificate`` has the proof.

    Its ``numerators`` over its ``denominator`` weigh the rows in ``support`` so that
    :math:`\\sum\\lambda_iy_ix_i = 0` exactly, with a bias each class having the weight 1/2: the convex hulls
    of the classes intersect. Where the kernel is a function of the user, the statement is about the values
    that it returned.
    """

    def __init__(self, message: str, certificate: Separability):
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
    """The result of one descent."""

    w: np.ndarray
    risks: list[float]
    chosen: list[np.ndarray]  #: the rows of each step
    steps: list[float]
    reason: str
    on_boundary: int
