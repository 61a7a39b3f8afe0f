r"""``certify``: what a fitted learner has counted and proved, as a certificate to be checked without it.

Which lines are printed follows from the learner's row in the rule table. The lines themselves,
and the checker, are in :mod:`perceptrons.certificates`.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._types import JsonObject, Objects
from ...certificates import digests
from ...certificates.certificate import Certificate
from ...certificates.claims import CLAIMS
from ...certificates.evidence import Evidence, Vector
from ...certificates.facts import SLACK, ClaimFacts
from ...estimators.maximum_margin import MaxMargin
from ...estimators.risk import RiskDescent
from ...theory.separability import Separability
from .best_bounds import bounds
from .history import History, logged
from .subject import Subject
from .vectors import Vectors
from .verdicts import brackets, verdict

MAX_LOG = 100_000  # a longer log is not stored


def certify(
    model: Any,
    X: Objects,
    y: npt.ArrayLike,
    delta: float = 0.05,
    comparators: str = "free",
    max_log: int = MAX_LOG,
    max_time: float = 60.0,
) -> Certificate:
    r"""Certify a fitted learner on the data it was trained on.

    The certificate has the counts of the run, the radius of the data, a bracket around the best margin of any
    separator, every bound of the theory that applies with both sides, a verdict on separability with its
    proof, and digests of the data. It reads the rows at most three times: for the digest and their lengths,
    for the scores of all comparators, and, where they are needed, for the rows that prove the upper end or
    the spread of the rows.

    A bound needs a comparator :math:`u = c\,v`. Free ones are the learner's own w and its average, with the
    best c > 0; what u misses is then summed over all visits to all rows. Summed over the mistakes alone the
    bound would be least for c towards 0, where it repeats the count; so that form is printed only beside the
    other, for the same c, and where ``log_updates=True`` has kept the mistakes.

    Parameters
    ----------
    model : fitted estimator of the package
    X, y : the rows and labels it was fitted on
        Texts are certified as the rows that their learner makes of them, ``model.hash(X)``. Of integers that
        float64 rounds the bracket and the verdict are true as they are; the run has learned rounded rows, so
        no bound on it is claimed and its log is left out.
    delta : float, default=0.05
        How often a bound on future errors may be wrong.
    comparators : {"free", "all"}, default="free"
        ``"all"`` also solves for the maximum-margin and the soft-margin separator by :class:`MaxMargin` and,
        where nothing separates, looks for a proof that nothing can.
    max_log : int, default=100_000
        The longest log of updates that is stored.
    max_time : float, default=60.0
        Seconds that all solvers together may take.

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
    if not (isinstance(max_time, (int, float)) and max_time > 0.0):
        raise ValueError(f"max_time must be a positive number of seconds; got max_time={max_time!r}.")
    with np.errstate(all="ignore"):  # what is not a number is left out
        case = Case(model, X, y, float(delta), max_log)
        if comparators == "all":
            case.search(float(max_time))
        return case.certificate()


