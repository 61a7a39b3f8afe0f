"""Many classes, second order, budgets, shards, structures: specification, sections 10 and 14."""

import math

import numpy as np
import numpy.typing as npt

from ..._sparse import is_sparse
from ..._types import MatrixLike
from .. import _arguments as arg
from . import perceptron


def multiclass(R: float, delta: float) -> float:
    r"""Mistakes of the multiclass perceptron on separable data: :math:`M \le 2R^2/\delta^2`.

    Assumes prototypes u with :math:`\|u\|_F = 1` and
    :math:`\langle u_y, x\rangle - \langle u_z, x\rangle \ge \delta` for every example and every
    other class z, and :math:`\|x\| \le R`. Any of the three update schemes. With two classes
    :math:`\delta = \sqrt2\gamma`, and it is :func:`novikoff`.

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> multiclass(R=1, delta=0.5)
    8.0
    """
    R, delta = arg.nonnegative("R", R), arg.margin("delta", delta)
    return 2.0 * arg.square(arg.over(R, delta))


def multiclass_hinge(R: float, u_norm: float, H: float) -> float:
    r"""Mistakes of the multiclass perceptron on any data: :math:`M \le 2R^2\|u\|_F^2 + 2H`.

    For all prototypes u; :math:`H = \sum\max(0, 1 - \langle u_y - u_z, x\rangle)` over the
    mistakes, z the class that was penalised (scheme ``"top"``).

    K. Crammer and Y. Singer, JMLR 3, 2003; C. Gentile and M. Warmuth, NIPS 1998.

    >>> multiclass_hinge(R=1, u_norm=2, H=3)
    14.0
    """
    R = arg.nonnegative("R", R)
    u_norm = arg.nonnegative("u_norm", u_norm)
    H = arg.nonnegative("H", H)
    return 2.0 * arg.square(R * u_norm) + 2.0 * H


def multiclass_hinge_tight(R: float, u_norm: float, H: float) -> float:
    r"""The sharp form of :func:`multiclass_hinge`.

    :math:`((a + \sqrt{a^2 + 4H})/2)^2` with :math:`a = \sqrt2 R\|u\|_F`.

    K. Crammer and Y. Singer, JMLR 3, 2003; S. Shalev-Shwartz and Y. Singer, COLT 2005.

    >>> round(multiclass_hinge_tight(R=1, u_norm=2**0.5, H=3), 12)
    9.0
    """
    return perceptron.hinge_tight(math.sqrt(2.0) * arg.nonnegative("R", R), u_norm, H)


def multiclass_mira(R: float, u_norm: float, p: float = 0.0) -> float:
    r"""Updates of multiclass MIRA on separable data: :math:`U \le 2R^2\|u\|_F^2/(1 - p)^2`.

    Assumes :math:`\langle u_y - u_z, x\rangle \ge 1` for every example and every other class z.
    Updates where the margin over the best rival is at most p, :math:`0 \le p < 1`; one rival or all
    of them.

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> multiclass_mira(R=1, u_norm=2, p=0.5)
    32.0
    """
    p = arg.from_zero_below_one("p", p)
    return multiclass_pa(R, u_norm) / arg.square(1.0 - p)


def multiclass_pa(R: float, u_norm: float) -> float:
    r"""Squared losses of multiclass PA on separable data: :math:`\sum\ell^2 \le 2R^2\|u\|_F^2`.

    Assumptions of :func:`multiclass_mira`; :math:`\ell` is the loss against the best rival; one
    rival or all.

    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, Online passive-aggressive
    algorithms, JMLR 7, 2006.

    >>> multiclass_pa(R=1, u_norm=2)
    8.0
    """
    return 2.0 * arg.square(arg.nonnegative("R", R) * arg.nonnegative("u_norm", u_norm))


