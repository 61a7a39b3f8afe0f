r"""Whether a halfspace separates two classes: the verdict, its proof, and a check that trusts nobody.

Gordan (1873): of the two exactly one holds.

(a) Some (w, b) has :math:`y_i(\langle w, x_i\rangle + b) > 0` on every row.

(b) Some :math:`\lambda \ge 0` with :math:`\sum\lambda_i = 1` has
    :math:`\sum\lambda_i y_i (x_i, 1) = 0`; the point :math:`2\sum_+\lambda_i x_i = 2\sum_-\lambda_i x_i`
    then lies in the convex hulls of both classes.

Both sides prove themselves: (w, b) by one product with the rows, :math:`\lambda` by another. Weights
that fit only up to a residual :math:`\rho = \|\sum\lambda_i y_i (x_i, 1)\|` prove less: no separator
has a margin above :math:`\rho` among the rows (x, 1). Without an intercept the 1 is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from . import _rational as rational
from .brackets import radius

VERDICTS = ("separable", "not separable", "undecided")
NEAR = 1e-8  # a residual up to NEAR max(1, R) counts as 0 where nothing exact is claimed


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
        All rows have one label. With an intercept w = 0 and b = ±1 is the answer, of margin ∞.
    exact : bool
        The proof holds without rounding: signs of :math:`y(\langle w, x\rangle + b)` are certain, or
        ``numerators`` solve (b) in whole numbers.
    margin : float or None
        :math:`\min_i y_i(\langle w, x_i\rangle + b)/\|w\|`, if separable.
    w, b : ndarray and float, or None
        The separator.
    weights : ndarray or None
        :math:`\lambda`, one per row.
    residual : float or None
        :math:`\rho` of ``weights`` as they stand, rounded up. Not 0 even for an exact proof, when the
        exact weights are no floats.
    point : ndarray or None
        The common point of both hulls, with an intercept; rounded.
    numerators, denominator : tuple of int and int, or None
        :math:`\lambda` of the rows in ``support`` in whole numbers, for an exact proof.
    bracket : (float, float)
        Bounds on the best geometric margin of any (w, b): from the proof, not tight.
    seconds : float
        What it took.

    Examples
    --------
    Exclusive or. Half way between the positive rows and half way between the negative ones is the same
    point:

    >>> proof = Separability(
    ...     verdict="not separable",
    ...     fit_intercept=True,
    ...     claim="no (w, b) separates the 4 rows",
    ...     reason="by hand",
    ...     exact=True,
    ...     weights=np.full(4, 0.25),
    ...     residual=0.0,
    ...     point=np.zeros(2),
    ...     numerators=(1, 1, 1, 1),
    ...     denominator=4,
    ... )
    >>> X, y = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1, 1, 1, -1])
    >>> proof.check(X, y, exact=True) is None
    True
    >>> proof.check(X, [-1, 1, 1, 1])
    'the weights leave a residual of 0.87, above the 0 that was claimed'
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

    def check(self, X: Any, y: Any, exact: bool = False) -> str | None:
        r"""Check the proof against the data; None, or the first thing that is wrong.

        A separator is checked by one product with the rows; a row whose sign rounding could change is
        looked at again in whole numbers. Weights are checked by one product; with ``exact=True`` in
        whole numbers, floats being what they are.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            One or two labels; the larger one is +1.
        exact : bool, default=False

        Returns
        -------
        wrong : str or None
            An undecided verdict claims nothing that could be wrong.
        """
        X, y = as_rows(X), signs(y)
        if X.shape[0] != y.size:
            return f"X has {X.shape[0]} rows and y has {y.size} labels"
        if not np.all(np.isfinite(X.data if is_sparse(X) else X)):
            return "X holds NaN or infinity"
        if self.verdict not in VERDICTS:
            return f"the verdict is {self.verdict!r}, which is none of {', '.join(map(repr, VERDICTS))}"
        if self.verdict == "undecided":
            return None
        if self.one_class and np.any(y != y[0]):
            return "one class is claimed, and y has two"
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what is not finite fails
            if self.verdict == "separable":
                return self._check_separator(X, y)
            return self._check_weights(X, y, exact)

    def _check_separator(self, X: Any, y: np.ndarray) -> str | None:
        if self.w is None or self.b is None or self.margin is None:
            return "the verdict is separable, and w, b or the margin is missing"
        if self.w.shape != (X.shape[1],):
            return f"w has shape {self.w.shape}, and the rows have {X.shape[1]} features"
        if not (np.all(np.isfinite(self.w)) and math.isfinite(self.b)):
            return "w and b are not finite"
        if self.b != 0.0 and not self.fit_intercept:
            return f"b is {self.b:g}, and no intercept is allowed"
        m, error = margins(self.w, self.b, X, y)
        for i in np.flatnonzero(~(m > error)).tolist():
            if exact_margin_sign(self.w, self.b, X, y, i) <= 0:
                return f"row {i}: y(<w, x> + b) is {m[i]:.3g}, not positive"
        length = norm(self.w)
        found = float(np.min(m)) / length if length else math.inf
        slack = (float(np.max(error)) / length if length else 0.0) + 1e-9 * abs(found)
        if not (self.margin == found or abs(self.margin - found) <= slack):
            return f"the margin is {found:.6g}, and {self.margin:.6g} was claimed"
        return None

    def _check_weights(self, X: Any, y: np.ndarray, exact: bool) -> str | None:
        lam, claimed = self.weights, self.residual
        if lam is None or claimed is None:
            return "the verdict is not separable, and the weights or the residual are missing"
        if lam.shape != y.shape:
            return f"there are {lam.size} weights for {y.size} rows"
        if not np.all(np.isfinite(lam) & (lam >= 0.0)):
            i = int(np.flatnonzero(~(np.isfinite(lam) & (lam >= 0.0)))[0])
            return f"the weight of row {i} is {lam[i]:g}, not a number of at least 0"
        total = math.fsum(lam)
        if not abs(total - 1.0) <= 1e-9:
            return f"the weights sum to {total:.6g}, not to 1"
        largest = float(abs(X).max()) or 1.0
        bar = NEAR * max(1.0, largest * radius(X / largest))
        if not claimed <= bar:
            return f"the residual is {claimed:.2g}, above {bar:.2g}: too large to mean 0"
        if exact:
            found, slack = exact_residual(lam, X, y, self.fit_intercept), 0.0
        else:
            found, slack = float_residual(lam, X, y, self.fit_intercept)
        if not found <= claimed + slack:
            return f"the weights leave a residual of {found:.2g}, above the {claimed:.2g} that was claimed"
        if self.exact:
            return self._check_numerators(X, y, redo=exact)
        return None

    def _check_numerators(self, X: Any, y: np.ndarray, redo: bool) -> str | None:
        if self.numerators is None or self.denominator is None:
            return "an exact proof is claimed, and the whole-number weights are missing"
        rows, n, total = self.support, self.numerators, self.denominator
        if len(n) != rows.size:
            return f"there are {len(n)} whole-number weights for {rows.size} rows of positive weight"
        low = [int(i) for i, k in zip(rows, n) if k <= 0]
        if low:
            return f"the whole-number weight of row {low[0]} is not positive"
        if sum(n) != total:
            return "the whole-number weights do not sum to their denominator"
        assert self.weights is not None
        for i, k in zip(rows.tolist(), n):
            if not math.isclose(rational.ratio(k, total), self.weights[i], rel_tol=1e-9):
                return f"row {i} has two different weights, {self.weights[i]:.3g} as a float"
        if redo:
            return combination(n, rows, X, y, self.fit_intercept)
        return None

    # ------------------------------------------------------------------------------------- files

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON; ``weights`` of the support only."""
        plain: dict[str, Any] = {}
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
    def from_dict(cls, plain: Mapping[str, Any]) -> Separability:
        """The proof that ``to_dict`` wrote."""
        known = {field.name for field in fields(cls)}
        strange = sorted(set(plain) - known - {"n_rows", "support"})
        missing = sorted({"verdict", "fit_intercept", "claim", "reason"} - set(plain))
        if strange or missing:
            what = f"unknown {strange[0]!r}" if strange else f"no {missing[0]!r}"
            raise ValueError(f"A stored Separability must have the entries of to_dict(); got {what}.")
        found = dict(plain)
        n_rows, rows = found.pop("n_rows", None), found.pop("support", None)
        if found.get("weights") is not None:
            lam = np.zeros(int(n_rows))
            lam[np.asarray(rows, dtype=np.intp)] = found["weights"]
            found["weights"] = lam
        for name in ("w", "point"):
            if found.get(name) is not None:
                found[name] = np.asarray(found[name], dtype=np.float64)
        for name in ("margin", "b", "residual", "seconds"):
            if found.get(name) is not None:
                found[name] = float(found[name])
        if "bracket" in found:
            low, up = found["bracket"]
            found["bracket"] = (float(low), float(up))
        if found.get("numerators") is not None:
            found["numerators"] = tuple(int(k, 16) for k in found["numerators"])
            found["denominator"] = int(found["denominator"], 16)
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


