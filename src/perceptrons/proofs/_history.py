"""What the run has counted, and its log."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import rules
from .._sparse import is_sparse
from ..engine import multiplicative, scalars, spaces
from ..estimators.budget import BudgetKernelPerceptron
from ..estimators.confidence import SCW
from ..estimators.maximum_margin import MaxMargin
from ..estimators.multiplicative import Elimination, Winnow
from ..estimators.risk import RiskDescent
from ..theory.facts import Updates
from ._subject import Subject

COUNTS = ("updates", "mistakes", "errors")
HISTORY = ("mistakes", "updates", "errors")  #: in the order of a certificate


def logged(subject: Subject, max_log: int) -> Updates | None:
    """The updates, where they were kept and say all; None otherwise."""
    journals = getattr(subject.model, "_journals", None) or []
    if not journals or not subject.one_sample() or sum(map(len, journals)) > max_log or subject.rounded:
        return None
    if subject.rule is BudgetKernelPerceptron or not (
        subject.from_zero or subject.rule is rules.NormMinimising
    ):
        return None
    parts = []
    for r, journal in enumerate(journals):
        n = len(journal)
        keep = journal.keep[:n].copy()
        if n and subject.from_zero:
            keep[0] = 1.0  # of w = 0
        parts.append(Updates(np.full(n, r), journal.epoch[:n], journal.row[:n], keep, journal.alpha[:n]))
    return Updates(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def _finite(value: float) -> float | None:
    """A sum; None where it has left the range of floats."""
    return float(value) if math.isfinite(value) else None


class History:
    """The reports of a run; ``w`` as the model has it."""

    def __init__(self, subject: Subject, updates: Updates | None, w: np.ndarray | None):
        self.subject, self.updates, self.w = subject, updates, w
        self.first_pass = False  #: whether the errors of the first pass say something of fresh rows

    def report(self, delta: float) -> dict[str, Any]:
        """Counts, as a certificate has them."""
        subject, model = self.subject, self.subject.model
        parts = [self._part(r) for r in range(subject.n_parts)]
        common = set.intersection(*(set(part) for part in parts))
        parts = [{name: part[name] for name in part if name in common} for part in parts]
        passes = subject.passes()
        history = [
            [sum(record[name] for record in records) for name in ("examples", *HISTORY)]
            for records in passes or []
        ]
        counted = bool(subject.learners)
        total = {name: sum(part[name] for part in parts) for name in COUNTS if name in parts[0]}
        examples = sum(learner.counts().examples for learner in subject.learners) if counted else None
        sums = [sum(column) for column in zip(*history, strict=True)]
        whole = bool(sums) and sums[0] == examples and sums[2] == total.get("updates")
        reason = getattr(model, "stop_reason_", "")
        run: dict[str, Any] = {
            "examples": examples,
            "epochs": self._epochs(len(history) if whole else None),
            "mistakes": total.get("mistakes"),
            "updates": total.get("updates"),
            "errors": total.get("errors"),
            "stop_reason": reason if isinstance(reason, str) else ", ".join(map(str, reason)),
            "visits": subject.visits,
            "delta": delta,
            "parts": parts,
            "history": history if whole else [],
            "single_precision": subject.single,
        }
        if hasattr(model, "gamma_"):
            run["gamma"] = float(model.gamma_)
        elif subject.rule is rules.Margin:
            run["gamma"] = float(subject.parameters["gamma"])
        if subject.rule is Winnow:
            run["threshold"] = float(subject.learners[0].threshold())
        plain = (
            subject.visits is not None and len(history) >= 1 and subject.n_parts == 1 and subject.unpeeking()
        )
        self.first_pass = plain and whole and 0 < history[0][0] <= subject.n_rows
        return run

    def _epochs(self, passes: int | None) -> int | None:
        """Passes over the rows; None where the run came in pieces and nobody counted."""
        model = self.subject.model
        if str(getattr(model, "stop_reason_", "")) in ("partial_fit", "learn_one"):
            return passes
        return int(getattr(model, "best_iter_", getattr(model, "n_iter_", 1)))

    def _part(self, r: int) -> dict[str, Any]:
        subject, model = self.subject, self.subject.model
        if isinstance(model, RiskDescent):
            run = model._descents[r]
            return {
                "updates": sum(len(rows) for rows in run.chosen),
                "risk": float(run.risks[-1]),
                "on_boundary": run.on_boundary,
            }
        if not subject.learners:
            return {"support": int(model.n_support_)} if subject.rule is MaxMargin else {}
        learner = subject.learners[r]
        counts = learner.counts()
        out = {
            "updates": counts.updates,
            "mistakes": counts.mistakes,
            "errors": counts.errors,
            "squared_loss": _finite(counts.squared_loss),
            "sum_sq_norms": _finite(learner.state[scalars.SUM_Q]),
        }
        if subject.rule is Winnow:
            out["promotions"] = int(learner.state[multiplicative.PROMOTIONS])
            out["demotions"] = counts.updates - out["promotions"]
        if subject.rule is Elimination:
            out["literals"] = int(model.literals_[r].sum())
        if isinstance(learner, spaces.Budget):
            out["support"] = len(learner)
            out["forgetting_cost"] = learner.forgetting_cost
        elif subject.kernel is not None and hasattr(model, "n_support_"):
            out["support"] = model.n_support_
        if subject.rule is SCW:
            residual = self._self_test(r)
            if residual is not None and math.isfinite(residual):
                out["self_test"] = residual
        return out

    def _self_test(self, r: int) -> float | None:
        """What the last update of SCW leaves of the condition it was derived from."""
        subject, model = self.subject, self.subject.model
        if (
            self.updates is None
            or subject.parameter("covariance") != "full"
            or not len(self.updates.of(r).row)
        ):
            return None
        own = self.updates.of(r)
        i, alpha = int(own.row[-1]), float(np.abs(own.alpha[-1]).max())
        x = subject.X[[i]].toarray()[0] if is_sparse(subject.X) else subject.X[i]
        x = np.append(x, subject.space.bias) if subject.space.bias else x
        if subject.space.unit:
            x = x / np.linalg.norm(x)
        assert self.w is not None
        w = self.w[r][: len(x)]
        sign = float(subject.signs(r)[i])
        spread = math.sqrt(max(0.0, float(x @ model.covariance_[r] @ x)))
        rule = subject.learners[r].rule
        lacking = rule.phi * spread - sign * float(w @ x)
        C = float(rule.C)
        if isinstance(rule, rules.SCW2):
            return abs(lacking - alpha / (2.0 * C))
        return max(0.0, -lacking) if alpha >= C * (1.0 - 1e-9) else abs(lacking)
