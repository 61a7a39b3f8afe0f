"""The independent checker: every claim of a certificate, computed again from rows, labels and weights.

It uses no learner, no compiled loop and no solver. Classes, rows and the number of learners come from the
data. Ends of brackets, the radius and the verdict must be true whatever rounding does; other numbers must
agree with what is found. Counts of the run cannot be derived from the rows: they must agree with each other
and with the log, and are listed as reported, by the names of their fields. Comparisons are written so that
what is not a number fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._types import Json, Objects, PairFunction
from ..theory import gram
from ..theory._given import label_codes, label_list, numbers
from ..theory.enclosed import enclosed, rational
from . import as_json, bracket_ends, claims, digests, version1
from .agreement import AGREE, ClaimFailure, close, need
from .certificate import Certificate, CertificateError
from .claims import CLAIMS
from .evidence import Evidence
from .facts import ClaimFacts, Multiple
from .log_replay import check_log, replays
from .parts import BY_ROWS, Bound

#: An end of a bracket may be this much weaker than what its evidence proves.
TIGHT = 1e-6
#: Two computations of a risk may differ by ``AGREE`` times this: 1e-12, as in ``claims.holds``.
RISK = 1e-4


class Verification(NamedTuple):
    """The result of a check; true as a condition when every claim holds."""

    ok: bool
    failed: str | None  #: the first claim that does not hold
    why: str  #: what was found instead
    checked: tuple[str, ...]  #: claims that hold
    exact: tuple[str, ...]  #: those of them that were checked without rounding
    reported: tuple[str, ...]  #: names of the fields that are taken as the run reported them
    outward: tuple[str, ...] = ()  #: those that were checked between bounds on what rounding may change
    limit: str = ""  #: what ``exact=True`` could not do, and why
    rules: str = ""  #: says so where the certificate is of an older version, which claimed less

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        rules = f"; {self.rules}" if self.rules else ""
        if not self.ok:
            return f"NOT verified: {self.failed}: {self.why}{rules}"
        exact = f", {len(self.exact)} of them without rounding" if self.exact else ""
        outward = f", {len(self.outward)} between bounds on the rounding" if self.outward else ""
        limit = f" ({self.limit})" if self.limit else ""
        return f"verified: {len(self.checked)} claims{exact}{outward}{limit}{rules}"

    def or_raise(self) -> Verification:
        """Return the result itself, or raise CertificateError naming the claim that fails."""
        if not self.ok:
            raise CertificateError(f"{self.failed}: {self.why}")
        return self


FLOATS, EXACT, OUTWARD = "in floats", "exactly", "rounded outwards"


def verify(
    c: Certificate, X: Objects, y: npt.ArrayLike, exact: bool = False, kernel: PairFunction | None = None
) -> Verification:
    """See :meth:`Certificate.verify`."""
    done: dict[str, list[str]] = {FLOATS: [], EXACT: [], OUTWARD: []}
    checked: list[str] = []
    name = "sha256 of the certificate"

    def result(failed: str | None, why: str) -> Verification:
        limit = _limit(c) if exact else ""
        rules = version1.MARK if c.version == 1 else ""
        found = tuple(checked), tuple(done[EXACT]), reported(c), tuple(done[OUTWARD]), limit, rules
        return Verification(failed is None, failed, why, *found)

    try:
        with np.errstate(all="ignore"):  # what is not a number fails every comparison
            for name, check, how in _all_claims(c, X, y, exact, kernel):
                check()
                checked.append(name)
                done[how].append(name)
    except ClaimFailure as failure:
        return result(name, str(failure))
    except Exception as error:  # no content of a certificate makes verify raise
        return result(name, f"it cannot be checked: {type(error).__name__}: {error}")
    return result(None, "")


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


def reported(c: Certificate) -> tuple[str, ...]:
    """The fields that are taken as the run reported them; each must still agree with the others."""
    run = ("examples", "epochs", "mistakes", "errors", "stop_reason", "visits", "delta", "history")
    out = ["model.class", "model.parameters", "notes", *(f"run.{name}" for name in run)]
    also = ("single_precision", "gamma", "threshold", "shards")
    out += [f"run.{name}" for name in also if name in c.run]
    derived = {"updates", "sum_sq_norms"} if replays(c) else {"updates"} if c.updates is not None else set()
    out += [
        f"run.parts.{name}" for name in sorted(set(c.run["parts"][0]) - derived - {"risk", "on_boundary"})
    ]
    if c.updates is None:
        out.append("run.updates")
    elif replays(c):
        out.append("updates.epoch")
    else:
        out.append("updates")
    # any vector proves what is claimed of it; only a log shows that it is the learner's own
    out += [f"vectors.{name}" for name in c.vectors if name != "w" or not replays(c)]
    return tuple(out)


Step = tuple[str, Callable[[], None], str]


def _all_claims(
    c: Certificate, X: Objects, y: npt.ArrayLike, exact: bool, kernel: PairFunction | None
) -> Iterator[Step]:
    """Every claim with its check, in the order in which they are checked."""

    def body() -> None:
        found = digests.body_digest(as_json.body(c))
        need(found == c.sha256, f"the content has {found}, the certificate says {c.sha256}")

    def rows() -> None:
        numeric = c.space.kernel is None or gram.takes(c.space.kernel) != "objects"
        found = digests.rows_digest(numbers(X) if numeric else X)
        need(found == c.data["X_sha256"], f"X has {found}, the certificate is about {c.data['X_sha256']}")

    def labels() -> None:
        found = digests.labels_digest(y)
        need(found == c.data["y_sha256"], f"y has {found}, the certificate is about {c.data['y_sha256']}")

    def classes() -> None:
        found, known = _classes(y), c.model["classes"]
        need(found == known, f"y has the classes {_short(found)}, the certificate {_short(known)}")

    yield "sha256 of the certificate", body, FLOATS
    yield "sha256 of the rows", rows, FLOATS
    yield "sha256 of the labels", labels, FLOATS
    yield "classes", classes, FLOATS
    state = _State(c, X, y, kernel)
    yield from _in_floats(state, exact)
    if exact and state.exact.possible:
        how = EXACT if state.exact.rational else OUTWARD
        for name, check in _in_fractions(state):
            yield f"{name}, {how}", check, how


def _in_floats(state: _State, exact: bool) -> Iterator[Step]:
    c = state.c
    yield "shape", state.shape, FLOATS
    yield "radius", state.radius, FLOATS
    for name in c.vectors:
        yield f"length of {name}", partial(state.length, name), FLOATS
    for r, bracket in enumerate(c.brackets):
        yield state.title("margin", r), partial(state.low, r), FLOATS
        if bracket.source == BY_ROWS:
            yield state.title("upper margin bound", r), partial(state.up, r), FLOATS
    yield "counts", state.counts, EXACT if exact else FLOATS  # whole numbers
    if c.updates is not None:
        yield "update log", state.log, FLOATS
    for bound in c.bounds:
        yield f"bound {bound.name}", partial(state.bound, bound), FLOATS
    yield "verdict", state.verdict, FLOATS


def _in_fractions(state: _State) -> Iterator[tuple[str, Callable[[], None]]]:
    c = state.c
    yield "radius", state.exact_radius
    for name in c.vectors:
        yield f"length of {name}", partial(state.exact_length, name)
    for r, bracket in enumerate(c.brackets):
        if bracket.low > -math.inf:
            yield state.title("margin", r), partial(state.exact_low, r)
        if bracket.source == BY_ROWS:
            yield state.title("upper margin bound", r), partial(state.exact_up, r)
    yield "verdict", state.exact_verdict


class _State:
    """What the checks share."""

    def __init__(self, c: Certificate, X: Objects, y: npt.ArrayLike, kernel: PairFunction | None):
        self.c = c
        self.codes = label_codes(c.classes, y)
        self.e = Evidence(X, self.codes, c.model["problem"], len(c.classes), c.space, c.vectors, kernel)
        self.facts = ClaimFacts(self.e, c.run, c.model["parameters"], c.updates)
        self.exact = self.e.exact

    def title(self, what: str, r: int) -> str:
        return f"{what} of class {self.c.classes[r]!r}" if len(self.c.brackets) > 1 else what

    # ------------------------------------------------------------ in floats

    def shape(self) -> None:
        """The schema has compared the parts of the certificate with each other; this is against the data."""
        m, d = self.c.data["rows"], self.c.data["features"]
        need(self.e.n_rows == m, f"y has {self.e.n_rows} labels, the certificate {m} rows")
        if hasattr(self.e.X, "shape"):
            need(self.e.X.shape == (m, d), f"X has shape {self.e.X.shape}, the certificate {(m, d)}")
        else:
            need(len(self.e.X) == m and d == 0, f"X has {len(self.e.X)} objects, the certificate {(m, d)}")
        if self.e.given is not None:  # of integers that float64 rounds
            run = bool(self.c.bounds) or self.c.updates is not None or "risk" in self.c.run["parts"][0]
            need(not run, "the run has met rounded rows, and X has the integers")
        if self.c.space.kernel is not None and gram.takes(self.c.space.kernel) == "table":
            need(d >= m, f"a table of {m} rows has {d} columns")

    def radius(self) -> None:
        claimed, found = self.c.radius, self.e.radius
        need(close(claimed, found), f"R is {found!r}, not {claimed!r}")
        if not claimed >= found:  # by less than floats can tell: look at the rows that may be longer
            longer = np.flatnonzero(~(self.e.lengths * (1.0 + self.e.stretch) <= claimed))
            known = self.exact.possible and self.exact.radius_holds(claimed, longer.tolist())
            need(known, f"some row is longer than {claimed!r}")

    def length(self, name: str) -> None:
        norms = self.c.run["lengths"][name]
        need(len(norms) == self.e.n_parts, f"{len(norms)} lengths for {self.e.n_parts} learners")
        for r, claimed in enumerate(norms):
            found = self.e.norm(name, r)
            scale = self._scale(name)
            need(close(claimed, found, scale), f"the length is {found!r}, not {claimed!r}")
        offsets = self.e.offsets(name)  # no part of the length
        need(self.c.run["offsets"][name] == offsets, f"the offsets are {offsets!r}")

    def _scale(self, name: str) -> float:
        """The size of the terms a length is a sum of."""
        v = self.c.vectors[name]
        if v.weights is not None:
            return 0.0
        assert v.rows is not None and v.coefficients is not None
        return float(np.abs(v.coefficients).sum() * self.e.radius)

    @property
    def _idle(self) -> float:
        """By how much an end may be weaker than what is proved, beside ``TIGHT``: version 1 rounded more."""
        return TIGHT * self.e.radius if self.c.version == 1 else 2.0**-1070

    def low(self, r: int) -> None:
        b = self.c.brackets[r]
        if b.vector is None:
            return  # nothing is claimed
        need(b.vector in self.c.vectors, f"there is no vector {b.vector!r}")
        found = self.e.low(b.vector, r)
        need(found > -math.inf, f"{b.vector} does not separate the rows")
        near = abs(b.low - found) <= TIGHT * found + self._idle
        need(near, f"the margin is {found!r}, not {b.low!r}")
        if not b.low <= found:
            need(bracket_ends.low_holds(self.e, b.vector, r, b.low), f"some row has a margin below {b.low!r}")

    def up(self, r: int) -> None:
        b = self.c.brackets[r]
        found = bracket_ends.up(self.e, b.weights, r)
        near = b.up <= found * (1.0 + TIGHT) + self._idle
        need(near, f"the bound is {found!r}, not {b.up!r}")
        need(bracket_ends.up_holds(self.e, b.weights, r, b.up), f"only {found!r} is proved, not {b.up!r}")

    def counts(self) -> None:
        run = self.c.run
        for name in ("mistakes", "updates", "errors"):
            parts = [part.get(name) for part in run["parts"]]
            total = None if None in parts else sum(parts)
            need(run[name] == total, f"{name}: the learners have {total}, together {run[name]}")
        if run["history"]:
            sums = np.asarray(run["history"]).sum(axis=0).tolist()
            for name, total in zip(("examples", "mistakes", "updates", "errors"), sums):
                need(
                    run[name] is None or total == run[name],
                    f"{name}: the epochs have {total}, not {run[name]}",
                )
        if run["visits"] is not None and run["examples"] is not None:
            most = run["visits"] * self.e.n_rows * self.e.n_parts
            need(run["examples"] <= most, f"{run['examples']} examples are more than {most} visits")
        if "shards" in run:
            self._shards(np.asarray(run["shards"]["updates"], dtype=object))
        for r, part in enumerate(run["parts"]):
            self._part(r, part)

    def _shards(self, k: np.ndarray) -> None:
        """k: (rounds, learners, shards), updates."""
        for number, (record, total) in enumerate(zip(self.c.run["history"], k.sum(axis=(1, 2)).tolist())):
            need(
                total == record[2], f"round {number}: the shards have {total} updates, the round {record[2]}"
            )
        for part, total in zip(self.c.run["parts"], k.sum(axis=(0, 2)).tolist()):
            need(total == part["updates"], f"the shards have {total} updates, not {part['updates']}")

    def _part(self, r: int, part: Mapping[str, Json]) -> None:
        if "promotions" in part:
            total = part["promotions"] + part["demotions"]
            need(total == part["updates"], f"promotions and demotions are {total}, updates {part['updates']}")
        if "risk" in part:
            claim = CLAIMS["risk"].sides(self.facts, r, "w", 1.0)
            need(claims.holds(part["risk"], "==", claim.allowed), f"the risk is {claim.allowed!r}")
        if "on_boundary" in part:
            rows = CLAIMS["on the boundary"].sides(self.facts, r, "w", 1.0).allowed
            need(part["on_boundary"] == rows, f"{rows:g} rows are on the boundary, not {part['on_boundary']}")

    def log(self) -> None:
        check_log(self.c, self.e)

    def bound(self, bound: Bound) -> None:
        claim = CLAIMS[bound.name]
        u = Multiple(bound.vector or "w", bound.scales)
        for r in range(self.e.n_parts):
            found = claim.sides(self.facts, r, u.vector, u.scales[r])
            self._symbols(bound.symbols[r], found.symbols)
            claimed = bound.measured[r]
            if claimed is None or found.measured is None:
                need(claimed is found.measured, f"measured: {found.measured!r}")
            elif isinstance(found.measured, int):
                need(claimed == found.measured, f"measured is {found.measured!r}, not {claimed!r}")
            else:
                same = close(claimed, found.measured, 1e-4 * abs(found.allowed))
                need(same, f"measured is {found.measured!r}, not {claimed!r}")
            need(
                close(bound.allowed[r], found.allowed, RISK if bound.name == "risk" else 0.0),
                f"allowed is {found.allowed!r}, not {bound.allowed[r]!r}",
            )
            if not claims.holds(found.measured, bound.sense, found.allowed):
                need(False, f"it does not hold: {found.measured!r} against {found.allowed!r}")

    def _symbols(self, claimed: Mapping[str, Json], found: Mapping[str, float]) -> None:
        need(claimed.keys() == found.keys(), f"its symbols are {', '.join(found)}")
        for name, value in found.items():
            if isinstance(value, (str, bool)) or value is None:
                same = claimed[name] == value and type(claimed[name]) is type(value)
            else:
                number = isinstance(claimed[name], (int, float)) and not isinstance(claimed[name], bool)
                same = number and close(claimed[name], value, RISK if name == "risk" else 1e-9)
            need(same, f"{name} is {value!r}, not {claimed[name]!r}")

    def verdict(self) -> None:
        v = self.c.verdict
        if v.verdict == "separable":
            for r in range(self.e.n_parts):
                need(self.e.low(str(v.vector), r) > -math.inf, f"{v.vector} does not separate the rows")
        elif v.verdict == "not separable":
            need(self.exact.possible, "a kernel of the user's own has no exact values")
            zero = self.exact.vanishes(list(v.rows), list(v.weights))
            need(zero, "the weighted rows do not sum to exactly 0")

    # ------------------------------------------------------------ without rounding

    def exact_radius(self) -> None:
        need(self.exact.radius_holds(self.c.radius), f"some row is longer than {self.c.radius!r}")

    def exact_length(self, name: str) -> None:
        for r, claimed in enumerate(self.c.run["lengths"][name]):
            slack = AGREE * max(claimed, self._scale(name), 1e-300)
            square = self.exact.norm2(name, r)
            low, high = max(0.0, claimed - slack), claimed + slack
            inside = Fraction(low) ** 2 <= square.high and square.low <= Fraction(high) ** 2
            need(inside, f"the length is not {claimed!r}")

    def exact_low(self, r: int) -> None:
        b = self.c.brackets[r]
        need(self.exact.low_holds(str(b.vector), r, b.low), f"some row has a margin below {b.low!r}")

    def exact_up(self, r: int) -> None:
        b = self.c.brackets[r]
        found = self.exact.up(b.weights, r)
        need(found <= b.up, f"the weighted rows prove {found!r}, not {b.up!r}")

    def exact_verdict(self) -> None:
        if self.c.verdict.verdict == "separable":
            for r in range(self.e.n_parts):
                wrong = self.exact.separates(str(self.c.verdict.vector), r)
                need(wrong is None, f"row {wrong} is not on its side")
        else:
            self.verdict()


def _classes(y: npt.ArrayLike) -> list[list[str]]:
    """The labels of the data in order, as a certificate writes them."""
    pairs = {tuple(digests.encode_label(label)): label for label in dict.fromkeys(label_list(y))}
    return [digests.encode_label(label) for label in sorted(pairs.values())]


def _short(pairs: list[list[str]]) -> str:
    shown = ", ".join(repr(text) for _, text in pairs[:5])
    return f"{shown}, ... ({len(pairs)})" if len(pairs) > 5 else shown
