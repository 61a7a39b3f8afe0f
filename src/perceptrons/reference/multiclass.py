r"""Many classes: one prototype a class, scores :math:`s_r = w_r\cdot x`, the first best class wins.

Every update here is :math:`W \leftarrow c\,W + \tau x^\top` with a vector tau over the classes
whose sum is zero: what the true class y gains its rivals lose. With one rival z it is a step along
:math:`\Delta\Phi = (e_y - e_z)\,x^\top`, whose squared length is :math:`2\|x\|^2`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .additive import RommaRun, pa_step, romma_step, romma_test
from .record import LOSS_TOL, Array, Order, Run, dot, rows, step_size


def best_rival(s: Array, y: int) -> int:
    """The best class but y, the first one on ties."""
    return int(np.where(np.arange(len(s)) == y, -np.inf, s).argmax())


def indicator(k: int, y: int) -> Array:
    """The unit vector e_y over k classes."""
    return np.array([float(r == y) for r in range(k)])


def pair(k: int, y: int, z: int) -> Array:
    """The vector e_y - e_z over k classes."""
    return indicator(k, y) - indicator(k, z)


def project_on_simplex(v: ArrayLike, radius: float = 1.0) -> Array:
    r"""The point of :math:`\{\alpha \ge 0, \sum\alpha = \mathrm{radius}\}` nearest to v [1]_.

    It is :math:`\max(0, v - \theta)` for the one :math:`\theta` that makes the sum right.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, Efficient projections onto the
       l1-ball, ICML 2008.
    """
    v = np.asarray(v, dtype=np.float64)
    down = np.sort(v)[::-1]
    thetas = [(down[:j].sum() - radius) / j for j in range(1, len(v) + 1)]
    theta = [theta for v_j, theta in zip(down, thetas, strict=True) if v_j - theta > 0.0][-1]
    return np.asarray(np.maximum(0.0, v - theta))


def _start(
    X: Array,
    y: ArrayLike,
    n_classes: int | None,
    W0: ArrayLike | None,
    bias: float | None,
    normalize: str | None,
) -> Run:
    k = int(np.max(y)) + 1 if n_classes is None else n_classes
    W = np.zeros((k, X.shape[1])) if W0 is None else np.asarray(W0)
    return Run(w=W, bias=bias, normalize=normalize)


def multiclass_perceptron(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    n_classes: int | None = None,
    scheme: str = "top",
    rule: str = "margin",
    bias: float | None = None,
    normalize: str | None = None,
    learning_rate: float | str = 1.0,
    W0: ArrayLike | None = None,
    until_clean: bool = False,
) -> Run:
    r"""The multiclass perceptron [1]_: on a mistake :math:`W \leftarrow W + \eta\,\tau x^\top`.

    For tau see `ultraconservative`. A mistake is a rival that scores at least as much as the true
    class (rule "margin"), or a wrong prediction (rule "prediction").

    Parameters
    ----------
    X, y : array-like
        Examples, one a row, and their classes 0..k-1.
    order, bias, normalize, learning_rate, until_clean
        As for `perceptron`.
    n_classes : int, optional
        k; one more than the largest label by default.
    scheme : {"top", "uniform", "proportional"}
        How the rivals share the step.
    W0 : array-like of shape (k, n), optional
        Where to start.

    References
    ----------
    .. [1] K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR
       3, 2003.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = _start(X, y, n_classes, W0, bias, normalize)
    for x, y_i in run.examples(X, y, order, until_clean):
        s = run.w @ x
        error = s.argmax() != y_i
        mistake = {"margin": s[best_rival(s, y_i)] >= s[y_i], "prediction": error}[rule]
        run.saw(error, mistake)
        if mistake:
            eta = step_size(learning_rate, run.k + 1, run.t)
            run.update(run.w + eta * np.outer(ultraconservative(scheme, s, y_i), x), eta)
    return run


