"""A model as a table of nodes and a set of arrays.

A node describes one object: ``{"k": kind, …}``. It refers to others by their place in the table, written
``[place]``; numbers, strings, truth values and None are written as they are. A node refers to earlier ones
only, so a table has no cycles and is read from front to back, without recursion. An object that occurs twice
is one node: what was shared stays shared. Long lists of one type become arrays.

:mod:`perceptrons.models.reader` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import rules
from .._sparse import is_sparse
from ..core import changing
from ..core.classifier import Classifier
from ..engine import journal, spaces
from . import generators, registry, sparse
from .container import storable
from .errors import ModelError

if TYPE_CHECKING:
    from .._types import Json, JsonObject, SparseMatrix
    from .registry import Attributes

LONG = 16  #: from this length on a list of one type is an array
DEPTH_LIMIT = 64
SIMPLE = (type(None), bool, int, float, str)  #: what is written as it is
#: arrays that are stored as bytes: strings of fixed width, complex numbers, dates
EXOTIC = re.compile(r"[<|]?(?:[US][1-9][0-9]{0,8}|c8|c16|[Mm]8\[[a-zA-Z0-9]{1,12}\])\Z")


class Writer:
    """Turns objects into nodes and arrays; the arrays are copies."""

    def __init__(self) -> None:
        self.nodes: list[JsonObject] = []
        self.arrays: dict[str, np.ndarray] = {}
        self._places: dict[int, int] = {}
        self._alive: list[object] = []  # objects whose id is in _places: an id may be reused after its object
        self._open: set[int] = set()
        self._path: list[str] = []
        self._strange: dict[str, int] = {}

    def value(self, x: object, step: str | None = None) -> Json:
        """x itself, or a reference to its node; ``step`` leads from the object around it to x."""
        if type(x) in SIMPLE:
            return x if type(x) is not float or isfinite(x) else [self._not_finite(x)]
        if isinstance(x, np.dtype):
            x = np.dtype(x.type)  # one object for each precision, whatever object x is
        if id(x) in self._places:
            return [self._places[id(x)]]
        if id(x) in self._open:
            raise ModelError(f"{self._where()} contains itself; a model file cannot hold that.")
        if len(self._open) > DEPTH_LIMIT - 4:
            raise ModelError(f"{self._where()} is nested too deeply for a model file.")
        self._open.add(id(x))
        self._path += [] if step is None else [step]
        place = self._add(self._node(x))
        if step is not None:
            self._path.pop()
        self._open.remove(id(x))
        self._places[id(x)] = place
        self._alive.append(x)
        return [place]

    def _add(self, node: JsonObject) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _not_finite(self, x: float) -> int:
        """The place of an infinity or a NaN, which JSON does not have."""
        if str(x) not in self._strange:
            self._strange[str(x)] = self._add({"k": "float", "v": str(x)})
        return self._strange[str(x)]

    def _where(self) -> str:
        return ".".join(self._path) or "The model"

    def _tensor(self, a: np.ndarray) -> str:
        name = str(len(self.arrays))
        self.arrays[name] = a
        return name

    def _node(self, x: Any) -> JsonObject:
        kind = type(x)
        if kind in _WRITERS:
            return _WRITERS[kind](self, x)
        if is_sparse(x) and kind.__name__ in ("csr_array", "csr_matrix"):
            return self._csr(x)
        name = registry.name_of(kind)
        if name is not None:
            return self._own(name, x)
        if x is np.float64 or x is np.float32:
            return {"k": "type", "v": x.__name__}
        if kind is np.memmap:
            return self._array(np.asarray(x))
        if isinstance(x, np.generic):
            return {"k": "scalar", "v": self.value(np.asarray(x))}
        if isinstance(x, np.dtype):
            return {"k": "dtype", "v": x.str}
        if generators.known(x):
            return {"k": "generator", "v": self.value(generators.state(x))}
        if isinstance(x, Classifier) or (hasattr(x, "get_params") and hasattr(x, "fit")):
            return self._estimator(x)
        return self._outside(x)

    # -- plain data

    def _bytes(self, x: bytes) -> JsonObject:
        return {"k": "bytes", "v": x.hex()}

    def _tuple(self, x: tuple[object, ...]) -> JsonObject:
        return {"k": "tuple", "v": [self.value(item, str(i)) for i, item in enumerate(x)]}

    def _dict(self, x: dict[object, object]) -> JsonObject:
        return {"k": "dict", "keys": self.value(list(x)), "values": self.value(list(x.values()))}

    def _list(self, x: list[Any]) -> JsonObject:
        if len(x) >= LONG:
            kinds = set(map(type, x))
            packed = self._packed(x, kinds.pop()) if len(kinds) == 1 else None
            if packed is not None:
                return packed
        return {"k": "list", "v": [self.value(item, str(i)) for i, item in enumerate(x)]}

    def _packed(self, x: list[Any], kind: type) -> JsonObject | None:
        """A long list of one type as arrays, where there is a way."""
        if kind in (float, bool) or (kind is int and min(x) >= -(2**63) and max(x) < 2**63):
            numbers = np.asarray(x, np.int64) if kind is int else np.asarray(x, kind)
            return {"k": "numbers", "v": self._tensor(numbers)}
        if kind in (str, bytes):
            raw = [s.encode("utf-8", "surrogatepass") for s in x] if kind is str else x
            lengths = np.fromiter(map(len, raw), np.int64, len(raw))
            joined = np.frombuffer(b"".join(raw), np.uint8)
            return {
                "k": "texts",
                "of": kind.__name__,
                "v": self._tensor(joined),
                "lengths": self._tensor(lengths),
            }
        if kind is dict:
            names = list(x[0])
            same = names and all(list(row) == names for row in x) and all(type(n) is str for n in names)
            columns = [[row[name] for row in x] for name in names] if same else []
            return {"k": "table", "names": names, "v": self._columns(columns)} if same else None
        if kind is tuple:
            same = len(x[0]) > 0 and all(len(row) == len(x[0]) for row in x)
            return {"k": "tuples", "v": self._columns(list(map(list, zip(*x))))} if same else None
        return None

    def _columns(self, columns: list[list[Any]]) -> list[Json]:
        return [self.value(column, str(i)) for i, column in enumerate(columns)]

    # -- arrays

    def _array(self, x: np.ndarray) -> JsonObject:
        node: JsonObject = {"k": "array"}
        if not x.flags.writeable:
            node["frozen"] = True
        if x.ndim > 1 and x.flags.f_contiguous and not x.flags.c_contiguous:
            node["order"] = "F"  # products of matrices may be rounded by their layout
            x = x.T
        if x.dtype == object:
            return node | {"k": "objects", "shape": list(x.shape), "v": self.value(x.ravel().tolist())}
        if storable(x.dtype):
            return node | self._stored(x.astype(x.dtype.newbyteorder("="), copy=False))
        plain = np.array(x, x.dtype.newbyteorder("<"), order="C")
        if not EXOTIC.match(plain.dtype.str):
            raise ModelError(f"{self._where()} is an array of {x.dtype}, which a model file cannot hold.")
        raw = np.frombuffer(plain.tobytes(), np.uint8)
        return node | {"dtype": plain.dtype.str, "shape": list(x.shape), "v": self._tensor(raw)}

    def _stored(self, x: np.ndarray) -> JsonObject:
        """An array whole, or by the entries that differ from the most frequent one."""
        found = sparse.parts(x) if x.flags.c_contiguous else None
        if found is None:
            return {"v": self._tensor(x.copy())}  # a copy: another thread may write to x
        return {
            "k": "sparse",
            "shape": list(x.shape),
            "at": self._tensor(found.at),
            "v": self._tensor(found.values),
        }

    def _csr(self, x: SparseMatrix) -> JsonObject:
        arrays = [self.value(np.asarray(a)) for a in (x.data, x.indices, x.indptr)]
        matrix = type(x).__name__ == "csr_matrix"  # SciPy has two classes
        return {"k": "csr", "v": arrays, "shape": list(x.shape), "matrix": matrix}

    # -- the library's own

    def _own(self, name: str, x: Any) -> JsonObject:
        if name in registry.RECORDS:
            return {"k": "record", "of": name, "v": self._named(dict(zip(x._fields, x)))}
        if name in registry.KERNELS or name.startswith(registry.OWN):
            return {
                "k": "kernel",
                "of": name,
                "v": self._named({f: getattr(x, f) for f in registry.fields(type(x))}),
            }
        return {"k": "object", "of": name, "v": self._named(_state(x))}

    def _named(self, attributes: Attributes) -> JsonObject:
        return {name: self.value(x, name) for name, x in attributes.items()}

    def _estimator(self, x: Any) -> JsonObject:
        name = registry.estimator_name(x)
        params = registry.parameters(type(x))
        left = {k: v for k, v in x.__getstate__().items() if k not in params and k not in registry.NOT_STORED}
        if "_begun" in left:  # the parameters are stored already: only those that have changed since
            left["_begun"] = {name: left["_begun"][name] for name in changing.changed(x)}
        for attribute in left:
            registry.left_by_fitting(type(x), attribute)  # raises where the reader would
        return {
            "k": "estimator",
            "of": name,
            "params": self._named(
                {p: registry.by_object(p, getattr(x, p)) for p in registry.stored_parameters(x)}
            ),
            "v": self._named(left),
        }

    def _outside(self, x: Any) -> JsonObject:
        """What only the user has: their own function, their own generator."""
        name = ".".join(self._path)
        if x is np.random:
            return {"k": "numpy.random"}
        of_parameter = bool(self._path) and not any(step.startswith("_") for step in self._path)
        if of_parameter and isinstance(x, rules.UserRule):
            return {"k": "outside", "name": name, "is": "rule", "called": x.__name__}
        if of_parameter and callable(x) and not isinstance(x, type):
            return {"k": "outside", "name": name, "is": "function", "called": getattr(x, "__name__", name)}
        if of_parameter and callable(getattr(x, "random", None)):
            return {"k": "outside", "name": name, "is": "generator", "called": type(x).__name__}
        raise ModelError(
            f"{self._where()} is of type {type(x).__module__}.{type(x).__name__}, which a model file cannot "
            "hold: numbers, strings, arrays, CSR matrices, lists, tuples and dicts can be stored."
        )


_WRITERS: dict[type, Callable[[Writer, Any], JsonObject]] = {
    bytes: Writer._bytes,
    tuple: Writer._tuple,
    list: Writer._list,
    dict: Writer._dict,
    np.ndarray: Writer._array,
}


def _state(x: Any) -> Attributes:
    """The attributes of an object, without those of a pass under way."""
    if type(x) in spaces.KINDS:
        stored: Attributes = x.stored()
        return stored
    attributes: Attributes = dict(x.__getstate__())
    if isinstance(x, journal.Journal):
        names = list(x._pieces)
        whole = {name: getattr(x, name) for name in names}
        attributes["_pieces"] = {name: [] if whole[name] is None else [whole[name]] for name in names}
        attributes["_where"] = None
    return attributes
