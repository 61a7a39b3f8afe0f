"""The independent checker: every claim of a certificate, computed again from rows, labels and weights.

It knows no learner, no compiled loop and no solver. What only the run can know, its counts, must agree
with itself and with the log, and is listed as reported.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from . import claims, digests, gram
from .certificate import Certificate, CertificateError, to_body
from .claims import CLAIMS, Comparator, Facts
from .evidence import Evidence, Exact

#: Two computations of one number may differ by this much, relative to its size.
AGREE = 1e-8
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

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            exact = f", {len(self.exact)} of them without rounding" if self.exact else ""
            return f"verified: {len(self.checked)} claims{exact}"
        return f"NOT verified: {self.failed}: {self.why}"

    def or_raise(self) -> "Verification":
        """Itself, or CertificateError naming the claim that fails."""
        if not self.ok:
            raise CertificateError(f"{self.failed}: {self.why}")
        return self


class _Failure(Exception):
    pass


def need(condition: Any, why: str) -> None:
    if not condition:
        raise _Failure(why)


def close(claimed: float, found: float, scale: float = 0.0) -> bool:
    """Whether two computations of a number agree."""
    if math.isinf(claimed) or math.isinf(found):
        return claimed == found
    return abs(claimed - found) <= AGREE * max(abs(claimed), abs(found), scale, 1e-300)


def verify(c: Certificate, X: Any, y: Any, exact: bool = False, kernel: Any = None) -> Verification:
    """See :meth:`Certificate.verify`."""
    checked: list[str] = []
    without_rounding: list[str] = []
    name = ""
    try:
        for name, check, is_exact in _all_claims(c, X, y, exact, kernel):
            check()
            checked.append(name)
            if is_exact:
                without_rounding.append(name)
    except _Failure as failure:
        return Verification(False, name, str(failure), tuple(checked), tuple(without_rounding), _reported(c))
    except gram.NeedsKernelError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, ArithmeticError) as error:
        why = f"it cannot be checked: {type(error).__name__}: {error}"
        return Verification(False, name, why, tuple(checked), tuple(without_rounding), _reported(c))
    return Verification(True, None, "", tuple(checked), tuple(without_rounding), _reported(c))


def _reported(c: Certificate) -> tuple[str, ...]:
    out = ["counts"] if c.updates is None else ["visits that changed nothing"]
    if any(bracket.source == "run" for bracket in c.brackets):
        out.append("upper margin bound")
    return tuple(out)


Step = tuple[str, Callable[[], None], bool]


def _all_claims(c: Certificate, X: Any, y: Any, exact: bool, kernel: Any) -> Iterator[Step]:
    """Every claim with its check, in the order in which they are checked."""

    def body() -> None:
        found = digests.body_digest(to_body(c))
        need(found == c.sha256, f"the content has {found}, the certificate says {c.sha256}")

    def rows() -> None:
        found = digests.rows_digest(X)
        need(found == c.data["X_sha256"], f"X has {found}, the certificate is about {c.data['X_sha256']}")

    def labels() -> None:
        found = digests.labels_digest(y)
        need(found == c.data["y_sha256"], f"y has {found}, the certificate is about {c.data['y_sha256']}")

    yield "sha256 of the certificate", body, False
    yield "sha256 of the rows", rows, False
    yield "sha256 of the labels", labels, False
    state = _State(c, X, y, kernel)
    yield "shape", state.shape, False
    yield "radius", state.radius, False
    for name in c.vectors:
        yield f"length of {name}", lambda name=name: state.length(name), False  # type: ignore[misc]
    for r in range(len(c.brackets)):
        yield state.title("margin", r), lambda r=r: state.low(r), False  # type: ignore[misc]
        if c.brackets[r].source == "combination":
            yield state.title("upper margin bound", r), lambda r=r: state.up(r), False  # type: ignore[misc]
    yield "counts", state.counts, False
    if c.updates is not None:
        yield "update log", state.log, False
    for bound in c.bounds:
        yield f"bound {bound.name}", lambda bound=bound: state.bound(bound), False  # type: ignore[misc]
    yield "verdict", state.verdict, False
    if exact and state.exact.possible:
        euclidean = c.space.order == 2.0
        if euclidean:
            yield "radius, exactly", state.exact_radius, True
        for name in c.vectors:
            if euclidean and not (c.space.unit and c.vectors[name].weights is None):
                yield f"length of {name}, exactly", lambda name=name: state.exact_length(name), True  # type: ignore[misc]
        for r, bracket in enumerate(c.brackets):
            if euclidean and bracket.low > -math.inf:
                yield state.title("margin", r) + ", exactly", lambda r=r: state.exact_low(r), True  # type: ignore[misc]
            if bracket.source == "combination" and bracket.up < math.inf and not c.space.unit:
                yield state.title("upper margin bound", r) + ", exactly", lambda r=r: state.exact_up(r), True  # type: ignore[misc]
        yield "verdict, exactly", state.exact_verdict, True


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
        u, run = self.c.updates, self.c.run
        assert u is not None
        need(np.all((u.row >= 0) & (u.row < self.e.n_rows)), "a row is not there")
        need(np.all((u.part >= 0) & (u.part < self.e.n_parts)), "a class is not there")
        for r in range(self.e.n_parts):
            own = u.of(r)
            claimed = run["parts"][r]["updates"]
            need(len(own.row) == claimed, f"the log has {len(own.row)} updates, the run {claimed}")
            need(np.all(np.diff(own.epoch) >= 0), "the epochs are out of order")
            self._signs(own, r)
        if run.get("replays", False):
            self._replay()
        if run.get("conservative", False):
            self._mistaken()

    def _signs(self, own: Any, r: int) -> None:
        """Every update moves w towards its row."""
        if self.e.problem == "joint":
            true = self.codes[own.row]
            gains = own.alpha[np.arange(len(true)), true]
            need(np.all(gains >= 0.0), "an update lowers the true class")
        else:
            need(np.all(own.alpha[:, 0] * self.e.signs(r)[own.row] >= 0.0), "an update goes the wrong way")

    def _replay(self) -> None:
        """w is what the updates leave."""
        u, v = self.c.updates, self.c.vectors["w"]
        assert u is not None
        for r in range(self.e.n_parts):
            rows, a = u.coefficients(r)
            columns = range(len(a)) if self.e.problem == "joint" else [r]
            tol = self._replay_tolerance(u.of(r))
            for j, column in enumerate(columns):
                if v.weights is None:
                    assert v.rows is not None and v.coefficients is not None
                    claimed = dict(zip(v.rows.tolist(), v.coefficients[column].tolist()))
                    for i, value in zip(rows.tolist(), a[j].tolist()):
                        need(abs(claimed.get(i, 0.0) - value) <= tol, f"row {i} has coefficient {value!r}")
                    continue
                w = self._combined(rows, a[j])
                apart = float(np.abs(w - v.weights[column]).max())
                need(
                    apart <= tol * max(1.0, self.e.radius), f"the updates leave a w that is {apart:.3g} away"
                )

    def _replay_tolerance(self, own: Any) -> float:
        size = float(np.abs(own.alpha).sum()) if len(own.alpha) else 0.0
        unit = 1e-5 if self.c.run.get("single_precision") else 1e-9
        return unit * max(1.0, size)

    def _combined(self, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        if self.e.space.unit:
            a = a / np.sqrt(self.e.q[rows])
        if not len(rows):
            return np.zeros(self.e.n_features + 1)
        w = np.asarray(self.e.X[rows].T @ a, dtype=float).ravel()
        return np.append(w, self.e.space.bias * a.sum())

    def _mistaken(self) -> None:
        """Every update was made on a row on the wrong side, or on the hyperplane."""
        u = self.c.updates
        assert u is not None
        if self.e.space.kernel is not None or self.e.problem == "joint":
            return
        slack = 1e-4 if self.c.run.get("single_precision") else 1e-9
        for r in range(self.e.n_parts):
            own, signs = u.of(r), self.e.signs(r)
            w = np.zeros(self.e.n_features + 1)
            size = 0.0
            for i, keep, alpha in zip(own.row.tolist(), own.keep.tolist(), own.alpha[:, 0].tolist()):
                x = self._combined(np.asarray([i]), np.ones(1))
                m = signs[i] * float(w @ x)
                need(m <= slack * max(1.0, size * float(x @ x)), f"row {i} was updated on at margin {m:.6g}")
                w = keep * w + alpha * x
                size = keep * size + abs(alpha)

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
            need(self.exact.margin(name, i, r) > 0, f"row {i} is not on its side")

    def _weights(self) -> list[Fraction]:
        v = self.c.verdict
        try:
            lam = [Fraction(w) for w in v.weights]
        except (ValueError, ZeroDivisionError) as error:
            raise _Failure(f"a weight is no number: {error}") from error
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
            need(Fraction(low) ** 2 <= square <= Fraction(high) ** 2, f"the length is not {claimed!r}")

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
                need(residual2 == 0, "the weighted rows do not sum to 0")
            else:
                need(
                    residual2 <= Fraction(v.residual) ** 2,
                    f"the weighted rows sum to more than {v.residual!r}",
                )


def _codes(classes: list[Any], y: Any) -> np.ndarray:
    places = {label: code for code, label in enumerate(classes)}
    y = y.tolist() if hasattr(y, "tolist") else list(y)
    try:
        return np.asarray([places[label] for label in y], dtype=np.int64)
    except KeyError as error:
        raise _Failure(f"y has a label {error.args[0]!r} that the certificate does not know") from error