def ultraconservative(scheme: str, s: Array, y: int) -> Array:
    r"""The vector tau: +1 for the true class, and -1 in all for the classes that beat it.

    These are the error set :math:`E = \{r \ne y : s_r \ge s_y\}`. "top" lowers the best rival only,
    "uniform" all of E alike, "proportional" each by its excess :math:`s_r - s_y` (alike if there is
    none).
    """
    if scheme == "top":
        return pair(len(s), y, best_rival(s, y))
    guilty = (s >= s[y]) & (np.arange(len(s)) != y)
    blame = {"uniform": guilty * 1.0, "proportional": guilty * (s - s[y])}[scheme]
    if blame.sum() == 0.0:
        blame = guilty * 1.0
    return np.asarray(indicator(len(s), y) - blame / blame.sum())


def multiclass_margin_perceptron(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    gamma: float,
    eps: float = 0.5,
    n_classes: int | None = None,
    bias: float | None = None,
    normalize: str | None = None,
    until_clean: bool = False,
) -> Run:
    r"""The margin perceptron against the best rival z: :math:`W \leftarrow W + \Delta\Phi`.

    It moves if :math:`(s_y - s_z)/\|W\|_F < (1-\varepsilon)\gamma`; W = 0 has no margin at all.

    References
    ----------
    .. [1] M.-F. Balcan, A. Blum, On a theory of learning with similarity functions, ICML 2006.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    theta = (1.0 - eps) * gamma
    run = _start(X, y, n_classes, None, bias, normalize)
    for x, y_i in run.examples(X, y, order, until_clean):
        s = run.w @ x
        z = best_rival(s, y_i)
        m, norm = s[y_i] - s[z], np.linalg.norm(run.w)
        run.saw(error=s.argmax() != y_i, mistake=m <= 0.0)
        if norm == 0.0 or m / norm < theta:
            run.update(run.w + np.outer(pair(len(s), y_i, z), x), 1.0)
    return run


def multiclass_mira(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    p: float = 0.0,
    solver: str = "top",
    n_classes: int | None = None,
    bias: float | None = None,
    normalize: str | None = None,
) -> Run:
    r"""Multiclass MIRA: the shortest step to margin one.

    It is taken when :math:`s_y - s_z \le p` for the best rival z. The solver looks at this rival
    alone ("top") or at all of them ("exact"), as in `multiclass_passive_aggressive`.

    References
    ----------
    .. [1] K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR
       3, 2003.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = _start(X, y, n_classes, None, bias, normalize)
    for x, y_i in run.examples(X, y, order):
        s, q = run.w @ x, dot(x, x)
        m = s[y_i] - s[best_rival(s, y_i)]
        run.saw(error=s.argmax() != y_i, mistake=m <= 0.0)
        if m <= p and q > 0.0:
            tau = pa_direction(solver, "PA", s, y_i, q)
            run.update(run.w + np.outer(tau, x), tau[y_i])
    return run


