"""Certificates of version 1, read as certificates of version 2 that claim less.

Version 1 had no weights on rows behind every upper end, weights that summed to 0 only up to a residual, and
flags that switched checks off. What version 2 would not accept is left out: an upper end without weights on
rows, a verdict "not separable" without an exact proof. A check of what is left is marked as one by the
old rules, since the rest of the text is not looked at.
"""

from __future__ import annotations

from .._types import Json, JsonObject
from .parts import BY_ROWS, NOTHING

#: What a check of such a certificate is marked with.
MARK = "checked by the old rules: a certificate of version 1"
VERDICT = {"verdict", "vector", "rows", "weights", "residual", "exact", "why"}
BRACKET = {"low", "vector", "up", "source"}
#: Ends of version 1 were compared with this tolerance.
AGREE = 1e-8


def is_one(body: Json) -> bool:
    """Whether an object of JSON says that it is a certificate of version 1."""
    return isinstance(body, dict) and type(body.get("version")) is int and body["version"] == 1


def upgraded(body: JsonObject) -> JsonObject:
    """The content as version 2 has it; the schema checks the result."""
    if set(body["verdict"]) != VERDICT or any(set(b) != BRACKET for b in body["brackets"]):
        raise ValueError("it has not the fields of version 1")
    space, problem = dict(body["space"]), body["model"]["problem"]
    if space["free"] and space["bias"] == 0.0:
        space["free"] = False  # the same thing: there is no constant coordinate
    vectors = dict(body["vectors"])
    combination = vectors.pop("combination", vectors["w"] if "rows" in vectors["w"] else None)
    if not space["free"]:
        vectors = {n: {**v, "offset": None} if "offset" in v else v for n, v in vectors.items()}
    if space["unit"]:
        combination = None  # its weights were on rows of length 1
    brackets = [_bracket(b, r, combination, problem) for r, b in enumerate(body["brackets"])]
    verdict = _verdict(body["verdict"], all(b["low"] != "-inf" for b in brackets))
    return {
        **{name: body[name] for name in ("format", "data", "radius", "updates", "notes", "sha256")},
        "version": 2,
        "model": body["model"],
        "space": space,
        "run": _run(body["run"], vectors),
        "brackets": brackets,
        "vectors": vectors,
        "bounds": [{**bound, "scales": _scales(bound)} for bound in body["bounds"]],
        "verdict": verdict,
    }


def _run(run: JsonObject, vectors: JsonObject) -> JsonObject:
    dropped = ("replays", "conservative", "whole_history", "first_errors", "first_examples")
    kept = {name: value for name, value in run.items() if name not in dropped}
    if not run.get("whole_history", True):
        kept["history"] = []
    for name in ("lengths", "offsets"):
        kept[name] = {n: value for n, value in kept[name].items() if n in vectors}
    return kept


def _scales(bound: JsonObject) -> Json:
    from .claims import needs

    return bound["scales"] if needs(bound["name"]) == "scale" else [1.0] * len(bound["allowed"])


def _bracket(b: JsonObject, r: int, combination: JsonObject | None, problem: str) -> JsonObject:
    separates = not isinstance(b["low"], str) and b["low"] > 0.0
    found: JsonObject = {
        "low": b["low"] * (1.0 - AGREE) if separates else "-inf",
        "vector": b["vector"] if separates else None,
        "up": "inf",
        "source": NOTHING,
        "rows": [],
        "alpha": [],
        "rivals": [] if problem == "joint" else None,
    }
    if b["source"] != "combination" or combination is None or isinstance(b["up"], str):
        return found
    columns = combination["coefficients"]
    pairs = []
    for j, i in enumerate(combination["rows"]):
        if problem == "joint":
            pairs += [(i, rival, -a[j]) for rival, a in enumerate(columns) if a[j] < 0.0]
        elif columns[r][j] != 0.0:
            pairs.append((i, 0, abs(columns[r][j])))
    if not pairs:
        return found
    pairs.sort()
    found |= {"up": b["up"] * (1.0 + AGREE), "source": BY_ROWS, "rows": [i for i, _, _ in pairs]}
    found["alpha"] = [a for _, _, a in pairs]
    if problem == "joint":
        found["rivals"] = [rival for _, rival, _ in pairs]
    return found


def _verdict(v: JsonObject, separated: bool) -> JsonObject:
    """Undecided where a lower end is missing, or weights are no exact proof."""
    undecided: JsonObject = {"verdict": "undecided", "vector": None, "rows": [], "weights": []}
    if v["verdict"] == "separable" and separated:
        return {**undecided, "verdict": "separable", "vector": v["vector"]}
    if v["verdict"] != "not separable" or not v["exact"]:
        return undecided
    pairs = [(i, _parts(w)) for i, w in zip(v["rows"], v["weights"])]
    denominator = max(q for _, (_, q) in pairs)  # version 1 wrote one denominator, or powers of two
    if any(denominator % q for _, (_, q) in pairs):
        return undecided
    whole = sorted((i, p * (denominator // q)) for i, (p, q) in pairs)
    return {
        "verdict": "not separable",
        "vector": None,
        "rows": [i for i, _ in whole],
        "weights": [hex(w) for _, w in whole],
    }


def _parts(w: Json) -> tuple[int, int]:
    """Numerator and denominator of a float, an integer or a text p/q of at most 4000 digits each."""
    if not isinstance(w, str):
        p, q = w.as_integer_ratio()
        return int(p), int(q)
    above, _, below = w.partition("/")
    if not (above.isdecimal() and (below or "1").isdecimal() and max(len(above), len(below)) <= 4_000):
        raise ValueError("a weight must be a fraction p/q")
    return int(above), int(below or "1")
