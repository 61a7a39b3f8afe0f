"""A certificate as text: one readable block."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING

import numpy as np

from ..theory import gram
from ..theory.brackets import margin_space
from ..theory.gram_error import EPS
from ..theory.triviality import SAYS_NOTHING, says_nothing
from . import claims, version1
from .log_replay import replays
from .parts import Bound, Bracket

if TYPE_CHECKING:
    from .certificate import Certificate

SIGNS = {"<=": "≤", ">=": "≥", ">": ">", "==": "="}


def _epochs(n: int | None) -> str:
    """How many passes there were, where the run reported it."""
    return "" if n is None else f" in {n} epoch{'' if n == 1 else 's'}"


def lines(c: Certificate) -> list[tuple[str, str]]:
    """(heading, text) of every line."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in sorted(c.model["parameters"].items()))
    data, run = c.data, c.run
    lines = [
        ("", f"Certificate of {c.model['class']}({parameters})"),
        ("data", f"{data['rows']} rows, {data['features']} features, {len(c.classes)} classes"),
        ("", f"{'':14}sha256 {data['X_sha256'][:16]}… (rows), {data['y_sha256'][:16]}… (labels)"),
        ("space", _space(c)),
        (
            "run",
            f"{_integer(run['examples'])} examples{_epochs(run['epochs'])}, ended by: {run['stop_reason']}",
        ),
        (
            "",
            f"{'':14}{_integer(run['mistakes'])} mistakes, {_integer(run['updates'])} updates, "
            f"{_integer(run['errors'])} errors{_reported(replays(c))}",
        ),
        ("radius", f"R = {c.radius:.6g}"),
    ]
    for r, bracket in enumerate(c.brackets):
        lines.append(("best margin" + _of(c, r), f"{_bracket(c, bracket)}; {_margin_space(c)}"))
        free = _free_margin(c, r, bracket)
        lines.extend([("free offset" + _of(c, r), free)] if free else [])
    lines.append(("verdict", f"{c.verdict.statement(c.brackets)}; {c.verdict.why}"))
    for bound in c.bounds:
        lines.extend(_bound(c, bound))
    lines.extend(("note", note) for note in c.notes)
    if c.version == 1:
        lines.append(("version", version1.MARK))
    lines.append(("sha256", c.sha256))
    return lines


def _space(c: Certificate) -> str:
    space = c.space
    what = {
        "augmented": f"augmented by a constant coordinate {space.bias:g}",
        "input": "of the inputs",
        "kernel": f"of the kernel {_kernel_text(space.kernel)}" if space.kernel else "of a kernel",
    }[space.name]
    if space.name == "kernel" and space.bias and not space.free:
        what += f" + {space.bias**2:g}"
    return what + (", rows of length 1" if space.unit else "")


def _reported(replayed: bool) -> str:
    return ", updates replayed from the log" if replayed else ", as reported by the run"


def _of(c: Certificate, r: int) -> str:
    return f" {c.classes[r]!r}" if len(c.brackets) > 1 else ""


def _bracket(c: Certificate, bracket: Bracket) -> str:
    norm = "" if c.space.order == 2.0 else f" (separators measured by their {c.space.order:g}-norm)"
    rows = f"the upper end by weights on {len(set(bracket.rows))} rows"
    if bracket.vector is None:
        known = f"γ* ≤ {bracket.up:.6g}{norm}; {rows}" if bracket.rows else "nothing is known"
        return f"{known}; no vector here separates"
    if not bracket.rows:
        return f"{bracket.low:.6g} ≤ γ*{norm}; the margin of {bracket.vector}, no upper end is known"
    return f"{bracket.low:.6g} ≤ γ* ≤ {bracket.up:.6g}{norm}; the margin of {bracket.vector}, {rows}"


def _margin_space(c: Certificate) -> str:
    space = c.space
    return margin_space(
        space.bias,
        space.unit,
        kernel=space.name == "kernel",
        free=space.free,
        order=space.order,
        joint=c.model["problem"] == "joint",
    )


def _free_margin(c: Certificate, r: int, bracket: Bracket) -> str | None:
    """What follows for distances of the rows as given: the other margin of a learner with an intercept.

    The lower end by the same vector, without its constant coordinate. For rows of both classes of lengths
    up to R0 a margin of g needs an offset of at most R0, so the augmented rows have one of at least
    g/sqrt(1 + (R0/B)^2).
    """
    space = c.space
    if _margin_space(c) != "augmented rows":
        return None
    ends = []
    weights = None if bracket.vector is None else c.vectors[bracket.vector].weights
    if weights is not None:
        w = np.abs(np.asarray(weights[r], float))
        w = np.ldexp(w, -int(np.frexp(w.max())[1]))
        whole, part = float(np.linalg.norm(w)), float(np.linalg.norm(w[:-1]))
        if part > 0.0:
            low = bracket.low * (whole / part) * (1.0 - 2.0 * (len(w) + 64) * EPS)
            ends.append(f"{_outwards(low, ROUND_FLOOR)} ≤ γ, by {bracket.vector}")
    longest = math.sqrt(max(0.0, c.radius - space.bias)) * math.sqrt(c.radius + space.bias)
    up = bracket.up * math.hypot(1.0, longest / space.bias) * (1.0 + 64.0 * EPS)
    if bracket.rows and up < longest:
        ends.append(f"γ ≤ {_outwards(up, ROUND_CEILING)} where both classes have rows")
    return f"{'; '.join(ends)}; distances of the rows as given" if ends else None


def _outwards(value: float, rounding: str) -> str:
    """Six digits, rounded to the side on which the value is true."""
    return f"{float(Context(prec=6, rounding=rounding).create_decimal_from_float(value)):.6g}"


def _bound(c: Certificate, bound: Bound) -> list[tuple[str, str]]:
    sign = "holds" if bound.holds else "VIOLATED"
    out = []
    for r, (measured, allowed) in enumerate(zip(bound.measured, bound.allowed)):
        left = "" if measured is None else f"{measured:.6g} "
        of = f" [{c.classes[r]!r}]" if len(bound.measured) > 1 else ""
        symbols = ", ".join(f"{k}={_short(v)}" for k, v in sorted(bound.symbols[r].items()))
        u = "" if bound.vector is None else f"; u = {_short(bound.scales[r])}·{bound.vector}"
        most = claims.most(bound.name, measured, c.run["examples"], len(bound.measured))
        if bound.holds and bound.sense == "<=" and says_nothing(allowed, most):
            known = "1" if measured is None else f"the {most:,.6g} examples"
            out.append((SAYS_NOTHING, f"{bound.statement}{of}: not below {known}"))
        else:
            out.append((sign, f"{left}{SIGNS[bound.sense]} {allowed:.6g}{of}  {bound.statement}"))
        out.append(("", f"{'':16}{symbols}{u}; {bound.basis}" if symbols else f"{'':16}{bound.basis}"))
    return out


def _integer(value: int | None) -> str:
    return "—" if value is None else f"{value:,}"


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def _kernel_text(kernel: gram.Description) -> str:
    inside: list[str] = []
    for name, value in sorted(kernel.items()):
        if name == "terms":
            inside.extend(_kernel_text(part) for part in value)
        elif name == "kernel":
            inside.append(_kernel_text(value))
        elif name != "kind":
            inside.append(f"{name}={value!r}")
    return f"{kernel['kind']}({', '.join(inside)})"
