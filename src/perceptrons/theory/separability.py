r"""Whether a halfspace separates two classes: the verdict, its proof, and a check of the proof from the data.

Gordan (1873): of the two exactly one holds.

(a) Some (w, b) has :math:`y_i(\langle w, x_i\rangle + b) > 0` on every row.

(b) Some :math:`\lambda \ge 0` with :math:`\sum\lambda_i = 1` has
    :math:`\sum\lambda_i y_i (x_i, 1) = 0`; the point :math:`2\sum_+\lambda_i x_i = 2\sum_-\lambda_i x_i`
    then lies in the convex hulls of both classes.

Both sides prove themselves: (w, b) by one product with the rows, :math:`\lambda` by another, in whole
numbers. Weights that fit only up to a residual :math:`\rho = \|\sum\lambda_i y_i (x_i, 1)\|` decide
nothing: no separator has a margin above :math:`\rho` among the rows (x, 1), and there may be one below.
Without an intercept the 1 is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from .._types import Floats, Json, JsonObject, Matrix, MatrixLike
from . import _outward as outward
from . import _rational as rational
from .weighted_rows import as_rows, combination, exact_residual, float_residual, signs

VERDICTS = ("separable", "not separable", "undecided")
MOST_ROWS = 10**8  # of a stored proof
AGREE = 1e-9  # relative difference up to which two ways of computing a number agree

#: How a proof may have been found, by verdict. Numbers in them are checked where the data determine them.
REASONS = {
    "separable": (
        r"all rows have one label",
        r"a perceptron pass was clean, after \d+ updates",
        r"a separator of \d+ rows separates all",
        r"the simplex method in whole numbers found a separator",
    ),
    "not separable": (
        r"row (?P<zero>\d+) is the zero vector",
        r"rows (?P<one>\d+) and (?P<other>\d+) are the same x with both labels",
        r"among (?P<hulls>\d+) rows both hulls meet",
        r"(?P<origin>\d+) rows have 0 in their hull",
    ),
    "undecided": (
        r"the time was over",
        r"weights that floats suggest are not exact",
        r"exact weights were not asked for",
        r"the separator that floats suggest is not exact",
        r"there is a separator, but none was found among floats",
    ),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Separability:
    r"""Verdict on two classes of rows, with the proof.

    Attributes
    ----------
    verdict : {"separable", "not separable", "undecided"}
    fit_intercept : bool
        Whether b may differ from 0.
    claim : str
        One sentence, exactly as strong as what was proved.
    reason : str
        How the proof was found: "row 7 is the zero vector", "a perceptron pass was clean", ...
    one_class : bool
        All rows have one label. With an intercept the separator is w = 0 and b = ±1, of margin ∞.
    exact : bool
        The proof holds without rounding: signs of :math:`y(\langle w, x\rangle + b)` are certain, or
        ``numerators`` solve (b) in whole numbers. True unless undecided.
    margin : float or None
        :math:`\min_i y_i(\langle w, x_i\rangle + b)/\|w\|`, rounded down, if separable.
    w, b : ndarray and float, or None
        The separator.
    weights : ndarray or None
        :math:`\lambda`, one per row. Of an undecided verdict the best weights found, if any.
    residual : float or None
        :math:`\rho` of ``weights`` as floats, rounded up. Not 0 even for an exact proof, when the
        exact weights are no floats.
    point : ndarray or None
        The common point of both hulls, with an intercept; rounded.
    numerators, denominator : tuple of int and int, or None
        :math:`\lambda` of the rows in ``support`` in whole numbers, for an exact proof.
    bracket : (float, float)
        Bounds on the best geometric margin of any (w, b), rounded outwards: the margin of the separator, and
        the length of the rows combined by ``weights``, or all alike without them. Not tight.
    seconds : float
        What it took.

    Examples
    --------
    Exclusive or. Half way between the positive rows and half way between the negative ones is the same
    point:

    >>> proof = Separability(
    ...     verdict="not separable",
    ...     fit_intercept=True,
    ...     claim="no (w, b) separates the 4 rows: the hulls of 4 of them meet, exactly",
    ...     reason="among 4 rows both hulls meet",
    ...     exact=True,
    ...     weights=np.full(4, 0.25),
    ...     residual=0.0,
    ...     point=np.zeros(2),
    ...     numerators=(1, 1, 1, 1),
    ...     denominator=4,
    ...     bracket=(0.0, 0.0),
    ... )
    >>> X, y = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1, 1, 1, -1])
    >>> proof.check(X, y, exact=True) is None
    True
    >>> proof.check(X, [-1, 1, 1, 1])
    'the weights leave a residual of 0.87, and 0 was claimed'
    """

    verdict: str
    fit_intercept: bool
    claim: str
    reason: str
    one_class: bool = False
    exact: bool = False
    margin: float | None = None
    w: np.ndarray | None = None
    b: float | None = None
    weights: np.ndarray | None = None
    residual: float | None = None
    point: np.ndarray | None = None
    numerators: tuple[int, ...] | None = None
    denominator: int | None = None
    bracket: tuple[float, float] = (0.0, math.inf)
    seconds: float = 0.0

    @property
    def support(self) -> np.ndarray:
        """Rows of positive weight; none without weights."""
        if self.weights is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.weights > 0.0)

    @property
    def reported(self) -> tuple[str, ...]:
        """Fields that come from the search alone: the check does not confirm them."""
        told = re.fullmatch("|".join(REASONS.get("not separable", ())), self.reason) is not None
        return ("seconds",) if told or self.reason == REASONS["separable"][0] else ("reason", "seconds")

    def check(self, X: MatrixLike, y: npt.ArrayLike, exact: bool = False) -> str | None:
        r"""Check everything that is stated against the data; None, or the first thing that is wrong.

        A separator is checked by one product with the rows; a row whose sign rounding could change is
        looked at again in whole numbers, and so are weights that prove that there is none. Margin, residual
        and bracket are checked between bounds on the rounding; with ``exact=True`` in whole numbers too,
        floats and integers being what they are. Claim, point and each reason that is about the
        data are derived again. What is left to trust is in ``reported``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            One or two labels; the larger one is +1.
        exact : bool, default=False

        Returns
        -------
        wrong : str or None
        """
        X, y = as_rows(X), signs(y)
        if X.shape[0] != y.size:
            return f"X has {X.shape[0]} rows and y has {y.size} labels"
        stored = outward.values(X)
        if stored.dtype.kind == "f" and not np.all(np.isfinite(stored)):
            return "X holds NaN or infinity"
        wrong = self._malformed()
        if wrong is not None:
            return wrong
        if self.one_class != bool(np.all(y == y[0])):
            return "one class is claimed, and y has two" if self.one_class else "y has one class, not claimed"
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what is not finite fails
            if self.verdict == "separable":
                wrong = self._check_separator(X, y, exact)
            elif self.verdict == "not separable":
                wrong = self._check_weights(X, y, exact)
            else:
                wrong = self._check_undecided(X, y, exact)
        return wrong or self._check_words(X, y)

    def _malformed(self) -> str | None:
        """What is not of the form that a verdict has: types, ranges, entries too many or too few."""
        if self.verdict not in VERDICTS:
            return f"the verdict is {self.verdict!r}, which is none of {', '.join(map(repr, VERDICTS))}"
        for name in ("fit_intercept", "one_class", "exact"):
            if not isinstance(getattr(self, name), bool):
                return f"{name} is {getattr(self, name)!r}, not True or False"
        for name in ("claim", "reason"):
            if not isinstance(getattr(self, name), str):
                return f"{name} is no text"
        if not (_is_float(self.seconds) and 0.0 <= self.seconds < math.inf):
            return f"seconds is {self.seconds!r}, not a number of at least 0"
        bracket = self.bracket
        if not (isinstance(bracket, tuple) and len(bracket) == 2 and all(map(_is_float, bracket))):
            return f"the bracket is {bracket!r}, not two numbers"
        if not 0.0 <= bracket[0] <= bracket[1]:
            return f"the bracket is {bracket!r}, not from 0 or more upwards"
        parts = {"separable": "w b margin", "not separable": "weights residual numerators denominator"}
        needed = set(parts.get(self.verdict, "").split())
        if self.verdict == "not separable" and self.fit_intercept:
            needed.add("point")
        if self.verdict == "undecided" and (self.weights is not None or self.residual is not None):
            needed |= {"weights", "residual"}
        for name in ("w", "b", "margin", "weights", "residual", "numerators", "denominator", "point"):
            if (getattr(self, name) is not None) != (name in needed):
                what = "is missing" if name in needed else f"does not belong to the verdict {self.verdict}"
                return f"{name} {what}"
        for name in ("b", "margin", "residual"):
            if getattr(self, name) is not None and not _is_float(getattr(self, name)):
                return f"{name} is {getattr(self, name)!r}, not a number"
        for name in ("w", "weights", "point"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float64
            ):
                return f"{name} is no array of float64 with one dimension"
        if self.exact != (self.verdict != "undecided"):
            return f"exact is {self.exact}, and the verdict is {self.verdict}"
        if self.numerators is not None and not (
            isinstance(self.numerators, tuple)
            and all(type(k) is int for k in (*self.numerators, self.denominator))
        ):
            return "the whole-number weights are no whole numbers"
        return None

    def _check_separator(self, X: Matrix, y: np.ndarray, exact: bool) -> str | None:
        assert self.w is not None and self.b is not None and self.margin is not None
        if self.w.shape != (X.shape[1],):
            return f"w has shape {self.w.shape}, and the rows have {X.shape[1]} features"
        if not (np.all(np.isfinite(self.w)) and math.isfinite(self.b)):
            return "w and b are not finite"
        if self.b != 0.0 and not self.fit_intercept:
            return f"b is {self.b:g}, and no intercept is allowed"
        if self.one_class and self.fit_intercept and (np.any(self.w) or self.b != y[0]):
            return "of one class the separator is w = 0 and b = ±1, and another was given"
        i = outward.wrong_row(self.w, self.b, X, y)
        if i is not None:
            m = float(int(y[i]) * outward.exact_score(self.w, self.b, X, i))
            return f"row {i}: y(<w, x> + b) is {m:.3g}, not positive"
        found = outward.margin(self.w, self.b, X, y)
        if not _agrees(self.margin, found, up=False) or (exact and not _margin_holds(self, X, y)):
            return f"the margin is {found.low:.6g}, and {self.margin:.6g} was claimed"
        if self.bracket[0] != self.margin:
            return f"the bracket begins at {self.bracket[0]:.6g}, and the margin is {self.margin:.6g}"
        return self._check_upper(np.ones(y.size), X, y, exact)

    def _check_upper(self, lam: np.ndarray, X: Matrix, y: np.ndarray, exact: bool) -> str | None:
        """The upper end of the bracket: the length of the combination that lam makes."""
        up = self.bracket[1]
        found = outward.combined(lam, X, y, self.fit_intercept)
        right = _agrees(up, found, up=True)
        if right and exact and up < math.inf:
            rows = np.flatnonzero(lam)
            square = outward.exact_combined2(lam[rows], X[rows], y[rows], self.fit_intercept)
            right = Fraction(up) ** 2 >= square
        if not right:
            return f"the bracket ends at {up:.6g}, and the weights say {found.high:.6g}"
        return None

    def _check_weights(self, X: Matrix, y: np.ndarray, exact: bool) -> str | None:
        wrong = self._check_residual(X, y, exact) or self._check_numerators(X, y)
        if wrong is not None:
            return wrong
        if self.bracket != (0.0, 0.0):
            return f"the bracket is {self.bracket!r}, and no margin is above 0"
        if self.point is None:
            return None
        lam = self.weights
        assert lam is not None
        if self.point.shape != (X.shape[1],):
            return f"the point has shape {self.point.shape}, and the rows have {X.shape[1]} features"
        rows = outward.floats(X)
        found, size = (
            np.asarray(part.T @ np.where(y > 0, 2.0 * lam, 0.0)).ravel()
            for part in (rows, outward.sizes(rows))
        )
        if not np.all(np.abs(self.point - found) <= AGREE * size + rational.TINY):
            return "the point is not where the weights bring the rows together"
        return None

    def _check_residual(self, X: Matrix, y: np.ndarray, exact: bool) -> str | None:
        lam, claimed = self.weights, self.residual
        assert lam is not None and claimed is not None
        if lam.shape != y.shape:
            return f"there are {lam.size} weights for {y.size} rows"
        if not np.all(np.isfinite(lam) & (lam >= 0.0)):
            i = int(np.flatnonzero(~(np.isfinite(lam) & (lam >= 0.0)))[0])
            return f"the weight of row {i} is {lam[i]:g}, not a number of at least 0"
        total = math.fsum(lam)
        if not abs(total - 1.0) <= AGREE:
            return f"the weights sum to {total:.6g}, not to 1"
        if exact:
            found, slack = exact_residual(lam, X, y, self.fit_intercept), 0.0
        else:
            found, slack = float_residual(lam, X, y, self.fit_intercept)
        if not found - slack <= claimed <= (found + slack) * (1.0 + AGREE) + 5e-324:
            return f"the weights leave a residual of {found:.2g}, and {claimed:.2g} was claimed"
        return None

    def _check_numerators(self, X: Matrix, y: np.ndarray) -> str | None:
        assert self.numerators is not None and self.denominator is not None and self.weights is not None
        rows, n, total = self.support, self.numerators, self.denominator
        if len(n) != rows.size:
            return f"there are {len(n)} whole-number weights for {rows.size} rows of positive weight"
        low = [int(i) for i, k in zip(rows, n) if k <= 0]
        if low:
            return f"the whole-number weight of row {low[0]} is not positive"
        if sum(n) != total:
            return "the whole-number weights do not sum to their denominator"
        for i, k in zip(rows.tolist(), n):
            if not math.isclose(rational.ratio(k, total), self.weights[i], rel_tol=1e-12):
                return f"row {i} has two different weights, {self.weights[i]:.3g} as a float"
        return combination(n, rows, X, y, self.fit_intercept)

    def _check_undecided(self, X: Matrix, y: np.ndarray, exact: bool) -> str | None:
        if self.bracket[0] != 0.0:
            return f"the bracket begins at {self.bracket[0]:.6g}, and no separator is given"
        lam = np.ones(y.size)
        if self.weights is not None:
            wrong = self._check_residual(X, y, exact)
            if wrong is not None:
                return wrong
            lam = self.weights
        return self._check_upper(lam, X, y, exact)

    def _check_words(self, X: Matrix, y: np.ndarray) -> str | None:
        """Claim and reason, once everything else is confirmed."""
        claim = claimed(self, X.shape[0])
        if self.claim != claim:
            return f"the claim is {self.claim!r}, and what is proved is {claim!r}"
        for pattern in REASONS[self.verdict]:
            told = re.fullmatch(pattern, self.reason)
            if told is not None:
                return self._check_reason({k: int(v) for k, v in told.groupdict().items()}, X, y)
        return f"the reason {self.reason!r} is none for the verdict {self.verdict}"

    def _check_reason(self, told: dict[str, int], X: Matrix, y: np.ndarray) -> str | None:
        support = self.support.tolist()
        right = True
        if self.reason == REASONS["separable"][0]:
            right = self.one_class and self.fit_intercept
        if "zero" in told:
            right = support == [told["zero"]] and not self.fit_intercept
        elif "one" in told:
            right = support == sorted(told.values()) and self.numerators == (1, 1)
            right = right and y[support[0]] != y[support[1]]
        elif told:
            right = ("hulls" in told) == self.fit_intercept and len(support) <= next(
                iter(told.values())
            ) <= y.size
        return None if right else f"the reason {self.reason!r} does not fit the weights"

    # ------------------------------------------------------------------------------------- files

    def to_dict(self) -> JsonObject:
        """Plain numbers, strings and lists, for JSON; ``weights`` of the support only."""
        plain: JsonObject = {}
        for field in fields(self):
            plain[field.name] = _plain(getattr(self, field.name))
        if self.weights is not None:
            rows = self.support
            plain["n_rows"] = int(self.weights.size)
            plain["support"] = rows.tolist()
            plain["weights"] = self.weights[rows].tolist()
        if self.numerators is not None:
            plain["numerators"] = [hex(k) for k in self.numerators]  # decimals of long numbers are slow
            plain["denominator"] = None if self.denominator is None else hex(self.denominator)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Json]) -> Separability:
        """The proof that ``to_dict`` wrote; ValueError if it is none."""
        known = {field.name for field in fields(cls)}
        strange = sorted(map(str, set(plain) - known - {"n_rows", "support"}))
        missing = sorted({"verdict", "fit_intercept", "claim", "reason"} - set(plain))
        if strange or missing:
            what = f"unknown {strange[0]!r}" if strange else f"no {missing[0]!r}"
            raise ValueError(f"A stored Separability must have the entries of to_dict(); got {what}.")
        found, name = dict(plain), ""
        try:
            name = "support"
            n_rows, rows = found.pop("n_rows", None), found.pop("support", None)
            if found.get("weights") is not None:
                found["weights"] = _spread(n_rows, rows, found["weights"])
            for name in ("w", "point"):
                if found.get(name) is not None:
                    found[name] = np.asarray(found[name], dtype=np.float64)
            for name in ("margin", "b", "residual", "seconds"):
                if found.get(name) is not None:
                    found[name] = float(found[name])
            name = "bracket"
            if name in found:
                low, up = found[name]
                found[name] = (float(low), float(up))
            name = "numerators"
            if found.get(name) is not None:
                found[name] = tuple(int(k, 16) for k in found[name])
                found["denominator"] = int(found["denominator"], 16)
        except (TypeError, ValueError, OverflowError, IndexError, KeyError) as error:
            raise ValueError(f"A stored Separability has a {name!r} that cannot be read: {error}.") from None
        return cls(**found)

    def __str__(self) -> str:
        lines = [("verdict", self.verdict), ("claim", self.claim), ("reason", self.reason)]
        lines.append(("intercept", "free" if self.fit_intercept else "none, through the origin"))
        if self.margin is not None:
            lines.append(("margin", f"{self.margin:.6g}"))
        if self.weights is not None:
            lines.append(("weights", f"on {self.support.size} of {self.weights.size} rows"))
            lines.append(("residual", f"{self.residual:.2g}"))
        low, up = self.bracket
        lines.append(("best margin", f"from {low:.6g} to {up:.6g}"))
        lines.append(("exact", "yes" if self.exact else "no"))
        lines.append(("seconds", f"{self.seconds:.2f}"))
        return "\n".join(f"{name:12} {value}" for name, value in lines)


# ------------------------------------------------------------------------------------------------- words


def claimed(proof: Separability, n_rows: int) -> str:
    """What the numbers of a record prove, in one sentence."""
    intercept = proof.fit_intercept
    if proof.verdict == "separable":
        form = "y(<w, x> + b)" if intercept else "y<w, x>"
        return f"{form} > 0 on all {n_rows} rows, whatever rounding does"
    if proof.verdict == "not separable":
        support = proof.support.size
        if intercept:
            return f"no (w, b) separates the {n_rows} rows: the hulls of {support} of them meet, exactly"
        return f"no w separates the {n_rows} rows: {support} of them, weighted, sum to 0 exactly"
    kind, bound = "margin", proof.bracket[1]
    if proof.residual is not None:
        kind, bound = ("augmented margin" if intercept else "margin"), proof.residual
    return f"no separator with {kind} above {rounded_up(bound)}; nothing more"


def rounded_up(value: float) -> str:
    """Two digits, not below the value.

    >>> rounded_up(0.00123), rounded_up(3.0), rounded_up(0.0)
    ('0.0013', '3', '0')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    text = f"{value:.2g}"
    if Fraction(text) < Fraction(value):
        digits, power = f"{value:.1e}".split("e")
        up = (Fraction(digits) + Fraction(1, 10)) * Fraction(10) ** int(power)
        nearest = f"{float(up):.2g}" if up <= Fraction(rational.LARGEST) else "inf"
        text = (
            nearest
            if nearest == "inf" or Fraction(nearest) >= up
            else f"{float(Fraction(digits)) + 0.1:.1f}e{power}"
        )
    return text


