"""A certificate as JSON, and back. Nothing in a text is ever executed; what is no certificate is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import digests, gram
from .claims import CLAIMS
from .evidence import Space, Vector
from .facts import Updates
from .records import Bound, Bracket, CertificateError, Verdict

if TYPE_CHECKING:
    from .certificate import Certificate

FORMAT = "perceptrons certificate"
VERSION = 1
MAX_BYTES = 256 * 2**20
VERDICTS = ("separable", "not separable", "undecided")
SENSES = ("<=", ">=", ">", "==")
PROBLEMS = ("binary", "joint", "one-vs-rest")
BODY = (
    "format",
    "version",
    "model",
    "data",
    "space",
    "run",
    "radius",
    "brackets",
    "vectors",
    "bounds",
    "verdict",
    "updates",
    "notes",
)
MODEL = ("class", "parameters", "classes", "problem")
DATA = ("rows", "features", "X_sha256", "y_sha256")
RUN = (
    "examples",
    "epochs",
    "mistakes",
    "updates",
    "errors",
    "stop_reason",
    "visits",
    "delta",
    "parts",
    "history",
)


def plain(value: Any) -> Any:
    """The value as JSON has it; infinities as texts."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else repr(number)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def body(c: Certificate) -> dict[str, Any]:
    """All but the digest, as JSON has it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": plain(c.model),
        "data": plain(c.data),
        "space": plain(vars(c.space)),
        "run": plain(c.run),
        "radius": plain(c.radius),
        "brackets": [plain(vars(b)) for b in c.brackets],
        "vectors": {name: _vector_body(v) for name, v in c.vectors.items()},
        "bounds": [plain(vars(b)) for b in c.bounds],
        "verdict": plain(vars(c.verdict)),
        "updates": None if c.updates is None else {k: plain(v) for k, v in c.updates._asdict().items()},
        "notes": list(c.notes),
    }


def _vector_body(v: Vector) -> dict[str, Any]:
    if v.weights is None:
        return {"rows": plain(v.rows), "coefficients": plain(v.coefficients), "offset": plain(v.offset)}
    w = np.asarray(v.weights, dtype=float)
    at = np.flatnonzero(w)
    if 2 * len(at) < w.size:
        return {"shape": list(w.shape), "index": plain(at), "value": plain(w.ravel()[at])}
    return {"weights": plain(w)}


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _need(condition: bool, where: str, rule: str) -> None:
    if not condition:
        raise CertificateError(f"{where} must be {rule}.")


def number(where: str, value: Any) -> float:
    """A float, or one of the texts for infinity."""
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    _need(isinstance(value, (int, float)) and not isinstance(value, bool), where, "a number")
    return value


def _numbers(where: str, values: Any) -> np.ndarray:
    _need(isinstance(values, list), where, "a list of numbers")
    try:
        out = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise CertificateError(f"{where} must be a list of numbers: {error}") from error
    _need(bool(np.isfinite(out).all()), where, "a list of finite numbers")
    return out


def _integers(where: str, values: Any) -> np.ndarray:
    _need(isinstance(values, list), where, "a list of integers")
    _need(all(isinstance(v, int) and -(2**62) < v < 2**62 for v in values), where, "a list of integers")
    return np.asarray(values, dtype=np.int64)


def _fields(where: str, value: Any, names: Any) -> dict[str, Any]:
    _need(isinstance(value, dict), where, "an object")
    _need(set(value) == set(names), where, f"an object with the fields {', '.join(sorted(names))}")
    return value


def _text(where: str, value: Any, choices: Any = None) -> str:
    _need(isinstance(value, str), where, "a text")
    _need(choices is None or value in choices, where, f"one of {', '.join(map(repr, choices or ()))}")
    return value


def fields(body: Any) -> dict[str, Any]:
    """What the certificate has that an object of JSON describes, by name."""
    names = {*BODY, "sha256"}
    body = _fields("The certificate", body, names)
    _need(body["format"] == FORMAT, "format", repr(FORMAT))
    _need(body["version"] == VERSION, "version", str(VERSION))
    model = _fields("model", body["model"], MODEL)
    _text("model.class", model["class"])
    _text("model.problem", model["problem"], PROBLEMS)
    _need(isinstance(model["parameters"], dict), "model.parameters", "an object")
    _need(isinstance(model["classes"], list) and len(model["classes"]) >= 2, "model.classes", "two or more")
    for pair in model["classes"]:
        try:
            digests.decode_label(pair)
        except ValueError as error:
            raise CertificateError(f"model.classes: {error}") from error
    data = _fields("data", body["data"], DATA)
    for name in ("X_sha256", "y_sha256"):
        _text(f"data.{name}", data[name])
    for name in ("rows", "features"):
        _need(isinstance(data[name], int) and data[name] >= 0, f"data.{name}", "an integer")
    return {
        "model": _decoded_numbers(model),
        "data": data,
        "space": _space(body["space"]),
        "run": _run(body["run"]),
        "radius": number("radius", body["radius"]),
        "brackets": tuple(_bracket(b) for b in _list("brackets", body["brackets"])),
        "vectors": _vectors(body["vectors"]),
        "bounds": tuple(_bound(b) for b in _list("bounds", body["bounds"])),
        "verdict": _verdict(body["verdict"]),
        "updates": _updates(body["updates"]),
        "notes": tuple(_text("notes", note) for note in _list("notes", body["notes"])),
        "sha256": _text("sha256", body["sha256"]),
    }


def _list(where: str, value: Any) -> list[Any]:
    _need(isinstance(value, list), where, "a list")
    return value


def _decoded_numbers(value: Any) -> Any:
    """Texts for infinity among parameters and counts become numbers again."""
    if isinstance(value, dict):
        return {k: v if k == "classes" else _decoded_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_decoded_numbers(v) for v in value]
    return float(value) if isinstance(value, str) and value in ("inf", "-inf") else value


def _space(value: Any) -> Space:
    value = _fields("space", value, vars(Space()))
    _text("space.name", value["name"], ("augmented", "input", "kernel"))
    _need(isinstance(value["unit"], bool), "space.unit", "true or false")
    if value["kernel"] is not None:
        try:
            gram.checked(value["kernel"])
        except ValueError as error:
            raise CertificateError(f"space.kernel: {error}") from error
    _need(isinstance(value["free"], bool), "space.free", "true or false")
    bias = number("space.bias", value["bias"])
    order = number("space.order", value["order"])
    _need(1.0 <= order <= 2.0, "space.order", "a number from 1 to 2")
    return Space(value["name"], bias, value["unit"], value["kernel"], value["free"], order)


def _run(value: Any) -> dict[str, Any]:
    _need(isinstance(value, dict) and set(RUN) <= set(value), "run", f"an object with {', '.join(RUN)}")
    _need(isinstance(value["parts"], list) and len(value["parts"]) >= 1, "run.parts", "a list of counts")
    for part in value["parts"]:
        _need(isinstance(part, dict), "run.parts", "a list of objects")
        for name, count in part.items():
            if count is not None:
                number(f"run.parts.{name}", count)
    for name in ("examples", "epochs", "mistakes", "updates", "errors", "visits"):
        count = value[name]
        _need(count is None or (isinstance(count, int) and count >= 0), f"run.{name}", "an integer or null")
    for record in _list("run.history", value["history"]):
        _need(len(_integers("run.history", record)) == 4, "run.history", "lists of four counts")
    return _decoded_numbers(value)


def _bracket(value: Any) -> Bracket:
    value = _fields("brackets", value, ("low", "vector", "up", "source"))
    return Bracket(
        number("brackets.low", value["low"]),
        _text("brackets.vector", value["vector"]),
        number("brackets.up", value["up"]),
        _text("brackets.source", value["source"], ("combination", "run", "nothing")),
    )


def _vectors(value: Any) -> dict[str, Vector]:
    _need(isinstance(value, dict) and "w" in value, "vectors", "an object that has w")
    return {name: _vector(f"vectors.{name}", v) for name, v in value.items()}


def _vector(where: str, value: Any) -> Vector:
    _need(isinstance(value, dict), where, "an object")
    if set(value) == {"rows", "coefficients", "offset"}:
        rows = _integers(f"{where}.rows", value["rows"])
        a = _numbers(f"{where}.coefficients", value["coefficients"])
        _need(a.ndim == 2 and a.shape[1] == len(rows), f"{where}.coefficients", "one number per row")
        offset = None if value["offset"] is None else _numbers(f"{where}.offset", value["offset"])
        _need(offset is None or offset.shape == (len(a),), f"{where}.offset", "one number per class")
        return Vector(None, rows, a, offset)
    if set(value) == {"shape", "index", "value"}:
        shape = _integers(f"{where}.shape", value["shape"])
        _need(
            len(shape) == 2 and shape.min() > 0 and shape.prod() <= MAX_BYTES, f"{where}.shape", "two sizes"
        )
        at, entries = _integers(f"{where}.index", value["index"]), _numbers(f"{where}.value", value["value"])
        _need(len(at) == len(entries), where, "one value per index")
        _need(bool(np.all((at >= 0) & (at < shape.prod()))), f"{where}.index", "within the shape")
        w = np.zeros(shape.prod())
        w[at] = entries
        return Vector(w.reshape(shape))
    _fields(where, value, ("weights",))
    w = _numbers(f"{where}.weights", value["weights"])
    _need(w.ndim == 2, f"{where}.weights", "one list of numbers per class")
    return Vector(w)


def _bound(value: Any) -> Bound:
    names = ("name", "sense", "measured", "allowed", "symbols", "vector", "scales", "basis", "holds")
    value = _fields("bounds", value, names)
    name = _text("bounds.name", value["name"], tuple(CLAIMS))
    measured = [
        None if m is None else number(f"bound {name}", m) for m in _list("measured", value["measured"])
    ]
    allowed = [number(f"bound {name}", a) for a in _list("allowed", value["allowed"])]
    symbols = _list("symbols", value["symbols"])
    scales = [number(f"bound {name}", s) for s in _list("scales", value["scales"])]
    _need(len(measured) == len(allowed) == len(symbols) >= 1, f"bound {name}", "two sides per learner")
    _need(all(isinstance(s, dict) for s in symbols), f"bound {name}", "given by symbols")
    _need(isinstance(value["holds"], bool), f"bound {name}: holds", "true or false")
    return Bound(
        name,
        _text(f"bound {name}: sense", value["sense"], SENSES),
        tuple(measured),
        tuple(allowed),
        tuple(_decoded_numbers(s) for s in symbols),
        value["vector"] if value["vector"] is None else _text(f"bound {name}: vector", value["vector"]),
        tuple(scales),
        _text(f"bound {name}: basis", value["basis"]),
        value["holds"],
    )


def _verdict(value: Any) -> Verdict:
    value = _fields("verdict", value, vars(Verdict("undecided")))
    rows = _integers("verdict.rows", value["rows"])
    weights = _list("verdict.weights", value["weights"])
    _need(len(rows) == len(weights), "verdict.weights", "one per row")
    for w in weights:
        _need(
            isinstance(w, (int, float, str)) and len(str(w)) < 10_000,
            "verdict.weights",
            "numbers or fractions",
        )
    _need(isinstance(value["exact"], bool), "verdict.exact", "true or false")
    return Verdict(
        _text("verdict", value["verdict"], VERDICTS),
        value["vector"] if value["vector"] is None else _text("verdict.vector", value["vector"]),
        tuple(rows.tolist()),
        tuple(weights),
        number("verdict.residual", value["residual"]),
        value["exact"],
        _text("verdict.why", value["why"]),
    )


def _updates(value: Any) -> Updates | None:
    if value is None:
        return None
    value = _fields("updates", value, Updates._fields)
    integers = [_integers(f"updates.{name}", value[name]) for name in ("part", "epoch", "row")]
    keep = _numbers("updates.keep", value["keep"])
    alpha = _numbers("updates.alpha", value["alpha"])
    alpha = alpha.reshape(len(keep), -1) if len(keep) else alpha.reshape(0, 1)
    _need(all(len(a) == len(keep) for a in integers), "updates", "lists of one length")
    part, epoch, row = integers
    return Updates(part, epoch, row, keep, alpha)
