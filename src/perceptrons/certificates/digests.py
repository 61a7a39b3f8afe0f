r"""SHA-256 of data in one canonical form, so that a certificate names the data it is about.

Rows of numbers are digested as a CSR matrix of float64: shape, then the rows with their indices in
order and without zeros. So a dense array, a CSR matrix with explicit zeros and one whose entries are
stored in another order have one digest. Labels are digested with their type: 1, 1.0, True and "1" are
four different labels.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from .._sparse import is_sparse
from .._types import Json, JsonObject, Matrix, Objects, SparseMatrix
from ..theory._outward import float64_rounds

BLOCK = 1024  # rows digested at a time; part of the format


def rows_digest(X: Objects, visit: Callable[[int, Matrix], None] | None = None) -> str:
    """SHA-256 of rows of numbers, or of a collection of strings or nested tuples of such things.

    Integers that float64 rounds are digested as they are, in decimal digits.

    ``visit(start, block)`` is called with each block of rows of numbers, so that other things can be had
    from the same reading.

    >>> X = np.array([[0.0, 2.0], [-0.0, 3.0]])
    >>> rows_digest(X) == rows_digest(sparse.csr_array(X)) == rows_digest(X.astype(np.float32))
    True
    >>> rows_digest(X) == rows_digest(X.T)
    False
    """
    if not is_sparse(X) and _has_objects(X):
        return _sha256(b"perceptrons objects 1\n", _items(X))
    if not is_sparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {X.ndim} dimension(s).")
    if float64_rounds(X):
        return _sha256(b"perceptrons integer rows 1\n" + struct.pack("<qq", *X.shape), _integers(X))
    return _sha256(b"perceptrons rows 1\n" + struct.pack("<qq", *X.shape), _blocks(X, visit))


def labels_digest(y: Any) -> str:
    """SHA-256 of labels, one after the other, each with its type.

    >>> labels_digest([1, 2]) == labels_digest(np.array([1, 2], dtype=np.int8))
    True
    >>> labels_digest([1, 2]) == labels_digest([1.0, 2.0])
    False
    """
    return _sha256(b"perceptrons labels 1\n", _items(y))


def body_digest(body: JsonObject) -> str:
    """SHA-256 of a JSON object: keys sorted, no spaces, floats as the shortest text that gives them back."""
    return hashlib.sha256(canonical_json(body).encode("ascii")).hexdigest()


def canonical_json(body: Json) -> str:
    """One text per value.

    >>> canonical_json({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def encode_label(label: object) -> list[str]:
    """A label as [type, text]; :func:`decode_label` gives it back.

    >>> encode_label(np.int32(3)), encode_label(0.5), encode_label("spam"), encode_label(True)
    (['int', '3'], ['float', '0x1.0000000000000p-1'], ['str', 'spam'], ['bool', '1'])
    """
    if isinstance(label, (bool, np.bool_)):
        return ["bool", str(int(label))]
    if isinstance(label, numbers.Integral):
        return ["int", str(int(label))]
    if isinstance(label, numbers.Real):
        value = float(label) + 0.0  # -0.0 is 0.0
        if not math.isfinite(value):
            raise ValueError(f"A label must be finite; got {value!r}.")
        return ["float", value.hex()]
    if isinstance(label, str):
        return ["str", str(label)]
    if isinstance(label, bytes):
        return ["bytes", label.hex()]
    raise ValueError(f"A label must be a number, a string or bytes; got {label!r}.")


_DECODE: dict[str, Callable[[str], object]] = {
    "bool": lambda text: bool(int(text)),
    "int": int,
    "float": float.fromhex,
    "str": str,
    "bytes": bytes.fromhex,
}


def decode_label(pair: Json) -> Any:
    """The label that :func:`encode_label` has encoded.

    >>> [decode_label(encode_label(label)) for label in (3, 0.5, "spam", True, b"ham")]
    [3, 0.5, 'spam', True, b'ham']
    """
    try:
        kind, text = pair
        return _DECODE[kind](text)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"A label must be a pair of a known type and a text; got {pair!r}.") from error


def _sha256(head: bytes, parts: Iterable[bytes]) -> str:
    sha = hashlib.sha256(head)
    for part in parts:
        sha.update(part)
    return sha.hexdigest()


def _has_objects(X: Objects) -> bool:
    """Whether X is no matrix of numbers."""
    if isinstance(X, np.ndarray):
        return X.dtype.kind not in "biuf"
    if hasattr(X, "dtypes") or hasattr(X, "__array__"):
        return np.asarray(X).dtype.kind not in "biuf"
    try:
        return np.asarray(X).dtype.kind not in "biuf"
    except ValueError:  # ragged
        return True


def _blocks(X: Matrix, visit: Callable[[int, Matrix], None] | None) -> Iterable[bytes]:
    """The rows, some at a time: how many entries each has, where, and which."""
    if is_sparse(X):
        X = X.tocsr()
    for start in range(0, X.shape[0], BLOCK):
        block = X[start : start + BLOCK]
        if visit is not None:
            visit(start, block)
        part = _csr(block)
        if not part.has_canonical_format:
            part = part.copy()
            part.sum_duplicates()
        if not np.isfinite(part.data).all():
            raise ValueError("X must hold finite numbers; it contains NaN or infinity.")
        if not part.data.all():
            part = part.copy()
            part.eliminate_zeros()
        yield np.diff(part.indptr).astype("<i8").tobytes()
        yield part.indices.astype("<i8").tobytes()
        yield part.data.astype("<f8").tobytes()


def _csr(block: Any) -> SparseMatrix:
    return sparse.csr_array(block, dtype=np.float64)


def _integers(X: Matrix) -> Iterable[bytes]:
    """The entries other than 0 of each row: where, and which, in digits."""
    for i in range(X.shape[0]):
        row = X[[i]].toarray()[0] if is_sparse(X) else X[i]
        pairs = ((j, v) for j, v in enumerate(row.tolist()) if v)
        yield ",".join(f"{j}:{v}" for j, v in pairs).encode() + b";"


def _items(things: Objects) -> Iterable[bytes]:
    """Labels or objects, each with its type and its length."""
    if hasattr(things, "dtype") and hasattr(things, "__array__"):
        things = np.asarray(things)
    things = things.tolist() if isinstance(things, np.ndarray) else list(things)
    yield struct.pack("<q", len(things))
    known: dict[tuple[type, object], bytes] = {}  # labels recur
    for thing in things:
        key = (type(thing), thing) if isinstance(thing, (bool, int, str, bytes)) else None
        if key is None:
            yield _item(thing)
            continue
        if key not in known:
            known[key] = _item(thing)
        yield known[key]


def _item(thing: object) -> bytes:
    if isinstance(thing, np.ndarray):
        thing = thing.tolist()
    if isinstance(thing, (list, tuple)):
        return b"tuple:%d:" % len(thing) + b"".join(_item(part) for part in thing)
    kind, text = encode_label(thing)
    data = text.encode("utf-8", "surrogatepass")
    return b"%s:%d:%s;" % (kind.encode(), len(data), data)
