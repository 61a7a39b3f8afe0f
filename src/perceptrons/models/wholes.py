"""Whether the parts of an estimator fit each other: classes, widths, names, kernels, logs.

Every estimator that is read is checked here, fitted or not. The attributes that fitting sets have a fixed
list of names, and each is checked. An estimator that is not fitted has none of them, because compiled loops
would rely on them when it begins to learn.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from .. import kernels
from .._sparse import is_sparse
from ..core import changing, class_weights
from ..core.intakes import NumberIntake, ShareIntake
from ..core.kernel import KernelLearner
from ..core.kernel_based import KernelBased
from ..core.learner import Learner
from ..core.run_records import Mixing
from ..core.solved import Descent, Problem
from ..engine import journal, spaces
from ..kernels import prepared
from ..text.weight_table import WeightTable
from . import calibrations, label_tables, registry  # noqa: F401  # label_tables adds its checks
from .checks import array, fits, labels, need, number, truth, whole

if TYPE_CHECKING:
    from ..core.classifier import Classifier
    from ..core.maximum_margin import MaxMarginSpec
    from ..core.risk import RiskDescentSpec
    from ..engine.spaces.base import SingleSpace
    from ..engine.spaces.protocol import Space
    from .registry import Attributes, Model

    M = TypeVar("M", bound=Model)


def model(x: M) -> M:
    """x, after the check that its parts fit each other; raises ModelError where they do not."""
    state = vars(x)
    left = {name for name in state if registry.left_by_fitting(type(x), name)}
    if "classes_" in state:
        labels(state["classes_"])
    if "n_features_in_" in state:
        whole("n_features_in_", state["n_features_in_"])
    if "feature_names_in_" in state:
        _feature_names(state["feature_names_in_"], state.get("n_features_in_"))
    kind = getattr(type(x), "_run_kind", None)
    if isinstance(x, Learner) and "_space" in state:
        _online(x, state)
    elif kind == "descent" and "_descents" in state:
        _risk(cast("RiskDescentSpec", x), state)
    elif kind == "margin" and "_problems" in state:
        _margin(cast("MaxMarginSpec", x), state)
    elif "seed_" in state or "estimator_" in state:
        _mixer(x, state, left)
    elif "_table" in state:
        _small(x, state, left)
    elif hasattr(type(x), "_new_hasher"):  # texts become rows by its parameters
        from ..text.parameters import MOST_BITS

        need(left <= {"_words", "n_invalid_"}, "it has learned nothing, and has more than parameters")
        bits = state["bits"]
        whole("bits", bits, 1, MOST_BITS)
        _words(state.get("_words", {}), 1 << bits)
        whole("n_invalid_", state.get("n_invalid_", 0))
    else:
        need(not left, "it has learned nothing, and has more than parameters")
    return x


def _small(x: Any, state: Attributes, left: set[str]) -> None:
    """What predicts texts by a table of weights: as many vectors as classes ask for, as wide as its rows."""
    need(hasattr(type(x), "_scores_of"), "it has a table of weights")
    need(
        left <= {*_OF_SMALL, "_words", "_calibration"} and left >= _OF_SMALL,
        "the parts of a small model are missing",
    )
    need(isinstance(state["_table"], WeightTable), "the table of its weights is missing")
    table, n_classes = state["_table"], len(state["classes_"])
    need(n_classes > 0, "its classes are missing")
    need(table.n_classes == (n_classes if n_classes > 2 else 1), "classes and weights differ in number")
    need(isinstance(state["_framed"], spaces.Frame), "the frame of its rows is missing")
    x._check_text_params()
    width = 1 << state["bits"]
    need(table.n_columns == width == state["n_features_in_"], "features and weights differ in number")
    _words(state.get("_words", {}), width)
    calibrations.check(state, table.n_classes)
    _begun(x, state)
    x._check_width(reset=False)


_OF_SMALL = {"_table", "_framed", "_begun", "classes_", "n_features_in_"}


def _mixer(x: Any, state: Attributes, left: set[str]) -> None:
    """What mixes runs of a learner: the learner, which has been checked itself, and the seed."""
    need(hasattr(type(x), "weighted_updates_"), "it mixes nothing")
    need(left == {"estimator_", "seed_"}, "the learner or the seed is missing")
    learner, given = state["estimator_"], state["estimator"]
    need(isinstance(learner, Learner) and "_space" in vars(learner), "the learner has learned nothing")
    name = "AveragedPerceptron" if given is None else type(given).__name__
    need(type(learner).__name__ == name, "the learner is of another class")
    whole("seed_", state["seed_"])
    mixing = vars(learner).get("_mixing")
    need(mixing is None or mixing.how == state["mixing"], "it was mixed by other weights")


def _feature_names(names: Any, n_features: object) -> None:
    ok = isinstance(names, np.ndarray) and names.ndim == 1 and all(isinstance(name, str) for name in names)
    need(ok and len(names) == n_features, "names of features are missing")


# ---------------------------------------------------------------- online learners


def _online(x: Learner, state: Attributes) -> None:
    need("classes_" in state, "its classes are missing")
    n_classes, space = len(state["classes_"]), state["_space"]
    core = space.inner if isinstance(space, spaces.Dual) else space
    many = isinstance(core, (spaces.Joint, spaces.OneVsRest))
    per_label, listed = isinstance(core, spaces.PerLabel), isinstance(core, spaces.Labels)
    need(many == ((n_classes > 2 and not listed) or per_label), "classes and weights do not fit")
    need(
        not (per_label and x._takes_lists) and not (listed and not x._takes_lists), "labels are not in lists"
    )
    if per_label or (listed and state.get("_indicator", False)):
        need(state["classes_"].tolist() == list(range(n_classes)), "the labels are not numbered")
    need(not (many or listed) or core.n_classes == n_classes, "classes and weights differ in number")
    learners = core.learners if isinstance(core, spaces.OneVsRest) else [core]
    need(isinstance(space, spaces.Dual) == isinstance(x, KernelLearner), "the space is of another learner")
    need(all(isinstance(one, x._space_kinds()) for one in learners), "the space is of another learner")
    if isinstance(space, spaces.Dual) and space.device != "cpu" and not _has_device():
        space.device = "cpu"
    if isinstance(x, KernelBased):
        _kernel_based(x, state, [space] if isinstance(space, spaces.Dual) else learners)
    else:
        _width(x, state, space.n_features)
        _names(state, space.n_features)
        _words(state.get("_words", {}), space.n_features)
    _journals(x, state, space, core, learners)
    counts = bool(state.get("_begun", {}).get("idf", getattr(x, "idf", False)))
    need(counts == (core.df is not None), "counts of texts are missing, or not asked for")
    need(not counts or not state["_journals"], "there is a log of rows that change")
    need(isinstance(state.get("history_"), list), "history_ is no list")
    need(all(isinstance(record, dict) for record in state["history_"]), "history_ has no records")
    whole("n_iter_", state.get("n_iter_"))
    if "best_iter_" in state:
        whole("best_iter_", state["best_iter_"], 0, state["n_iter_"])
        scores: Any = state.get("validation_scores_")
        need(isinstance(scores, list), "validation_scores_ is no list")
        for score in scores:
            number("a validation score", score)
    need(isinstance(state.get("stop_reason_"), str), "stop_reason_ is no string")
    number("radius", state.get("_longest"))
    truth("plain", state.get("_plain"))
    if "_mixing" in state:
        _mixing(state, len(learners))
    _begun(x, state)
    _changes(state)
    if "_progressive" in state:
        array("progressive errors", state["_progressive"], np.float64, (2,))
        rows, errors = state["_progressive"]
        need(0.0 <= errors <= rows < np.inf, "progressive errors are no counts")
    calibrations.check(state, core.n_classes if many or listed else 1)
    _bounds(state, len(learners))
    _steps(state, [getattr(one, "v", None) for one in learners])
    if "gamma_" in state:
        number("gamma_", state["gamma_"])


def _mixing(state: Attributes, n_learners: int) -> None:
    """Passes over shards that were mixed: the updates of each are in the history, and add up."""
    mixing: Any = state["_mixing"]
    need(isinstance(mixing, Mixing), "how it was mixed is missing")
    need(mixing.how in ("uniform", "mistakes"), "it was mixed by weights that are unknown")
    whole("the number of shards", mixing.n_shards, 2)
    truth("plain", mixing.plain)
    need(not state["_plain"], "it is both one run and mixed from several")
    for record in state["history_"]:
        found = record.get("shard_updates")
        need(isinstance(found, list) and len(found) == n_learners, "the updates of the shards are missing")
        for own in found:
            need(isinstance(own, list) and len(own) == mixing.n_shards, "shards differ in number")
            for k in own:
                whole("the updates of a shard", k)
        need(sum(map(sum, found)) == record.get("updates"), "the updates of the shards do not add up")


def _begun(x: Classifier, state: Attributes) -> None:
    """The parameters that learning began with; older files do not have them."""
    begun = state.setdefault("_begun", changing.parameters_of_state(x))
    known = changing.parameters_of_state(x).keys()
    need(isinstance(begun, dict), "the parameters that it was begun with are missing")
    for name in known - begun.keys():  # a parameter that is newer than the file
        begun[name] = getattr(x, name)
    need(begun.keys() == known, "it was begun with parameters that it has not")


def _changes(state: Attributes) -> None:
    """The parameters of steps that have changed since, and the counts of the classes so far."""
    changes = state.setdefault("_changed", ())
    if "_counted" in state:
        counted: Any = state["_counted"]
        need(isinstance(counted, class_weights.Counted), "the counts of its classes are missing")
        labels(counted.labels)
        array("counts of classes", counted.rows, np.int64, counted.labels.shape)
        need(bool((counted.rows > 0).all()), "counts of classes are not positive")
    ok = isinstance(changes, tuple) and all(isinstance(name, str) for name in changes)
    need(ok, "parameters that have changed have no names")


def _has_device() -> bool:
    """Whether there is a GPU here, as there was where the model was learned."""
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def _width(x: Learner, state: Attributes, n_features: int) -> None:
    """Rows are as wide as the weights: without n_features_in_ scikit-learn accepts rows of any width."""
    if "n_features_in_" in state or type(x._intake) in (NumberIntake, ShareIntake):
        need(state.get("n_features_in_") == n_features, "features and weights differ in number")
    if hasattr(x, "_check_width"):
        x._check_width(reset=False)  # a learner of texts: its parameters give the width of its rows


def _names(state: Attributes, n_features: int) -> None:
    """Features with names: a name has the same position as its weight."""
    grown, given = state.get("_names"), state.get("_given_names")
    if grown is not None:
        in_order = isinstance(grown, dict) and list(grown.values()) == list(range(n_features))
        need(in_order and all(isinstance(name, str) for name in grown), "named features are not numbered")
        need(all(type(place) is int for place in grown.values()), "named features are not numbered")
    if given is not None:
        ok = (
            isinstance(given, np.ndarray) and given.ndim == 1 and all(isinstance(name, str) for name in given)
        )
        need(ok and len(set(given.tolist())) == len(given), "features have no names of their own")
        need(len(given) <= n_features if grown is not None else len(given) == n_features, "names are missing")


def _words(words: Any, n_features: int) -> None:
    """Columns of hashed texts, and the words that were hashed to them."""
    need(
        isinstance(words, dict) and all(isinstance(word, str) for word in words.values()), "words are missing"
    )
    need(all(type(j) is int and 0 <= j < n_features for j in words), "a word has no column")


def _kernel_based(x: KernelBased, state: Attributes, holders: list[Any]) -> None:
    """``holders``: the space of coefficients, or the spaces with a budget."""
    kernel = state.get("kernel_")
    need(isinstance(kernel, kernels.Kernel), "there is no kernel")
    need(all(holder.kernel == kernel for holder in holders), "kernels differ")
    need(fits(kernel, state.get("_known")), "collections are not what the kernel takes")
    rows = [holder.support.rows if isinstance(holder, spaces.Dual) else holder.rows for holder in holders]
    _same_width(state, [state["_known"], *rows])
    need((x._space_kinds() == (spaces.Budget,)) == ("_draws" in state), "its generator is missing")
    need(callable(getattr(state.get("_draws", np.random), "random", None)), "its generator cannot draw")
    need("_names" not in state and "_words" not in state, "its features have no names")
    if "_given_names" in state:
        _feature_names(state["_given_names"], state.get("n_features_in_"))


def _same_width(state: Attributes, collections: list[object]) -> None:
    """Rows of numbers that the kernel compares are all as wide as those that the model takes."""
    widths = set[int | None]().union(*map(_widths, collections))
    if state["kernel_"].takes in ("numbers", "table") or "n_features_in_" in state:
        widths.add(state.get("n_features_in_"))
    need(len(widths) <= 1, "rows of numbers differ in width")


def _widths(rows: object) -> set[int | None]:
    if isinstance(rows, prepared.Parts):
        return set[int | None]().union(*map(_widths, rows.parts))
    if isinstance(rows, prepared.Rows) and not isinstance(rows, prepared.Strings):
        return {rows.shape[1]}
    return set()


def _journals(x: Learner, state: Attributes, space: Space, core: Space, learners: list[SingleSpace]) -> None:
    logs: Any = state.get("_journals")
    expected = journal.Journal
    if isinstance(x, KernelBased):
        expected = journal.KernelJournal if isinstance(x, KernelLearner) else journal.RowJournal
    need(
        isinstance(logs, list) and all(type(log) is expected for log in logs), "the log of updates is missing"
    )
    need(len(logs) in (0, len(learners)), "there are too few logs of updates, or too many")
    n_columns = core.n_classes if isinstance(core, spaces.Joint) else 1
    for log in logs:
        need(log.alpha.shape[1] == n_columns, "a log of updates is of other classes")
        if isinstance(space, spaces.Dual):
            need(log._n_support <= len(space.support), "a log of updates names rows that are not there")
        elif log.support is not None:
            need(log.support.shape[1] <= space.n_features, "rows of a log are wider than the weights")
    if "random_step_" in state:
        whole("random_step_", state["random_step_"])


def _bounds(state: Attributes, n: int) -> None:
    """Brackets around the best margin: none, one, or one per class."""
    bounds: Any = state.get("_bounds")
    if bounds is None:
        return
    pairs = bounds if isinstance(bounds, list) else [bounds]
    need(len(pairs) == n, "brackets and classes differ in number")
    for pair in pairs:
        need(isinstance(pair, tuple) and len(pair) == 2, "a bracket has no two ends")
        number("the upper end of a bracket", pair[1])
        if pair[0] is not None:
            number("the lower end of a bracket", pair[0])


def _steps(state: Attributes, weights: list[np.ndarray | None]) -> None:
    """The sums of the steps on each row: none, or one array per learner."""
    steps: Any = state.get("_steps")
    if steps is None:
        return
    need(isinstance(steps, list) and len(steps) == len(weights), "steps and learners differ in number")
    for alpha, v in zip(steps, weights):
        if alpha is not None:
            array("the steps", alpha, np.float64, (None, *getattr(v, "shape", (0,))[1:]))


# ---------------------------------------------------------------- learners of whole data sets


def _n_problems(state: Attributes) -> int:
    need(len(state.get("classes_", ())) > 0, "its classes are missing")
    n, several = len(state["classes_"]), state.get("_indicator", False)
    truth("indicator", several)
    if several:
        need(state["classes_"].tolist() == list(range(n)) and n > 1, "the labels are not numbered")
    return n if n > 2 or several else 1


def _risk(x: RiskDescentSpec, state: Attributes) -> None:
    runs, n = state["_descents"], _n_problems(state)
    ok = isinstance(runs, list) and len(runs) == n and all(isinstance(run, Descent) for run in runs)
    need(ok and len(state["classes_"]) >= 2, "descents and classes differ in number")
    whole("n_features_in_", state.get("n_features_in_"))
    width = state["n_features_in_"] + 1
    need(all(len(run.w) == width for run in runs), "weights do not fit the features")
    if "_paths" in state:
        paths: Any = state["_paths"]
        need(isinstance(paths, list) and len(paths) == n, "paths and descents differ in number")
        for run, path in zip(runs, paths, strict=True):
            array("a path", path, np.float64, (len(run.steps) + 1, width))
    calibrations.check(state, n)
    truth("from_zero", state.get("_from_zero", True))
    number("radius_", state.get("radius_"))
    _begun(x, state)
    frame = state.setdefault("_framed", x._frame(np.float64))
    need(isinstance(frame, spaces.Frame), "the frame of its rows is missing")
    need(isinstance(state.get("_bounds"), (list, type(None))), "brackets are no list")
    _bounds(state, n)
    _steps(state, [None] * n)


def _margin(x: MaxMarginSpec, state: Attributes) -> None:
    runs, n = state["_problems"], _n_problems(state)
    ok = isinstance(runs, list) and len(runs) == n and all(isinstance(run, Problem) for run in runs)
    need(ok, "problems and classes differ in number")
    support: Any = state.get("support_")
    rows: Any = state.get("_support_rows")
    need(isinstance(support, np.ndarray) and support.ndim == 1, "support_ is missing")
    need(support.dtype.kind == "i", "support_ has no row numbers")
    array("dual_coef_", state.get("dual_coef_"), np.float64, (n, len(support)))
    calibrations.check(state, n)
    number("radius_", state.get("radius_"))
    _begun(x, state)
    C = x._learned_with("C")
    need(isinstance(C, (int, float)) and C > 0.0, "C is no positive number")
    if x._learned_with("kernel") is None:
        whole("n_features_in_", state.get("n_features_in_"))
        shape = (len(support), state["n_features_in_"])
        need(is_sparse(rows) or isinstance(rows, np.ndarray), "support vectors are missing")
        need(tuple(state["_support_rows"].shape) == shape, "support vectors are missing")
        ok = all(run.w is not None and len(run.w) == state["n_features_in_"] for run in runs)
        need(ok, "weights do not fit the features")
        return
    kernel = state.get("kernel_")
    need(isinstance(kernel, kernels.Kernel), "there is no kernel")
    need(
        fits(kernel, rows) and fits(kernel, state.get("_known")), "collections are not what the kernel takes"
    )
    need(len(rows) == len(support), "support vectors are missing")
    _same_width(state, [rows, state["_known"]])
