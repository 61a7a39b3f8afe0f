"""Every leaf of a certificate, and what a forger could put in its place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.certificates import digests
from perceptrons.certificates.certificate import Certificate

Path = tuple[Any, ...]
#: What takes the place of a leaf, whatever it was.
STRANGE = (None, "", "x", [], {}, True, "nan", "inf", "-inf", 0, -1, 1e300, 10**30, 0.5)


def leaves(body: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, value) of everything that holds no other value, empty lists and objects included."""
    if isinstance(body, dict) and body:
        for name, value in body.items():
            yield from leaves(value, (*path, name))
    elif isinstance(body, list) and body:
        for i, value in enumerate(body):
            yield from leaves(value, (*path, i))
    else:
        yield path, body


def written(path: Path) -> str:
    """A path as ``Verification.reported`` writes it: numbers of entries are left out.

    >>> written(("run", "parts", 0, "updates"))
    'run.parts.updates'
    """
    return ".".join(str(part) for part in path if not isinstance(part, int))


def parent(body: Any, path: Path) -> Any:
    for part in path[:-1]:
        body = body[part]
    return body


def changes(body: dict[str, Any], path: Path, value: Any) -> list[tuple[str, Any]]:
    """(what is done, a function that does it to a copy of the parent) for every change of one leaf."""
    key = path[-1]

    def put(new: Any) -> Any:
        return lambda holder: holder.__setitem__(key, new)

    out = [(f"{value!r:.40} -> {new!r:.40}", put(new)) for new in _others(value) if _differs(new, value)]
    out.append(("removed", lambda holder: holder.pop(key)))
    if isinstance(key, int):
        out.append(("doubled", lambda holder: holder.insert(key, holder[key])))
        others = parent(body, path)
        if key + 1 < len(others) and _differs(others[key], others[key + 1]):
            out.append(("swapped", lambda holder: _swap(holder, key)))
    else:
        out.append(("a key beside it", lambda holder: holder.__setitem__(f"{key}_", 1)))
    return out


def forged(body: dict[str, Any], path: Path, change: Any) -> dict[str, Any]:
    """The body after a change of one leaf, with a seal that fits; what is not on the path is shared."""

    def copied(value: Any, rest: Path) -> Any:
        value = copy.copy(value)
        if len(rest) > 1:
            value[rest[0]] = copied(value[rest[0]], rest[1:])
        else:
            change(value)
        return value

    return resealed(copied(body, path))


def _differs(a: Any, b: Any) -> bool:
    """Whether two values differ by more than 0.0 and -0.0, or 1 and 1.0."""
    return bool(a != b) or isinstance(a, bool) != isinstance(b, bool)


def _swap(holder: list[Any], i: int) -> None:
    holder[i], holder[i + 1] = holder[i + 1], holder[i]


def _others(value: Any) -> Iterator[Any]:
    yield from STRANGE
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (-value, value + 1, value - 1, 2 * value, value / 2, value * 1.001, value * 0.999)
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], value.upper())
        yield {"a": value}
    elif value is None:
        yield from (1, "w", [0])
    else:
        yield from ([1], ["x"], {"x": 1})


def resealed(body: dict[str, Any]) -> dict[str, Any]:
    """The body with the digest of its content."""
    body = {name: value for name, value in body.items() if name != "sha256"}
    return body | {"sha256": digests.body_digest(body)}


# ------------------------------------------------------------------------------------------------- judging

#: Fields that are evidence: any content that still proves the claims is as good.
EVIDENCE = (
    *("vectors", "updates", "brackets.vector", "brackets.rows", "brackets.alpha", "brackets.rivals"),
    *("verdict.vector", "verdict.rows", "verdict.weights", "bounds.vector"),
)


def within(name: str, prefixes: Any) -> bool:
    """Whether a field is one of some, or a part of one."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def excused(path: Path, text: str, reported: Any, X: Any, y: Any, kernel: Any = None) -> bool:
    """Whether a forgery that verifies is none: only the run can know the field, or the claims are proved.

    Evidence is checked once more in fractions, and brackets in linear spaces by the formulas alone.
    """
    name = written(path)
    if within(name, EVIDENCE):
        body = json.loads(text)
        certificate = Certificate.from_json(text)
        exact = bool(certificate.verify(X, y, exact=True, kernel=kernel))
        linear = certificate.space.kernel is None and certificate.space.order == 2.0
        if linear and not certificate.space.unit and hasattr(X, "shape"):
            return exact and all(proved(body, X, y, r) for r in range(len(body["brackets"])))
        return exact
    return within(name, reported)


def proved(body: dict[str, Any], X: Any, y: Any, r: int) -> bool:
    """Both ends of a bracket, from the stored evidence by the formulas, in fractions."""
    bracket, problem, space = body["brackets"][r], body["model"]["problem"], body["space"]
    bias = Fraction(space["bias"])
    rows = [[Fraction(v) for v in row] + [bias] for row in np.asarray(X, float).tolist()]
    codes = [sorted(set(np.asarray(y).tolist())).index(label) for label in np.asarray(y).tolist()]
    signs = [1 if code == (r if problem == "one-vs-rest" else 1) else -1 for code in codes]
    if bracket["vector"] is not None:
        W = _weights(body["vectors"][bracket["vector"]])
        scores = [[_dot(w, row) for w in W] for row in rows]
        if problem == "joint":
            m = [s[c] - max(v for k, v in enumerate(s) if k != c) for s, c in zip(scores, codes, strict=True)]
            used = W
        else:
            m = [sign * s[r] for s, sign in zip(scores, signs, strict=True)]
            used = [W[r]]
        square = sum(sum(v * v for v in (w[:-1] if space["free"] else w)) for w in used)
        if not (min(m) > 0 and min(m) ** 2 >= Fraction(bracket["low"]) ** 2 * square):
            return False
    if not bracket["rows"]:
        return bracket["up"] == "inf"
    sums: dict[int, list[Fraction]] = {}
    alpha = [Fraction(a) for a in bracket["alpha"]]
    if space["free"]:
        sides = {
            s: sum(a for a, i in zip(alpha, bracket["rows"], strict=True) if signs[i] == s) for s in (1, -1)
        }
        alpha = [a / (2 * sides[signs[i]]) for a, i in zip(alpha, bracket["rows"], strict=True)]
    for at, (i, a) in enumerate(zip(bracket["rows"], alpha, strict=True)):
        pair = ((codes[i], a), (bracket["rivals"][at], -a)) if problem == "joint" else ((0, signs[i] * a),)
        for k, share in pair:
            old = sums.setdefault(k, [Fraction(0)] * len(rows[0]))
            sums[k] = [t + share * v for t, v in zip(old, rows[i], strict=True)]
    square = sum(sum(v * v for v in total) for total in sums.values())
    return square <= (Fraction(bracket["up"]) * sum(alpha)) ** 2


def _weights(v: dict[str, Any]) -> list[list[Fraction]]:
    if "weights" in v:
        return [[Fraction(w) for w in line] for line in v["weights"]]
    lines, columns = v["shape"]
    flat = [Fraction(0)] * (lines * columns)
    for i, value in zip(v["index"], v["value"], strict=True):
        flat[i] = Fraction(value)
    return [flat[k * columns : (k + 1) * columns] for k in range(lines)]


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((v * w for v, w in zip(a, b, strict=True)), start=Fraction(0))
