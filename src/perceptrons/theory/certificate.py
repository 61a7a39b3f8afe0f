r"""The certificate of a fit: what was counted, what the theorems allow, and the proof.

A :class:`Certificate` is plain data. It prints as text and as HTML, goes to JSON and comes back, and
checks itself against rows and labels without the engine and without any solver.
"""

import html
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import digests, gram
from .claims import CLAIMS, Updates
from .evidence import Space, Vector

FORMAT = "perceptrons certificate"
VERSION = 1
MAX_BYTES = 256 * 2**20
VERDICTS = ("separable", "not separable", "undecided")
SENSES = ("<=", ">=", ">", "==")
PROBLEMS = ("binary", "joint", "one-vs-rest")
SIGNS = {"<=": "≤", ">=": "≥", ">": ">", "==": "="}


class CertificateError(ValueError):
    """The text is no certificate, or a claim of one does not hold; the message names it."""


@dataclass(frozen=True)
class Bound:
    """One line: both sides of an inequality, and what the second was computed from.

    Several learners side by side have one entry each in ``measured``, ``allowed`` and ``symbols``.
    """

    name: str
    sense: str  #: how ``measured`` stands to ``allowed``
    measured: tuple[float | None, ...]  #: None: the bound is on errors still to come
    allowed: tuple[float, ...]
    symbols: tuple[Mapping[str, Any], ...]
    vector: str | None  #: the comparator is a multiple of this vector
    scales: tuple[float, ...]  #: the multiples; for second-order and L1 bounds the margin asked for
    basis: str  #: "proved here", or the paper that the constants are quoted from
    holds: bool

    @property
    def statement(self) -> str:
        """The inequality in symbols."""
        return CLAIMS[self.name].statement


@dataclass(frozen=True)
class Bracket:
    """low <= best margin <= up, in the norm and the space of the learner, rounded outwards."""

    low: float
    vector: str  #: whose margin ``low`` is
    up: float
    source: str  #: what ``up`` follows from: "combination" (checked), "run" (as reported), "nothing"


@dataclass(frozen=True)
class Verdict:
    """Separable by a vector, not separable by weights on rows, or undecided."""

    verdict: str
    vector: str | None = None  #: the separator
    rows: tuple[int, ...] = ()  #: rows with a weight
    weights: tuple[Any, ...] = ()  #: positive floats, or texts "p/q"; sum of lambda_i y_i x_i is ``residual``
    residual: float = 0.0  #: for weights of sum 1; no separator has a margin above it
    exact: bool = False  #: the residual is 0 in rational arithmetic
    why: str = ""

    @property
    def statement(self) -> str:
        """The verdict in words, no stronger than its proof."""
        if self.verdict != "not separable" or self.exact:
            return self.verdict
        return f"not separable: no margin above {self.residual:.3g}"


