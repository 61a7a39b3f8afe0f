"""What compiled loops rely on, checked one object at a time before any of them runs.

Loops do not check lengths, types and indices: a wrong one makes them read or write memory outside their
arrays. A digest does not help, because who wrote the file also wrote the digest. So every object that is
read is checked here as soon as it is made, and the estimator with all its parts
(:mod:`perceptrons.models.wholes`) at the end. Values that merely make a model predict nonsense are not
checked.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, isnan
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .. import kernels, rules
from .._sparse import is_sparse
from ..core.solved import Descent, Problem
from ..engine import blocks, journal, spaces
from ..engine.loops import budget, multiclass, multiplicative, scalars
from ..engine.running_idf import COUNT
from ..engine.solvers.result import Answer
from ..engine.spaces.additive import TRACKS
from ..kernels import prepared
from ..text import weight_table
from .errors import ModelError

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._types import SparseMatrix
    from .registry import Attributes

T = TypeVar("T")

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
MOST_THREADS = 4096
MOST = 2**53  #: counters are stored as float64


def need(ok: object, what: str) -> None:
    """Raise unless ``ok``; ``what`` describes the fault."""
    if not ok:
        raise ModelError(f"The file is no valid model: {what}.")


# ---------------------------------------------------------------- single values


def whole(name: str, x: object, least: int = 0, most: int = 2**63 - 1) -> None:
    ok = isinstance(x, (int, np.integer)) and not isinstance(x, bool) and least <= x <= most
    need(ok, f"{name} is no integer of at least {least}")


def number(name: str, x: object, *, finite: bool = False) -> None:
    ok = isinstance(x, Real) and not isinstance(x, bool) and not isnan(x) and (isfinite(x) or not finite)
    need(ok, f"{name} is no {'finite ' if finite else ''}number")


def truth(name: str, x: object) -> None:
    need(isinstance(x, (bool, np.bool_)), f"{name} is neither true nor false")


def array(name: str, a: Any, dtype: npt.DTypeLike, shape: tuple[int | None, ...]) -> None:
    """An aligned, C-contiguous, writable array of this type and shape; None: any length."""
    need(isinstance(a, np.ndarray) and a.dtype == dtype, f"{name} is no array of {np.dtype(dtype).name}")
    fits = len(a.shape) == len(shape) and all(n is None or n == m for n, m in zip(shape, a.shape))
    need(fits, f"{name} has shape {a.shape}, not {shape}")
    need(a.flags.c_contiguous and a.flags.aligned and a.flags.writeable, f"{name} is laid out wrongly")


def csr(arrays: list[Any], shape: tuple[int, ...], cls: Callable[..., Any]) -> SparseMatrix:
    """A CSR matrix whose indices are in range: scipy's loops do not check them."""
    need(len(arrays) == 3 and len(shape) == 2, "a CSR matrix has three arrays and two axes")
    data, indices, indptr = arrays
    for name, a, kinds in (("data", data, "fiub"), ("indices", indices, "i"), ("indptr", indptr, "i")):
        ok = isinstance(a, np.ndarray) and a.ndim == 1 and a.dtype.kind in kinds
        need(ok, f"{name} of a CSR matrix is no vector of the right type")
    need(all(a.dtype.itemsize >= 4 for a in (indices, indptr)), "indices of a CSR matrix are too narrow")
    need(len(indptr) == shape[0] + 1 and indptr[0] == 0, "indptr of a CSR matrix does not fit its rows")
    need(not (np.diff(indptr) < 0).any(), "indptr of a CSR matrix descends")
    need(indptr[-1] == len(indices) == len(data), "a CSR matrix has too few entries, or too many")
    inside = not len(indices) or (indices.min() >= 0 and indices.max() < shape[1])
    need(inside, "a CSR matrix has an index outside its columns")
    made: SparseMatrix = cls((data, indices, indptr), shape=shape)
    made.check_format(full_check=True)
    return made


def labels(classes: Any) -> None:
    """Classes in ascending order, no two equal: codes are found by bisection."""
    ok = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "biufUSOMm"
    need(ok, "classes_ is no vector of labels")
    if classes.dtype.kind == "O":
        kinds = {type(label) for label in classes}
        plain = all(issubclass(kind, (str, bytes, int, float, tuple, np.generic)) for kind in kinds)
        need(plain and len(kinds) <= 1, "classes_ has strange labels")
    try:
        ascending = all(a < b for a, b in zip(classes[:-1].tolist(), classes[1:].tolist()))
    except TypeError:
        ascending = False
    need(ascending, "classes_ is not in ascending order")