def multiclass_passive_aggressive(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    variant: str = "PA-I",
    C: float | None = 1.0,
    solver: str = "top",
    n_classes: int | None = None,
    bias: float | None = None,
    normalize: str | None = None,
) -> Run:
    r"""Multiclass passive-aggressive learning [1]_, [2]_: a step for every loss.

    The step is :math:`W \leftarrow W + \tau x^\top`, the loss :math:`\max(0, 1 - s_y + s_z)` with
    the best rival z. "top" makes a binary step along :math:`\Delta\Phi` of the best rival. "exact"
    solves :math:`\min \tfrac12\|W' - W\|^2` (plus :math:`C\xi` or :math:`C\xi^2`) with
    :math:`s'_y - s'_r \ge 1 - \xi` for all rivals at once.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, Online passive-aggressive
       algorithms, JMLR 7, 2006.
    .. [2] S. Matsushima, N. Shimizu, K. Yoshida, T. Ninomiya, H. Nakagawa, Exact passive-aggressive
       algorithm for multiclass classification, SDM 2010.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = _start(X, y, n_classes, None, bias, normalize)
    for x, y_i in run.examples(X, y, order):
        s, q = run.w @ x, dot(x, x)
        m = s[y_i] - s[best_rival(s, y_i)]
        run.saw(error=s.argmax() != y_i, mistake=m <= 0.0)
        if 1.0 - m > LOSS_TOL and q > 0.0:
            tau = pa_direction(solver, variant, s, y_i, q, C)
            run.update(run.w + np.outer(tau, x), tau[y_i])
    return run


def pa_direction(solver: str, variant: str, s: Array, y: int, q: float, C: float | None = None) -> Array:
    """The vector tau of a passive-aggressive step: -alpha for the rivals, their sum for y."""
    loss = 1.0 - s[y] + s
    if solver == "top":
        z = best_rival(s, y)
        return pa_step(variant, loss[z], 2.0 * q, C) * pair(len(s), y, z)
    if solver != "exact":
        raise ValueError(f'solver must be "top" or "exact"; got {solver!r}.')
    rivals = np.arange(len(s)) != y
    tau = np.zeros(len(s))
    tau[rivals] = -exact_alpha(variant, loss[rivals], q, C)
    tau[y] = -tau.sum()
    return tau


def exact_alpha(variant: str, loss: Array, q: float, C: float | None = None) -> Array:
    r"""How much each rival loses in the exact step.

    The losses are :math:`\ell_r = 1 - s_y + s_r`, and :math:`q = \|x\|^2`. With
    :math:`\kappa = 1/(2C)` (PA-II) or 0, the sum a of all alphas is that of the j worst rivals,

    .. math:: a_j = \frac{\ell_{(1)} + \dots + \ell_{(j)}}{q(j+1) + j\kappa}, \qquad
              \alpha_r = \max(0, \ell_r - a(q+\kappa))/q,

    j being the largest for which the j-th still has a positive alpha. PA-I projects :math:`\ell/q`
    on :math:`\sum\alpha = C` if a exceeds C.
    """
    kappa = 1.0 / (2.0 * C) if variant == "PA-II" and C is not None else 0.0
    down = np.sort(loss)[::-1]
    a = 0.0
    for j in range(1, len(down) + 1):
        a_j = down[:j].sum() / (q * (j + 1) + j * kappa)
        if down[j - 1] > a_j * (q + kappa):
            a = a_j
    if variant == "PA-I" and C is not None and a > C:
        return project_on_simplex(loss / q, C)
    return np.maximum(0.0, loss - a * (q + kappa)) / q


def multiclass_romma(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    aggressive: bool = False,
    delta: float | None = 0.0,
    n_classes: int | None = None,
    bias: float | None = None,
    normalize: str | None = None,
) -> RommaRun:
    r"""ROMMA for many classes: :math:`W \leftarrow c\,W + d\,\Delta\Phi` with the best rival.

    :math:`\Delta\Phi` is the example, with label +1, margin :math:`s_y - s_z` and squared length
    :math:`2\|x\|^2`.

    References
    ----------
    .. [1] Y. Li, P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    W = _start(X, y, n_classes, None, bias, normalize).w
    run = RommaRun(w=W, bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        s, q = run.w @ x, 2.0 * dot(x, x)
        z = best_rival(s, y_i)
        m = s[y_i] - s[z]
        run.saw(error=s.argmax() != y_i, mistake=m <= 0.0)
        if q == 0.0 or not romma_test(m, aggressive, delta):
            continue
        step = romma_step(dot(run.w.ravel(), run.w.ravel()), q, m, 1)
        if step is None:
            run.infeasible.append(run.row)
            continue
        c, d = step
        run.update(c * run.w + d * np.outer(pair(len(s), y_i, z), x), d)
    return run


def crammer_singer(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    W0: ArrayLike,
    n_classes: int | None = None,
    bias: float | None = None,
    normalize: str | None = None,
) -> Run:
    r"""The norm-minimising MIRA of 2003 [1]_.

    If some :math:`s_r > s_y`, then :math:`W \leftarrow W + (e_y - \nu)x^\top`, where nu is the
    projection of :math:`e_y + s/\|x\|^2` on the unit simplex. It must start away from 0, where it
    would stay; the norm of W never grows.

    References
    ----------
    .. [1] K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR
       3, 2003.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = _start(X, y, n_classes, W0, bias, normalize)
    for x, y_i in run.examples(X, y, order):
        s = run.w @ x
        run.saw(error=s.argmax() != y_i, mistake=s[best_rival(s, y_i)] >= s[y_i])
        if s.max() > s[y_i]:
            e_y = indicator(len(s), y_i)
            tau = e_y - project_on_simplex(e_y + s / dot(x, x))
            run.update(run.w + np.outer(tau, x), tau[y_i])
    return run
