"""The storage of texts with several labels, checked before any loop reads it."""

from __future__ import annotations

import numpy as np

from .. import rules
from ..engine.loops.labels import START
from ..engine.spaces import Labels
from ..engine.spaces import labels as storage
from ..engine.spaces.labels import Kept
from ..text.parameters import MOST_BITS
from . import checks
from .checks import array, need


def _labels(space: Labels) -> None:
    checks._space(space)
    need(type(space.rule) in rules.CONFIDENCE, "the rule has no confidence per column")
    checks.whole("n_features", space.n_features, 1, 1 << MOST_BITS)
    array("the numbers of the labels", space.number_of, np.int32, (None,))
    seen = np.sort(space.number_of[space.number_of >= 0])
    need((space.number_of >= -1).all() and (seen == np.arange(len(seen))).all(), "labels are not numbered")
    kept = Kept(*(vars(space)[f"kept_{name}"] for name in Kept._fields))
    array("columns", kept.columns, np.uint32, (None,))
    ascending = (kept.columns[1:] > kept.columns[:-1]).all()
    need(ascending and (kept.columns < space.n_features).all(), "columns are not in ascending order")
    n, dtype = len(kept.columns) + 1, space.frame.dtype
    if isinstance(kept.S, np.ndarray) and kept.S.ndim == 2:
        need(len(seen) <= storage.MOST_IN_LINES, "there are too many labels for lines of all")
        array("variances", kept.S, dtype, (n, len(seen)))
        array("weights", kept.W, dtype, (n, len(seen)))
        array("lengths of lists", kept.length, np.int32, (0,))
    else:
        _lists(kept, n, len(seen), dtype)
    need(np.isfinite(kept.W).all() and np.isfinite(kept.weight).all(), "a weight is not finite")
    need(((kept.S >= 0.0) & (kept.S <= START)).all(), "a variance is out of range")
    space.unfold()


def _lists(kept: Kept, n: int, n_seen: int, dtype: np.dtype) -> None:
    array("variances", kept.S, dtype, (n,))
    array("lengths of lists", kept.length, np.int32, (n,))
    array("labels of lists", kept.label, np.int32, (None,))
    array("weights of lists", kept.weight, dtype, kept.label.shape)
    array("weights", kept.W, dtype, (0, 0))
    whole = (kept.length >= 0).all() and int(kept.length.sum(dtype=np.int64)) == len(kept.label)
    need(whole and len(kept.label) <= storage.MOST_PLACES, "lists of labels have other lengths")
    within = not len(kept.label) or (kept.label.min() >= 0 and kept.label.max() < n_seen)
    need(within, "a list has a label that is not there")
    starts = np.cumsum(kept.length, dtype=np.int64)[:-1]
    rises = np.diff(kept.label) > 0
    between = np.zeros(max(0, len(kept.label) - 1), bool)
    between[starts[(starts > 0) & (starts < len(kept.label))] - 1] = True  # the next list begins there
    need((rises | between).all(), "labels of a list are not in ascending order")


checks.CHECKS[Labels] = _labels
checks.ATTRIBUTES[Labels] = {
    *("frame", "n_features", "state", "rule", "number_of"),
    *(f"kept_{name}" for name in Kept._fields),
}
