r"""The closed schema of a certificate: what every field may hold, and nothing else.

Each entry of the tables below says of one field its type, its range and its size. A field that is missing,
unknown, of another type, out of its range or too long is refused in one line that names it, before anything
is computed from it. :func:`consistent` has the constraints between fields. Numbers are finite unless the
table says otherwise; infinity is written as the text "inf" or "-inf".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from .._types import Json
from ..theory import gram
from . import claims, digests
from .claims import CLAIMS
from .evidence import RowSpace, Vector
from .facts import LoggedUpdates
from .field_kinds import (
    TEXT,
    Kind,
    flag,
    integer,
    list_of,
    number,
    one_of,
    or_null,
    record,
    refuse,
    scalar,
    text,
)
from .parts import BY_ROWS, NOTHING, Bound, Bracket, CertificateError, Symbols, Verdict

Part = TypeVar("Part", Bound, Bracket)

DIGITS = 2**16  # hexadecimal digits of one whole number
DEPTH = 16  # kernels within kernels
MAX_ENTRIES = 2**26  # of a vector that is stored without its zeros
PROBLEMS = ("binary", "joint", "one-vs-rest")
VERDICTS = ("separable", "not separable", "undecided")
#: The vectors that a certificate may have; ``w`` is always there.
VECTORS = ("w", "average", "start", "max margin", "svm", "separator")
#: Rules of the form w <- keep w + alpha x, whose w a log gives back.
RULES = (
    *("Perceptron", "RateByUpdates", "RateByExamples", "Margin", "MIRA", "GeometricMIRA", "PA", "PA1", "PA2"),
    *("ROMMA", "AggressiveROMMA", "ALMA", "NormMinimising", "UserRule"),
)
#: Rules that a learner of texts may have besides.
RULES_OF_TEXTS = ("AROW", "SCW1", "SCW2")
#: Classes whose learners have one of these rules.
RULED = (
    *("Perceptron", "VotedPerceptron", "AveragedPerceptron", "MarginPerceptron", "MIRA", "PassiveAggressive"),
    *("ROMMA", "ALMA", "OnlineClassifier", "TextClassifier", "KernelPerceptron", "KernelClassifier"),
)


# ----------------------------------------------------------------------------------------------- the table


def _label(where: str, value: Json) -> list[str]:
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)):
        refuse(where, "pairs of a type and a text", value)
    if len(value[1]) > TEXT or (value[0] == "int" and len(value[1]) > 4_000):
        refuse(where, "a label of moderate length", value[1][:20])
    try:
        label = digests.decode_label(value)
        again = digests.encode_label(label)
    except (ValueError, OverflowError) as error:
        raise CertificateError(f"{where}: {error}") from error
    if again != value:
        refuse(where, f"written as {again!r}", value)
    return value


def _kernel(where: str, value: Json, depth: int = 0) -> gram.Description:
    if depth > DEPTH:
        refuse(where, f"at most {DEPTH} kernels within kernels", depth)
    kinds = {name: _KERNEL_FIELDS[name] for name in gram.KINDS.get(_kind_of(where, value), ())}
    kinds["kind"] = one_of(*gram.KINDS)
    inner = partial(_kernel, depth=depth + 1)
    if "terms" in kinds:
        kinds["terms"] = list_of(inner, 1, 64)
    if "kernel" in kinds:
        kinds["kernel"] = inner
    found: gram.Description = record(kinds)(where, value)
    return found


def _kind_of(where: str, value: Json) -> str:
    kind = value.get("kind") if isinstance(value, dict) else None
    if not (isinstance(kind, str) and kind in gram.KINDS):
        refuse(where, f"a kernel described by a kind out of {', '.join(gram.KINDS)}", value)
    return str(kind)


_KERNEL_FIELDS: dict[str, Kind] = {
    "degree": integer(1, 1000),
    "coef0": number(0.0),
    "gamma": number(0.0),
    "factor": number(0.0),
    "p": integer(1, 1000),
    "mode": one_of("multiset", "set", "min"),
    "terms": flag,  # replaced
    "kernel": flag,  # replaced
}

count = integer()
PARAMETERS = (
    *("C", "a", "aggressive", "alpha", "batch_size", "budget", "covariance", "delta", "eps", "eta", "gamma"),
    *("kind", "learning_rate", "literals", "loss", "mistake", "p", "pick", "policy", "r", "readout", "rule"),
    *("scheme", "solver", "step", "tol", "variant", "estimator", "mixing", "n_shards"),
)
#: What the runs of learners of one kind count; either none of a group or all of it.
GROUPS = (
    ("mistakes", "errors", "squared_loss", "sum_sq_norms"),
    ("promotions", "demotions"),
    ("risk", "on_boundary"),
)
PART = {
    **dict.fromkeys(("updates", "mistakes", "errors", "promotions", "demotions", "literals"), count),
    **dict.fromkeys(("support", "on_boundary"), count),
    **dict.fromkeys(("forgetting_cost", "self_test", "risk"), number(0.0)),
    # null: beyond the range of floats
    **dict.fromkeys(("squared_loss", "sum_sq_norms"), or_null(number(0.0))),
}
MODEL = record(
    {
        "class": text(200, r"\w+"),
        "parameters": record({}, dict.fromkeys(PARAMETERS, scalar)),
        "classes": list_of(_label, 2, 2**20),
        "problem": one_of(*PROBLEMS),
    }
)
DATA = record(
    {
        "rows": integer(1),
        "features": integer(),
        "X_sha256": text(64, "[0-9a-f]{64}"),
        "y_sha256": text(64, "[0-9a-f]{64}"),
    }
)
SPACE = record(
    {
        "name": one_of("augmented", "input", "kernel"),
        "bias": number(0.0),
        "unit": flag,
        "kernel": or_null(_kernel),
        "free": flag,
        "order": number(1.0, 2.0),
    }
)
RUN = record(
    {
        "examples": or_null(count),
        "epochs": or_null(count),
        "mistakes": or_null(count),
        "updates": or_null(count),
        "errors": or_null(count),
        "stop_reason": text(),
        "visits": or_null(integer(1)),
        "delta": number(0.0, 1.0),
        "parts": list_of(record({}, PART), 1, 2**20),
        "history": list_of(list_of(count, 4, 4), 0, 2**20),
        "single_precision": flag,
        "lengths": record({"w": list_of(number(0.0))}, dict.fromkeys(VECTORS, list_of(number(0.0)))),
        "offsets": record({"w": list_of(number())}, dict.fromkeys(VECTORS, list_of(number()))),
    },
    {
        "gamma": number(),
        "threshold": number(),
        # passes over shards that were mixed: the updates of each round, learner and shard
        "shards": record(
            {
                "mixing": one_of("uniform", "mistakes"),
                "updates": list_of(list_of(list_of(count, 1), 1, 2**20), 0, 2**20),
            }
        ),
    },
)
#: The class of models that are mixed from passes over shards.
MIXES = "ParameterMixing"
BRACKET = record(
    {
        "low": number(0.0, infinite=("-inf",)),
        "vector": or_null(one_of(*VECTORS)),
        "up": number(0.0, infinite=("inf",)),
        "source": one_of(BY_ROWS, NOTHING),
        "rows": list_of(count),
        "alpha": list_of(number(0.0)),
        "rivals": or_null(list_of(count)),
    }
)
BOUND = record(
    {
        "name": one_of(*CLAIMS),
        "sense": one_of("<=", ">=", ">", "=="),
        "measured": list_of(or_null(number()), 1),
        "allowed": list_of(number(), 1),
        "symbols": list_of(lambda where, value: _symbols(where, value), 1),
        "vector": or_null(one_of(*VECTORS)),
        "scales": list_of(number(0.0), 1),
        "basis": text(),
        "holds": one_of(True),
    }
)
VERDICT = record(
    {
        "verdict": one_of(*VERDICTS),
        "vector": or_null(one_of(*VECTORS)),
        "rows": list_of(count),
        "weights": list_of(text(DIGITS, "0x[1-9a-f][0-9a-f]*")),
    }
)
UPDATES = record(
    {
        "part": list_of(count),
        "epoch": list_of(count),
        "row": list_of(count),
        "keep": list_of(number()),
        "alpha": list_of(list_of(number(), 1)),
    }
)
BODY = record(
    {
        "format": one_of("perceptrons certificate"),
        "version": one_of(2),
        "model": MODEL,
        "data": DATA,
        "space": SPACE,
        "run": RUN,
        "radius": number(0.0),
        "brackets": list_of(BRACKET, 1, 2**20),
        "vectors": lambda where, value: _vectors(where, value),
        "bounds": list_of(BOUND, 0, len(CLAIMS)),
        "verdict": VERDICT,
        "updates": or_null(UPDATES),
        "notes": list_of(text(), 0, 1000),
        "sha256": text(64, "[0-9a-f]{64}"),
    }
)


def _symbols(where: str, value: Json) -> Symbols:
    if not (isinstance(value, dict) and len(value) <= 16):
        refuse(where, "an object of at most 16 symbols", value)
    return {text(50)(where, name): scalar(f"{where}.{name}", entry) for name, entry in value.items()}


# ----------------------------------------------------------------------------------------------- vectors


def _vectors(where: str, value: Json) -> dict[str, Vector]:
    found: dict[str, Vector] = record({"w": _vector}, dict.fromkeys(VECTORS, _vector))(where, value)
    return found


def _vector(where: str, value: Json) -> Vector:
    if not isinstance(value, dict):
        refuse(where, "an object", value)
    if "rows" in value:
        form = {"rows": list_of(count), "coefficients": list_of(list_of(number()), 1)}
        read = record(form | {"offset": or_null(list_of(number(), 1))})(where, value)
        rows, a = np.asarray(read["rows"], np.int64), _matrix(f"{where}.coefficients", read["coefficients"])
        if a.shape[1] != len(rows):
            refuse(f"{where}.coefficients", "one number per row", a.shape)
        offset = None if read["offset"] is None else np.asarray(read["offset"], float)
        if offset is not None and offset.shape != (len(a),):
            refuse(f"{where}.offset", "one number per class", offset.shape)
        return Vector(None, rows, a, offset)
    if "shape" in value:
        form = {"shape": list_of(integer(1), 2, 2), "index": list_of(count), "value": list_of(number())}
        read = record(form)(where, value)
        size = read["shape"][0] * read["shape"][1]
        at = read["index"]
        if size > MAX_ENTRIES:
            refuse(f"{where}.shape", f"two sizes with a product of at most {MAX_ENTRIES}", read["shape"])
        if len(at) != len(read["value"]) or not _growing(at, size):
            refuse(f"{where}.index", "growing numbers within the shape, one per value", len(at))
        w = np.zeros(size)
        w[np.asarray(at, np.int64)] = read["value"]
        return Vector(w.reshape(read["shape"]))
    read = record({"weights": list_of(list_of(number(), 1), 1)})(where, value)
    return Vector(_matrix(f"{where}.weights", read["weights"]))


def _growing(numbers: Iterable[int], end: int) -> bool:
    """Whether each is above the one before, and all are below ``end``."""
    return all(i < j for i, j in pairwise((*numbers, end)))


def _matrix(where: str, lines: list[list[float]]) -> np.ndarray:
    if len({len(line) for line in lines}) != 1:
        refuse(where, "lists of one length", [len(line) for line in lines][:5])
    return np.asarray(lines, dtype=float).reshape(len(lines), -1)


# --------------------------------------------------------------------------------------- between the fields


def read(body: Json) -> dict[str, Any]:
    """The fields of the certificate that an object of JSON describes, by name."""
    found: dict[str, Any] = BODY("", body)
    found["space"] = RowSpace(**found["space"])
    found["brackets"] = tuple(_made(Bracket, b) for b in found["brackets"])
    found["bounds"] = tuple(_made(Bound, b) for b in found["bounds"])
    verdict = found["verdict"]
    weights = tuple(int(w, 16) for w in verdict["weights"])
    found["verdict"] = Verdict(verdict["verdict"], verdict["vector"], tuple(verdict["rows"]), weights)
    found["updates"] = _updates(found["updates"])
    found["notes"] = tuple(found["notes"])
    del found["format"]
    consistent(found)
    return found


def _made(kind: Callable[..., Part], fields: dict[str, Any]) -> Part:
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})


def _updates(value: Mapping[str, list[Json]] | None) -> LoggedUpdates | None:
    if value is None:
        return None
    lengths = {len(column) for column in value.values()}
    if len(lengths) != 1:
        refuse("updates", "lists of one length", sorted(lengths))
    keep = np.asarray(value["keep"], float)
    alpha = _matrix("updates.alpha", value["alpha"]) if len(keep) else np.zeros((0, 1))
    part, epoch, row = (np.asarray(value[name], np.int64) for name in ("part", "epoch", "row"))
    return LoggedUpdates(part, epoch, row, keep, alpha)


def consistent(c: Mapping[str, Any]) -> None:
    """The constraints between fields that need no data."""
    n_classes, problem, m = len(c["model"]["classes"]), c["model"]["problem"], c["data"]["rows"]
    if (problem == "binary") != (n_classes == 2):
        refuse("model.problem", "binary for two classes, joint or one-vs-rest for more", problem)
    parts = n_classes if problem == "one-vs-rest" else 1
    for where, found in (("run.parts", c["run"]["parts"]), ("brackets", c["brackets"])):
        if len(found) != parts:
            refuse(where, f"a list of {parts}, one per learner", len(found))
    _space(c["space"], problem)
    _run(c, parts, m)
    columns = 1 if problem == "binary" else n_classes
    for name, v in c["vectors"].items():
        _sized(c, name, v, columns, m)
    for bracket in c["brackets"]:
        _bracket(bracket, problem, n_classes, m)
    _verdict(c)
    seen = set()
    for bound in c["bounds"]:
        _bound(bound, parts, c["vectors"])
        if (bound.name in claims.MIXED) != ("shards" in c["run"]):
            refuse(f"bounds.{bound.name}", "about one run, or about shards where they were mixed", bound.name)
        if bound.name in seen:
            refuse("bounds", "different from each other", bound.name)
        seen.add(bound.name)
    _log(c, parts, columns if problem == "joint" else 1, m)


def _space(space: RowSpace, problem: str) -> None:
    if space.kernel is not None:
        name = "kernel"
    else:
        name = "input" if space.free or space.bias == 0.0 else "augmented"
    if space.name != name:
        refuse("space.name", repr(name), space.name)
    if space.free and space.bias != 1.0:
        refuse("space.bias", "1 where the constant coordinate is free", space.bias)
    if space.unit and (space.kernel is not None or space.free):
        refuse("space.unit", "false for kernels and for a free constant coordinate", space.unit)
    if space.order != 2.0 and (space.kernel is not None or space.free or problem == "joint"):
        refuse("space.order", "2 for kernels, prototypes and a free constant coordinate", space.order)


def _run(c: Mapping[str, Any], parts: int, m: int) -> None:
    run, parameters = c["run"], c["model"]["parameters"]
    if not 0.0 < run["delta"] < 1.0:
        refuse("run.delta", "between 0 and 1", run["delta"])
    for names in ("lengths", "offsets"):
        if set(run[names]) != set(c["vectors"]):
            refuse(f"run.{names}", f"given for {', '.join(c['vectors'])}", sorted(run[names]))
    kinds = {frozenset(part) for part in run["parts"]}
    if len(kinds) != 1:
        refuse("run.parts", "objects with the same fields", len(kinds))
    known = set(run["parts"][0])
    for group in GROUPS:
        if known & set(group) and not {"updates", *group} <= known:
            refuse("run.parts", f"objects with all of updates, {', '.join(group)}", sorted(known))
    if run["visits"] is not None and run["visits"] > max(1, run["epochs"] or 0, len(run["history"])):
        refuse("run.visits", "at most the epochs", run["visits"])
    _shards(c["model"], run, parts)
    rule = parameters.get("rule")
    if rule is not None:
        others = RULES_OF_TEXTS if c["model"]["class"] == "TextClassifier" else ()
        one_of(*RULES, *others)("model.parameters.rule", rule)
    elif c["model"]["class"] in RULED:
        refuse("model.parameters", f"given with the rule of {c['model']['class']}", "no rule")


def _shards(model: Mapping[str, Any], run: Mapping[str, Any], parts: int) -> None:
    parameters = model["parameters"]
    named = [name for name in ("estimator", "mixing", "n_shards") if name in parameters]
    if (model["class"] == MIXES) != ("shards" in run) or len(named) != (3 if "shards" in run else 0):
        refuse("run.shards", f"there exactly for {MIXES}, with its parameters", named)
    if "shards" not in run:
        return
    found = run["shards"]
    integer(1)("model.parameters.n_shards", parameters["n_shards"])
    text(200, r"\w+")("model.parameters.estimator", parameters["estimator"])
    if parameters["mixing"] != found["mixing"]:
        refuse("run.shards.mixing", f"{parameters['mixing']!r}, as the parameter is", found["mixing"])
    if len(found["updates"]) != len(run["history"]):
        refuse("run.shards.updates", "as long as the history", len(found["updates"]))
    for learners in found["updates"]:
        if len(learners) != parts or any(len(own) != parameters["n_shards"] for own in learners):
            refuse(
                "run.shards.updates", "a number for each learner and shard", [len(o) for o in learners][:5]
            )


def _sized(c: Mapping[str, Any], name: str, v: Vector, columns: int, m: int) -> None:
    where, kernel = f"vectors.{name}", c["space"].kernel is not None
    if v.n_columns != columns:
        refuse(where, f"a vector of {columns} rows", v.n_columns)
    if (v.weights is None) != kernel:
        refuse(where, "coefficients of rows for a kernel, weights otherwise", name)
    if v.weights is not None:
        if v.weights.shape[1] != c["data"]["features"] + 1:
            refuse(where, f"lists of {c['data']['features'] + 1} entries", v.weights.shape[1])
        if not c["space"].bias > 0.0 and np.any(v.weights[:, -1] != 0.0):
            refuse(where, "0 at the last entry without a constant coordinate", v.weights[0, -1])
        return
    assert v.rows is not None
    if len(v.rows) and not (v.rows.max() < m and np.all(np.diff(v.rows) > 0)):
        refuse(f"{where}.rows", f"growing numbers from 0 to {m - 1}", v.rows.tolist()[:5])
    if (v.offset is not None) != c["space"].free:
        refuse(f"{where}.offset", "there exactly where the constant coordinate is free", v.offset)


def _bracket(b: Bracket, problem: str, n_classes: int, m: int) -> None:
    if (b.low == -math.inf) != (b.vector is None):
        refuse("brackets.vector", "null exactly where low is -inf", b.vector)
    if not b.low <= b.up:
        refuse("brackets.low", f"at most brackets.up, {b.up!r}", b.low)
    if (b.source == NOTHING) != (b.up == math.inf) or (b.source == NOTHING) != (len(b.rows) == 0):
        refuse("brackets.up", "inf exactly where it follows from nothing, with no rows", b.up)
    if len(b.alpha) != len(b.rows) or not all(a > 0.0 for a in b.alpha):
        refuse("brackets.alpha", "one positive number per row", len(b.alpha))
    if any(i >= m for i in b.rows):
        refuse("brackets.rows", f"numbers from 0 to {m - 1}", max(b.rows))
    if (b.rivals is not None) != (problem == "joint"):
        refuse("brackets.rivals", "there exactly for prototypes learned together", b.rivals)
    pairs = list(zip(b.rows, b.rivals)) if b.rivals is not None else [(i, 0) for i in b.rows]
    if b.rivals is not None and (len(b.rivals) != len(b.rows) or any(r >= n_classes for r in b.rivals)):
        refuse("brackets.rivals", "the number of a class for each row", len(b.rivals))
    if any(a >= z for a, z in pairwise(pairs)):
        refuse("brackets.rows", "growing, each row (and rival) once", "another order")


def _verdict(c: Mapping[str, Any]) -> None:
    v, m = c["verdict"], c["data"]["rows"]
    if (v.verdict == "separable") != (v.vector is not None) or v.vector not in (None, *c["vectors"]):
        refuse("verdict.vector", "the name of a vector exactly where the verdict is separable", v.vector)
    if (v.verdict == "not separable") != bool(v.rows) or len(v.rows) != len(v.weights):
        rule = "rows with a weight each exactly where the verdict is not separable"
        refuse("verdict.rows", rule, len(v.rows))
    if not _growing(v.rows, m):
        refuse("verdict.rows", f"growing numbers from 0 to {m - 1}", v.rows[:5])
    if v.verdict == "not separable" and c["model"]["problem"] != "binary":
        refuse("verdict", "separable or undecided for more than two classes", v.verdict)
    separated = all(b.low > -math.inf for b in c["brackets"])  # each learner perhaps by another vector
    if separated and v.verdict != "separable" and len(c["brackets"]) == 1:
        refuse("verdict", "separable where every lower end is", v.verdict)
    if v.verdict == "separable" and not separated:
        refuse("verdict", "undecided where a lower end is -inf", v.verdict)


def _bound(b: Bound, parts: int, vectors: Mapping[str, Vector]) -> None:
    where, needs = f"bounds.{b.name}", claims.needs(b.name)
    if b.sense != CLAIMS[b.name].sense or b.basis != claims.basis(b.name):
        refuse(where, f"stated with {CLAIMS[b.name].sense} and as {claims.basis(b.name)!r}", b.basis)
    if not len(b.measured) == len(b.allowed) == len(b.symbols) == len(b.scales) == parts:
        refuse(where, f"given {parts} times, once per learner", len(b.measured))
    if (b.vector is None) != (needs == "none") or not (b.vector is None or b.vector in vectors):
        refuse(f"{where}.vector", "the name of a vector exactly where the theorem has a comparator", b.vector)
    if needs != "scale" and any(scale != 1.0 for scale in b.scales):
        refuse(f"{where}.scales", "1 where the theorem asks for no multiple", b.scales[0])
    if not all(scale > 0.0 for scale in b.scales):
        refuse(f"{where}.scales", "positive", min(b.scales))


def _log(c: Mapping[str, Any], parts: int, width: int, m: int) -> None:
    u = c["updates"]
    if u is None:
        return
    if len(u.row) and not (u.part.max() < parts and u.row.max() < m and u.alpha.shape[1] == width):
        refuse(
            "updates", f"of {parts} learners, on rows up to {m - 1}, with {width} steps each", u.alpha.shape
        )