@dataclass(frozen=True, repr=False, eq=False)
class Certificate:
    r"""What a fit has counted and proved, with all that is needed to check it again.

    Made by :func:`perceptrons.certify`. ``str()`` gives one readable block, a notebook shows a table,
    :meth:`to_json` and :meth:`from_json` store it, :meth:`verify` checks it.

    Attributes
    ----------
    model : dict
        Class, parameters that matter, labels, kind of problem.
    data : dict
        Shape and SHA-256 of the rows and of the labels.
    space : Space
        How the rows are seen: constant coordinate, unit length, kernel.
    run : dict
        Counts, as reported by the run: examples, epochs, mistakes, updates, errors, and per learner.
    radius : float
        R, the length of the longest row in that space, rounded up.
    brackets : tuple of Bracket
        One per learner.
    vectors : dict of Vector
        w, its average, and other comparators; ``"combination"`` is w as a combination of rows.
    bounds : tuple of Bound
    verdict : Verdict
    updates : Updates or None
        The log of the run, where it was kept; :meth:`verify` replays it.
    notes : tuple of str
    sha256 : str
        Of everything above.
    """

    model: Mapping[str, Any]
    data: Mapping[str, Any]
    space: Space
    run: Mapping[str, Any]
    radius: float
    brackets: tuple[Bracket, ...]
    vectors: Mapping[str, Vector]
    bounds: tuple[Bound, ...]
    verdict: Verdict
    updates: Updates | None = None
    notes: tuple[str, ...] = ()
    sha256: str = field(default="")

    def sealed(self) -> "Certificate":
        """The certificate with the digest of its own content."""
        return replace(self, sha256=digests.body_digest(to_body(self)))

    @property
    def holds(self) -> bool:
        """Whether every bound holds; a bound that does not is a bug, in the library or in its input."""
        return all(bound.holds for bound in self.bounds)

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return [digests.decode_label(pair) for pair in self.model["classes"]]

    # ------------------------------------------------------------ JSON

    def to_json(self) -> str:
        """The certificate as text. Numbers come back to the last bit."""
        return digests.canonical_json({**to_body(self), "sha256": self.sha256})

    @classmethod
    def from_json(cls, text: str | bytes, max_bytes: int = MAX_BYTES) -> "Certificate":
        """The certificate that a text describes; nothing in the text is ever executed.

        Raises
        ------
        CertificateError
            The text is longer than ``max_bytes``, no JSON, or no certificate.
        """
        size = len(text)
        if size > max_bytes:
            raise CertificateError(f"The text has {size} characters, more than max_bytes={max_bytes}.")
        try:
            body = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"The text is no JSON: {error}") from error
        return from_body(body)

    # ------------------------------------------------------------ checking

    def verify(self, X: Any, y: Any, exact: bool = False, kernel: Any = None) -> Any:
        """Check every claim against rows and labels, without the engine and without a solver.

        First the digests, then radius, lengths, bracket, counts, the log, each bound, the verdict. It stops
        at the first claim that fails.

        Parameters
        ----------
        X, y : the data the certificate is about
        exact : bool, default=False
            Check separation, radius, lengths and brackets in rational arithmetic, too. Nothing is rounded;
            it takes time for large data. Kernels with exponentials or roots are checked in floats only.
        kernel : callable, optional
            The kernel, where it is a function of two objects.

        Returns
        -------
        verification : Verification
            True as a condition when every claim holds; ``failed`` names the first that does not, ``why`` says
            what was found, ``checked`` lists those that hold, ``reported`` those that only the run can know.
            ``verification.or_raise()`` raises :class:`CertificateError` instead.
        """
        from .checking import verify

        return verify(self, X, y, exact=exact, kernel=kernel)

    # ------------------------------------------------------------ text

    def __str__(self) -> str:
        return "\n".join(f"{head:<14}{text}" if head else text for head, text in self._lines())

    __repr__ = __str__

    def _lines(self) -> list[tuple[str, str]]:
        parameters = ", ".join(
            f"{name}={value!r}" for name, value in sorted(self.model["parameters"].items())
        )
        data, run = self.data, self.run
        lines = [
            ("", f"Certificate of {self.model['class']}({parameters})"),
            ("data", f"{data['rows']} rows, {data['features']} features, {len(self.classes)} classes"),
            ("", f"{'':14}sha256 {data['X_sha256'][:16]}… (rows), {data['y_sha256'][:16]}… (labels)"),
            ("space", self._space()),
            (
                "run",
                f"{_integer(run['examples'])} examples in {run['epochs']} epochs, "
                f"ended by: {run['stop_reason']}",
            ),
            (
                "",
                f"{'':14}{_integer(run['mistakes'])} mistakes, {_integer(run['updates'])} updates, "
                f"{_integer(run['errors'])} errors{self._reported()}",
            ),
            ("radius", f"R = {self.radius:.6g}"),
        ]
        for r, bracket in enumerate(self.brackets):
            lines.append(("best margin" + self._of(r), self._bracket(bracket)))
        lines.append(
            ("verdict", self.verdict.statement + (f"; {self.verdict.why}" if self.verdict.why else ""))
        )
        for bound in self.bounds:
            lines.extend(self._bound(bound))
        lines.extend(("note", note) for note in self.notes)
        lines.append(("sha256", self.sha256))
        return lines

    def _space(self) -> str:
        space = self.space
        what = {
            "augmented": f"augmented by a constant coordinate {space.bias:g}",
            "input": "of the inputs",
            "kernel": f"of the kernel {_kernel_text(space.kernel)}" if space.kernel else "of a kernel",
        }[space.name]
        if space.name == "kernel" and space.bias and not space.free:
            what += f" + {space.bias**2:g}"
        return what + (", rows of length 1" if space.unit else "")

    def _reported(self) -> str:
        return ", replayed from the log" if self.run.get("replays") else ", as reported by the run"

    def _of(self, r: int) -> str:
        return f" {self.classes[r]!r}" if len(self.brackets) > 1 else ""

    def _bracket(self, bracket: Bracket) -> str:
        low = "" if bracket.low == -math.inf else f"{bracket.low:.6g} ≤ "
        norm = "" if self.space.order == 2.0 else f" (separators measured by their {self.space.order:g}-norm)"
        source = {"run": ", as reported by the run", "combination": "", "nothing": ""}[bracket.source]
        return f"{low}γ* ≤ {bracket.up:.6g}{source}{norm}"

    def _bound(self, bound: Bound) -> list[tuple[str, str]]:
        sign = "holds" if bound.holds else "VIOLATED"
        out = []
        for r, (measured, allowed) in enumerate(zip(bound.measured, bound.allowed)):
            left = "" if measured is None else f"{measured:.6g} "
            of = f" [{self.classes[r]!r}]" if len(bound.measured) > 1 else ""
            symbols = ", ".join(f"{k}={_short(v)}" for k, v in sorted(bound.symbols[r].items()))
            u = "" if bound.vector is None else f"; u = {_short(bound.scales[r])}·{bound.vector}"
            out.append((sign, f"{left}{SIGNS[bound.sense]} {allowed:.6g}{of}  {bound.statement}"))
            out.append(("", f"{'':16}{symbols}{u}; {bound.basis}" if symbols else f"{'':16}{bound.basis}"))
        return out

    def _repr_html_(self) -> str:
        rows = []
        for head, text in self._lines():
            cells = (
                f"<th style='text-align:left'>{html.escape(head)}</th><td>{html.escape(text.strip())}</td>"
            )
            rows.append(f"<tr>{cells}</tr>")
        return f"<table>{''.join(rows)}</table>"


