"""From the nodes and arrays of :mod:`perceptrons.models.writer` back to objects.

Reading makes data and instances of the classes of :mod:`perceptrons.models.registry`; it never calls what a
file names. What the writer would not have written is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels, rules
from ..engine import intake
from . import checks, generators, registry, sparse, wholes
from .errors import ModelError
from .writer import DEPTH_LIMIT, EXOTIC, SIMPLE

if TYPE_CHECKING:
    from types import ModuleType

    from .._types import Json, JsonObject, Record, SparseMatrix
    from .generators import Draws
    from .registry import Attributes, Model

SIZE_LIMIT = 50_000_000  #: objects, those that are shared counted each time
UNFOLDED_LIMIT = 4 << 30  #: bytes of memory that all sparse arrays of a file may take, or
UNFOLDED_FACTOR = 64  #: so many times the bytes of the file, whichever is more
_PRECISIONS: dict[str, type[np.floating]] = {"float64": np.float64, "float32": np.float32}
_NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Reader:
    """Turns nodes and arrays into objects; raises ModelError on what the writer would not have written."""

    def __init__(
        self,
        nodes: Json,
        arrays: dict[str, np.ndarray],
        objects: dict[str, object],
        most_unfolded: int = UNFOLDED_LIMIT,
        classes: Callable[[str], type] = registry.estimator,
    ):
        if not isinstance(nodes, list):
            raise ModelError("The table of nodes is missing.")
        self._nodes = nodes
        self._arrays = dict(arrays)  # each is used once
        self._given = objects
        self._classes = classes
        self.needed: set[str] = set()  #: names of what the user has to give
        self._most_unfolded, self._unfolded = most_unfolded, 0
        self._made: list[Any] = []  # the object of each node
        self._sizes: list[tuple[int, int]] = []  # (objects within, depth), of each node

    def read(self) -> None:
        for place, node in enumerate(self._nodes):
            kind = node.get("k") if isinstance(node, dict) else None
            if not isinstance(kind, str) or kind not in _READERS:
                raise ModelError(f"Node {place} is of a kind that this version does not know: {kind!r:.60}.")
            self._size, self._depth = 1, 1
            try:
                made = _READERS[kind](self, node)
            except ModelError:
                raise
            except (
                ArithmeticError,
                AssertionError,
                AttributeError,
                LookupError,
                MemoryError,
                RecursionError,
                TypeError,
                ValueError,
            ) as error:
                raise ModelError(f"Node {place}, a {kind}, is broken: {error!s:.200}") from error
            self._made.append(made)
            self._sizes.append((self._size, self._depth))

    def value(self, x: Json) -> Any:
        """A value of the table, or the object that it refers to."""
        if type(x) in SIMPLE:
            return x
        if type(x) is list and len(x) == 1 and type(x[0]) is int and 0 <= x[0] < len(self._made):
            size, depth = self._sizes[x[0]]
            self._size += size
            self._depth = max(self._depth, depth + 1)
            if self._size > SIZE_LIMIT or self._depth > DEPTH_LIMIT:
                raise ModelError("The file describes more objects, or deeper ones, than any model has.")
            return self._made[x[0]]
        raise ModelError(f"A value is no value: {x!r:.60}.")

    def _tensor(self, name: Json) -> np.ndarray:
        if type(name) is not str or name not in self._arrays:
            raise ModelError(f"Array {name!r:.60} is missing, or is used twice.")
        a = self._arrays.pop(name)
        if a.dtype == np.bool_ and a.size and a.view(np.uint8).max() > 1:
            raise ModelError(f"Array {name} holds truth values that are neither true nor false.")
        return a

    def _named(self, x: Json) -> Attributes:
        if type(x) is not dict:
            raise ModelError("Attributes are missing.")
        return {name: self.value(v) for name, v in x.items()}

    # -- plain data

    def _float(self, node: JsonObject) -> float:
        return _NOT_FINITE[node["v"]]

    def _bytes(self, node: JsonObject) -> bytes:
        return bytes.fromhex(node["v"])

    def _list(self, node: JsonObject) -> list[Any]:
        return [self.value(x) for x in _listed(node["v"])]

    def _tuple(self, node: JsonObject) -> tuple[Any, ...]:
        return tuple(self._list(node))

    def _dict(self, node: JsonObject) -> dict[Any, Any]:
        keys, values = self.value(node["keys"]), self.value(node["values"])
        if type(keys) is not list or type(values) is not list or len(keys) != len(values):
            raise ModelError("A dict needs as many keys as values.")
        for key in keys:
            parts = key if type(key) is tuple else (key,)
            if not all(isinstance(part, (*SIMPLE, bytes, np.generic)) for part in parts):
                raise ModelError(f"A {type(key).__name__} is no key of a dict.")
        made = dict(zip(keys, values))
        if len(made) != len(keys):
            raise ModelError("A dict has the same key twice.")
        return made

    def _numbers(self, node: JsonObject) -> list[int] | list[float] | list[bool]:
        a = self._tensor(node["v"])
        if a.ndim != 1 or a.dtype not in (np.int64, np.float64, np.bool_):
            raise ModelError("A list of numbers is no vector of int64, float64 or bool.")
        self._size += len(a)
        numbers: list[int] | list[float] | list[bool] = a.tolist()
        return numbers

    def _texts(self, node: JsonObject) -> list[str] | list[bytes]:
        joined, lengths = self._tensor(node["v"]), self._tensor(node["lengths"])
        if joined.dtype != np.uint8 or joined.ndim != 1 or lengths.dtype != np.int64 or lengths.ndim != 1:
            raise ModelError("A list of texts has arrays of other types.")
        if len(lengths) and (lengths.min() < 0 or lengths.max() > len(joined)):
            raise ModelError("A text is longer than all of them together.")
        if int(lengths.sum(dtype=np.float64)) != len(joined):
            raise ModelError("The lengths of texts do not add up.")
        self._size += len(lengths)
        raw, stops = joined.tobytes(), np.cumsum(lengths).tolist()
        parts = [raw[stop - n : stop] for stop, n in zip(stops, lengths.tolist(), strict=True)]
        if node["of"] == "bytes":
            return parts
        return [part.decode("utf-8", "surrogatepass") for part in parts]

    def _table(self, node: JsonObject) -> list[dict[str, Any]]:
        names = _listed(node["names"])
        if not all(type(name) is str for name in names):
            raise ModelError("A table's names must be strings.")
        return [dict(zip(names, row, strict=True)) for row in self._rows(node)]

    def _rows(self, node: JsonObject) -> list[tuple[Any, ...]]:
        columns = [self.value(x) for x in _listed(node["v"])]
        if not columns or not all(type(column) is list for column in columns):
            raise ModelError("A table's columns must be lists.")
        return list(zip(*columns, strict=True))

    # -- arrays

    def _array(self, node: JsonObject) -> np.ndarray:
        a = self._tensor(node["v"])
        if "dtype" in node:
            a = _exotic(a, node["dtype"], _shape(node["shape"]))
        return _laid_out(a, node)

    def _sparse(self, node: JsonObject) -> np.ndarray:
        at, values, shape = self._tensor(node["at"]), self._tensor(node["v"]), _shape(node["shape"])
        self._unfolded += sparse.n_bytes(values, shape)
        if self._unfolded > self._most_unfolded:
            raise ModelError(
                f"Its sparse arrays take {self._unfolded} bytes of memory or more; the limit is "
                f"{self._most_unfolded}. If you trust the file, load it with a larger max_bytes."
            )
        return _laid_out(sparse.whole(at, values, shape), node)

    def _objects(self, node: JsonObject) -> np.ndarray:
        items, shape = self.value(node["v"]), _shape(node["shape"])
        if type(items) is not list or len(items) != int(np.prod(shape, dtype=np.float64)):
            raise ModelError("An array of objects has the wrong number of them.")
        a = np.empty(len(items), object)
        for i, item in enumerate(items):
            a[i] = item
        return _laid_out(a.reshape(shape), node)

    def _scalar(self, node: JsonObject) -> object:
        a = self.value(node["v"])
        if not isinstance(a, np.ndarray) or a.ndim != 0:
            raise ModelError("A number is no array of one entry.")
        return a[()]

    def _dtype(self, node: JsonObject) -> np.dtype:
        if node["v"] not in ("<f8", "<f4", ">f8", ">f4"):
            raise ModelError(f"{node['v']!r:.20} is no precision of weights.")
        return np.dtype(np.dtype(node["v"]).type)

    def _type(self, node: JsonObject) -> type[np.floating]:
        return _PRECISIONS[node["v"]]

    def _csr(self, node: JsonObject) -> SparseMatrix:
        import scipy.sparse as sp

        arrays = [self.value(x) for x in _listed(node["v"])]
        shape = _shape(node["shape"])
        return checks.csr(arrays, shape, sp.csr_matrix if node["matrix"] else sp.csr_array)

    # -- the library's own

    def _record(self, node: JsonObject) -> Record:
        record: Record = _known(registry.RECORDS, node["of"])(**self._named(node["v"]))
        return checks.checked(record)

    def _kernel(self, node: JsonObject) -> kernels.Kernel:
        if type(node["of"]) is str and node["of"].startswith(registry.OWN):
            return self._own_kernel(node["of"].removeprefix(registry.OWN), self._named(node["v"]))
        kernel: kernels.Kernel = _known(registry.KERNELS, node["of"])(**self._named(node["v"]))
        return checks.checked(kernel)

    def _own_kernel(self, called: str, fields: Attributes) -> kernels.Kernel:
        """A kernel of the user's class, which has to be registered or given."""
        cls = self._given.get(called) or registry.registered("class", "kernel", called)
        self.needed.add(called)
        if cls is None:
            raise ModelError(
                f"The model uses a kernel of yours, {called[:60]!r}, which no file holds: import the module "
                f"that registers it, or load(path, objects={{{called[:60]!r}: {called[:60]}}})."
            )
        if not (isinstance(cls, type) and issubclass(cls, kernels.Kernel)):
            raise ModelError(f"objects[{called!r:.60}] must be a class of kernels; got {cls!r:.60}.")
        if set(fields) != set(registry.fields(cls)) or not all(type(v) in SIMPLE for v in fields.values()):
            raise ModelError(f"{called:.60} has other parameters than the file says.")
        return cls(**fields)

    def _object(self, node: JsonObject) -> object:
        cls = _known(registry.OBJECTS, node["of"])
        made: object = object.__new__(cls)
        vars(made).update(checks.attributes(cls, self._named(node["v"])))
        return checks.checked(made)

    def _estimator(self, node: JsonObject) -> Model:
        cls = self._classes(node["of"])
        params, left = self._named(node["params"]), self._named(node["v"])
        strange = set(params) - set(registry.parameters(cls))
        if strange:
            raise ModelError(f"{cls.__name__} has no parameter {min(strange)!r:.60} in this version.")
        twice = left.keys() & set(registry.parameters(cls))
        if twice:
            raise ModelError(f"{cls.__name__} has its parameter {min(twice)!r:.60} twice.")
        made: Model = cls(**(registry.LATER.get(node["of"], {}) | params))
        vars(made).update(left)
        return wholes.model(made)

    def _generator(self, node: JsonObject) -> Draws:
        return generators.restored(self.value(node["v"]))

    def _numpy_random(self, node: JsonObject) -> ModuleType:
        return np.random

    def _outside(self, node: JsonObject) -> object:
        name, kind, called = node["name"], node["is"], node["called"]
        if not all(type(word) is str for word in (name, kind, called)):
            raise ModelError("An object of the user's has no name.")
        self.needed.add(name)
        given = self._given[name] if name in self._given else registry.registered(kind, name, called)
        if given is None and name not in self._given:
            if name == "callback":
                return None  # it is called while fitting; what was learned does not need it
            raise ModelError(
                f"The model uses a {kind} of yours, {called[:60]!r}, which no file holds: "
                f"load(path, objects={{{name[:60]!r}: {called[:60]}}})."
            )
        fits = {
            "rule": isinstance(given, rules.UserRule),
            "function": callable(given) and not isinstance(given, type),
            "generator": callable(getattr(given, "random", None)),
        }
        if not fits.get(kind, False):
            raise ModelError(f"objects[{name!r}] must be a {kind:.20}; got {given!r:.60}.")
        return given


