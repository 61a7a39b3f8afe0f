"""Every algorithm of the library again in plain NumPy, as in a lecture.

Slow, short, and written from the papers: nothing here shares a line with the compiled engine, so
each is a test of the other. Examples are dense rows (a kernel takes any objects), labels are -1 and
+1 or 0..k-1, and the order of visiting is given as one list of rows an epoch. Every learner returns
a `Run`, the weights with a record of what happened on the way.

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
from .budget import forgetron, oldest_budget_perceptron, projectron, random_budget_perceptron
from .dual import (
    kernel_margin_perceptron,
    kernel_mira,
    kernel_passive_aggressive,
    kernel_perceptron,
    kernel_romma,
)
from .kernels import (
    all_subsets_kernel,
    constant_kernel,
    gaussian_kernel,
    gram,
    is_psd,
    linear_kernel,
    monomials,
    normalized_kernel,
    polynomial_kernel,
    product_kernel,
    scaled_kernel,
    spectrum_kernel,
    subset_products,
    substring_counts,
    sum_kernel,
)
from .mixing import parameter_mixing
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
    "all_subsets_kernel",
    "alma",
    "arow",
    "average",
    "average_scores",
    "balanced_winnow",
    "constant_kernel",
    "crammer_singer",
    "decide",
    "elimination",
    "forgetron",
    "gaussian_kernel",
    "gram",
    "is_psd",
    "kernel_margin_perceptron",
    "kernel_mira",
    "kernel_passive_aggressive",
    "kernel_perceptron",
    "kernel_romma",
    "last_scores",
    "lazy_average",
    "line_search",
    "linear_kernel",
    "margin_perceptron",
    "mira",
    "monomials",
    "multiclass_margin_perceptron",
    "multiclass_mira",
    "multiclass_passive_aggressive",
    "multiclass_perceptron",
    "multiclass_romma",
    "normalized_kernel",
    "oldest_budget_perceptron",
    "parameter_mixing",
    "passive_aggressive",
    "perceptron",
    "pnorm",
    "polynomial_kernel",
    "product_kernel",
    "project_on_simplex",
    "projectron",
    "random_budget_perceptron",
    "random_scores",
    "risk_descent",
    "risk_gd",
    "risk_minibatch",
    "risk_sgd",
    "romma",
    "rows",
    "scaled_kernel",
    "scw",
    "second_order_perceptron",
    "spectrum_kernel",
    "structured_perceptron",
    "subset_products",
    "substring_counts",
    "sum_kernel",
    "vote_scores",
    "voted_perceptron",
    "winnow",
]
