"""Names of types for annotations in several packages; SciPy is imported by the type checker alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

    #: A sparse matrix of SciPy's, in CSR format unless said otherwise.
    SparseMatrix: TypeAlias = sparse.csr_array[Any, tuple[int, int]]
else:
    SparseMatrix = Any

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Unsigned: TypeAlias = npt.NDArray[np.uint64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
#: float32 or float64: a loop is compiled for each.
Reals: TypeAlias = npt.NDArray[Any]

#: What a kernel compares: rows of a matrix, strings, or a sequence of any objects.
Objects: TypeAlias = Any
#: A kernel that is a function of the user's.
PairFunction: TypeAlias = Callable[[Any, Any], float]

#: A label: a number, a string or bytes.
Label: TypeAlias = Any

#: A value of JSON, before it is checked.
Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]

#: Rows as an array or as a sparse matrix.
Matrix: TypeAlias = np.ndarray | SparseMatrix
#: Rows as a caller gives them: also lists of lists and tables.
MatrixLike: TypeAlias = npt.ArrayLike | SparseMatrix

#: A tensor of torch, which need not be installed.
Tensor: TypeAlias = Any
#: An array, a sparse matrix or a tensor: they have no operations in common that a type could name.
AnyMatrix: TypeAlias = Any
#: What picks rows of a collection: a slice, row numbers, a mask, or a tensor of row numbers on a device.
Index: TypeAlias = Any

#: The record of a rule, of a scheme or of a link: a NamedTuple of hyperparameters.
Record: TypeAlias = tuple[Any, ...]


class Collection(Protocol):
    """Objects as a kernel has prepared them: see :mod:`perceptrons.kernels.prepared`."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Index, /) -> Collection: ...

    def join(self, other: Any, /) -> Collection:
        """Both, one below the other; the other is of the same kind."""


class UpdateColumns(Protocol):
    """Updates in order, w_r <- keep w_r + alpha_r x; one entry each."""

    @property
    def row(self) -> np.ndarray:
        """int64: number of the row."""

    @property
    def example(self) -> np.ndarray:
        """int64: t of the update."""

    @property
    def keep(self) -> np.ndarray: ...

    @property
    def alpha(self) -> np.ndarray:
        """(entries, columns); one column for two classes: tau y."""
