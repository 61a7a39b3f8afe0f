"""What ``advise`` and ``errors_and_hinge`` state about ill-conditioned data, against tests/exact.py."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import exact
import numpy as np
from ill_conditioned import Case
from sklearn.preprocessing import StandardScaler

from perceptrons import proofs

NEAR = Fraction(1, 10**6)  # shares and radii are as near as this


def treated(name: str, how: str, X: Any, y: np.ndarray) -> tuple[list[exact.Row], Fraction] | None:
    """The rows of a treatment, and how far each may be from the one that is meant; None: unknown."""
    bare = exact.rows_of(X)
    if name == "as given, B = 1":
        return exact.augmented(X, 1.0), exact.NOUGHT
    if name.startswith("B = "):
        return exact.augmented(X, float(how.split("=")[1])), exact.NOUGHT
    if name == "no intercept":
        return bare, exact.NOUGHT
    if name == "L2 rows":
        return exact.unit_rows(exact.augmented(X, 1.0), 1024)
    if name == "degree 2":  # (1 + <x, z>)^2 is the product of these, without a root of 2
        return [[exact.ONE, *row, *row, *(a * b for a in row for b in row)] for row in bare], exact.NOUGHT
    options = {
        "centred at the mean": {"with_std": False},
        "unit variance": {"with_mean": False},
        "centred, unit variance": {},
    }
    if name in options:
        return exact.augmented(StandardScaler(**options[name]).fit_transform(X), 1.0), exact.NOUGHT
    if name == "centred between the classes":
        middle = X[y > 0].mean(axis=0) / 2.0 + X[y < 0].mean(axis=0) / 2.0
        return exact.augmented(X - middle, 1.0), exact.NOUGHT
    return None


def treatment_faults(t: Any, X: Any, y: np.ndarray) -> list[str]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = treated(t.name, t.how, X, y)
    if found is None:
        return []
    rows, slack = found
    best = exact.best_margin(exact.signed(rows, y), slack)
    R2 = max(exact.inner(row, row) for row in rows)
    wrong = []
    if not Fraction(t.R) ** 2 >= R2 * (1 - slack) ** 2 or Fraction(t.R) ** 2 > R2 * (1 + NEAR) ** 2:
        wrong.append(f"R is {t.R!r}, and the longest row has {exact.root(R2)!r}")
    if t.gamma_low > t.gamma_up or not (best.at_least(t.gamma_low) and best.at_most(t.gamma_up)):
        wrong.append(f"({t.gamma_low!r}, {t.gamma_up!r}), and the best margin is {float(best)!r}")
    if t.refuted and best.separable:
        wrong.append("refuted, and separable")
    if t.refuted and t.separable:
        wrong.append("refuted and separable")
    if best.separable and not slack:
        ratio = R2 / best.square
        if t.ratio_up < math.inf and Fraction(t.ratio_up) < ratio:
            wrong.append(f"at most {t.ratio_up!r} updates, and R²/γ² is {float(ratio)!r}")
        if t.ratio_low == math.inf or Fraction(t.ratio_low) > ratio:
            wrong.append(f"at least {t.ratio_low!r}, and R²/γ² is {float(ratio)!r}")
    if t.hinge is not None and not t.first_pass <= t.hinge:
        wrong.append(f"the hinge bound allows {t.hinge!r} mistakes, and there were {t.first_pass}")
    return [f"{t.name}: {text}" for text in wrong]


def learner_faults(learners: Any, X: Any, y: np.ndarray) -> list[str]:
    wrong = []
    for p in learners[1:]:
        rows = exact.augmented(X, 1.0)
        best = exact.best_l1_margin(exact.signed(rows, y)).value
        largest = max(abs(v) for row in rows for v in row)
        if Fraction(p.radius) != largest:
            wrong.append(f"Winnow: the largest entry is said to be {p.radius!r}")
        if not Fraction(p.gamma_low) <= best or (p.gamma_up < math.inf and Fraction(p.gamma_up) < best):
            wrong.append(f"Winnow: ({p.gamma_low!r}, {p.gamma_up!r}), and the best is {float(best)!r}")
        if best > 0:
            with localcontext() as context:
                context.prec, context.Emin, context.Emax = 60, -(10**6), 10**6
                ratio = 2 * (largest / best) ** 2
                bound = Decimal(ratio.numerator) / Decimal(ratio.denominator) * Decimal(2 * len(rows[0])).ln()
                if (p.bound_up < math.inf and Decimal(p.bound_up) < bound) or Decimal(p.bound_low) > bound:
                    wrong.append(f"Winnow: {p.bound_low!r} to {p.bound_up!r}, and the bound is {bound:.17g}")
    return wrong


def advice_faults(case: Case) -> tuple[list[str], str]:
    """(false statements and raw exceptions, what was said)."""
    X, y = case.X, case.y
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            advice = proofs.advise(X, y, max_time=2.0)
            text, page = str(advice), advice._repr_html_()
    except Exception as error:
        told = isinstance(error, ValueError) and "\n" not in str(error)
        one_class = len(set(y.tolist())) < 2 and "two classes" in str(error)
        far = str(error).endswith("Scale the data.") and float(abs(X).max()) > 1e70
        return ([] if told and (one_class or far) else [f"{type(error).__name__}: {error}"]), "refused"
    rows = X.astype(np.float64)
    wrong = [fault for t in advice.treatments for fault in treatment_faults(t, rows, y)]
    wrong += learner_faults(advice.learners, rows, y)
    best = exact.best_margin(exact.signed(exact.augmented(rows, 1.0), y))
    if advice.verdict != "undecided" and (advice.verdict == "separable") != best.separable:
        wrong.append(advice.verdict)
    wrong += [f"{word} is printed" for word in ("nan", "NaN") if word in text or word in page]
    columns = list(zip(*exact.rows_of(rows)))
    total = sum((v * v for column in columns for v in column), start=exact.NOUGHT)
    for f in advice.features:
        share = sum((v * v for v in columns[f.column]), start=exact.NOUGHT) / total
        if not abs(Fraction(f.length_share) - share) <= NEAR:
            wrong.append(
                f"feature {f.column} has {f.length_share!r} of the length, and {float(share)!r} is true"
            )
    return wrong, advice.verdict


def hinge_faults(X: Any, y: np.ndarray) -> tuple[list[str], str]:
    """The same for ``errors_and_hinge``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = proofs.errors_and_hinge(X, y)
            text = str(found)
    except Exception as error:
        told = isinstance(error, ValueError) and "\n" not in str(error)
        expected = "no float64 weights" in str(error) or "overflows" in str(error)
        return ([] if told and expected else [f"{type(error).__name__}: {error}"]), "refused"
    wrong = []
    rows = exact.signed(exact.augmented(X, 1.0), y)
    ub = [Fraction(v) for v in (*found.u.tolist(), found.b)]
    margins = [exact.inner(ub, row) for row in rows]
    hinge = sum((max(exact.NOUGHT, 1 - m) for m in margins), start=exact.NOUGHT)
    if not Fraction(found.hinge) >= hinge:
        wrong.append(f"hinge is {found.hinge!r}, and that of (u, b) is {float(hinge)!r}")
    if sum(m <= 0 for m in margins) != found.hinge_errors:
        wrong.append(f"hinge_errors is {found.hinge_errors}, and (u, b) has {sum(m <= 0 for m in margins)}")
    if not found.errors <= found.hinge_errors or not found.errors <= found.hinge:
        wrong.append(f"{found.errors} errors at least, {found.hinge_errors} of (u, b), hinge {found.hinge!r}")
    mistakes = perceptron_mistakes(rows)
    if not mistakes <= found.bound:
        wrong.append(f"at most {found.bound!r} mistakes, and there are {mistakes}")
    if "nan" in text:
        wrong.append("nan is printed")
    return wrong, str(found.errors)


def perceptron_mistakes(rows: list[exact.Row]) -> int:
    """Mistakes of one pass in fractions, in the order given."""
    w, mistakes = [exact.NOUGHT] * len(rows[0]), 0
    for row in rows:
        if exact.inner(w, row) <= 0:
            w, mistakes = [a + b for a, b in zip(w, row)], mistakes + 1
    return mistakes