# ---------------------------------------------------------------- records


def _frame(frame: spaces.Frame) -> None:
    number("the constant coordinate", frame.bias, finite=True)
    need(frame.bias >= 0.0, "the constant coordinate is negative")
    truth("unit", frame.unit)
    need(frame.dtype in FLOATS, "weights are neither float32 nor float64")


def _numbers_only(record: NamedTuple) -> None:
    for name, x in zip(record._fields, record):
        number(f"{type(record).__name__}.{name}", x)


def _winnow(link: multiplicative.Winnow) -> None:
    number("alpha", link.alpha, finite=True)
    number("threshold", link.threshold, finite=True)
    truth("eliminate", link.eliminate)


def _descent(run: Descent) -> None:
    array("w", run.w, np.float64, (None,))
    for name in ("risks", "chosen", "steps"):
        need(isinstance(getattr(run, name), list), f"{name} is no list")
    need(isinstance(run.reason, str), "the reason of a descent is no string")
    whole("on_boundary", run.on_boundary)


def _answer(answer: Answer) -> None:
    array("alpha", answer.alpha, np.float64, (None,))
    for x in (answer.b, answer.gap, *answer.bracket):
        number("a result of the solver", x)
    need(len(answer.bracket) == 2, "a bracket has two ends")
    whole("n_iter", answer.n_iter)
    need(isinstance(answer.reason, str), "the reason of a solver is no string")


def _problem(run: Problem) -> None:
    need(isinstance(run.answer, Answer), "a problem has no solution")
    need(
        isinstance(run.support, np.ndarray) and run.support.dtype.kind == "i", "support is no vector of rows"
    )
    array("coef", run.coef, np.float64, run.support.shape)
    if run.w is not None:
        array("w", run.w, np.float64, (None,))
    number("b", run.b)
    number("norm", run.norm)


# ---------------------------------------------------------------- kernels and their collections


def _kernel(kernel: kernels.Kernel) -> None:
    for name in ("degree", "p"):
        if hasattr(kernel, name):
            whole(name, getattr(kernel, name), 1, 2**31)


def _composed(kernel: kernels.Composed) -> None:
    ok = isinstance(kernel.terms, tuple) and kernel.terms
    need(ok and all(isinstance(term, kernels.Kernel) for term in kernel.terms), "a kernel has no terms")


def _function(kernel: kernels.Pairwise) -> None:
    need(callable(kernel.function), "a kernel has no function")


def _rows(rows: prepared.Rows) -> None:
    X = rows.X
    need(is_sparse(X) or isinstance(X, np.ndarray), "rows are no matrix")
    need(X.ndim == 2 and X.dtype in FLOATS, "rows are no matrix of float32 or float64")
    need(rows._room is None, "rows come with room for more")
    if rows._squares is not None:
        need(isinstance(rows._squares, np.ndarray), "squared lengths are no array")
        need(rows._squares.dtype in FLOATS, "squared lengths are neither float32 nor float64")
        need(rows._squares.shape == (X.shape[0],), "squared lengths do not fit the rows")


def _strings(rows: prepared.Strings) -> None:
    _rows(rows)
    need(is_sparse(rows.X), "counts of substrings are no CSR matrix")
    ok = isinstance(rows.items, list) and len(rows.items) == rows.X.shape[0]
    need(ok and all(isinstance(s, (str, bytes)) for s in rows.items), "strings do not fit their counts")
    need(isinstance(rows.columns, dict), "substrings have no columns")
    in_order = all(type(j) is int and j == i for i, j in enumerate(rows.columns.values()))
    need(in_order, "columns of substrings are not numbered one by one")
    need(rows.X.shape[1] <= len(rows.columns), "there are more columns than substrings")


def _table(rows: prepared.Table) -> None:
    _rows(rows)
    need(not is_sparse(rows.X), "a precomputed kernel is no dense matrix")
    if rows.numbers is not None:
        array("numbers", rows.numbers, np.int64, (rows.X.shape[0],))
        within = not len(rows) or (rows.numbers.min() >= 0 and rows.numbers.max() < rows.X.shape[1])
        need(within, "a row of a precomputed kernel has no column")


