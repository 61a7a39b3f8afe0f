"""The independent checker: every claim of a certificate, computed again from rows, labels and weights.

It knows no learner, no compiled loop and no solver. What only the run can know, its counts, must agree
with itself and with the log, and is listed as reported.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import claims, digests, gram, stored
from .certificate import Certificate, CertificateError
from .claims import CLAIMS
from .enclosed import enclosed, rational
from .evidence import Evidence
from .exact import Exact
from .facts import Comparator, Facts
from .needs import AGREE, Failure, close, need
from .replaying import check_log

#: A weighting of the rows counts as 0 below this part of max(1, R).
RESIDUAL = 1e-8


class Verification(NamedTuple):
    """The answer of a check; true as a condition when every claim holds."""

    ok: bool
    failed: str | None  #: the first claim that does not hold
    why: str  #: what was found instead
    checked: tuple[str, ...]  #: claims that hold
    exact: tuple[str, ...]  #: those of them that were checked without rounding
    reported: tuple[str, ...]  #: what only the run can know
    outward: tuple[str, ...] = ()  #: those that were checked between bounds on what rounding may change
    limit: str = ""  #: what ``exact=True`` could not do, and why

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if not self.ok:
            return f"NOT verified: {self.failed}: {self.why}"
        exact = f", {len(self.exact)} of them without rounding" if self.exact else ""
        outward = f", {len(self.outward)} between bounds on the rounding" if self.outward else ""
        limit = f" ({self.limit})" if self.limit else ""
        return f"verified: {len(self.checked)} claims{exact}{outward}{limit}"

    def or_raise(self) -> "Verification":
        """Itself, or CertificateError naming the claim that fails."""
        if not self.ok:
            raise CertificateError(f"{self.failed}: {self.why}")
        return self


FLOATS, EXACT, OUTWARD = "in floats", "exactly", "rounded outwards"


def verify(c: Certificate, X: Any, y: Any, exact: bool = False, kernel: Any = None) -> Verification:
    """See :meth:`Certificate.verify`."""
    done: dict[str, list[str]] = {FLOATS: [], EXACT: [], OUTWARD: []}
    checked: list[str] = []
    name = ""

    def answer(failed: str | None, why: str) -> Verification:
        limit = _limit(c) if exact else ""
        found = tuple(checked), tuple(done[EXACT]), _reported(c), tuple(done[OUTWARD]), limit
        return Verification(failed is None, failed, why, *found)

    try:
        for name, check, how in _all_claims(c, X, y, exact, kernel):
            check()
            checked.append(name)
            done[how].append(name)
    except Failure as failure:
        return answer(name, str(failure))
    except gram.NeedsKernelError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, ArithmeticError) as error:
        return answer(name, f"it cannot be checked: {type(error).__name__}: {error}")
    return answer(None, "")


def _limit(c: Certificate) -> str:
    """What cannot be checked in fractions."""
    if c.space.kernel is None:
        if c.space.order not in (1.0, 2.0):
            return f"powers of {c.space.order:g} are irrational: they are enclosed between fractions"
        return ""
    if enclosed(c.space.kernel, table=()) is None:
        return "the kernel is a function of the user's, of whose rounding nothing is known"
    if not rational(c.space.kernel):
        return "the kernel has exponentials or roots: its values are enclosed between fractions"
    return ""


def _reported(c: Certificate) -> tuple[str, ...]:
    out = ["counts"] if c.updates is None else ["visits that changed nothing"]
    if any(bracket.source == "run" for bracket in c.brackets):
        out.append("upper margin bound")
    return tuple(out)


Step = tuple[str, Callable[[], None], str]


def _all_claims(c: Certificate, X: Any, y: Any, exact: bool, kernel: Any) -> Iterator[Step]:
    """Every claim with its check, in the order in which they are checked."""

    def body() -> None:
        found = digests.body_digest(stored.body(c))
        need(found == c.sha256, f"the content has {found}, the certificate says {c.sha256}")

    def rows() -> None:
        found = digests.rows_digest(X)
        need(found == c.data["X_sha256"], f"X has {found}, the certificate is about {c.data['X_sha256']}")

    def labels() -> None:
        found = digests.labels_digest(y)
        need(found == c.data["y_sha256"], f"y has {found}, the certificate is about {c.data['y_sha256']}")

    yield "sha256 of the certificate", body, FLOATS
    yield "sha256 of the rows", rows, FLOATS
    yield "sha256 of the labels", labels, FLOATS
    state = _State(c, X, y, kernel)
    yield from _in_floats(state, exact)
    if exact and state.exact.possible:
        how = EXACT if state.exact.rational else OUTWARD
        for name, check in _in_fractions(state):
            yield f"{name}, {how}", check, how


def _in_floats(state: "_State", exact: bool) -> Iterator[Step]:
    c = state.c
    yield "shape", state.shape, FLOATS
    yield "radius", state.radius, FLOATS
    for name in c.vectors:
        yield f"length of {name}", partial(state.length, name), FLOATS
    for r in range(len(c.brackets)):
        yield state.title("margin", r), partial(state.low, r), FLOATS
        if c.brackets[r].source == "combination":
            yield state.title("upper margin bound", r), partial(state.up, r), FLOATS
    yield "counts", state.counts, EXACT if exact else FLOATS  # whole numbers
    if c.updates is not None:
        yield "update log", state.log, FLOATS
    for bound in c.bounds:
        yield f"bound {bound.name}", partial(state.bound, bound), FLOATS
    yield "verdict", state.verdict, FLOATS


def _in_fractions(state: "_State") -> Iterator[tuple[str, Callable[[], None]]]:
    c = state.c
    yield "radius", state.exact_radius
    for name, v in c.vectors.items():
        if not (c.space.unit and v.weights is None):  # roots of its own
            yield f"length of {name}", partial(state.exact_length, name)
    for r, bracket in enumerate(c.brackets):
        if bracket.low > -math.inf:
            yield state.title("margin", r), partial(state.exact_low, r)
        if bracket.source == "combination" and bracket.up < math.inf and not c.space.unit:
            yield state.title("upper margin bound", r), partial(state.exact_up, r)
    yield "verdict", state.exact_verdict


class _State:
    """What the checks share."""

    def __init__(self, c: Certificate, X: Any, y: Any, kernel: Any):
        self.c = c
        self.codes = _codes(c.classes, y)
        self.e = Evidence(X, self.codes, c.model["problem"], len(c.classes), c.space, c.vectors, kernel)
        self.facts = Facts(self.e, c.run, c.model["parameters"], c.updates)
        self.exact = Exact(self.e)
        self.combination = "combination" if "combination" in c.vectors else "w"

    def title(self, what: str, r: int) -> str:
        return f"{what} of class {self.c.classes[r]!r}" if len(self.c.brackets) > 1 else what

    # ------------------------------------------------------------ in floats

    def shape(self) -> None:
        c = self.c
        m, d = c.data["rows"], c.data["features"]
        need(self.e.n_rows == m, f"y has {self.e.n_rows} labels, the certificate {m} rows")
        shape = getattr(self.e.X, "shape", (m, d))
        need(shape == (m, d), f"X has shape {shape}, the certificate {(m, d)}")
        columns = 1 if c.model["problem"] == "binary" else len(c.classes)
        for name, v in c.vectors.items():
            need(v.n_columns == columns, f"{name} has {v.n_columns} rows, {columns} are needed")
            if v.weights is not None:
                need(v.weights.shape[1] == d + 1, f"{name} has {v.weights.shape[1]} entries, not {d + 1}")
            else:
                assert v.rows is not None
                inside = np.all((v.rows >= 0) & (v.rows < m)) and len(np.unique(v.rows)) == len(v.rows)
                need(inside, f"the rows of {name} must be different numbers from 0 to {m - 1}")
        need(len(c.brackets) == self.e.n_parts, f"{len(c.brackets)} brackets for {self.e.n_parts} learners")
        need(
            len(c.run["parts"]) == self.e.n_parts,
            f"{len(c.run['parts'])} counts for {self.e.n_parts} learners",
        )

    def radius(self) -> None:
        need(close(self.c.radius, self.e.radius), f"R is {self.e.radius!r}, not {self.c.radius!r}")

    def length(self, name: str) -> None:
        norms = self.c.run.get("lengths", {}).get(name)
        need(norms is not None and len(norms) == self.e.n_parts, "no length is given")
        for r, claimed in enumerate(norms):
            found = self.e.norm(name, r)
            scale = self._scale(name)
            need(close(claimed, found, scale), f"the length is {found!r}, not {claimed!r}")
        offsets = self.e.offsets(name)  # no part of the length
        need(self.c.run.get("offsets", {}).get(name) == offsets, f"the offsets are {offsets!r}")

    def _scale(self, name: str) -> float:
        """The size of the terms a length is a sum of."""
        v = self.c.vectors[name]
        if v.weights is not None:
            return 0.0
        assert v.rows is not None and v.coefficients is not None
        return float(np.abs(v.coefficients).sum() * self.e.radius)

    def low(self, r: int) -> None:
        claimed, found = self.c.brackets[r].low, self.e.low(self.c.brackets[r].vector, r)
        need(close(claimed, found, 1e-4 * self.e.radius), f"the margin is {found!r}, not {claimed!r}")

    def up(self, r: int) -> None:
        claimed, found = self.c.brackets[r].up, self.e.upper(self.combination, r)
        need(
            claimed >= found * (1.0 - AGREE) - 1e-12 * self.e.radius,
            f"only {found!r} is proved, not {claimed!r}",
        )
        need(
            claimed <= found * (1.0 + 1e-6) + 1e-6 * self.e.radius, f"the bound is {found!r}, not {claimed!r}"
        )

    def counts(self) -> None:
        run = self.c.run
        for name in ("mistakes", "updates", "errors"):
            total = run[name]
            if total is None:
                continue
            parts = [part.get(name) for part in run["parts"]]
            if None not in parts:
                need(sum(parts) == total, f"{name}: the learners have {sum(parts)}, together {total}")
        if run["history"]:
            sums = np.asarray(run["history"]).sum(axis=0)
            for name, total in zip(("examples", "mistakes", "updates", "errors"), sums.tolist()):
                if run[name] is not None and run.get("whole_history", True):
                    need(total == run[name], f"{name}: the epochs have {total}, together {run[name]}")
        if run["visits"] is not None and run["examples"] is not None:
            most = run["visits"] * self.c.data["rows"] * self.e.n_parts
            need(run["examples"] <= most, f"{run['examples']} examples are more than {most} visits")

    def log(self) -> None:
        check_log(self.c, self.e)

    def bound(self, bound: Any) -> None:
        claim = CLAIMS[bound.name]
        need(bound.sense == claim.sense, f"it is stated with {bound.sense}, the theorem has {claim.sense}")
        need(bound.basis == claims.basis(bound.name), f"its basis is: {claims.basis(bound.name)}")
        need(
            len(bound.measured) == self.e.n_parts,
            f"{len(bound.measured)} lines for {self.e.n_parts} learners",
        )
        need(bound.vector is None or bound.vector in self.c.vectors, f"there is no vector {bound.vector!r}")
        u = Comparator(bound.vector or "w", bound.scales)
        for r in range(self.e.n_parts):
            found = claim.sides(self.facts, r, u.vector, u.scales[r] if u.scales else 1.0)
            self._symbols(bound.symbols[r], found.symbols)
            if bound.measured[r] is None or found.measured is None:
                need(bound.measured[r] == found.measured, f"measured: {found.measured!r}")
            else:
                same = close(bound.measured[r], found.measured, 1e-4 * abs(found.allowed))
                need(same, f"measured is {found.measured!r}, not {bound.measured[r]!r}")
            need(
                close(bound.allowed[r], found.allowed),
                f"allowed is {found.allowed!r}, not {bound.allowed[r]!r}",
            )
            if not claims.holds(found.measured, bound.sense, found.allowed):
                need(False, f"it does not hold: {found.measured!r} against {found.allowed!r}")
        need(bound.holds, "it is said not to hold, and holds")

    def _symbols(self, claimed: Any, found: Any) -> None:
        need(claimed.keys() == found.keys(), f"its symbols are {', '.join(found)}")
        for name, value in found.items():
            same = claimed[name] == value if isinstance(value, str) else close(claimed[name], value, 1e-9)
            need(same, f"{name} is {value!r}, not {claimed[name]!r}")

    def verdict(self) -> None:
        v = self.c.verdict
        if v.verdict == "separable":
            need(v.vector in self.c.vectors, f"there is no vector {v.vector!r}")
            for r in range(self.e.n_parts):
                self._separates(str(v.vector), r)
        elif v.verdict == "not separable":
            need(self.e.problem == "binary", "weights on rows are a proof for two classes")
            lam = self._weights()
            rows = np.asarray(v.rows)
            need(len(rows) and np.all((rows >= 0) & (rows < self.e.n_rows)), "a row is not there")
            residual = self._residual(rows, np.asarray([float(w) for w in lam]))
            limit = max(v.residual, 1e-13 * self.e.radius) * (1.0 + AGREE)
            need(residual <= limit, f"the weighted rows sum to {residual:.3g}, not {v.residual:.3g}")
            most = RESIDUAL * max(1.0, self.e.radius)
            need(residual <= most, f"the weighted rows sum to {residual:.3g}, more than {most:.3g}")

    def _separates(self, name: str, r: int) -> None:
        m, error = self.e.margins(name, r), self.e.rounding(name, r)
        wrong = np.flatnonzero(m + error <= 0.0)
        need(not len(wrong), f"row {wrong[0] if len(wrong) else ''} is not on its side")
        doubtful = np.flatnonzero(m <= error)
        need(self.exact.possible or not len(doubtful), "rounding may hide a row on the wrong side")
        for i in doubtful.tolist():
            need(self.exact.margin(name, i, r).low > 0, f"row {i} is not on its side")

    def _weights(self) -> list[Fraction]:
        v = self.c.verdict
        try:
            lam = [Fraction(w) for w in v.weights]
        except (ValueError, ZeroDivisionError) as error:
            raise Failure(f"a weight is no number: {error}") from error
        need(len(lam) == len(v.rows) and all(w > 0 for w in lam), "weights must be positive, one per row")
        return lam

    def _residual(self, rows: np.ndarray, lam: np.ndarray) -> float:
        a = lam / lam.sum() * self.e.signs(0)[rows]
        if self.e.space.kernel is not None:
            return math.sqrt(max(0.0, float(a @ self.e._kernel(rows, rows) @ a)))
        total = np.asarray(self.e.X[rows].T @ a, dtype=float).ravel()
        constant = 1.0 if self.e.space.free else self.e.space.bias
        return math.hypot(float(np.linalg.norm(total)), constant * float(a.sum()))

    # ------------------------------------------------------------ without rounding

    def exact_radius(self) -> None:
        need(self.exact.radius_holds(self.c.radius), f"some row is longer than {self.c.radius!r}")

    def exact_length(self, name: str) -> None:
        for r, claimed in enumerate(self.c.run["lengths"][name]):
            slack = AGREE * max(claimed, self._scale(name))
            square = self.exact.norm2(name, r)
            low, high = max(0.0, claimed - slack), claimed + slack
            inside = Fraction(low) ** 2 <= square.high and square.low <= Fraction(high) ** 2
            need(inside, f"the length is not {claimed!r}")

    def exact_low(self, r: int) -> None:
        bracket = self.c.brackets[r]
        need(
            self.exact.low_holds(bracket.vector, r, bracket.low),
            f"some row has a margin below {bracket.low!r}",
        )

    def exact_up(self, r: int) -> None:
        holds = self.exact.upper_holds(self.combination, r, self.c.brackets[r].up)
        need(holds, "the combination of rows is longer")

    def exact_verdict(self) -> None:
        v = self.c.verdict
        if v.verdict == "separable":
            for r in range(self.e.n_parts):
                wrong = self.exact.separates(str(v.vector), r)
                need(wrong is None, f"row {wrong} is not on its side")
        elif v.verdict == "not separable":
            residual2 = self.exact.residual2(list(v.rows), self._weights())
            if v.exact:
                need(residual2.high == 0, "the weighted rows do not sum to 0")
            else:
                need(
                    residual2.high <= Fraction(v.residual) ** 2,
                    f"the weighted rows sum to more than {v.residual!r}",
                )


def _codes(classes: list[Any], y: Any) -> np.ndarray:
    places = {label: code for code, label in enumerate(classes)}
    y = y.tolist() if hasattr(y, "tolist") else list(y)
    try:
        return np.asarray([places[label] for label in y], dtype=np.int64)
    except KeyError as error:
        raise Failure(f"y has a label {error.args[0]!r} that the certificate does not know") from error
