"""A trace as JSON, and back. Nothing in a text is executed; what is no trace is refused.

A float is written with as many digits as reading it back takes. NaN is null, and infinities are the texts
"inf" and "-inf", only in the fields that may have them. Schema 2 has the margins with a free offset; texts of
schema 1 are read without them.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import numpy as np

from .._sparse import is_sparse
from ._convergence import ProofTrace
from ._trace import KINDS, Trace

SCHEMA = 2
FORMAT = "perceptrons trace"
#: Fields that may have NaN or infinities.
_FREE = ("gamma_low_free", "gamma_up_free")  # since schema 2
_NOT_FINITE = {"gamma_low", "gamma_up", *_FREE, "step_sum", "threshold"}
_OPTIONAL = {"step_sum", "gamma_low", "gamma_up", *_FREE, "w", "dual", "average", "threshold"}
_PROOF_OPTIONAL = {"dot_bound", "norm_bound", "distance"}


# ------------------------------------------------------------------------------------------------ writing


def written(trace: Trace, indent: int | None) -> str:
    """The trace as a text."""
    fields = trace.to_arrays()
    proof = fields.pop("proof")
    if proof is not None:
        proof = {name: _plain(value) for name, value in proof.items()}
    body = {name: _plain(value) for name, value in fields.items()}
    body["label_type"] = _label_type(trace.classes)
    body["X"] = _rows_body(trace.X)
    return json.dumps(
        {"format": FORMAT, "schema": SCHEMA} | body | {"proof": proof}, indent=indent, allow_nan=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or np.isfinite(value).all():
            return value.tolist()
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else repr(value)
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return dict(value) if hasattr(value, "items") else value


def _label_type(classes: np.ndarray) -> str:
    kind = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str", "O": "object"}.get(
        classes.dtype.kind
    )
    if kind is None or (kind == "object" and not all(isinstance(c, str) for c in classes.tolist())):
        raise ValueError(f"Labels of a trace in JSON are numbers or texts; got {classes.dtype}.")
    return kind


def _rows_body(X: Any) -> Any:
    if is_sparse(X):
        X = X.tocsr()
        parts = {name: getattr(X, name).tolist() for name in ("data", "indices", "indptr")}
        return {"shape": list(X.shape), **parts}
    if isinstance(X, np.ndarray):
        return {"shape": list(X.shape), "values": X.tolist()}
    if all(isinstance(x, str) for x in X):
        return {"texts": list(X)}
    return None  # objects that JSON does not have


# ------------------------------------------------------------------------------------------------ reading


def read(text: str | bytes, max_bytes: int) -> Trace:
    """The trace that a text describes; ValueError for anything else."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError(f"A trace is read from a text or bytes; got {type(text).__name__}.")
    if len(text) > max_bytes:
        raise ValueError(f"The text has {len(text)} characters, more than max_bytes={max_bytes}.")
    try:
        found = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The text is no JSON: {error}") from error
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise ValueError(f"The text is no trace: its format must be {FORMAT!r}.")
    schema = found.pop("schema", None)
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise ValueError(f"This version reads traces of schema 1 to {SCHEMA}; this one has {schema!r}.")
    try:
        return _Reader(found, schema).trace()
    except (KeyError, TypeError, OverflowError, AttributeError, IndexError) as error:
        raise ValueError(f"The text is no trace: {type(error).__name__}: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one field twice")
    return found