def _objects(rows: prepared.Objects) -> None:
    need(isinstance(rows.items, list), "objects are no list")


def _parts(rows: prepared.Parts) -> None:
    ok = isinstance(rows.parts, list) and rows.parts and all(isinstance(p, COLLECTIONS) for p in rows.parts)
    need(ok and len({len(part) for part in rows.parts}) == 1, "parts of a collection differ in length")


COLLECTIONS = (prepared.Rows, prepared.Objects, prepared.Parts)


def fits(kernel: object, rows: object) -> bool:
    """Whether a collection is of the class that this kernel prepares."""
    if isinstance(kernel, kernels.Wrapped):
        return fits(kernel.kernel, rows)
    if isinstance(kernel, kernels.Composed):
        if type(rows) is not prepared.Parts or len(rows.parts) != len(kernel.terms):
            return False
        return all(fits(term, part) for term, part in zip(kernel.terms, rows.parts))
    row = kernels.TABLE.get(type(kernel).__name__)
    return isinstance(rows, COLLECTIONS) if row is None else type(rows) is row.collection


def _support(support: blocks.Support) -> None:
    need(support.rows is None or isinstance(support.rows, COLLECTIONS), "the support set is no collection")
    array("numbers", support.numbers, np.int64, (0 if support.rows is None else len(support.rows),))


# ---------------------------------------------------------------- spaces

BINARY = (spaces.Linear, spaces.Confident, spaces.Multiplicative, spaces.Elimination, spaces.Budget)
_COUNTERS = (scalars.EXAMPLES, scalars.UPDATES, scalars.MISTAKES, scalars.ERRORS, scalars.REFUSED)


def _space(space: spaces.SingleSpace) -> None:
    need(isinstance(space.frame, spaces.Frame), "a space has no frame")
    whole("n_features", space.n_features)
    array("the scalars", space.state, np.float64, (scalars.SIZE,))
    counts = space.state[list(_COUNTERS)]
    ok = ((counts >= 0.0) & (counts <= MOST) & (counts == np.floor(counts))).all()
    need(ok, "a counter is no whole number")
    longest = space.state[scalars.LONGEST]
    need(longest >= 0.0 and isfinite(longest), "the longest row has no length")
    need(space.row_numbers is None, "a pass is under way")
    truth("from_zero", space.from_zero)


def _scaled(space: spaces.SingleSpace) -> None:
    """w = SCALE * v, and its squared length."""
    scale, norm2 = space.state[scalars.SCALE], space.state[scalars.N]
    need(isfinite(scale) and scale != 0.0, "the scale of the weights is 0, or not finite")
    need(norm2 >= 0.0 and isfinite(norm2), "the weights have no length")
    need(isfinite(space.state[scalars.SCALE_SUM]), "the weights of the average have no finite sum")


def _room(space: spaces.SingleSpace, length: int) -> None:
    need(length > space.n_features, "there are fewer weights than features")


def counts_of_texts(df: Any, n_features: int) -> None:
    """How many texts each column has occurred in: no more than there were."""
    if df is not None:
        array("the counts of texts", df, COUNT, (n_features + 1,))
        need(bool((df <= df[-1]).all()), "a column has occurred in more texts than there were")


def _counting(space: spaces.Additive | spaces.Confident) -> None:
    need(space.df is None or len(space.v) == space.n_features + 1, "texts are counted for other columns")
    counts_of_texts(space.df, space.n_features)


def _additive(space: spaces.Additive, *more: int | None) -> None:
    _space(space)
    _scaled(space)
    known = type(space.rule) in rules.FIRST_ORDER or isinstance(space.rule, rules.UserRule)
    need(known, "the rule is none of the first order")
    truth("prediction", space.prediction)
    need(isinstance(space.track_name, str) and space.track_name in TRACKS, "the readout is unknown")
    array("v", space.v, space.frame.dtype, (None, *more))
    _room(space, len(space.v))
    need((space.A is None) == (space.track_name == "last"), "the average is missing, or not asked for")
    if space.A is not None:
        array("A", space.A, np.float64, space.v.shape)
    _counting(space)


def _linear(space: spaces.Linear) -> None:
    _additive(space)


def _joint(space: spaces.Joint) -> None:
    _additive(space, None)
    need(space.v.shape[1] >= 2, "there are fewer than two prototypes")
    need(type(space.scheme) in SCHEMES, "the scheme is unknown")


