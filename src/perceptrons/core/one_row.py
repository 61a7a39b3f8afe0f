"""Learning and predicting one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from ..engine import intake, spaces
from . import calibrating, changing, class_weights, progressive, starting
from .fast_rows import FastArrays, FastDicts
from .label_lists import SEVERAL
from .labels import checked_targets, indicator
from .passes import CheckedRows, learn_in_order
from .undoing import whole_call
from .writing import access_to, enable_fast_path, one_writer, unchanged_on_error

if TYPE_CHECKING:
    from .._types import AnyMatrix, Label, SparseMatrix
    from ..engine.predictions import Predictions
    from .fast_rows import FastRows, FastSpace
    from .learner import Learner


def _width(x: Any) -> int:
    """The number of features of a row."""
    shape = x.shape if is_sparse(x) else np.shape(x)
    if not shape:
        raise ValueError(f"x must be an array of features, or a dict of named ones; got {x!r}.")
    return int(shape[-1])


def _plain(x: dict[str, Any]) -> dict[str, Any]:
    """A copy of a row of named features as a plain dict, which calls no methods of the user."""
    plain = {}
    for name, value in dict(x).items():
        if not isinstance(name, str):
            raise TypeError(f"feature names must be strings; got {name!r}.")
        plain[str.__str__(name)] = value
    return plain


def python_label(label: Label) -> Label:
    """A label as a type of Python, for ``json.dumps``, instead of a scalar type of numpy."""
    return label.item() if isinstance(label, _NUMPY) else label


_NUMPY = (np.bool_, np.number, np.str_, np.bytes_)


def python_scores(scores: npt.ArrayLike) -> float | list[float]:
    """The score of a row as a float, or the scores of its classes as a list of floats."""
    found: float | list[float] = np.asarray(scores, np.float64).tolist()
    return found


def _finite_numbers(names: list[str], x: dict[str, Any], dtype: np.dtype) -> np.ndarray:
    """The values of named features; an error names the feature whose value is no finite number."""
    try:
        with np.errstate(over="ignore"):
            data = np.fromiter((x[name] for name in names), dtype, len(names))
    except (TypeError, ValueError, OverflowError):
        for name in names:
            try:
                np.fromiter((x[name],), dtype, 1)
            except (TypeError, ValueError, OverflowError) as error:
                said = f"x[{name!r}] must be a number: {str(error).rstrip('.')}."
                raise (TypeError if isinstance(error, TypeError) else ValueError)(said) from None
        raise
    wrong = np.flatnonzero(~np.isfinite(data))
    if len(wrong):
        name = names[int(wrong[0])]
        found = "None" if x[name] is None else "NaN" if np.isnan(data[wrong[0]]) else "infinity"
        raise ValueError(f"x[{name!r}] must be a finite number; got {found}.")
    return data


def _sparse_row(x: AnyMatrix) -> SparseMatrix:
    """One sparse row as CSR with a checked structure."""
    return intake.checked_csr(x.reshape(1, -1) if x.ndim == 1 else x)


def learn(model: Learner, x: Any, y: Label) -> None:
    """Learn one row on the general path."""
    model._intake.check_pieces()
    with one_writer(model), whole_call(model) as call:
        with unchanged_on_error(model):
            fresh = "_space" not in vars(model)
            if fresh or changing.changed(model):
                model._check_params()
            class_weights.check_pieces(model)
            steps = changing.changed_steps(model)
            if fresh:
                width, dtype = model._intake.form(x)
                several = _of_several(model, y)
                classes = np.arange(len(y)) if several and not model._takes_lists else None
                starting.begin(model, width, dtype, classes, several)
            row, new_names = model._intake.one(x)
            model._check_values(row)
            rows = model._intake.rows(row, learn=True)
            label = _target(model, y, fresh)
            weights = class_weights.row_weights(model, None, label)
            known = model.classes_
            codes = model._labels.codes(label, grow=True)  # the last step that can fail
        since = progressive.known_since(model, known, codes, fresh)
        recorded = progressive.single(model, since)
        take_up_names(model, new_names)
        exact, counted = model._intake.exact(x, row), class_weights.to_count(model, label, weights)
        batch = CheckedRows(row, rows, codes, weights, exact, changed=steps, counted=counted)
        learn_batch_of_one(model, batch, since, recorded, call)
        model._enable_fast_path(x)


def _indicator_row(y: Any) -> bool:
    """Whether y is a row of an indicator matrix."""
    return np.ndim(y) == 1 and indicator([y]) is not None


def _of_several(model: Learner, y: Any) -> bool:
    """Whether y is a list of labels, for a model that takes those, or a row of an indicator matrix."""
    return isinstance(y, SEVERAL) if model._takes_lists else _indicator_row(y)


def _target(model: Learner, y: Any, fresh: bool) -> np.ndarray:
    """One label, one list of labels, or one row of an indicator matrix, as an array of one."""
    if _of_several(model, y) or (model._takes_lists and model._several and np.ndim(y) == 0):
        return checked_targets(model, [y], 1, goes_on=not fresh)
    if np.ndim(y) != 0:
        raise ValueError(f"y must be one label; got {y!r}.")
    if model._several:
        raise ValueError(
            f"y must be a row of an indicator matrix, {len(model.classes_)} numbers of 0 and 1; got {y!r}."
        )
    return np.asarray([y])


def score(model: Learner, x: Any) -> float | list[float]:
    """The score of one row on the general path."""
    if "_space" not in vars(model):
        raise model._contract.not_fitted(f"This {type(model).__name__} has learned nothing yet.")
    row = model._intake.known(x)
    model._check_values(row)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = model._score_row(row)
    if not np.isfinite(scores).all():
        model._intake.check_finite(row)
        raise spaces.NumericalError("A score is not finite: the values are too large. Scale the data.")
    return python_scores(scores)


def learn_batch_of_one(
    model: Learner,
    batch: CheckedRows,
    since: np.ndarray,
    recorded: Predictions | None,
    call: whole_call | None = None,
) -> None:
    """Learn a batch of one row."""
    model._prepare_pass(batch)
    tally = progressive.now(model)
    recording = calibrating.recording(model, 1, recorded, since)

    def note(counts: spaces.Counts) -> None:
        model.stop_reason_ = "learn_one"
        if progressive.now(model) is tally:
            progressive.tally_single(model, recorded, batch.codes, since, counts)
        if recording is not None:
            recording.note(batch.codes, batch.weights)

    learn_in_order(model, batch, recorded if recording is None else recording.predictions, note, call)


def enable(model: Learner, fast: FastRows) -> None:
    progressive.count_on(model, fast.row_buffer)
    enable_fast_path(model, fast)


def row(model: Learner, x: Any) -> tuple[AnyMatrix, list[str]]:
    """x as one row, with a column for each of its names, and the new names."""
    space = model._space
    if isinstance(x, dict):
        return named_row(model, x)
    with np.errstate(over="ignore"):  # infinite values are refused later
        row = (_sparse_row(x) if is_sparse(x) else np.asarray(x)).astype(space.frame.dtype)
    if row.shape != (space.n_features,) and row.shape != (1, space.n_features):
        raise ValueError(f"x must have {space.n_features} features, as the model has; got shape {row.shape}.")
    return (row if is_sparse(row) else np.ascontiguousarray(row.reshape(1, -1))), []


def named_row(model: Learner, x: dict[str, float]) -> tuple[SparseMatrix, list[str]]:
    import scipy.sparse as sp

    names = known_names(model)
    if type(x) is not dict or not all(type(name) is str for name in x):
        x = _plain(x)
    new = [name for name in x if name not in names]
    places = {name: j for j, name in enumerate(new, len(names))}
    pairs = sorted((names[name] if name in names else places[name], name) for name in x)
    indices = np.fromiter((j for j, _ in pairs), np.int32, len(pairs))
    data = _finite_numbers([name for _, name in pairs], x, model._space.frame.dtype)
    indptr = np.asarray([0, len(pairs)], np.int32)
    return sp.csr_array((data, indices, indptr), shape=(1, len(names) + len(new))), new


def known_names(model: Learner) -> dict[str, int]:
    """The column of each named feature."""
    names: dict[str, int] | None = vars(model).get("_names")
    if names is None:
        known = vars(model).get("_given_names")
        if known is None and model._space.n_features:
            raise ValueError(
                "This model was trained on unnamed features; give an array of "
                f"{model._space.n_features} numbers instead of a dict."
            )
        names = model._names = {} if known is None else {name: j for j, name in enumerate(known)}
    return names


def take_up_names(model: Learner, new: list[str]) -> None:
    """Add features with these names."""
    if not new:
        return
    for name in new:
        model._names[name] = len(model._names)
    model._space.grow(len(model._names))
    model.n_features_in_ = len(model._names)


def enable_fast_path_for(model: Learner, x: Any) -> None:
    """Prepare the fast path for further rows of the type of x."""
    space, access = model._space, access_to(model)
    access.n_single += 1
    after = space.fast_path_after(type(x))
    if after is None or access.n_single < after or model._keeps_journal() or not model._steady():
        return
    labels, serves = model.classes_.tolist(), model._fast_path_serves()
    if type(x) is np.ndarray:
        if x.dtype == space.frame.dtype and x.flags.c_contiguous and x.ndim == 1:
            enable(model, FastArrays(cast("FastSpace", space), labels, serves, x))
    elif type(x) is dict and space.frame.dtype == np.float64:
        enable(model, FastDicts(cast("FastSpace", space), labels, serves, model._names))


def form(x: Any) -> tuple[int, npt.DTypeLike]:
    """Number of features and precision of a model whose first row is x."""
    width = 0 if isinstance(x, dict) else _width(x)
    return width, np.float32 if getattr(x, "dtype", None) == np.float32 else np.float64