_READERS: dict[str, Callable[[Reader, JsonObject], object]] = {
    "float": Reader._float,
    "bytes": Reader._bytes,
    "list": Reader._list,
    "tuple": Reader._tuple,
    "dict": Reader._dict,
    "numbers": Reader._numbers,
    "texts": Reader._texts,
    "table": Reader._table,
    "tuples": Reader._rows,
    "array": Reader._array,
    "sparse": Reader._sparse,
    "objects": Reader._objects,
    "scalar": Reader._scalar,
    "dtype": Reader._dtype,
    "type": Reader._type,
    "csr": Reader._csr,
    "record": Reader._record,
    "kernel": Reader._kernel,
    "object": Reader._object,
    "estimator": Reader._estimator,
    "generator": Reader._generator,
    "numpy.random": Reader._numpy_random,
    "outside": Reader._outside,
}


def _listed(x: Json) -> list[Json]:
    if type(x) is not list:
        raise ModelError("A list is missing.")
    return x


def _known(table: dict[str, type], name: Json) -> type:
    if type(name) is not str or name not in table:
        raise ModelError(f"{name!r:.60} is nothing that a model is made of in this version.")
    return table[name]


def _shape(x: Json) -> tuple[int, ...]:
    if type(x) is not list or len(x) > 4 or not all(type(n) is int and 0 <= n < 2**62 for n in x):
        raise ModelError(f"{x!r:.60} is no shape.")
    return tuple(x)


def _exotic(raw: np.ndarray, name: Json, shape: tuple[int, ...]) -> np.ndarray:
    """Raw bytes as strings of fixed width, dates or complex numbers."""
    if type(name) is not str or not EXOTIC.match(name) or raw.dtype != np.uint8 or raw.ndim != 1:
        raise ModelError(f"{name!r:.30} is no type of an array.")
    dtype = np.dtype(name)
    if raw.nbytes != dtype.itemsize * int(np.prod(shape, dtype=np.float64)):
        raise ModelError(f"An array of shape {shape} and type {name} does not have {raw.nbytes} bytes.")
    if dtype.kind == "U" and raw.nbytes and raw.view("<u4").max() > 0x10FFFF:
        raise ModelError("A string holds a code that is no character.")
    return raw.view(dtype).astype(dtype.newbyteorder("="), copy=False).reshape(shape)


def _laid_out(a: np.ndarray, node: JsonObject) -> np.ndarray:
    a = a.T if node.get("order") == "F" else a
    if node.get("frozen"):
        a.flags.writeable = False
        if a.shape == (0,) and a.dtype == np.float64:
            return intake.EMPTY  # the library has one such array
    return a
