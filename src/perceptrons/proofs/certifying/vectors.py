"""The vectors of a certificate: w, its average, and where the run began."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from ..._sparse import is_sparse
from ...certificates.evidence import Vector
from ...certificates.facts import LoggedUpdates
from ...theory import gram
from .subject import Subject


class Vectors:
    """What a fitted model has learned, as vectors of the theory."""

    def __init__(self, subject: Subject, updates: LoggedUpdates | None):
        self.subject = subject
        self.record = subject.record
        self.updates = updates
        #: scores of w and sums of the rows, where an offset had to be found from them
        self.scores: np.ndarray | None = None
        self.sums: np.ndarray | None = None
        self.found = self._vectors()

    def _vectors(self) -> dict[str, Vector]:
        weights = self.record.weights
        if self.subject.kernel is not None:
            found = {"w": self._over_support(weights["last"])}
            if "average" in weights:
                found["average"] = self._over_support(weights["average"])
            return found
        with np.errstate(over="ignore", invalid="ignore"):
            last = self.last()
        if not np.isfinite(last).all():
            raise ValueError(
                f"the weights of this {self.record.kind.__name__} overflow: nothing can be certified about "
                "them. Scale the data."
            )
        found = {"w": Vector(last)}
        if "average" in weights:
            found["average"] = Vector(weights["average"])
        if self.updates is not None and not self.subject.from_zero:
            found["start"] = self._start(found["w"])
        return found

    def _start(self, w: Vector) -> Vector:
        """Where the run began: w without its updates."""
        assert self.updates is not None and w.weights is not None
        rows, a = self.updates.coefficients(0)
        if self.subject.space.unit:
            a = a / np.sqrt(gram.squares(self.subject.X[rows]) + self.subject.space.bias**2)
        sums = np.asarray(self.subject.X[rows].T @ a.T, dtype=float).T
        return Vector(w.weights - np.column_stack([sums, self.subject.space.bias * a.sum(axis=1)]))

    def last(self) -> np.ndarray:
        """The last w, the constant coordinate last."""
        w = self.record.weights["last"]
        if any(learner.threshold is not None for learner in self.record.learners):
            w = w.copy()
            w[:, -1] = self._between(w)
        return w

    def _between(self, w: np.ndarray) -> np.ndarray:
        """Offsets half way between the classes, where a threshold counts a tie as positive."""
        columns = np.vstack([w[:, :-1], np.ones((1, w.shape[1] - 1))])  # the sums show whether all are 0 or 1
        S = np.asarray(self.subject.X @ columns.T, dtype=float)
        S, self.sums = S[:, :-1], S[:, -1]
        out = -np.asarray([learner.threshold for learner in self.record.learners], float)
        for r in range(len(w)):
            positive = self.subject.signs(r) > 0.0
            low, high = S[positive, r].min(initial=math.inf), S[~positive, r].max(initial=-math.inf)
            if math.isfinite(low) and math.isfinite(high) and low > high:
                out[r] = -(low + high) / 2.0
        self.scores = S + out
        return out

    def _over_support(self, coefficients: np.ndarray) -> Vector:
        """Coefficients of different rows of X, which must be those that the model has learned from."""
        rows, a = np.asarray(self.record.support, np.int64), np.asarray(coefficients, float)
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
        return Vector(None, distinct, merged, self.record.offsets)

    def _knows(self, rows: np.ndarray) -> bool:
        if len(rows) and (rows.min() < 0 or rows.max() >= self.subject.n_rows):
            return False
        if self.subject.kernel.takes == "table" or self.record.known_rows is None:
            return True
        places, known = self.record.known_rows
        if hasattr(self.subject.X, "shape") and hasattr(known, "dtype"):
            if len(places) == 0:
                return True
            dtype = known.dtype
            mine = self.subject.X[places]
            if is_sparse(mine) or is_sparse(known):
                apart = sparse.csr_array(mine).astype(dtype) != sparse.csr_array(known)
                return bool(apart.nnz == 0)
            return bool(np.array_equal(np.asarray(mine).astype(dtype), known))
        return all(np.array_equal(a, self.subject.X[i]) for a, i in zip(known, places.tolist(), strict=True))
