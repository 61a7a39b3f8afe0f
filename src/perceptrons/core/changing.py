"""Parameters that change after learning has begun: which are used, and which are refused.

A model stores the parameters that its state was begun with (``_begun``). Every further call that learns
compares them with the present values, however these were set:

* parameters of a run (``max_iter``, ``shuffle``, ``n_jobs``, ...) apply to the call;
* parameters of the steps (``C``, ``learning_rate``, ``class_weight``, ...) apply from the next row on. The
  theorems assume one rule from the first row to the last, so none of them holds for such a run;
* parameters of the state (``row_norm``, ``fit_intercept``, ``kernel``, ...) are refused, unless the state
  has the weights for the new value as well: an average also has its last w.

Predictions use the parameters of the state that was learned. A readout without its weights is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .parameters import names_of

if TYPE_CHECKING:
    from ..engine.spaces import Dual, SingleSpace
    from .classifier import Classifier
    from .first_order import FirstOrder
    from .kernel import KernelLearner
    from .learner import Learner

#: parameters of a run: the state does not depend on them
OF_A_RUN = frozenset(
    {
        *("max_iter", "shuffle", "random_state", "warm_start", "callback", "n_jobs", "verbose", "max_log"),
        *("early_stopping", "validation_fraction", "n_iter_no_change", "tol"),
        *("block_size", "cache_mb", "keep_names", "keep_path", "errors"),
        *("probability", "calibration", "calibration_rows"),
    }
)
#: parameters of the state that every learner has
OF_THE_FRAME = ("fit_intercept", "intercept_scaling", "row_norm")
OF_READOUTS = ("readout", "include_initial", "normalized_votes", "log_updates")


def parameters_of_state(model: Classifier) -> dict[str, Any]:
    """The present values of the parameters that the state depends on; containers are copied."""
    names = [name for name in names_of(type(model)) if name not in OF_A_RUN]
    return {name: _copied(getattr(model, name)) for name in names}


def _copied(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return tuple(value) if isinstance(value, (list, set, frozenset)) else value


def _differ(one: object, other: object) -> bool:
    one, other = _copied(one), _copied(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is not other
    try:
        return not bool(one == other)
    except (TypeError, ValueError):  # arrays and other objects without a truth value
        return True


def changed(model: Classifier) -> list[str]:
    """The parameters whose value differs from that at the start of the state; none before learning."""
    begun = vars(model).get("_begun")
    if begun is None:
        return []
    now = vars(model)
    return [n for n, v in begun.items() if v is not now.get(n, v) and _differ(v, getattr(model, n))]


def changed_steps(model: Learner, again: bool = False) -> list[str]:
    """The changed parameters of steps; raises for a changed parameter of the state that cannot change.

    ``again``: a warm ``fit``, which keeps a new log.
    """
    names = changed(model)
    if not names:
        return []
    refused = [name for name, served in _served(model, names, again) if not served]
    if refused:
        _refuse(model, refused[0])
    state = {*OF_THE_FRAME, *OF_READOUTS, "multiclass", *model._of_state}
    return [name for name in names if name not in state]


def _served(model: Learner, names: list[str], again: bool) -> Iterator[tuple[str, bool]]:
    """(name, whether the state can be used with its new value) for the parameters of the state."""
    frame = model._space.frame
    for name in names:
        if name in OF_THE_FRAME:
            unknown = model.fit_intercept and model._scales_itself()
            yield name, not unknown and model._frame(frame.dtype) == frame
        elif name == "multiclass":
            alike = model._space.n_classes <= 2 or model._space.several
            yield name, alike or model._is_joint() == model._space.joint
        elif name in ("readout", "normalized_votes"):
            yield name, serves_readout(model)
        elif name == "log_updates":
            yield name, again or not model.log_updates or logs_all(model)
        elif name == "rule":
            yield name, model._space.learners[0].same_kind(_fresh(model))
        elif name in model._of_state:
            yield name, False


def _refuse(model: Classifier, name: str) -> None:
    kind = type(model).__name__
    old, new = model._begun[name], getattr(model, name)
    raise ValueError(
        f"{name} cannot change after learning has begun: this {kind} was begun with {name}={_short(old)}; "
        f"got {name}={_short(new)}. Set it back, or begin anew with clone(model) or a fit without warm_start."
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# ---------------------------------------------------------------- readouts


def logs_all(model: Learner) -> bool:
    """Whether every update since w = 0 is in the log."""
    learners = model._space.learners
    if len(model._journals) != len(learners):
        return False
    pairs = zip(model._journals, learners, strict=True)
    return all(one.from_zero and len(log) == one.counts().updates for log, one in pairs)


def serves_readout(model: Learner) -> bool:
    """Whether the state has the weights of the readout in force."""
    readout = model._readout
    if readout == "last":
        return True
    if readout == "average":
        track = cast("FirstOrder", model)._track()
        return all(one.track_name == track for one in model._space.learners)
    return (readout == "vote" or "random_step_" in vars(model)) and logs_all(model)


def check_unchanged(model: Classifier, names: tuple[str, ...]) -> None:
    """Refuse to predict where one of these parameters has changed since learning began."""
    refused = [name for name in changed(model) if name in names]
    if refused:
        _refuse(model, refused[0])


def check_readout(model: Learner) -> None:
    """Refuse to predict by weights that were not kept."""
    begun = vars(model).get("_begun")
    if begun is None or model._readout == "last":
        return
    names = ("readout", "normalized_votes")
    refused = [n for n in names if n in begun and _differ(begun[n], getattr(model, n))]
    if refused and not serves_readout(model):
        _refuse(model, refused[0])


# ---------------------------------------------------------------- steps


def renew_steps(model: Learner, names: Sequence[str]) -> None:
    """Make every further step with the present parameters, and store these as those of the state."""
    model._begun = parameters_of_state(model)
    if model._journals and not model._keeps_journal():
        model._journals = []  # a log with gaps is of no use
    if not names:
        return
    model._changed = tuple(dict.fromkeys((*model._changed, *names)))
    model._space.renew(_fresh(model))
    if model._space.device != "cpu":
        dual = cast("Dual", model._space)
        dual.device = cast("KernelLearner", model)._where(dual.frame)


def _fresh(model: Learner) -> SingleSpace:
    """A learner as the present parameters make it, without features."""
    frame, n_classes = model._space.learners[0].frame, model._space.n_classes
    if n_classes > 2 and model._is_joint() and not model._space.several:
        return model._joint_space(frame, 0, n_classes)
    return model._binary_space(frame, 0)
