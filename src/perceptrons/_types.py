"""Names of types that several rooms use in their annotations; SciPy is imported by the type checker alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

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

#: What a kernel compares: rows of a matrix, strings, or a sequence of any objects.
Objects: TypeAlias = Any
#: A kernel that is a function of the user's.
PairFunction: TypeAlias = Callable[[Any, Any], float]

#: A value of JSON, before it is checked.
Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]

#: Rows as an array or as a sparse matrix.
Matrix: TypeAlias = np.ndarray | SparseMatrix
#: Rows as a caller gives them: also lists of lists and tables.
MatrixLike: TypeAlias = npt.ArrayLike | SparseMatrix
