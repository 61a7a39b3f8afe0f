r"""A run, visit by visit: what the learner saw, how it moved, and where the convergence proof stood.

:func:`trace` runs ``fit`` on a fresh copy of a learner, one row at a time, and keeps w after each visit. A
comparator u adds the two sides of the convergence proof, each step of which is checked:
:math:`\langle u, w\rangle` grows by at least :math:`\tau\gamma` with an update, :math:`\|w\|^2` by at most
:math:`\tau^2\|x\|^2` where it is on a mistake.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .. import rules
from .._sparse import as_scipy, is_sparse
from ..core import checks, plan, visiting
from ..core.kernel_based import KernelBased
from ..core.learner import Learner
from ._convergence import AugmentedRows, Path, ProofError, ProofTrace, comparator, followed, widest
from ._trace import KINDS, Trace, TracedVisit

if TYPE_CHECKING:
    from .._types import Objects
    from ..core.first_order import FirstOrder
    from ..core.passes import CheckedRows
    from ..core.visiting import Visit

__all__ = ["ProofError", "ProofTrace", "Trace", "TracedVisit", "trace"]

#: Numbers that the weights of all visits may take together: 1.6 GB.
MOST_NUMBERS = 200_000_000
#: Ends of the brackets around the best margin: in the learner's own space, and with a free offset.
BRACKETS = ("gamma_low", "gamma_up", "gamma_low_free", "gamma_up_free")


def trace(
    model: Any,
    X: Objects,
    y: npt.ArrayLike,
    *,
    order: Sequence[npt.ArrayLike] | None = None,
    u: npt.ArrayLike | str | None = None,
    gamma_low: str | None = "epochs",
    max_steps: int = 10_000,
) -> Trace:
    r"""Run a fresh copy of a learner and keep what happens at every visit of a row.

    The run is ``fit``: its order, its random numbers, its reasons to stop, and its weights, bit by bit. A
    budget kernel learner makes the same updates, unless a decision hangs on the rounding of kernel values. A
    learner may begin again on the way, ``MarginPerceptron(gamma="auto")``, or go back to an earlier epoch,
    ``early_stopping=True``: the trace has the visits that the model is made of, as ``history_`` has their
    epochs.

    A comparator :math:`u` of length 1 with :math:`y\langle u, x\rangle \ge \gamma > 0` on all rows brings
    the convergence proof in. An update :math:`w' = \kappa w + \tau yx` with :math:`\tau > 0` has

    .. math:: \langle u, w'\rangle \ge \kappa\langle u, w\rangle + \tau\gamma, \qquad
              \|w'\|^2 \le \kappa^2\|w\|^2 + \tau^2\|x\|^2 \text{ where } y\langle w, x\rangle \le 0,

    and so a perceptron that has made k updates, all with rate 1, has
    :math:`k\gamma \le \langle u, w\rangle \le \|w\| \le \sqrt kR`, that is :math:`k \le (R/\gamma)^2`.

    These claims are checked at every update, and so is that it moves :math:`y\langle w, x\rangle` by
    :math:`\tau\|x\|^2`. Some learners have claims of their own: the margin perceptron that
    :math:`\|w'\| \le \|w\| + \theta + \|x\|^2/(2\|w\|)`, MIRA and the hard passive-aggressive learner that
    the row has margin 1 afterwards, and these learners that w comes closer to :math:`u/\gamma`.
    Multiplicative and second-order learners have :math:`\langle u, w\rangle` and :math:`\|w\|` only: their
    proofs are about other vectors.

    Parameters
    ----------
    model : online learner
        Fitted or not; it is not changed. ``RiskDescent`` and ``MaxMargin`` visit no rows one by one.
    X : array-like or CSR matrix of shape (n_samples, n_features), or a collection of objects
        What ``fit`` takes.
    y : array-like of shape (n_samples,)
        Labels.
    order : sequence of sequences of int, optional
        The rows to visit, one sequence per epoch, as in ``fit``.
    u : array of n_features or n_features + 1 entries, "max-margin" or None
        A comparator, for two classes and without a kernel; it is scaled to length 1. The last of
        n_features + 1 entries is the weight of the constant coordinate. ``"max-margin"``: the separator with
        the largest margin on the rows as the learner takes them, or the best that 10 seconds find.
    gamma_low : {"epochs", "visits"} or None, default="epochs"
        When the lower end of the bracket around the best margin is computed, which reads all rows.
    max_steps : int, default=10_000
        The most visits; a longer run is cut there.

    Returns
    -------
    trace : perceptrons.proofs.Trace

    Raises
    ------
    ProofError
        A claim does not hold. This is an AssertionError: a fault of the library, or of a rule of one's own.

    Examples
    --------
    >>> from perceptrons import Perceptron, datasets, trace
    >>> toy = datasets.four_points()
    >>> run = trace(Perceptron(shuffle=False, fit_intercept=False), toy.X, toy.y, u=[2, 1])
    >>> run.kind[:4].tolist(), run.w[-1], run.proof.bound
    (['mistake', 'none', 'none', 'mistake'], array([2., 1., 0.]), 25)
    >>> print(run)
    Perceptron(fit_intercept=False, shuffle=False)
    8 visits in 2 epochs: 2 mistakes, 2 updates; stopped: clean pass
    margin of the best separator (given rows): 0.447214 ≤ γ* ≤ 1.11803; R = 2.23607
    u has margin 0.447214, R = 2.23607: at most 25 updates
    claims that hold: progress 2×, move 2×, length 2×, sum of progress 2×, sum of lengths 2×
    """
    _check_kind(model)
    checks.one_of("gamma_low", gamma_low, ("epochs", "visits", None))
    checks.whole("max_steps", max_steps)
    if isinstance(u, str):
        checks.one_of("u", u, ("max-margin",))
    if order is not None and np.iterable(order) and not isinstance(order, str):
        order = list(order)  # it is read more than once
        if all(isinstance(epoch, Sized) and len(epoch) == 0 for epoch in order):
            raise ValueError("order has no row to visit: there is nothing to trace.")
    fresh, seed = _fresh(model)
    recorder = _Recorder(gamma_low, max_steps, u, order)
    try:
        visiting.fit(fresh, X, y, order, recorder)
    except _Enough:
        recorder.truncated = True
    else:
        recorder.finish(fresh)
    return recorder.trace(fresh, repr(model), seed, X)


def _check_kind(model: Any) -> None:
    if isinstance(model, Learner):
        return
    name = type(model).__name__
    kind = getattr(model, "_run_kind", "")
    if kind == "descent":
        raise TypeError(
            f"trace follows a learner from row to row, and {name} descends on the risk of all of them; "
            f"{name}(keep_path=True) keeps its w after each step as path_."
        )
    if kind == "margin":
        raise TypeError(
            f"trace follows a learner from row to row, and {name} solves one problem over all of them; "
            "trace an online learner with u='max-margin' to compare with its w."
        )
    raise TypeError(f"trace needs an online learner of perceptrons, such as Perceptron; got {model!r:.80}.")


def _fresh(model: Learner) -> tuple[Learner, int | None]:
    """A copy that has learned nothing, and the integer that its random numbers start from."""
    names = inspect.signature(type(model)).parameters
    made = type(model)(**{name: copy.deepcopy(getattr(model, name)) for name in names})
    if made.random_state is None:
        made.random_state = int(np.random.default_rng().integers(2**32))
    given = made.random_state
    return made, int(given) if isinstance(given, (int, np.integer)) else None


def _as_list(found: Any) -> Any:
    return found if isinstance(found, list) or found is None else [found]


def _space(model: Learner) -> str | None:
    """The space of the margins that the learner brackets."""
    bounds = model.margin_bounds_
    first = bounds[0] if isinstance(bounds, list) else bounds
    return None if first is None else str(first.space)


class _Enough(Exception):
    """There were as many visits as were asked for."""


class _Recorder:
    """Collects the visits of a fit."""

    def __init__(
        self,
        gamma_low: str | None,
        max_steps: int,
        u: npt.ArrayLike | str | None,
        order: Sequence[npt.ArrayLike] | None,
    ):
        self.gamma_low, self.max_steps, self.u, self.order = gamma_low, max_steps, u, order
        self.truncated = False

    # ------------------------------------------------------------ what the fit tells

    def starts(self, model: Learner, batch: CheckedRows) -> None:
        self.batch, self.by_kernel = batch, isinstance(model, KernelBased)
        self.several = len(model.classes_) > 2
        self._check_comparator()
        self._check_size(model)
        self.visits: list[Visit] = []
        self.after: dict[str, list[Any]] = {
            name: [] for name in ("norm2", "step_sum", *BRACKETS, "threshold", "loop_norm2")
        }
        self.states: list[np.ndarray] = []
        self.averages: list[np.ndarray | None] = []
        self._keep_state(model)

    def _check_comparator(self) -> None:
        if self.u is None:
            return
        if self.by_kernel:
            raise ValueError("u has an entry per feature, and w of a kernel learner has none; drop u.")
        if self.several:
            raise ValueError(
                "u is a comparator for two classes; drop u, or give y as one class and the rest."
            )

    def _check_size(self, model: Learner) -> None:
        n, d = self.batch.X.shape
        visits = self.max_steps
        if self.order is not None:
            visits = min(visits, sum(len(np.atleast_1d(epoch)) for epoch in self.order))
        elif model.max_iter is not None:
            visits = min(visits, n * model.max_iter)
        size = visiting.vectors(model) * (n if self.by_kernel else d + 1)
        if (visits + 1) * size > MOST_NUMBERS:
            raise ValueError(
                f"{visits} visits with {size} weights each are more than {MOST_NUMBERS} numbers; give "
                f"max_steps of at most {max(1, MOST_NUMBERS // size - 1)}, or fewer features."
            )

    def _keep_state(self, model: Learner) -> None:
        n = self.batch.X.shape[0]
        state = visiting.coefficients(model, n) if self.by_kernel else visiting.weights(model)
        self.states.append(state)
        self.averages.append(visiting.average(model, n))
        self.after["threshold"].append(visiting.thresholds(model))
        self.after["loop_norm2"].append(visiting.loop_norms(model))

    def visited(self, model: Learner, batch: CheckedRows, visit: Visit) -> None:
        if len(self.visits) == self.max_steps:
            raise _Enough
        self.visits.append(visit)
        self._keep_state(model)
        after = self.after
        after["norm2"].append(visiting.squared_norms(model, None if self.by_kernel else self.states[-1]))
        after["step_sum"].append(visiting.step_sums(model))
        read = self.gamma_low == "visits" or (self.gamma_low == "epochs" and visit.ends)
        pairs = visiting.brackets(model, batch, read)
        self._keep_brackets(pairs, visiting.free_brackets(model, pairs))

    def _keep_brackets(self, own: Any, free: Any) -> None:
        for names, pairs in zip((BRACKETS[:2], BRACKETS[2:]), (own, free), strict=True):
            low, up = None, None
            if pairs:
                low = np.array([np.nan if pair[0] is None else pair[0] for pair in pairs])
                up = np.array([pair[1] for pair in pairs])
            for name, ends in zip(names, (low, up), strict=True):
                self.after[name].append(ends)

    def finish(self, model: Learner) -> None:
        """The fit has ended by itself: keep the epochs that its model is made of, and what it states."""
        kept = sum(visit.epoch < len(model.history_) for visit in self.visits)
        del self.visits[kept:], self.states[kept + 1 :], self.averages[kept + 1 :]
        for name, values in self.after.items():
            del values[kept + (name in ("threshold", "loop_norm2")) :]
        if kept and model.margin_bounds_ is not None:
            for name in BRACKETS:
                del self.after[name][-1]
            self._keep_brackets(*map(_as_list, (model.margin_bounds_, model.free_margin_bounds_)))

    # ------------------------------------------------------------ the trace

    def _stacked(self, values: list[Any]) -> np.ndarray | None:
        """One array of all visits; without the axis of the learners where there is one learner."""
        if any(value is None for value in values):
            return None
        if not values:
            return np.zeros(0)
        found = np.stack(values)
        return found[:, 0] if found.shape[1] == 1 else found

    def _of_visits(self, name: str) -> np.ndarray:
        found = self._stacked([np.atleast_1d(getattr(visit, name)) for visit in self.visits])
        assert found is not None
        return found

    def trace(self, model: Learner, learner: str, seed: int | None, X: Any) -> Trace:
        classes = np.asarray(model.classes_)
        mistakes, updates = (
            np.array([int(getattr(v, name).sum()) for v in self.visits], np.int64)
            for name in ("mistakes", "updates")
        )
        kind = np.array(KINDS)[np.where(mistakes > 0, 2, np.where(updates > 0, 1, 0))]
        states = np.stack(self.states)
        states = states[:, 0] if states.shape[1] == 1 else states
        low, up, low_free, up_free = (self._stacked(self.after[name]) for name in BRACKETS)
        threshold = self._stacked(self.after["threshold"])
        frame, norm2 = visiting.frame(model), self._stacked(self.after["norm2"])
        assert norm2 is not None
        return Trace(
            epoch=self._of_visits("epoch").astype(np.int64),
            row=self._of_visits("row").astype(np.int64),
            label=classes[self._of_visits("code").astype(np.int64)],
            score=self._of_visits("score"),
            margin=self._of_visits("margin"),
            kind=kind,
            keep=self._of_visits("keep"),
            step=self._of_visits("step"),
            norm2=norm2,
            step_sum=self._stacked(self.after["step_sum"]),
            gamma_low=None if self.gamma_low is None else low,
            gamma_up=up,
            space=_space(model),
            gamma_low_free=None if self.gamma_low is None else low_free,
            gamma_up_free=up_free,
            n_mistakes=np.cumsum(mistakes),
            n_updates=np.cumsum(updates),
            w=None if self.by_kernel else states,
            dual=states if self.by_kernel else None,
            average=self._stacked(self.averages),
            threshold=threshold if threshold is not None and np.any(threshold) else None,
            X=self._rows(X),
            y=classes[self.batch.codes],
            bias=float(frame.bias),
            unit=bool(frame.unit),
            radius=float(model.radius_),
            classes=classes,
            learner=learner,
            seed=seed,
            stop_reason="max_steps" if self.truncated else model.stop_reason_,
            truncated=self.truncated,
            proof=self._proof(model),
        )

    def _rows(self, given: Any) -> Any:
        if not self.by_kernel:
            return as_scipy(self.batch.X)
        if is_sparse(given):
            return as_scipy(given)
        found = np.asarray(given)
        return found if found.dtype.kind in "biuf" and found.ndim == 2 else list(given)

    def _proof(self, model: Learner) -> ProofTrace | None:
        if self.u is None:
            return None
        batch, frame = self.batch, visiting.frame(model)
        n, d = batch.X.shape
        rows = AugmentedRows(batch.X, 2.0 * batch.codes - 1.0, float(frame.bias), bool(frame.unit))
        chosen = np.arange(n)
        if self.order is not None:
            chosen = np.unique(
                np.concatenate([np.asarray(epoch, np.int64) for epoch in self.order] or [chosen])
            )
        if len(batch.weights):
            chosen = chosen[batch.weights[chosen] > 0.0]
        given = widest(rows, chosen) if isinstance(self.u, str) else self.u
        return followed(self._path(model), rows, comparator(given, d, float(frame.bias)), chosen)

    def _path(self, model: Learner) -> Path:
        facts = rules.facts_of(model)
        additive = facts is not None and facts.family == "first order"
        return Path(
            row=self._of_visits("row").astype(np.int64),
            sign=2.0 * self.batch.codes - 1.0,
            margin=self._of_visits("margin"),
            keep=self._of_visits("keep"),
            step=self._of_visits("step"),
            updated=np.array([bool(visit.updates[0]) for visit in self.visits], bool),
            w=np.stack(self.states)[:, 0],
            loop_norm2=np.stack(self.after["loop_norm2"])[:, 0],
            precision=visiting.frame(model).dtype,
            rule=plan.rule(cast("FirstOrder", model)) if additive else None,
            conservative=facts is not None
            and facts.conservative(model.run_record(evidence=False).parameters),
            weighted=bool(len(self.batch.weights)) or getattr(model, "class_weight", None) is not None,
        )