class _Reader:
    """Checks the fields of a trace and makes arrays of them."""

    def __init__(self, fields: dict[str, Any], schema: int):
        self.fields = fields
        names = {*Trace.__dataclass_fields__, "label_type"}
        if schema == 1:
            names -= set(_FREE)
        if set(fields) != names:
            strange = sorted(set(fields) ^ names)
            raise ValueError(f"The text is no trace: it lacks or has by mistake: {', '.join(strange)}.")
        if schema == 1:
            fields |= dict.fromkeys(_FREE)

    def trace(self) -> Trace:
        f = self.fields
        T = len(_list("epoch", f["epoch"]))
        self.classes = self._labels("classes", _list("classes", f["classes"]))
        k = len(self.classes)
        y = self._labels("y", _list("y", f["y"]))
        n = len(y)
        X = _rows("X", f["X"], n)
        many = k > 2
        scores = (T, k) if many else (T,)
        own = self._shapes(T, k)
        kind = _list("kind", f["kind"])
        if len(kind) != T or not all(isinstance(v, str) and v in KINDS for v in kind):
            raise ValueError(f"kind must have {T} entries, each one of {', '.join(KINDS)}.")
        made: dict[str, Any] = {
            name: _whole(name, f[name], T) for name in ("epoch", "row", "n_mistakes", "n_updates")
        }
        if T and (made["row"].min() < 0 or made["row"].max() >= n):
            raise ValueError(f"row must be between 0 and {n - 1}.")
        for name in ("epoch", "n_mistakes", "n_updates"):
            if T and (made[name][0] < 0 or np.any(np.diff(made[name]) < 0)):
                raise ValueError(f"{name} must not be negative or fall from visit to visit.")
        label = self._labels("label", _list("label", f["label"]))
        if len(label) != T or not np.array_equal(label, y[made["row"]]):
            raise ValueError("label must have the label of the row of each visit.")
        made |= {"score": _numbers("score", f["score"], scores), "label": label, "y": y, "X": X}
        for name in ("margin", "keep", "step", "norm2", "step_sum", "gamma_low", "gamma_up", *_FREE):
            made[name] = self._optional(name, own)
        last = _last_size(f["w"] if f["w"] is not None else f["dual"])
        if f["dual"] is not None and (f["w"] is not None or last != n):
            raise ValueError(f"dual must have a coefficient for each of {n} rows, and then there is no w.")
        if f["w"] is not None and hasattr(X, "shape") and last != X.shape[1] + 1:
            raise ValueError(f"w must have {X.shape[1] + 1} columns; got {last}.")
        state = (T + 1, k, last) if many else (T + 1, last)
        made |= {name: self._optional(name, state) for name in ("w", "dual", "average")}
        made["threshold"] = self._optional("threshold", (T + 1, k) if many else (T + 1,))
        kinds: list[tuple[str, type]] = [
            ("learner", str),
            ("stop_reason", str),
            ("unit", bool),
            ("truncated", bool),
        ]
        for name, kind_of in kinds:
            if not isinstance(f[name], kind_of):
                raise ValueError(f"{name} must be of type {kind_of.__name__}.")
            made[name] = f[name]
        if f["space"] is not None and not isinstance(f["space"], str):
            raise ValueError("space must be a text or null.")
        seed = f["seed"]
        if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
            raise ValueError("seed must be a whole number or null.")
        size = X.shape[1] + 1 if hasattr(X, "shape") else 0
        return Trace(
            **made,
            kind=np.array(kind, f"<U{max(map(len, KINDS))}"),
            classes=self.classes,
            bias=_number("bias", f["bias"]),
            radius=_number("radius", f["radius"]),
            seed=seed,
            space=f["space"],
            proof=None if f["proof"] is None else _proof(f["proof"], T, size),
        )

    def _shapes(self, T: int, k: int) -> tuple[int, ...]:
        """(T,), or (T, k) where there is a learner per class."""
        margin = _list("margin", self.fields["margin"])
        return (T, k) if k > 2 and margin and isinstance(margin[0], list) else (T,)

    def _optional(self, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
        value = self.fields[name]
        if value is None and name in _OPTIONAL:
            return None
        return _numbers(name, value, shape, name in _NOT_FINITE)

    def _labels(self, name: str, values: list[Any]) -> np.ndarray:
        kind = self.fields["label_type"]
        types: dict[str, tuple[type, Any]] = {
            "bool": (bool, np.bool_),
            "int": (int, np.int64),
            "float": (float, np.float64),
            "str": (str, np.str_),
            "object": (str, object),
        }
        if not isinstance(kind, str) or kind not in types:
            raise ValueError(f"label_type must be one of {', '.join(types)}; got {kind!r}.")
        python, dtype = types[kind]
        if not all(type(value) is python for value in values):
            raise ValueError(f"{name} must hold labels of type {kind}.")
        return np.array(values, dtype)


def _proof(found: Any, T: int, size: int) -> ProofTrace:
    if not isinstance(found, dict) or set(found) != set(ProofTrace.__dataclass_fields__):
        raise ValueError("proof must have the fields of a ProofTrace.")
    made: dict[str, Any] = {"u": _numbers("u", found["u"], (size,))}
    for name in ("dot", "norm", *sorted(_PROOF_OPTIONAL)):
        value = found[name]
        optional = value is None and name in _PROOF_OPTIONAL
        made[name] = None if optional else _numbers(name, value, (T + 1,))
    gamma, crossing, checked = found["gamma"], found["crossing"], found["checked"]
    if crossing is not None and (not isinstance(crossing, int) or isinstance(crossing, bool)):
        raise ValueError("crossing must be a whole number or null.")
    if not isinstance(checked, dict) or not all(type(v) is int for v in checked.values()):
        raise ValueError("checked must have a count for each claim.")
    made["gamma"] = None if gamma is None else _number("gamma", gamma)
    return ProofTrace(**made, radius=_number("radius", found["radius"]), crossing=crossing, checked=checked)


def _rows(name: str, found: Any, n: int) -> Any:
    """The rows: an array, a CSR matrix, texts, or None."""
    if found is None:
        return None
    if "texts" in found:
        texts = _list(name, found["texts"])
        if len(texts) != n or not all(isinstance(x, str) for x in texts):
            raise ValueError(f"{name} must have {n} texts.")
        return texts
    shape = tuple(_whole("shape", found["shape"], 2).tolist())
    if shape[0] != n or shape[1] < 0:
        raise ValueError(f"{name} must have {n} rows; its shape is {shape}.")
    if "values" in found:
        return _numbers(name, found["values"], shape)
    import scipy.sparse as sp

    count = len(_list(name, found["data"]))
    data = _numbers(name, found["data"], (count,))
    indices = _whole(name, found["indices"], count)
    indptr = _whole(name, found["indptr"], n + 1)
    ordered = indptr[0] == 0 and indptr[-1] == count and np.all(np.diff(indptr) >= 0)
    if not ordered or (count and (indices.min() < 0 or indices.max() >= shape[1])):
        raise ValueError(f"{name} is no CSR matrix: its indices do not fit its shape.")
    return sp.csr_array((data, indices, indptr), shape=shape)


# ------------------------------------------------------------------------------------------ single values


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list.")
    return value


def _last_size(value: Any) -> int:
    """The length of the innermost lists."""
    size = 0
    while isinstance(value, list) and value:
        size, value = len(value), value[0]
    return size


def _number(name: str, value: Any) -> float:
    return float(_numbers(name, [value], (1,))[0])


def _whole(name: str, value: Any, length: int) -> np.ndarray:
    values = _list(name, value)
    if len(values) != length or not all(type(v) is int for v in values):
        raise ValueError(f"{name} must have {length} whole numbers.")
    return np.array(values, np.int64)


def _numbers(name: str, value: Any, shape: tuple[int, ...], not_finite: bool = False) -> np.ndarray:
    """An array of floats of this shape."""
    out: list[float] = []
    _collect(name, value, shape, not_finite, out)
    return np.array(out, np.float64).reshape(shape)


_WORDS = {"inf": math.inf, "-inf": -math.inf}


def _collect(name: str, value: Any, shape: tuple[int, ...], not_finite: bool, out: list[float]) -> None:
    if not isinstance(value, list) or len(value) != shape[0]:
        raise ValueError(f"{name} must have the shape {shape} here.")
    if len(shape) > 1:
        for part in value:
            _collect(name, part, shape[1:], not_finite, out)
        return
    for v in value:
        if type(v) in (int, float) and math.isfinite(v):
            out.append(float(v))
        elif not_finite and v is None:
            out.append(math.nan)
        elif not_finite and isinstance(v, str) and v in _WORDS:
            out.append(_WORDS[v])
        else:
            raise ValueError(f"{name} must hold finite numbers; got {v!r:.40}.")