class Case(Subject):
    """All that goes into one certificate, in the order in which it is found."""

    def __init__(self, model: Any, X: Objects, y: npt.ArrayLike, delta: float, max_log: int):
        super().__init__(model, X, y)
        self.updates = logged(self, max_log)
        found = Vectors(self, self.updates)
        self.evidence = Evidence(
            self.X, self.codes, self.problem, len(self.record.classes), self.space, found.found, self.function
        )
        self.rows_sha256 = self.evidence.digest()
        if found.scores is not None and found.sums is not None:
            self.evidence.take_scores(found.scores, found.sums)
        w = found.found["w"].weights
        history = History(self, self.updates, w)
        self.run: JsonObject = history.report(delta)
        self.first_pass: bool = history.first_pass
        self.run["lengths"] = {name: self._lengths(name) for name in found.found}
        self.run["offsets"] = {name: self.evidence.offsets(name) for name in found.found}
        self.facts = ClaimFacts(self.evidence, self.run, self.parameters, self.updates)
        self._derive_risk()
        self.notes: list[str] = []
        self.duals: dict[int, list[np.ndarray]] = {}  # weights on rows that solvers have found, by learner
        self.deadline: float | None = None
        self._proof: Separability | None = None

    def _derive_risk(self) -> None:
        """The risk and the rows on the boundary as the rows prove them; left out where they do not."""
        parts = self.run["parts"]
        if "risk" not in parts[0]:
            return
        try:
            if self.rounded:
                raise ValueError("the run has seen other rows")
            found = [
                {
                    "risk": CLAIMS["risk"].sides(self.facts, r, "w", 1.0).allowed,
                    "on_boundary": int(CLAIMS["on the boundary"].sides(self.facts, r, "w", 1.0).allowed),
                }
                for r in range(self.n_parts)
            ]
            if not all(math.isfinite(part["risk"]) for part in found):
                raise ValueError("the risk is beyond the range of floats")
            if any(self._risk_error(r) > SLACK * part["risk"] + 1e-12 for r, part in enumerate(found)):
                raise ValueError("another order of the same sums would give another risk")
        except (ValueError, ArithmeticError):
            found = []
        for r, part in enumerate(parts):
            for name in ("risk", "on_boundary"):
                del part[name]
            part |= found[r] if found else {}

    def _risk_error(self, r: int) -> float:
        """How far rounding may have moved the risk, by the rows that contribute to it or may."""
        e = self.evidence
        goal = 0.0 if self.parameters["loss"] == "perceptron" else 1.0
        error = (e.n_features + 8) * 2.0**-52 * e.norm("w", r) * np.asarray(e.lengths, float)
        return float(np.sum(error[goal - e.margins("w", r) > -error]))

    def _lengths(self, name: str) -> list[float]:
        return [self.evidence.norm(name, r) for r in range(self.n_parts)]

    # ------------------------------------------------------------ conditions of lines

    @property
    def title(self) -> str:
        """The learner in words."""
        rule, variant = self.parameters.get("rule"), self.parameters.get("variant")
        name = self.record.kind.__name__
        named = rule is None or rule == name
        if self.record.mixed is not None:
            name = f"{self.class_name} of {name}"
        if not named:
            name += f" with the rule {rule}"
        elif variant is not None:
            name += f" of variant {variant}"
        return name + (", prototypes learned together" if self.problem == "joint" else "")

    @property
    def binary_inputs(self) -> bool:
        return self.evidence.binary_inputs()

    def has(self, name: str) -> bool:
        return all(name in part for part in self.run["parts"])

    def descends(self, how: str) -> bool:
        if self.parameter("loss") != "perceptron" or isinstance(self.parameter("step"), str):
            return False
        pick, size = self.parameter("pick"), self.parameter("batch_size")
        single = pick is not None or size == 1
        return single if how == "single" else pick is None and size is None

    def best_margin(self, r: int) -> float:
        return max(self.evidence.low(name, r) for name in self.candidates)

    @property
    def candidates(self) -> list[str]:
        """The vectors that may be comparators."""
        return [name for name in self.evidence.vectors if name != "start"]

    # ------------------------------------------------------------ comparators that a solver finds

    @property
    def searches(self) -> bool:
        return self.deadline is not None

    def search(self, max_time: float) -> None:
        """Add the maximum-margin and the soft-margin separator to the vectors."""
        from .solved_comparators import joined, widest

        self.deadline = time.perf_counter() + max_time
        classes = range(len(self.record.classes)) if self.problem == "joint" else range(self.n_parts)
        if self.problem == "joint":
            self.notes.append(
                "MaxMargin has no form for prototypes learned together: beside c·w and c·average, its "
                "separators of one class from the rest are tried, side by side."
            )
        wanted = (("max margin", np.inf), ("svm", float(self.visits or 1)))
        left = len(wanted) * len(classes)
        for name, C in wanted:
            found = []
            for r in classes:
                signs = self.signs(r) if self.problem != "joint" else np.where(self.codes == r, 1.0, -1.0)
                found.append(widest(self.evidence, signs, C, max(0.1, self._time() / left)))
                left -= 1
                if found[-1].alpha is not None and self.problem != "joint":
                    self.duals.setdefault(r, []).append(found[-1].alpha)
            for said in dict.fromkeys(solution.said for solution in found if solution.said):
                of = " of the rows as floats" if self.rounded else ""
                self.notes.append(f"{name}{of}: {said}.")
            vectors = [solution.vector for solution in found if solution.vector is not None]
            if len(vectors) == len(classes):
                self._add(name, joined(vectors))
        self._separator()

    def _separator(self) -> None:
        """What a search for a separator finds, where the maximum margin has not been found."""
        if "max margin" in self.evidence.vectors and self.best_margin(0) > 0.0:
            return
        proof = self.proof()
        if proof is not None and proof.verdict == "separable":
            assert proof.w is not None
            w = np.append(proof.w, (proof.b or 0.0) / (self.space.bias or 1.0))
            self._add("separator", Vector(w[None, :]))

    def _time(self) -> float:
        assert self.deadline is not None
        return max(0.0, self.deadline - time.perf_counter())

    def _add(self, name: str, vector: Vector) -> None:
        self.evidence.add(name, vector)
        self.run["lengths"][name] = self._lengths(name)
        self.run["offsets"][name] = self.evidence.offsets(name)

    def proof(self) -> Separability | None:
        """A separator, or a proof that there is none; None where it is not looked for."""
        if self._proof is None and self.problem == "binary" and self.kernel is None and not self.space.unit:
            from ..linear_separability import separability

            bias = self.space.bias > 0.0
            self._proof = separability(
                self.X, self.codes, fit_intercept=bias, max_time=max(1.0, self._time())
            )
            if self._proof.weights is not None:
                self.duals.setdefault(0, []).append(np.asarray(self._proof.weights, float))
            self.notes.append(f"A search for a separator ended: {self._proof.reason}.")
        return self._proof

    # ------------------------------------------------------------ all of it

    def certificate(self) -> Certificate:
        lines = tuple(bounds(self))
        if self.run["visits"] is None and self.rule not in (None, RiskDescent, MaxMargin):
            self.notes.append("How often each row was met is not known: bounds that need it are left out.")
        if self.visits is not None and not self.one_sample():
            passes = f" in each of its {self.visits} passes" if self.visits > 1 else ""
            self.notes.append(f"The run came in pieces; it is taken to have met each row of X once{passes}.")
        decided = verdict(self)  # it may search, and find weights for the brackets
        ends = brackets(self)
        return Certificate(
            model={
                "class": self.class_name,
                "parameters": self.parameters,
                "classes": [digests.encode_label(label) for label in self.labels],
                "problem": self.problem,
            },
            data={
                "rows": self.evidence.n_rows,
                "features": self.evidence.n_features,
                "X_sha256": self.rows_sha256,
                "y_sha256": digests.labels_digest(self.y),
            },
            space=self.space,
            run=self.run,
            radius=self.evidence.radius,
            brackets=ends,
            vectors=self.evidence.vectors,
            bounds=lines,
            verdict=decided,
            updates=self.updates,
            notes=tuple(self.notes),
        ).sealed()
