"""A certificate as JSON, and back. Nothing in a text is ever executed; what is no certificate is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._types import Json, JsonObject
from . import schema, version1
from .evidence import Vector
from .parts import CertificateError

if TYPE_CHECKING:
    from .certificate import Certificate

FORMAT = "perceptrons certificate"
VERSION = 2
MAX_BYTES = 256 * 2**20


# ------------------------------------------------------------------------------------------------ writing


def plain(value: object) -> Json:
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


def body(c: Certificate) -> JsonObject:
    """All but the digest, as JSON has it."""
    if c.original is not None:
        return {name: value for name, value in c.original.items() if name != "sha256"}
    v = c.verdict
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": plain(c.model),
        "data": plain(c.data),
        "space": plain(vars(c.space)),
        "run": plain(c.run),
        "radius": plain(c.radius),
        "brackets": [plain(vars(b)) for b in c.brackets],
        "vectors": {name: vector_body(v) for name, v in c.vectors.items()},
        "bounds": [plain(vars(b)) for b in c.bounds],
        "verdict": {
            "verdict": v.verdict,
            "vector": v.vector,
            "rows": plain(v.rows),
            "weights": [hex(w) for w in v.weights],
        },
        "updates": None if c.updates is None else {k: plain(v) for k, v in c.updates._asdict().items()},
        "notes": list(c.notes),
    }


def vector_body(v: Vector) -> JsonObject:
    if v.weights is None:
        return {"rows": plain(v.rows), "coefficients": plain(v.coefficients), "offset": plain(v.offset)}
    w = np.asarray(v.weights, dtype=float)
    at = np.flatnonzero(w)
    if 2 * len(at) < w.size:
        return {"shape": list(w.shape), "index": plain(at), "value": plain(w.ravel()[at])}
    return {"weights": plain(w)}


# ------------------------------------------------------------------------------------------------ reading


def parsed(text: object, max_bytes: int) -> dict[str, Any]:
    """The fields of the certificate that a text describes, by name; CertificateError for anything else."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise CertificateError(f"A certificate is read from a text or bytes; got {type(text).__name__}.")
    if len(text) > max_bytes:
        raise CertificateError(f"The text has {len(text)} characters, more than max_bytes={max_bytes}.")
    try:
        found = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"The text is no JSON: {error}") from error
    try:
        if version1.is_one(found):
            return {**schema.read(version1.upgraded(found)), "version": 1, "original": found}
        return schema.read(found)
    except CertificateError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError) as error:
        raise CertificateError(f"The text is no certificate: {type(error).__name__}: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _once(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one field twice")
    return found