SCHEMES = (
    multiclass.Top,
    multiclass.Uniform,
    multiclass.Proportional,
    multiclass.Exact,
    multiclass.CrammerSinger,
)


def _confident(space: spaces.Confident) -> None:
    _space(space)
    _scaled(space)
    need(type(space.rule) in rules.SECOND_ORDER, "the rule is none of the second order")
    truth("full", space.full)
    number("start", space.start, finite=True)
    array("v", space.v, space.frame.dtype, (None,))
    _room(space, len(space.v))
    array("sigma", space.sigma, np.float64, (len(space.v),) * (2 if space.full else 1))
    _counting(space)


def _multiplicative(space: spaces.Multiplicative) -> None:
    _space(space)
    need(type(space.link) in LINKS, "the link is unknown")
    truth("prediction", space.prediction)
    truth("follow", space.follow)
    need(not space.follow or isinstance(space.link, multiplicative.Winnow), "only Winnow has a threshold")
    offset, promotions = space.state[multiplicative.OFFSET], space.state[multiplicative.PROMOTIONS]
    need(offset >= 0.0 and isfinite(offset), "the offset of the weights is not finite")
    need(0.0 <= promotions <= MOST, "promotions are no number")
    array("theta", space.theta, np.float64, (None,))
    array("u", space.u, np.float64, space.theta.shape)
    _room(space, len(space.theta))


LINKS = (multiplicative.Winnow, multiplicative.Balanced, multiplicative.PNorm)


def _elimination(space: spaces.Elimination) -> None:
    _space(space)
    truth("with_negations", space.with_negations)
    array("alive", space.alive, np.float64, (None,))
    array("negated", space.negated, np.float64, space.alive.shape)
    _room(space, len(space.alive))


def _rest(space: spaces.OneVsRest, least: int = 3) -> None:
    learners = space.learners
    ok = isinstance(learners, list) and all(isinstance(one, BINARY) for one in learners)
    need(
        ok and len(learners) >= least,
        "one against the rest needs a learner for each of three classes or more",
    )
    first = learners[0]
    alike = all(
        type(one) is type(first) and one.n_features == first.n_features and one.frame == first.frame
        for one in learners
    )
    need(alike and len({id(one) for one in learners}) == len(learners), "learners of the classes differ")
    whole("n_threads", space.n_threads, 1, MOST_THREADS)
    need(all(one.df is None for one in learners), "learners of the classes count texts of their own")
    counts_of_texts(space.df, first.n_features)


def _per_label(space: spaces.PerLabel) -> None:
    _rest(space, least=2)


def _block_size(size: object) -> None:
    if not (isinstance(size, str) and size == "auto"):
        whole("block_size", size, 1)


def _dual(space: spaces.Dual) -> None:
    inner = space.inner
    need(isinstance(inner, (spaces.Linear, spaces.Joint, spaces.OneVsRest)), "coefficients have no space")
    learners = inner.learners if isinstance(inner, spaces.OneVsRest) else [inner]
    need(all(isinstance(one, spaces.Additive) for one in learners), "coefficients are not additive")
    need(isinstance(space.frame, spaces.Frame), "a space has no frame")
    frame = space.frame._replace(bias=0.0)
    need(all(one.frame == frame for one in learners), "coefficients are in another frame")
    need(isinstance(space.support, blocks.Support), "there is no support set")
    need(all(one.n_features >= len(space.support) for one in learners), "coefficients are missing")
    need(isinstance(space.kernel, kernels.Kernel), "there is no kernel")
    rows = space.support.rows
    need(rows is None or fits(space.kernel, rows), "the support set is not what its kernel takes")
    whole("n_features", space.n_features)
    whole("n_offered", space.n_offered)
    _block_size(space.block_size)
    number("cache_mb", space.cache_mb)
    need(space.cache_mb >= 0.0, "cache_mb is negative")
    need(space.device in ("cpu", "cuda"), "the device is unknown")
    number("smallest_margin", space.smallest_margin)
    need(space._open is None, "a pass is under way")


POLICIES = (budget.Random, budget.Oldest, budget.Forgetron, budget.Projectron)


