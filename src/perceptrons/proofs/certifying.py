r"""``certify``: what a fitted learner has counted and proved, as a certificate that anybody can check.

Which lines are printed follows from the learner's rule, by the one table in ``_lines``. The lines themselves,
and the checker, are in :mod:`perceptrons.theory`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

from .. import kernels, rules
from ..engine import multiplicative, scalars, spaces
from ..estimators.budget import BudgetKernelPerceptron
from ..estimators.confidence import SCW
from ..estimators.kernel_based import KernelBased
from ..estimators.maximum_margin import MaxMargin
from ..estimators.multiplicative import BalancedWinnow, Elimination, PNormPerceptron, Winnow
from ..estimators.risk import RiskDescent
from ..theory import claims, digests, gram
from ..theory.certificate import Bound, Bracket, Certificate, Verdict
from ..theory.claims import CLAIMS, Facts, Updates
from ..theory.evidence import EPS, OUTWARD, Evidence, Exact, Space, Vector
from ._lines import ASKS_A_MARGIN, KERNEL, LINES, OWN, Line

COUNTS = ("updates", "mistakes", "errors")
MAX_LOG = 100_000  # a longer log is not stored
EXACT_ROWS = 1_000  # so many rows are looked at without rounding, where rounding leaves a doubt


def certify(
    model: Any,
    X: Any,
    y: Any,
    delta: float = 0.05,
    comparators: str = "free",
    max_log: int = MAX_LOG,
) -> Certificate:
    r"""Certify a fitted learner on the data it was trained on.

    The certificate has the counts of the run, the radius of the data, a bracket around the best margin of any
    separator, every bound of the theory that applies with both sides, a verdict on separability with its
    proof, and digests of the data. It reads the rows at most three times: for the digest, for their lengths,
    and for the scores of all comparators. (The spread of the rows, for a second-order bound, is one more.)

    A bound needs a comparator :math:`u = c\,v`. Free ones are the learner's own w and its average, with the
    best c > 0; what u misses is then summed over all visits to all rows. Summed over the mistakes alone the
    bound would be least for c towards 0, where it repeats the count; so that form is printed only beside the
    other, for the same c, and where ``log_updates=True`` has kept the mistakes.

    Parameters
    ----------
    model : fitted estimator of the package
    X, y : the rows and labels it was fitted on
    delta : float, default=0.05
        How often a bound on future errors may be wrong.
    comparators : {"free", "all"}, default="free"
        ``"all"`` also solves for the maximum-margin and the soft-margin separator and, where nothing
        separates, looks for a proof that nothing can.
    max_log : int, default=100_000
        The longest log of updates that is stored.

    Returns
    -------
    certificate : perceptrons.theory.Certificate
        ``certificate.verify(X, y)`` checks it.

    Examples
    --------
    >>> from perceptrons import Perceptron, certify, datasets
    >>> toy = datasets.four_points()
    >>> clf = Perceptron(shuffle=False, fit_intercept=False, log_updates=True).fit(toy.X, toy.y)
    >>> certificate = certify(clf, toy.X, toy.y)
    >>> certificate.verdict.verdict, certificate.run["updates"]
    ('separable', 2)
    >>> bound = certificate.bounds[2]
    >>> bound.name, bound.measured, round(bound.allowed[0], 6)  # R^2/gamma^2 = 5 / (1/5)
    ('novikoff', (2,), 25.0)
    >>> bool(certificate.verify(toy.X, toy.y, exact=True))
    True
    """
    if comparators not in ("free", "all"):
        raise ValueError(f"comparators must be 'free' or 'all'; got comparators={comparators!r}.")
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be a number between 0 and 1, both excluded; got delta={delta!r}.")
    return Certifier(model, X, y, float(delta), comparators, max_log).certificate()


# -------------------------------------------------------------------------------------- one certificate


class Certifier:
    """All that goes into one certificate, in the order in which it is found."""

    def __init__(self, model: Any, X: Any, y: Any, delta: float, comparators: str, max_log: int):
        if not hasattr(model, "classes_") or len(model.classes_) < 2:
            raise ValueError(f"certify needs a fitted model with two classes or more; got {model!r}.")
        self.model: Any = model
        self.kernel: Any = (
            model.kernel_ if isinstance(model, KernelBased) else getattr(model, "kernel_", None)
        )
        self.X = X if self.kernel is not None and self.kernel.takes in ("strings", "objects") else _numbers(X)
        n_rows = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        self.codes = _codes(model.classes_, y, n_rows)
        self.y = y
        self.delta = delta
        self.comparators = comparators
        self.learners = _learners(model)
        self.problem = self._problem()
        self.n_parts = len(model.classes_) if self.problem == "one-vs-rest" else 1
        width = getattr(model, "n_features_in_", None)
        if hasattr(self.X, "shape") and width is not None and self.X.shape[1] != width:
            raise ValueError(f"X must have {width} features, as the model has; got {self.X.shape[1]}.")
        self.from_zero = all(getattr(learner, "from_zero", True) for learner in self.learners)
        self.single = any(
            getattr(getattr(learner, "frame", None), "dtype", None) == np.float32 for learner in self.learners
        )
        self.rule: Any = self._rule()
        self.parameters: dict[str, Any] = self._parameters()
        self.space = self._space()
        self.updates = self._updates(max_log)
        self.counts_rows = self.rule not in (BudgetKernelPerceptron, RiskDescent)
        self.visits = self._visits(n_rows)
        self.converged = (
            str(getattr(model, "stop_reason_", "")) == "clean pass"
            and not getattr(model, "early_stopping", False)
            and self.from_zero
        )
        vectors = self._vectors()
        self.evidence = Evidence(
            self.X, self.codes, self.problem, len(model.classes_), self.space, vectors, self._function()
        )
        if hasattr(self, "_scores"):
            self.evidence.__dict__["scores"] = {"w": self._scores}
            same = np.abs(self.evidence.q - self._sums) <= 1e-9 * np.maximum(1.0, self._sums)
            self.evidence.memo["binary inputs"] = bool(np.all(same))
        self.run: dict[str, Any] = self._run(n_rows)
        self.facts = Facts(self.evidence, self.run, self.parameters, self.updates)
        self.notes: list[str] = []

    # ------------------------------------------------------------ what the model is

    def _problem(self) -> str:
        if len(self.model.classes_) == 2:
            return "binary"
        joint = any(isinstance(learner, spaces.Joint) for learner in self.learners)
        return "joint" if joint else "one-vs-rest"

    def _rule(self) -> Any:
        """The row of the table."""
        for kind in type(self.model).__mro__:
            if kind in LINES:
                return kind
        rule = self.model._rule() if hasattr(self.model, "_rule") else None
        return type(rule) if type(rule) in LINES else None

    def _parameters(self) -> dict[str, Any]:
        """What enters the theorems, under the names of the claims."""
        model = self.model
        out: dict[str, Any] = {}
        rule = model._rule() if hasattr(model, "_rule") else None
        if rule is not None:
            out["rule"] = type(rule).__name__
            out |= {name: getattr(rule, name) for name in getattr(rule, "_fields", ())}
            if self.rule is rules.Perceptron:
                out["learning_rate"] = out.pop("eta")
            names = {rules.RateByUpdates: "updates", rules.RateByExamples: "examples"}
            if self.rule in names:
                out["learning_rate"] = names[self.rule]
            variants = {rules.PA: "hard", rules.PA1: "I", rules.PA2: "II"}
            if self.rule in variants:
                out["variant"] = variants[self.rule]
            if self.rule in (rules.ROMMA, rules.AggressiveROMMA):
                out["aggressive"] = self.rule is rules.AggressiveROMMA
        for name in OWN.get(self.rule, ()):
            out[name] = getattr(model, name)
        for name in ("mistake", "readout", "scheme", "solver"):
            value = getattr(model, name, None)
            if isinstance(value, str):
                out[name] = value
        return out

    def _space(self) -> Space:
        model = self.model
        bias = float(model.intercept_scaling) if getattr(model, "fit_intercept", False) else 0.0
        if self.kernel is not None:
            free = bias > 0.0 and not isinstance(model, KernelBased)
            return Space("kernel", 1.0 if free else bias, kernel=describe(self.kernel), free=free)
        if self.rule in (Winnow, Elimination):
            return Space("input", 1.0, free=True)
        if self.rule is MaxMargin:  # a hyperplane whose offset has no price
            return Space("input", 1.0 if getattr(model, "fit_intercept", False) else 0.0, free=True)
        unit = getattr(model, "row_norm", None) == "l2"
        order = 2.0
        if self.rule is BalancedWinnow:
            order = 1.0
        elif self.rule is PNormPerceptron:
            order = float(model.p) / (float(model.p) - 1.0)
        return Space("augmented" if bias else "input", bias, unit, order=order)

    def _function(self) -> Any:
        kernel = self.kernel
        while kernel is not None:
            if hasattr(kernel, "function"):
                return kernel.function
            inner = [*getattr(kernel, "terms", ()), getattr(kernel, "kernel", None)]
            kernel = next((k for k in inner if k is not None), None)
        return None

    # ------------------------------------------------------------ the log

    def _updates(self, max_log: int) -> Updates | None:
        journals = getattr(self.model, "_journals", None) or []
        if not journals or not self._one_sample() or sum(map(len, journals)) > max_log:
            return None
        if self.rule is BudgetKernelPerceptron or not self.from_zero:
            return None
        parts = []
        for r, journal in enumerate(journals):
            n = len(journal)
            parts.append(
                Updates(
                    np.full(n, r), journal.epoch[:n], journal.row[:n], journal.keep[:n], journal.alpha[:n]
                )
            )
        return Updates(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))

    def _one_sample(self) -> bool:
        """Whether the rows were met as rows of one X, in whole passes."""
        reason = str(getattr(self.model, "stop_reason_", ""))
        return reason not in ("partial_fit", "learn_one") or len(self.model.history_) == 1

    def _visits(self, n_rows: int) -> int | None:
        """How often each row was met at most; None where the run does not tell."""
        if not hasattr(self.model, "history_") or not getattr(self.model, "_plain", True):
            return None
        if (
            not self._one_sample()
            and sum(r["examples"] for r in self.model.history_) != n_rows * self.n_parts
        ):
            return None
        return 1 if not self._one_sample() else len(self.model.history_)

    # ------------------------------------------------------------ vectors

    def _vectors(self) -> dict[str, Vector]:
        if isinstance(self.model, BudgetKernelPerceptron) or (self.kernel is not None and not self.learners):
            return {"w": self._over_support(self.model.support_, self.model.dual_coef_)}
        if self.kernel is not None:
            space = self.model._space
            rows = np.asarray(space.support.numbers)
            found = {"w": self._over_support(rows, space.coefficients("last").T)}
            if any(learner.A is not None for learner in self.learners):
                found["average"] = self._over_support(rows, space.coefficients("average").T)
            return found
        found = {"w": Vector(self._last())}
        if any(getattr(learner, "A", None) is not None for learner in self.learners):
            found["average"] = Vector(np.asarray(self.model._space.weights("average"), float))
        combination = self._combination()
        if combination is not None:
            found["combination"] = combination
        return found

    def _last(self) -> np.ndarray:
        """The last w, the constant coordinate last."""
        model = self.model
        if hasattr(model, "_space") and self.learners:
            w = np.asarray(model._space.weights("last"), float)
            if self.space.free:
                w = w.copy()
                w[:, -1] = self._between(w)
            return w
        if hasattr(model, "_weights"):
            return np.asarray(model._weights(), float)
        offsets = np.asarray(model.intercept_, float).reshape(-1, 1) / (self.space.bias or 1.0)
        return np.hstack([np.asarray(model.coef_, float), offsets])

    def _between(self, w: np.ndarray) -> np.ndarray:
        """Offsets half way between the classes, where a threshold counts a tie as positive."""
        columns = np.vstack([w[:, :-1], np.ones((1, w.shape[1] - 1))])  # the sums tell 0 and 1 from others
        S = np.asarray(self.X @ columns.T, dtype=float)
        S, self._sums = S[:, :-1], S[:, -1]
        out = -np.asarray(self.model._threshold(), float)
        for r in range(len(w)):
            positive = self.codes == (r if self.n_parts > 1 else 1)
            low, high = S[positive, r].min(initial=math.inf), S[~positive, r].max(initial=-math.inf)
            if math.isfinite(low) and math.isfinite(high) and low > high:
                out[r] = -(low + high) / 2.0
        self._scores = S + out
        return out

    def _over_support(self, rows: Any, coefficients: np.ndarray) -> Vector:
        """Coefficients of different rows of X, which must be those that the model has learned from."""
        rows, a = np.asarray(rows, np.int64), np.asarray(coefficients, float)
        distinct, where = np.unique(rows, return_inverse=True)
        merged = np.zeros((len(a), len(distinct)))
        for r in range(len(a)):
            np.add.at(merged[r], where, a[r])
        used = merged.any(axis=0)
        distinct, merged = distinct[used], merged[:, used]
        if not self._knows(rows):
            raise ValueError(
                "certify needs the rows that the model was trained on, in their order: its support "
                "rows are not at their places in X."
            )
        offset = None
        if self.space.free:
            offset = np.asarray(self.model.intercept_, float).ravel()
        return Vector(None, distinct, merged, offset)

    def _knows(self, rows: np.ndarray) -> bool:
        n = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if len(rows) and (rows.min() < 0 or rows.max() >= n):
            return False
        if self.kernel.takes == "table" or not hasattr(self.model, "support_vectors_"):
            return True
        places = np.asarray(self.model.support_)
        known = self.model.support_vectors_
        if hasattr(self.X, "shape"):
            if len(places) == 0:
                return True
            dtype = known.dtype
            mine = self.X[places]
            if gram.is_sparse(mine) or gram.is_sparse(known):
                apart = sparse.csr_array(mine).astype(dtype) != sparse.csr_array(known)
                return apart.nnz == 0
            return bool(np.array_equal(np.asarray(mine).astype(dtype), known))
        return all(np.array_equal(a, self.X[i]) for a, i in zip(known, places.tolist(), strict=True))

    def _combination(self) -> Vector | None:
        """w as a combination of rows, from the log or from the steps of a descent."""
        if isinstance(self.model, RiskDescent):
            pairs = [self._of_descent(run, r) for r, run in enumerate(self.model._descents)]
        elif self.updates is not None and hasattr(self.model, "_rule") and self.rule is not rules.UserRule:
            pairs = [self.updates.coefficients(r) for r in range(self.n_parts)]
        elif self.rule is MaxMargin:
            a = np.atleast_2d(np.asarray(self.model.dual_coef_, float))
            return Vector(None, np.asarray(self.model.support_, np.int64), a)
        else:
            return None
        if self.problem != "one-vs-rest":
            rows, a = pairs[0]
            return Vector(None, rows, a)
        every = np.unique(np.concatenate([rows for rows, _ in pairs]))
        merged = np.zeros((len(pairs), len(every)))
        for r, (rows, a) in enumerate(pairs):
            merged[r, np.searchsorted(every, rows)] = a[0]
        return Vector(None, every, merged)

    def _of_descent(self, run: Any, r: int) -> tuple[np.ndarray, np.ndarray]:
        signs = np.where(self.codes == (r if self.n_parts > 1 else 1), 1.0, -1.0)
        a = np.zeros(len(signs))
        a[0] = 1.0  # the start is the first row
        for eps, rows in zip(run.steps, run.chosen, strict=True):
            a[rows] += eps
        rows = np.flatnonzero(a)
        return rows, (a * signs)[rows][None, :]

    # ------------------------------------------------------------ counts

    def _run(self, n_rows: int) -> dict[str, Any]:
        model = self.model
        parts = [self._part(r) for r in range(self.n_parts)]
        history = [
            [record[name] for name in ("examples", "mistakes", "updates", "errors")]
            for record in getattr(model, "history_", [])
        ]
        counted = bool(self.learners)
        total = {name: sum(part[name] for part in parts) for name in COUNTS if name in parts[0]}
        examples = sum(learner.counts().examples for learner in self.learners) if counted else None
        sums = [sum(column) for column in zip(*history, strict=True)]
        reason = getattr(model, "stop_reason_", "")
        run: dict[str, Any] = {
            "examples": examples,
            "epochs": int(getattr(model, "n_iter_", 1)),
            "mistakes": total.get("mistakes"),
            "updates": total.get("updates"),
            "errors": total.get("errors"),
            "stop_reason": reason if isinstance(reason, str) else ", ".join(map(str, reason)),
            "visits": self.visits,
            "delta": self.delta,
            "parts": parts,
            "history": history,
            "whole_history": bool(sums) and sums[0] == examples and sums[2] == total.get("updates"),
            "single_precision": self.single,
            "replays": self.updates is not None and hasattr(model, "_rule") and self._replayable(),
            "conservative": self._conservative(),
        }
        if hasattr(model, "gamma_"):
            run["gamma"] = float(model.gamma_)
        elif self.rule is rules.Margin:
            run["gamma"] = float(self.parameters["gamma"])
        if self.rule is Winnow:
            run["threshold"] = float(self.learners[0].threshold())
        plain = self.visits is not None and len(history) >= 1 and self.n_parts == 1 and self._unpeeking()
        if plain and run["whole_history"] and 0 < history[0][0] <= n_rows:
            run["first_errors"], run["first_examples"] = history[0][3], history[0][0]
        run["lengths"] = {}
        for name in self.evidence.vectors:
            # in double precision the same vector, written in another way
            of = "w" if name == "combination" and not self.single else name
            run["lengths"][name] = [self.evidence.norm(of, r) for r in range(self.n_parts)]
        return run

    def _unpeeking(self) -> bool:
        """Whether nothing about the learner was set by looking at all of the data."""
        if self.kernel is not None and isinstance(self.model, KernelBased):
            return bool(kernels.as_kernel(self.model.kernel) == self.kernel)
        return getattr(self.model, "gamma", None) != "auto"

    def _replayable(self) -> bool:
        return self.rule is not rules.UserRule or self.from_zero

    def _conservative(self) -> bool:
        if self.updates is None:
            return False
        if self.rule in (rules.Perceptron, rules.RateByUpdates, rules.RateByExamples, rules.ROMMA):
            return True
        return self.rule is rules.MIRA and self.parameters["p"] == 0.0

    def _part(self, r: int) -> dict[str, Any]:
        model = self.model
        if isinstance(model, RiskDescent):
            run = model._descents[r]
            return {
                "updates": sum(len(rows) for rows in run.chosen),
                "risk": float(run.risks[-1]),
                "on_boundary": run.on_boundary,
            }
        if not self.learners:
            return {"support": int(model.n_support_)} if self.rule is MaxMargin else {}
        learner = self.learners[r]
        counts = learner.counts()
        out = {
            "updates": counts.updates,
            "mistakes": counts.mistakes,
            "errors": counts.errors,
            "squared_loss": counts.squared_loss,
            "sum_sq_norms": float(learner.state[scalars.SUM_Q]),
        }
        if self.rule is Winnow:
            out["promotions"] = int(learner.state[multiplicative.PROMOTIONS])
            out["demotions"] = counts.updates - out["promotions"]
        if self.rule is Elimination:
            out["literals"] = int(model.literals_[r].sum())
        if isinstance(learner, spaces.Budget):
            out["support"] = len(learner)
            out["forgetting_cost"] = learner.forgetting_cost
        elif self.kernel is not None and hasattr(model, "n_support_"):
            out["support"] = model.n_support_
        if self.rule is SCW:
            residual = self._self_test(r)
            if residual is not None:
                out["self_test"] = residual
        return out

    def _self_test(self, r: int) -> float | None:
        """What the last update of SCW leaves of the condition it was derived from."""
        model = self.model
        if self.updates is None or model.covariance != "full" or not len(self.updates.of(r).row):
            return None
        own = self.updates.of(r)
        i, alpha = int(own.row[-1]), float(np.abs(own.alpha[-1]).max())
        x = self.X[[i]].toarray()[0] if gram.is_sparse(self.X) else self.X[i]
        x = np.append(x, self.space.bias) if self.space.bias else x
        if self.space.unit:
            x = x / np.linalg.norm(x)
        w = self._last()[r][: len(x)]
        sign = 1.0 if self.codes[i] == (r if self.n_parts > 1 else 1) else -1.0
        spread = math.sqrt(max(0.0, float(x @ model.covariance_[r] @ x)))
        rule = self.learners[r].rule
        lacking = rule.phi * spread - sign * float(w @ x)
        if model.variant == "II":
            return abs(lacking - alpha / (2.0 * model.C))
        return max(0.0, -lacking) if alpha >= model.C * (1.0 - 1e-9) else abs(lacking)

    # ------------------------------------------------------------ what lines ask

    @property
    def binary_inputs(self) -> bool:
        return self.evidence.binary_inputs()

    def has(self, name: str) -> bool:
        return all(name in part for part in self.run["parts"])

    def descends(self, how: str) -> bool:
        model = self.model
        if model.loss != "perceptron" or isinstance(model.step, str):
            return False
        single = model.pick is not None or model.batch_size == 1
        return single if how == "single" else model.pick is None and model.batch_size is None

    def best_margin(self, r: int) -> float:
        return max(self.evidence.low(name, r) for name in self.candidates)

    @property
    def candidates(self) -> list[str]:
        return [name for name in self.evidence.vectors if name != "combination"]

    # ------------------------------------------------------------ lines

    def bounds(self) -> Iterator[Bound]:
        if not self.from_zero:
            self.notes.append("The run did not start from w = 0: no bound on it is claimed.")
            return
        if not getattr(self.model, "_plain", True) or getattr(self.model, "class_weight", None) is not None:
            self.notes.append("Rows had weights, or came in an order of their own: no bound is claimed.")
            return
        if self.rule is None:
            return
        two, joint = LINES[self.rule]
        lines = [*(joint if self.problem == "joint" else two), *(KERNEL if self.kernel is not None else [])]
        for line in lines:
            if line.when(self):
                bound = self._bound(line)
                if bound is not None:
                    yield bound

    def _bound(self, line: Line) -> Bound | None:
        if line.needs == "none":
            found = self._evaluated(line.name, None, (1.0,) * self.n_parts)
            return found if all(map(math.isfinite, found.allowed)) else None
        best: Bound | None = None
        for name in self.candidates:
            scales = tuple(self._scale(line, name, r) for r in range(self.n_parts))
            if any(c is None for c in scales):
                continue
            found = self._evaluated(line.name, name, scales)
            if all(map(math.isfinite, found.allowed)) and (
                best is None or sum(found.allowed) < sum(best.allowed)
            ):
                best = found
        return best

    def _scale(self, line: Line, name: str, r: int) -> Any:
        """The multiple of a vector that serves best, or None where it does not serve."""
        if not self.evidence.norm(name, r) > 0.0:
            return None
        if line.needs == "margin":
            return 1.0 if self._positive(line, name, r) else None
        claim = CLAIMS["hinge_tight" if line.name.endswith("on the mistakes") else line.name]
        m = self.evidence.margins(name, r)
        reach, lowest = float(np.max(np.abs(m), initial=0.0)), float(np.min(m))
        if reach == 0.0:
            return None
        norm = self.evidence.norm(name, r)
        asks = line.name in ASKS_A_MARGIN
        unit = reach / norm if asks else 1.0 / reach

        def at(log_c: float) -> float:
            allowed = claim.sides(self.facts, r, name, unit * math.exp(log_c)).allowed
            return allowed if math.isfinite(allowed) else 1e300

        tries = [float(minimize_scalar(at, bounds=(-12.0, 12.0), method="bounded").x)]
        if lowest > 0.0:  # what just separates: nothing is missed
            tries.append(math.log((lowest / norm if asks else 1.0 / lowest) / unit))
        best = min(tries, key=at)
        return unit * math.exp(best) if at(best) < 1e300 else None

    def _positive(self, line: Line, name: str, r: int) -> bool:
        needed = 0.0
        if line.name == "margin_perceptron":
            needed = (1.0 - self.parameters["eps"]) * self.run["gamma"]
        return self.evidence.low(name, r) > needed

    def _evaluated(self, name: str, vector: str | None, scales: tuple[Any, ...]) -> Bound:
        claim = CLAIMS[name]
        sides = [claim.sides(self.facts, r, vector or "w", scales[r]) for r in range(self.n_parts)]
        return Bound(
            name=name,
            sense=claim.sense,
            measured=tuple(s.measured for s in sides),
            allowed=tuple(s.allowed for s in sides),
            symbols=tuple(s.symbols for s in sides),
            vector=vector,
            scales=tuple(float(c) for c in scales),
            basis=claims.basis(name),
            holds=all(claims.holds(s.measured, claim.sense, s.allowed) for s in sides),
        )

    # ------------------------------------------------------------ bracket and verdict

    def brackets(self) -> tuple[Bracket, ...]:
        return tuple(self._bracket(r) for r in range(self.n_parts))

    def _bracket(self, r: int) -> Bracket:
        lows = {name: self.evidence.low(name, r) for name in self.candidates}
        vector = max(lows, key=lambda name: lows[name])
        up, source = self._upper(r)
        return Bracket(lows[vector], vector, up, source)

    def _upper(self, r: int) -> tuple[float, str]:
        e = self.evidence
        combination = e.vectors.get("combination", e.vectors["w"])
        if self.space.order == 2.0 and combination.rows is not None and self.from_zero:
            mass = e.mass(combination, r)
            if mass > 0.0:
                return self._short_of(r, mass, combination), "combination"
        bounds = getattr(self.model, "margin_bounds_", None)
        pair = bounds[r] if isinstance(bounds, list) else bounds
        if pair is None or not math.isfinite(pair[1]):
            return math.inf, "nothing"
        return float(pair[1]) * (1.0 + 1e-6 if self.single else 1.0 + OUTWARD), "run"

    def _short_of(self, r: int, mass: float, combination: Vector) -> float:
        """||w||/sum of weights, rounded up by all that rounding may have changed in w."""
        assert combination.rows is not None
        e = self.evidence
        if self.single or e.vectors["w"].weights is None or not self.learners:
            name = "combination" if "combination" in e.vectors else "w"
            return e.upper(name, r)
        R = float(np.max(e.lengths[combination.rows], initial=0.0))
        steps = max(len(combination.rows), self.run["parts"][r].get("updates", 0))
        return (e.norm("w", r) / mass + 4.0 * (steps + 4) * EPS * R) * (1.0 + OUTWARD)

    def verdict(self) -> Verdict:
        for name in self.candidates:
            if all(self._separates(name, r) for r in range(self.n_parts)):
                return Verdict("separable", vector=name, why=f"{name} separates")
        if self.problem == "binary":
            zero = np.flatnonzero(self.evidence.lengths == 0.0)
            if len(zero) and not self.space.free:
                i = int(zero[0])
                return Verdict("not separable", rows=(i,), weights=(1,), exact=True, why=f"row {i} is zero")
            vanished = self._vanished()
            if vanished is not None:
                return vanished
            if self.comparators == "all":
                found = self._searched()
                if found is not None:
                    return found
        return Verdict("undecided", why="no vector here separates, and nothing here proves that none does")

    def _separates(self, name: str, r: int) -> bool:
        e = self.evidence
        if not e.norm(name, r) > 0.0:
            return False
        m, error = e.margins(name, r), e.rounding(name, r)
        if np.any(m + error <= 0.0):
            return False
        doubtful = np.flatnonzero(m <= error)
        if not len(doubtful):
            return True
        exact = Exact(e)
        if not exact.possible or len(doubtful) > EXACT_ROWS:
            return False
        return all(exact.margin(name, i, r) > 0 for i in doubtful.tolist())

    def _vanished(self) -> Verdict | None:
        """A combination of rows that sums to 0, if the run has come back to w = 0."""
        e = self.evidence
        v = e.vectors.get("combination", e.vectors["w"])
        if v.rows is None or self.space.free or not e.mass(v, 0) > 0.0:
            return None
        assert v.coefficients is not None
        if e.norm("w", 0) > 1e-9 * e.mass(v, 0) * e.radius or len(v.rows) > EXACT_ROWS or self.space.unit:
            return None
        exact = Exact(e)
        weights = np.abs(v.coefficients[0])
        rows, weights = v.rows[weights > 0.0], weights[weights > 0.0]
        if not exact.possible:
            return None
        if exact.residual2(rows.tolist(), [Fraction(w) for w in weights.tolist()]) != 0:
            return None
        return Verdict(
            "not separable",
            rows=tuple(rows.tolist()),
            weights=tuple(weights.tolist()),
            exact=True,
            why="the rows of the updates sum to 0",
        )

    def _proof(self) -> Any:
        """A separator, or a proof that there is none; None where it is not looked for."""
        if not hasattr(self, "_found"):
            from .gordan import separability

            linear = self.problem == "binary" and self.kernel is None and not self.space.unit
            bias = self.space.bias > 0.0
            self._found: Any = separability(self.X, self.codes, fit_intercept=bias) if linear else None
        return self._found

    def _searched(self) -> Verdict | None:
        """Ask for a proof that nothing separates."""
        proof = self._proof()
        if proof is None or proof.verdict != "not separable":
            return None
        rows = tuple(int(i) for i in proof.support)
        if proof.exact and proof.numerators is not None:
            weights = tuple(f"{n}/{proof.denominator}" for n in proof.numerators)
            return Verdict("not separable", rows=rows, weights=weights, exact=True, why=proof.reason)
        lam = tuple(float(proof.weights[i]) for i in rows)
        residual = float(proof.residual) * max(1.0, self.space.bias)
        return Verdict("not separable", rows=rows, weights=lam, residual=residual, why=proof.reason)

    # ------------------------------------------------------------ comparators that a solver finds

    def solve(self) -> None:
        """Add the maximum-margin and the soft-margin separator to the vectors."""
        if self.problem == "joint" or self.rule in (Winnow, Elimination):
            return
        from .solving import soft_margin

        proof = self._proof()
        if proof is not None and proof.verdict == "separable":
            w = np.append(proof.w, (proof.b or 0.0) / (self.space.bias or 1.0))
            self._add("separator", Vector(w[None, :]))
        for name, C in (("max margin", 1e6), ("svm", float(self.visits or 1))):
            found = [soft_margin(self.evidence, r, C) for r in range(self.n_parts)]
            if any(v is None for v in found):
                continue
            self._add(name, _joined([v for v in found if v is not None]))
        self.evidence.__dict__.pop("scores", None)

    def _add(self, name: str, vector: Vector) -> None:
        self.evidence.vectors[name] = vector
        self.run["lengths"][name] = [self.evidence.norm(name, r) for r in range(self.n_parts)]

    def certificate(self) -> Certificate:
        if self.comparators == "all":
            self.solve()
        bounds = tuple(self.bounds())
        if self.run["visits"] is None and self.rule not in (None, RiskDescent, MaxMargin):
            self.notes.append("How often each row was met is not known: bounds that need it are left out.")
        if self.visits is not None and not self._one_sample():
            self.notes.append("The run came in pieces; it is taken to have met each row of X once.")
        return Certificate(
            model={
                "class": type(self.model).__name__,
                "parameters": self.parameters,
                "classes": [
                    digests.encode_label(label) for label in np.asarray(self.model.classes_).tolist()
                ],
                "problem": self.problem,
            },
            data={
                "rows": self.evidence.n_rows,
                "features": self.evidence.n_features,
                "X_sha256": digests.rows_digest(self.X),
                "y_sha256": digests.labels_digest(self.y),
            },
            space=self.space,
            run=self.run,
            radius=self.evidence.radius,
            brackets=self.brackets(),
            vectors=self.evidence.vectors,
            bounds=bounds,
            verdict=self.verdict(),
            updates=self.updates,
            notes=tuple(self.notes),
        ).sealed()


def describe(kernel: Any) -> dict[str, Any]:
    """A kernel as the checker knows it."""
    out: dict[str, Any] = {"kind": type(kernel).__name__}
    for field in dataclasses.fields(kernel):
        value = getattr(kernel, field.name)
        if field.name == "terms":
            out["terms"] = [describe(part) for part in value]
        elif field.name == "kernel":
            out["kernel"] = describe(value)
        elif field.name != "function":
            out[field.name] = value.item() if isinstance(value, np.generic) else value
    return gram.checked(out)


def _numbers(X: Any) -> Any:
    if gram.is_sparse(X):
        return X.tocsr() if X.format != "csr" else X
    return np.asarray(X)


def _codes(classes: np.ndarray, y: Any, n_rows: int) -> np.ndarray:
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has {len(labels)} labels.")
    places = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    strange = next((label for label in labels if label not in places), None)
    if strange is not None:
        raise ValueError(f"y has a label {strange!r} that the model does not know.")
    return np.asarray([places[label] for label in labels], np.int64)


def _learners(model: Any) -> list[Any]:
    if "_space" not in vars(model):
        return []
    core = model._core
    return list(core.learners) if hasattr(core, "learners") else [core]


def _joined(vectors: list[Vector]) -> Vector:
    """One vector a column."""
    if vectors[0].weights is not None:
        return Vector(np.vstack([v.weights for v in vectors]))  # type: ignore[misc]
    rows = np.unique(np.concatenate([np.asarray(v.rows) for v in vectors]))
    merged = np.zeros((len(vectors), len(rows)))
    for r, v in enumerate(vectors):
        assert v.coefficients is not None
        merged[r, np.searchsorted(rows, np.asarray(v.rows))] = v.coefficients[0]
    return Vector(None, rows, merged)