def _agrees(claimed: float, found: outward.FloatRange, up: bool) -> bool:
    """Whether a number that was rounded up (or down) is what was found between two bounds."""
    slack = AGREE * max(abs(found.low), abs(found.high)) + 5e-324
    if math.isinf(found.high) or math.isinf(claimed):
        return claimed == found.high
    if up:
        return bool(found.low <= claimed <= found.high + slack)  # false for NaN
    return bool(found.low - slack <= claimed <= found.high)


def _margin_holds(proof: Separability, X: Matrix, y: np.ndarray) -> bool:
    """Whether no row is nearer to the plane than the margin that is claimed, in whole numbers."""
    assert proof.w is not None and proof.b is not None and proof.margin is not None
    if math.isinf(proof.margin):
        return not proof.w.any()
    square = Fraction(proof.margin) ** 2 * outward.exact_norm2(proof.w)
    s = outward.scores(proof.w, proof.b, X)
    certain = outward.norm(np.ldexp(proof.w, -outward.exponent(proof.w))).high
    bar = outward.times_power(proof.margin * certain, outward.exponent(proof.w) - s.e, True) * (1.0 + AGREE)
    near = np.flatnonzero(~(y * s.values - s.error > bar))
    return all(outward.exact_score(proof.w, proof.b, X, int(i)) ** 2 >= square for i in near)


def _is_float(value: object) -> bool:
    return isinstance(value, (float, np.floating)) and not math.isnan(value)


def _spread(n_rows: Json, rows: Json, weights: Json) -> Floats:
    """Weights of all rows from those of the support."""
    if not (isinstance(n_rows, int) and 0 < n_rows <= MOST_ROWS):
        raise ValueError(f"n_rows is {n_rows!r}, not from 1 to {MOST_ROWS}")
    at = np.asarray(rows, dtype=np.intp)
    if (
        at.ndim != 1
        or len(weights) != at.size
        or np.any((at < 0) | (at >= n_rows))
        or np.any(np.diff(at) <= 0)
    ):
        raise ValueError("the rows are not in order, each once, with a weight each")
    lam = np.zeros(n_rows)
    lam[at] = weights
    return lam


def _plain(value: object) -> Json:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, np.generic):
        return value.item()
    return value