def _budget(space: spaces.Budget) -> None:
    _space(space)
    need(isinstance(space.kernel, kernels.Kernel), "there is no kernel")
    need(type(space.policy) in POLICIES, "the policy is unknown")
    whole("budget", space.budget, 1)
    truth("prediction", space.prediction)
    _block_size(space.block_size)
    array("the tally", space._tally, np.int64, (2,))
    n, room = int(space._tally[budget.IN_USE]), len(np.atleast_1d(space._a))
    need(0 <= n <= min(room, space.budget), "the support list is longer than its budget")
    array("coefficients", space._a, np.float64, (None,))
    array("places", space._where, np.int64, (room,))
    square = room if isinstance(space.policy, budget.Projectron) else 0
    array("the factor", space._factor, np.float64, (square, square))
    array("scratch space", space._work, np.float64, (square,))
    array("the cost", space._cost, np.float64, (1,))
    for name in ("label", "gram", "ids", "born"):
        dtype = np.int64 if name in ("ids", "born") else np.float64
        array(name, getattr(space, name), dtype, (n, n) if name == "gram" else (n,))
    if n:
        ok = isinstance(space.rows, COLLECTIONS) and fits(space.kernel, space.rows)
        need(ok and len(space.rows) == n, "the support list is not what its kernel takes")
    need(space.rng is None or callable(getattr(space.rng, "random", None)), "the generator cannot draw")
    drawn = space._uniforms
    need(isinstance(drawn, np.ndarray) and drawn.dtype == np.float64, "random numbers are no numbers")
    need(drawn.ndim == 1 and drawn.flags.c_contiguous, "random numbers are no vector")
    need(not len(drawn) or (drawn.min() >= 0.0 and drawn.max() < 1.0), "a random number is not in [0, 1)")
    need(0 <= space._tally[budget.DRAWN] <= len(drawn), "more random numbers were used than drawn")


# ---------------------------------------------------------------- journals

_INTEGERS = ("epoch", "row", "example", "position")


def _journal(log: journal.Journal) -> None:
    whole("max_log", log.limit)
    names = {*_INTEGERS, "keep", "alpha", "support"}
    pieces = log._pieces
    need(isinstance(pieces, dict) and pieces.keys() == names, "the log of updates is not complete")
    for name, found in pieces.items():
        ok = isinstance(found, list) and (len(found) == 1 or (name == "support" and not found))
        need(ok, f"{name} of the log is missing")
    whole("the length of the log", log._length)
    for name in _INTEGERS:
        array(name, pieces[name][0], np.int64, (log._length,))
    array("keep", pieces["keep"][0], np.float64, (log._length,))
    array("alpha", pieces["alpha"][0], np.float64, (log._length, None))
    need(pieces["alpha"][0].shape[1] >= 1, "updates of the log have no steps")
    need(log._where is None, "a pass is under way")
    support = pieces["support"][0] if pieces["support"] else None
    whole("the support of the log", log._n_support)
    if type(log) is journal.Journal:
        if support is not None:
            ok = is_sparse(support) or (isinstance(support, np.ndarray) and support.ndim == 2)
            need(ok and support.dtype in FLOATS, "rows of the log are no matrix")
        need(log._n_support == (0 if support is None else support.shape[0]), "rows of the log are missing")
    else:
        need(support is None, "a log that keeps no rows has some")
    position = pieces["position"][0]
    if type(log) is not journal.RowJournal and len(position):
        need(
            position.min() >= 0 and position.max() < log._n_support, "an update names a row that is not there"
        )


# ---------------------------------------------------------------- tables of weights


def _idf(idf: weight_table.Idf) -> None:
    for name, x in zip(idf._fields, idf):
        number(f"idf.{name}", x, finite=True)
        need(x >= 0.0, f"idf.{name} is negative")


def _weight_table(table: weight_table.WeightTable) -> None:
    """Keys ascend and are within the columns, and every array has an entry for each of them."""
    whole("n_columns", table.n_columns, 1, 2**32)
    for name in ("scales", "bias"):
        array(name, getattr(table, name), np.float64, (None,))
        need(np.isfinite(getattr(table, name)).all(), f"{name} of a table of weights are not finite")
    need(len(table.scales) >= 1, "a table of weights has no class")
    need(len(table.scales) == len(table.bias), "scales and constants differ in number")
    array("gaps", table.gaps, np.uint8, (None,))
    keys = weight_table.keys_of(table.gaps)
    need(not len(keys) or keys[-1] < table.n_columns * len(table.scales), "a weight has no column")
    array("codes", table.codes, np.int8, (len(keys),))
    need(table.idf is None or isinstance(table.idf, weight_table.Idf), "the scale of idf is missing")
    array("steps", table.steps, np.uint8, (0 if table.idf is None else len(table.columns),))


