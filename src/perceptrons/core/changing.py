"""Parameters that change after learning has begun: which are honoured, and which are refused.

A model remembers the parameters that its state was begun with (``_begun``). Every call that goes on learning
compares them with those of the moment, whichever way they were set:

* parameters of a run (``max_iter``, ``shuffle``, ``n_jobs``, ...) hold for the call;
* parameters of the steps (``C``, ``learning_rate``, ``class_weight``, ...) hold from the next row on. The
  theorems are about one rule from the first row to the last, so the run claims none of them any more;
* parameters of the state (``row_norm``, ``fit_intercept``, ``kernel``, ...) are refused, unless the state
  that was kept serves the new value as well: an average also has its last w.

Predicting goes by what was learned: rows are read as they were then. A readout that the state does not serve
is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .parameters import names_of

#: parameters of a run: they change nothing that a model keeps
OF_A_RUN = frozenset(
    {
        *("max_iter", "shuffle", "random_state", "warm_start", "callback", "n_jobs", "verbose", "max_log"),
        *("early_stopping", "validation_fraction", "n_iter_no_change", "tol"),
        *("block_size", "cache_mb", "keep_names", "errors"),
    }
)
#: parameters of the state that every learner has
OF_THE_FRAME = ("fit_intercept", "intercept_scaling", "row_norm")
OF_READOUTS = ("readout", "include_initial", "normalized_votes", "log_updates")


def parameters_of_state(model: Any) -> dict[str, Any]:
    """The parameters that what a model keeps depends on, as they are now; containers are copied."""
    names = [name for name in names_of(type(model)) if name not in OF_A_RUN]
    return {name: _copied(getattr(model, name)) for name in names}


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return tuple(value) if isinstance(value, (list, set, frozenset)) else value


def _differ(one: Any, other: Any) -> bool:
    one, other = _copied(one), _copied(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is not other
    try:
        return not bool(one == other)
    except (TypeError, ValueError):  # arrays and other objects that have no plain answer
        return True


def changed(model: Any) -> list[str]:
    """The parameters that are not what the state was begun with; none before learning has begun."""
    begun = vars(model).get("_begun")
    if begun is None:
        return []
    now = vars(model)
    return [n for n, v in begun.items() if v is not now.get(n, v) and _differ(v, getattr(model, n))]


def changed_steps(model: Any, again: bool = False) -> list[str]:
    """The changed parameters of steps; raise where the state does not serve another that has changed.

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


def _served(model: Any, names: list[str], again: bool) -> Iterator[tuple[str, bool]]:
    """(name, whether the state serves its new value) for the parameters of the state."""
    frame = model._kept_frame()
    for name in names:
        if name in OF_THE_FRAME:
            unknown = model.fit_intercept and model._scales_itself()
            yield name, not unknown and model._frame(frame.dtype) == frame
        elif name == "multiclass":
            yield name, model._space.n_classes <= 2 or model._is_joint() == model._space.joint
        elif name in ("readout", "normalized_votes"):
            yield name, serves_readout(model)
        elif name == "log_updates":
            yield name, again or not model.log_updates or logs_all(model)
        elif name == "rule":
            yield name, model._space.learners[0].same_kind(_fresh(model))
        elif name in model._of_state:
            yield name, False


def _refuse(model: Any, name: str) -> None:
    kind = type(model).__name__
    old, new = model._begun[name], getattr(model, name)
    raise ValueError(
        f"{name} cannot change after learning has begun: this {kind} was begun with {name}={_short(old)}; "
        f"got {name}={_short(new)}. Set it back, or begin anew with clone(model) or a fit without warm_start."
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# ---------------------------------------------------------------- readouts


def logs_all(model: Any) -> bool:
    """Whether every update since w = 0 is in the log."""
    learners = model._space.learners
    if len(model._journals) != len(learners):
        return False
    pairs = zip(model._journals, learners, strict=True)
    return all(one.from_zero and len(log) == one.counts().updates for log, one in pairs)


def serves_readout(model: Any) -> bool:
    """Whether the state that was kept has the weights of the readout in force."""
    readout = model._readout
    if readout == "last":
        return True
    if readout == "average":
        return all(one.track_name == model._track() for one in model._space.learners)
    return (readout == "vote" or "random_step_" in vars(model)) and logs_all(model)


def check_unchanged(model: Any, names: tuple[str, ...]) -> None:
    """Refuse to predict where one of these parameters has changed since learning began."""
    strange = [name for name in changed(model) if name in names]
    if strange:
        _refuse(model, strange[0])


def check_readout(model: Any) -> None:
    """Refuse to predict by weights that were not kept."""
    begun = vars(model).get("_begun")
    if begun is None or model._readout == "last":
        return
    names = ("readout", "normalized_votes")
    strange = [n for n in names if n in begun and _differ(begun[n], getattr(model, n))]
    if strange and not serves_readout(model):
        _refuse(model, strange[0])


# ---------------------------------------------------------------- steps


def renew_steps(model: Any, names: list[str]) -> None:
    """Make every further step by the parameters of the moment; they are what the state goes by now."""
    model._begun = parameters_of_state(model)
    if model._journals and not model._keeps_journal():
        model._journals = []  # a log with gaps is none
    if not names:
        return
    model._changed = tuple(dict.fromkeys((*model._changed, *names)))
    model._space.renew(_fresh(model))
    if model._space.device != "cpu":
        model._space.device = model._where(model._space.frame)


def _fresh(model: Any) -> Any:
    """A learner as the parameters of the moment make it, without features."""
    frame, n_classes = model._space.learners[0].frame, model._space.n_classes
    if n_classes > 2 and model._is_joint():
        return model._joint_space(frame, 0, n_classes)
    return model._binary_space(frame, 0)