def crammer_singer(W0_norm: float, u_dot_W0: float, delta: float) -> float:
    r"""Total step of the norm-minimising MIRA of 2003.

    :math:`\sum\tau_y \le (\|W_0\|_F - \langle u, W_0\rangle)/\delta`. Assumes :math:`\|u\|_F = 1`
    with margin δ as in :func:`multiclass`, and a start :math:`W_0 \ne 0`: :math:`\|W\|_F` never
    grows while :math:`\langle u, W\rangle` gains :math:`\delta\tau_y` an update.

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> crammer_singer(W0_norm=2, u_dot_W0=1, delta=0.5)
    2.0
    """
    W0_norm, delta = arg.nonnegative("W0_norm", W0_norm), arg.margin("delta", delta)
    reach = W0_norm * (1.0 + arg.SLACK)
    u_dot_W0 = arg.between("u_dot_W0", u_dot_W0, -reach, reach, "at most W0_norm in absolute value")
    return arg.over(max(0.0, W0_norm - u_dot_W0), delta)


def structured(R: float, delta: float) -> float:
    r"""Mistakes of the structured perceptron on separable data: :math:`M \le R^2/\delta^2`.

    Assumes a unit u with :math:`\langle u, \Phi(x, y) - \Phi(x, z)\rangle \ge \delta` for every
    wrong structure z, and :math:`\|\Phi(x, y) - \Phi(x, z)\| \le R`. Inexact search keeps it, if
    every update is a violation.

    M. Collins, EMNLP 2002; L. Huang, S. Fayong and Y. Guo, NAACL 2012.

    >>> structured(R=2, delta=0.5)
    16.0
    """
    R, delta = arg.nonnegative("R", R), arg.margin("delta", delta)
    return arg.square(arg.over(R, delta))


def ipm(R: float, gamma: float) -> float:
    r"""Weighted updates of iterative parameter mixing.

    :math:`\sum_{epochs}\sum_i\mu_i k_i \le R^2/\gamma^2`.

    :math:`k_i` updates and mixing weight :math:`\mu_i` of shard i. Assumes what :func:`novikoff`
    assumes, over the union of the shards.

    R. McDonald, K. Hall and G. Mann, Distributed training strategies for the structured perceptron,
    NAACL 2010.

    >>> ipm(R=1, gamma=0.5)
    4.0
    """
    return perceptron.novikoff(R, gamma)


def ipm_total(R: float, gamma: float, S: int) -> float:
    r"""All updates of iterative parameter mixing over S shards with equal weights.

    :math:`S R^2/\gamma^2`. The same statement as :func:`ipm` with :math:`\mu_i = 1/S`.

    R. McDonald, K. Hall and G. Mann, Distributed training strategies for the structured perceptron,
    NAACL 2010.

    >>> ipm_total(R=1, gamma=0.5, S=3)
    12.0
    """
    return arg.whole("S", S, 1) * ipm(R, gamma)


# Second order: what the examples' own spread adds to the bound.


def second_order(a: float, gamma: float, uSu: float, logdet: float, TD: float = 0.0) -> float:
    r"""Mistakes of the second-order perceptron.

    :math:`M \le (TD + \sqrt{(a + u^\top S u)\,\ln\det(I + S/a)})/\gamma`. For every unit u and γ >
    0; :math:`S = \sum x x^\top` over the mistakes,
    :math:`\ln\det(I + S/a) = \sum\ln(1 + \lambda_i/a)` over its eigenvalues,
    :math:`TD = \sum\max(0, \gamma - y\langle u, x\rangle)` over the mistakes: 0 if u separates with
    margin γ. :func:`second_order_terms` computes ``uSu`` and ``logdet``.

    Constants as published in N. Cesa-Bianchi, A. Conconi and C. Gentile, A second-order perceptron
    algorithm, SIAM J. Comput. 34(3), 2005.

    >>> second_order(a=1, gamma=0.5, uSu=3, logdet=4)
    8.0
    """
    a, gamma = arg.positive("a", a), arg.margin("gamma", gamma)
    uSu = arg.nonnegative("uSu", uSu)
    logdet = arg.nonnegative("logdet", logdet)
    TD = arg.nonnegative("TD", TD)
    return arg.over(TD + math.sqrt((a + uSu) * logdet), gamma)