# ---------------------------------------------------------------- by class

CHECKS: dict[type, Callable[[Any], None]] = {
    spaces.Frame: _frame,
    multiplicative.Winnow: _winnow,
    Descent: _descent,
    Answer: _answer,
    Problem: _problem,
    kernels.Polynomial: _kernel,
    kernels.Spectrum: _kernel,
    kernels.Sum: _composed,
    kernels.Product: _composed,
    kernels.Pairwise: _function,
    prepared.Rows: _rows,
    prepared.Strings: _strings,
    prepared.Table: _table,
    prepared.Objects: _objects,
    prepared.Parts: _parts,
    blocks.Support: _support,
    spaces.Linear: _linear,
    spaces.Joint: _joint,
    spaces.Confident: _confident,
    spaces.Multiplicative: _multiplicative,
    spaces.Elimination: _elimination,
    spaces.OneVsRest: _rest,
    spaces.PerLabel: _per_label,
    spaces.Dual: _dual,
    spaces.Budget: _budget,
    weight_table.Idf: _idf,
    weight_table.WeightTable: _weight_table,
    journal.Journal: _journal,
    journal.KernelJournal: _journal,
    journal.RowJournal: _journal,
    **dict.fromkeys([*rules.FIRST_ORDER, *rules.SECOND_ORDER, *SCHEMES, *POLICIES], _numbers_only),
    **dict.fromkeys([multiplicative.Balanced, multiplicative.PNorm], _numbers_only),
}

#: spaces that may count texts
COUNTING = (spaces.Linear, spaces.Joint, spaces.Confident, spaces.OneVsRest, spaces.PerLabel, spaces.Labels)
_OF_SPACE = "frame n_features state"
_OF_ROWS = "X _room _squares"
#: the attributes that objects of a class have; those of the class itself may be missing
ATTRIBUTES: dict[type, set[str]] = {
    cls: set(names.split())
    for cls, names in {
        spaces.Linear: f"{_OF_SPACE} rule prediction track_name v A",
        spaces.Joint: f"{_OF_SPACE} rule prediction track_name v A scheme",
        spaces.Confident: f"{_OF_SPACE} rule full start v sigma",
        spaces.Multiplicative: f"{_OF_SPACE} link follow prediction theta u",
        spaces.Elimination: f"{_OF_SPACE} with_negations alive negated",
        spaces.OneVsRest: "learners n_threads",
        spaces.PerLabel: "learners n_threads",
        spaces.Dual: "inner kernel frame n_features block_size cache_mb device support n_offered "
        "smallest_margin _open",
        spaces.Budget: f"{_OF_SPACE} kernel policy budget rng prediction block_size rows label gram ids born "
        "_where _a _factor _work _tally _cost _uniforms",
        journal.Journal: "limit _pieces _length _n_support _where",
        journal.KernelJournal: "limit _pieces _length _n_support _where",
        journal.RowJournal: "limit _pieces _length _n_support _where",
        blocks.Support: "rows numbers",
        weight_table.WeightTable: " ".join(weight_table.STORED),
        prepared.Rows: _OF_ROWS,
        prepared.Strings: f"{_OF_ROWS} columns items",
        prepared.Table: f"{_OF_ROWS} numbers",
        prepared.Objects: "items",
        prepared.Parts: "parts",
    }.items()
}


def attributes(cls: type, found: Attributes) -> Attributes:
    """The attributes of an object; raise where one is missing, or where there is another one."""
    missing = ATTRIBUTES[cls] - found.keys()
    strange = found.keys() - ATTRIBUTES[cls]
    if issubclass(cls, spaces.SingleSpace):
        strange -= {"from_zero", "row_numbers"}
    if cls in COUNTING:
        strange -= {"df"}
    need(not missing, f"a {cls.__name__} has no {min(missing, default='')}")
    need(not strange, f"a {cls.__name__} has {min(strange, default='')!r:.40}")
    return found


def checked(x: T) -> T:
    """x, after the check of its class; raises ModelError where that fails."""
    check = CHECKS.get(type(x))
    if check is not None:
        check(x)
    return x
