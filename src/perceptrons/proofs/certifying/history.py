"""What the run has counted, and its log."""

from __future__ import annotations

import math

import numpy as np

from ... import rules
from ..._sparse import is_sparse
from ..._types import JsonObject
from ...certificates.facts import LoggedUpdates
from ...estimators.budget import BudgetKernelPerceptron
from ...estimators.confidence import SCW
from ...estimators.multiplicative import Winnow
from .subject import Subject

COUNTS = ("updates", "mistakes", "errors")
HISTORY = ("mistakes", "updates", "errors")  #: in the order of a certificate


def logged(subject: Subject, max_log: int) -> LoggedUpdates | None:
    """The updates, where they were kept and say all; None otherwise."""
    logs = [learner.log for learner in subject.record.learners if learner.log is not None]
    if not logs or not subject.one_sample() or subject.rounded:
        return None
    if sum(len(log.row) for log in logs) > max_log:
        return None
    if subject.rule is BudgetKernelPerceptron or not (
        subject.from_zero or subject.rule is rules.NormMinimising
    ):
        return None
    parts = []
    for r, log in enumerate(logs):
        n = len(log.row)
        keep = log.keep.copy()
        if n and subject.from_zero:
            keep[0] = 1.0  # of w = 0
        parts.append(LoggedUpdates(np.full(n, r), log.epoch, log.row, keep, log.alpha))
    return LoggedUpdates(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def _finite(value: float | None) -> float | None:
    """A sum; None where it has left the range of floats."""
    return None if value is None or not math.isfinite(value) else float(value)


class History:
    """The reports of a run; ``w`` as the model has it."""

    def __init__(self, subject: Subject, updates: LoggedUpdates | None, w: np.ndarray | None):
        self.subject, self.updates, self.w = subject, updates, w
        self.first_pass = False  #: whether the errors of the first pass say something of fresh rows

    def report(self, delta: float) -> JsonObject:
        """Counts, as a certificate has them."""
        subject, record = self.subject, self.subject.record
        parts = [self._part(r) for r in range(subject.n_parts)]
        common = set.intersection(*(set(part) for part in parts))
        parts = [{name: part[name] for name in part if name in common} for part in parts]
        passes = subject.passes()
        history = [
            [sum(counts[name] for counts in records) for name in ("examples", *HISTORY)]
            for records in passes or []
        ]
        counted = [learner.examples for learner in record.learners if learner.examples is not None]
        total = {name: sum(part[name] for part in parts) for name in COUNTS if name in parts[0]}
        examples = sum(counted) if counted else None
        sums = [sum(column) for column in zip(*history, strict=True)]
        whole = bool(sums) and sums[0] == examples and sums[2] == total.get("updates")
        run: JsonObject = {
            "examples": examples,
            "epochs": self._epochs(len(history) if whole else None),
            "mistakes": total.get("mistakes"),
            "updates": total.get("updates"),
            "errors": total.get("errors"),
            "stop_reason": record.stop_reason,
            "visits": subject.visits,
            "delta": delta,
            "parts": parts,
            "history": history if whole else [],
            "single_precision": record.single_precision,
        }
        if record.mixed is not None:
            updates = [[list(own) for own in learners] for learners in record.mixed.updates]
            run["shards"] = {"mixing": record.mixed.mixing, "updates": updates}
        if record.gamma is not None:
            run["gamma"] = record.gamma
        elif subject.rule is rules.Margin:
            run["gamma"] = float(subject.parameters["gamma"])
        if subject.rule is Winnow:
            run["threshold"] = record.learners[0].threshold
        plain = (
            subject.visits is not None
            and len(history) >= 1
            and subject.n_parts == 1
            and subject.set_before_the_data()
        )
        self.first_pass = plain and whole and 0 < history[0][0] <= subject.n_rows
        return run

    def _epochs(self, passes: int | None) -> int | None:
        """Passes over the rows; None where the run came in pieces and they were not counted."""
        record = self.subject.record
        if record.in_pieces:
            return passes
        return record.n_iter if record.best_iter is None else record.best_iter

    def _part(self, r: int) -> JsonObject:
        subject, learner = self.subject, self.subject.record.learners[r]
        out: JsonObject = {}
        if learner.examples is not None:
            out = {name: getattr(learner, name) for name in COUNTS}
            out["squared_loss"] = _finite(learner.squared_loss)
            out["sum_sq_norms"] = _finite(learner.sum_sq_norms)
        elif learner.updates is not None:
            out["updates"] = learner.updates
        if learner.promotions is not None:
            out["promotions"] = learner.promotions
            out["demotions"] = out["updates"] - learner.promotions
        for name in ("literals", "support", "forgetting_cost", "risk", "on_boundary"):
            if getattr(learner, name) is not None:
                out[name] = getattr(learner, name)
        if subject.rule is SCW:
            residual = self._self_test(r)
            if residual is not None and math.isfinite(residual):
                out["self_test"] = residual
        return out

    def _self_test(self, r: int) -> float | None:
        """What the last update of SCW leaves of the condition it was derived from."""
        subject, learner = self.subject, self.subject.record.learners[r]
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
        spread = math.sqrt(max(0.0, float(x @ learner.covariance @ x)))
        rule = learner.rule
        lacking = float(rule.phi) * spread - sign * float(w @ x)
        C = float(rule.C)
        if isinstance(rule, rules.SCW2):
            return abs(lacking - alpha / (2.0 * C))
        return max(0.0, -lacking) if alpha >= C * (1.0 - 1e-9) else abs(lacking)