def arow(r: float, u_norm: float, uXu: float, logdet: float, n_aggressive: int = 0, H: float = 0.0) -> float:
    r"""Prediction errors of AROW.

    :math:`\sqrt{r\|u\|^2 + u^\top X u}\,\sqrt{\ln\det(I + X/r) + |U|} + H - |U|`. For every u, with
    the full covariance; :math:`X = \sum x x^\top` over all updates, of which ``n_aggressive`` :math:`= |U|`
    were right predictions; :math:`H = \sum\max(0, 1 - y\langle u, x\rangle)` over the updates.
    :func:`second_order_terms` computes ``uXu`` and ``logdet`` (with a = r). It bounds the *updates*
    that were prediction errors.

    Constants as published in K. Crammer, A. Kulesza and M. Dredze, Adaptive regularization of
    weight vectors, NIPS 2009.

    >>> arow(r=1, u_norm=2, uXu=5, logdet=3, n_aggressive=1, H=2)
    7.0
    """
    r, u_norm = arg.positive("r", r), arg.nonnegative("u_norm", u_norm)
    uXu = arg.nonnegative("uXu", uXu)
    logdet = arg.nonnegative("logdet", logdet)
    H = arg.nonnegative("H", H)
    U = arg.whole("n_aggressive", n_aggressive)
    return math.sqrt(r * u_norm * u_norm + uXu) * math.sqrt(logdet + U) + H - U


def second_order_terms(rows: MatrixLike, u: npt.ArrayLike, a: float) -> tuple[float, float]:
    r"""The pair :math:`u^\top S u`, :math:`\ln\det(I + S/a)` of dense or CSR rows.

    :math:`S = \sum x x^\top` over ``rows``. The eigenvalues are taken from the smaller of
    :math:`X^\top X` and :math:`X X^\top`.

    >>> uSu, logdet = second_order_terms([[1, 0], [1, 0]], u=[3, 1], a=2)
    >>> uSu, round(logdet, 6)  # ln 2
    (18.0, 0.693147)
    """
    a = arg.positive("a", a)
    rows = rows.astype(np.float64) if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
    along = np.asarray(rows @ np.asarray(u, dtype=float)).ravel()
    n_rows, n_features = rows.shape
    if min(n_rows, n_features) == 0:
        return 0.0, 0.0
    gram = rows @ rows.T if n_rows <= n_features else rows.T @ rows
    gram = gram.toarray() if hasattr(gram, "toarray") else gram
    eigenvalues = np.maximum(np.linalg.eigvalsh(gram), 0.0)  # rounding may leave -1e-16
    return float(along @ along), float(np.log1p(eigenvalues / a).sum())


def forgetron(u_norm: float, H: float, budget: int) -> float:
    r"""Mistakes of the self-tuned Forgetron on any data: :math:`M \le 2\|u\|^2 + 4H`.

    :math:`H = \sum\max(0, 1 - y\,u(x))` over the sequence. Assumes :math:`k(x, x) \le 1`, a budget
    of at least 83, and :math:`\|u\| \le \tfrac14\sqrt{(B + 1)/\ln(B + 1)}`, B the budget; otherwise
    nothing is claimed (``inf``).

    Constants as published in O. Dekel, S. Shalev-Shwartz and Y. Singer, The Forgetron, SIAM J.
    Comput. 37(5), 2008.

    >>> forgetron(u_norm=1, H=3, budget=100), forgetron(u_norm=1, H=3, budget=50)
    (14.0, inf)
    """
    u_norm = arg.nonnegative("u_norm", u_norm)
    H = arg.nonnegative("H", H)
    budget = arg.whole("budget", budget, 1)
    if budget < 83 or u_norm > 0.25 * math.sqrt((budget + 1) / math.log(budget + 1)):
        return math.inf
    return 2.0 * u_norm * u_norm + 4.0 * H