# ------------------------------------------------------------------------------------------- arithmetic


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix."""
    return bool(sparse.issparse(X))


def as_rows(X: Any) -> Any:
    """Rows as float64: an array, or CSR with its entries in order, each once, none zero."""
    if is_sparse(X):
        made = sparse.csr_array(X, dtype=np.float64, copy=True)
        made.sum_duplicates()
        made.eliminate_zeros()
        return made
    array = np.asarray(X, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {array.ndim} dimension(s).")
    return array


def signs(y: Any) -> np.ndarray:
    """Labels as -1 and +1, the larger one +1; a single one is +1, or -1 if it is a number up to 0.

    >>> signs(["ham", "spam"]), signs([0, 0])
    (array([-1.,  1.]), array([-1., -1.]))
    """
    y = np.asarray(y).ravel()
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) > 2:
        shown = ", ".join(repr(label) for label in labels[:3].tolist())
        raise ValueError(
            f"y must have one or two labels; got {len(labels)}: {shown}, ... Ask for one class against "
            "the rest: y == label."
        )
    if len(labels) == 1:
        negative = labels.dtype.kind in "biuf" and labels[0] <= 0
        return np.full(y.size, -1.0 if negative else 1.0)
    return np.where(codes.reshape(-1) == 1, 1.0, -1.0)


def norm(w: np.ndarray) -> float:
    """The Euclidean length, also where squares are out of range."""
    largest = float(np.max(np.abs(w), initial=0.0))
    return largest * float(np.linalg.norm(w / largest)) if largest else 0.0


def margins(w: np.ndarray, b: float, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y(<w, x> + b) of every row, and how far rounding may have moved it."""
    if is_sparse(X):
        sizes, terms = abs(X) @ np.abs(w), np.diff(X.indptr)
    else:
        sizes, terms = np.abs(X) @ np.abs(w), np.full(X.shape[0], X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        m = y * (X @ w + b)
        error = 1.01 * (terms + 2) * rational.UNIT * (sizes + abs(b)) * (1.0 + 1e-6)
        return m, error + (terms + 2) * rational.TINY


def exact_margin_sign(w: np.ndarray, b: float, X: Any, y: np.ndarray, i: int) -> int:
    """The sign of y(<w, x> + b) of one row, in whole numbers."""
    values, at = row(X, i)
    wb, _ = rational.whole(np.append(w[at], b))
    x1, _ = rational.whole(np.append(values, 1.0))
    m = int(y[i]) * sum(int(p) * int(q) for p, q in zip(wb.tolist(), x1.tolist()))
    return (m > 0) - (m < 0)


def row(X: Any, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The entries of a row that may differ from 0, and where they are."""
    if is_sparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        return X.data[part], X.indices[part]
    at = np.flatnonzero(X[i])
    return X[i, at], at


def float_residual(lam: np.ndarray, X: Any, y: np.ndarray, fit_intercept: bool) -> tuple[float, float]:
    """The residual in one product, and how far rounding may have moved it."""
    rows = np.flatnonzero(lam)
    part, c = X[rows], lam[rows] * y[rows]
    s = np.asarray(part.T @ c).ravel()
    size = np.asarray(abs(part).T @ np.abs(c)).ravel()
    if fit_intercept:
        s, size = np.append(s, c.sum()), np.append(size, 1.0)
    return float(np.linalg.norm(s)), float((rows.size + 2) * rational.UNIT * np.linalg.norm(size) * 1.01)


def exact_residual(lam: np.ndarray, X: Any, y: np.ndarray, fit_intercept: bool) -> float:
    """The norm of the weighted rows over the sum of the weights; rounded once, up."""
    rows = np.flatnonzero(lam)
    k, _ = rational.whole(lam[rows])
    c = k.astype(object)
    total = int(c.sum())
    c = c * y[rows].astype(np.int64).astype(object)
    sums, shift = column_sums(c, rows, X)
    up, down = max(shift, 0), max(-shift, 0)  # x_i = whole numbers times 2^(down - up)
    square = sum(int(v) ** 2 for v in sums) << (2 * down)
    if fit_intercept:
        square += (int(c.sum()) << up) ** 2
    return rational.root_above(square, (total << up) ** 2)


def column_sums(c: np.ndarray, rows: np.ndarray, X: Any) -> tuple[list[int], int]:
    """The sums of c_i x_i over some rows: whole numbers, and the shift that they share."""
    if is_sparse(X):
        part = X[rows].tocsc()
        k, shift = rational.whole(part.data)
        k = k.astype(object) * c[part.indices]
        return [int(k[a:b].sum()) for a, b in pairwise(part.indptr.tolist()) if b > a], shift
    part = X[rows]
    part = part[:, np.any(part != 0.0, axis=0)]
    k, shift = rational.whole(part)
    return [int(v) for v in c @ k.astype(object)] if k.size else [], shift


def combination(n: Any, rows: np.ndarray, X: Any, y: np.ndarray, fit_intercept: bool) -> str | None:
    """Whether whole numbers n weigh the rows y(x, 1) to 0 exactly; what is left, in words, if not."""
    c = np.empty(len(n), dtype=object)
    c[:] = [k if s > 0 else -k for k, s in zip(n, y[rows])]
    if fit_intercept and sum(c) != 0:
        return "the whole-number weights of the two classes do not sum to the same"
    sums, _ = column_sums(c, rows, X)
    if any(sums):
        return "the whole-number weights do not weigh the rows to 0"
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, np.generic):
        return value.item()
    return value