def _integer(value: Any) -> str:
    return "—" if value is None else f"{value:,}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def _kernel_text(kernel: Mapping[str, Any]) -> str:
    inside: list[str] = []
    for name, value in sorted(kernel.items()):
        if name == "terms":
            inside.extend(_kernel_text(part) for part in value)
        elif name == "kernel":
            inside.append(_kernel_text(value))
        elif name != "kind":
            inside.append(f"{name}={value!r}")
    return f"{kernel['kind']}({', '.join(inside)})"


# ------------------------------------------------------------------------------------------ to JSON


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


def to_body(c: Certificate) -> dict[str, Any]:
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


# ---------------------------------------------------------------------------------------- from JSON


def _refuse_constant(name: str) -> Any:
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


def from_body(body: Any) -> Certificate:
    """The certificate that an object of JSON describes."""
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
    return Certificate(
        model=_decoded_numbers(model),
        data=data,
        space=_space(body["space"]),
        run=_run(body["run"]),
        radius=number("radius", body["radius"]),
        brackets=tuple(_bracket(b) for b in _list("brackets", body["brackets"])),
        vectors=_vectors(body["vectors"]),
        bounds=tuple(_bound(b) for b in _list("bounds", body["bounds"])),
        verdict=_verdict(body["verdict"]),
        updates=_updates(body["updates"]),
        notes=tuple(_text("notes", note) for note in _list("notes", body["notes"])),
        sha256=_text("sha256", body["sha256"]),
    )


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
