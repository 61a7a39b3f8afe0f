"""What the shards have in common: labels, width and precision, found out before the first is learned.

Rows that are read far away are never in one place. Each shard reports its labels and its width, and all of
them are then understood in the same way: the codes of labels, the columns and the weights of classes do not
depend on which shard a row is in.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._sparse import CsrRows, as_scipy, is_sparse
from ..core import class_weights
from ..core.labels import checked_labels
from ..core.passes import CheckedRows
from ..io.records import Batch, FormatError
from . import supported

if TYPE_CHECKING:
    from ..core.learner import Learner
    from .jobs import Job


class Survey(NamedTuple):
    """The rows of one shard, in numbers."""

    name: str  #: of the shard, for messages
    n_rows: int
    n_features: int
    dtype: np.dtype  #: of the values
    labels: np.ndarray  #: ascending
    counts: np.ndarray  #: rows of each label
    weighed: np.ndarray  #: whether a row of the label has a positive weight
    names: np.ndarray | None  #: of the features


def survey(learner: Learner, batch: Batch, name: str) -> Survey:
    """Look at the rows of a shard; what no learner can take is refused."""
    one = copy.copy(learner)
    with _of_shard(name):
        X = one._intake.checked(as_scipy(batch.X), reset=True)
        if batch.y is not None:
            supported.check_targets(one, batch.y)
        y = checked_labels(one, batch.y, X.shape[0])
        weights = class_weights.checked_weights(one, batch.weights, len(y))
    labels, codes = np.unique(y, return_inverse=True)
    there = codes[weights > 0.0] if len(weights) else codes
    return Survey(
        name,
        X.shape[0],
        X.shape[1],
        X.dtype,
        labels,
        np.bincount(codes),
        np.isin(np.arange(len(labels)), there),
        vars(one).get("_given_names"),
    )


class Agreement(NamedTuple):
    """What all shards have in common, beside what the learner has: labels, width and names of features."""

    dtype: np.dtype  #: of the values
    class_weight: class_weights.ClassWeight  #: a weight for each label, where they depend on all rows


def agree(learner: Learner, surveys: Sequence[Survey]) -> Agreement:
    """Give the learner the labels and the width of all shards."""
    labels, counts = _labels(learner, surveys)
    learner.classes_ = labels
    learner.n_features_in_ = max(found.n_features for found in surveys)
    _names(learner, surveys)
    dtype = np.result_type(*(found.dtype for found in surveys))
    return Agreement(dtype, _class_weight(learner, labels, counts))


def _labels(learner: Learner, surveys: Sequence[Survey]) -> tuple[np.ndarray, np.ndarray]:
    """All labels, and how many rows each has."""
    first = surveys[0]
    for found in surveys[1:]:
        if _kind(found.labels) != _kind(first.labels):
            raise ValueError(
                f"y must hold labels of one type: {first.name} has {first.labels.tolist()[:3]!r}, and "
                f"{found.name} has {found.labels.tolist()[:3]!r}. labels='text' takes all labels as words."
            )
    every = np.concatenate([found.labels for found in surveys])
    labels, codes = np.unique(every, return_inverse=True)
    if len(labels) < 2:
        raise ValueError(
            f"{type(learner).__name__} needs at least two classes in y; it holds one class only: "
            f"{labels[0]!r}."
        )
    counts = np.bincount(codes, np.concatenate([found.counts for found in surveys]))
    weighed = np.bincount(codes, np.concatenate([found.weighed for found in surveys]))
    if np.count_nonzero(weighed) < 2:
        where = "all classes but one class" if weighed.any() else "every row"
        raise ValueError(
            f"sample_weight is zero for {where}; at least two classes need a row with a positive weight."
        )
    return labels, counts


def _kind(labels: np.ndarray) -> str:
    return "number" if labels.dtype.kind in "biuf" else type(labels.tolist()[0]).__name__


def _names(learner: Learner, surveys: Sequence[Survey]) -> None:
    """The names of the features, where the shards have them: the same ones."""
    first = surveys[0]
    for found in surveys[1:]:
        one, other = (None if own is None else own.tolist() for own in (first.names, found.names))
        if one != other:
            raise ValueError(f"The features of {found.name} have other names than those of {first.name}.")
    vars(learner).pop("_given_names", None)
    if first.names is not None:
        learner.feature_names_in_ = first.names


def _class_weight(learner: Learner, labels: np.ndarray, counts: np.ndarray) -> class_weights.ClassWeight:
    """The weights of classes as each shard can apply them; ``"balanced"`` is n/(k n_c) over all rows."""
    given: class_weights.ClassWeight = getattr(learner, "class_weight", None)
    if isinstance(given, Mapping) and not set(given) <= set(labels.tolist()):
        strange = next(label for label in given if label not in labels.tolist())
        raise ValueError(f"class_weight has a weight for {strange!r}, which is not a label in y.")
    if given == "balanced":
        of_class = counts.sum() / (len(labels) * counts)
        return dict(zip(labels.tolist(), of_class.tolist(), strict=True))
    return given


# -------------------------------------------------------------------------------------------------- shards


class LoadedShard(NamedTuple):
    """A shard whose rows have been read."""

    number: int
    rows: CheckedRows
    n_rows: int
    row_numbers: np.ndarray | None = None

    def load(self, job: Job) -> CheckedRows:
        return self.rows


def shard_of(job: Job, number: int, batch: Batch, name: str) -> LoadedShard:
    """The rows of a shard, checked as those of a fit are, in the frame of the job."""
    learner = copy.copy(job.learner)
    with _of_shard(name):
        given = widened(batch.X, job.n_features)
        X = learner._intake.checked(given, reset=False)
        if X.dtype != job.frame.dtype:
            with np.errstate(over="ignore"):  # infinite values are refused below
                X = X.astype(job.frame.dtype)
        y = checked_labels(learner, batch.y, X.shape[0])
        weights = class_weights.row_weights(learner, batch.weights, y)
        learner._check_values(X)
        rows = learner._intake.rows(X, learn=True, frame=job.frame)
    exact = learner._intake.exact(given, X)
    checked = CheckedRows(None, rows, learner._labels.codes(y), weights, exact, job.frame)
    return LoadedShard(number, checked, X.shape[0])


def widened(X: Any, n_features: int) -> Any:
    """Sparse rows with as many columns as those of all shards; others as they are."""
    if not is_sparse(X) or X.shape[1] == n_features:
        return as_scipy(X)
    rows = X if X.format == "csr" else X.tocsr()
    return as_scipy(CsrRows(rows.data, rows.indices, rows.indptr, (X.shape[0], n_features)))


@contextlib.contextmanager
def _of_shard(name: str) -> Iterator[None]:
    """Name the shard in errors about its rows; a file's own errors name file and line already."""
    try:
        yield
    except FormatError:
        raise
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
