"""How a fitted learner describes its run: the fields of :class:`perceptrons.theory.RunRecord`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..theory.run_record import LearnerRecord, ShardedRun, UpdateLog

if TYPE_CHECKING:
    from ..engine.journal import Journal
    from ..engine.spaces import SingleSpace
    from ..kernels import Kernel
    from .classifier import Classifier
    from .learner import Learner


class Mixing(NamedTuple):
    """How a state was mixed from passes over shards; ``history_`` has the updates of each."""

    how: str  #: weights of the shards: "uniform" or "mistakes"
    n_shards: int
    plain: bool  #: rows of weight 0 or 1, each once a round: what the theorem on mixing assumes


class Supported(Protocol):
    """A learner with a kernel, whose w is a combination of support rows."""

    @property
    def kernel_(self) -> Kernel: ...

    @property
    def support_(self) -> np.ndarray: ...

    @property
    def support_vectors_(self) -> Any: ...


def common_fields(model: Classifier) -> dict[str, Any]:
    """Fields of every learner."""
    reason, pairs = getattr(model, "stop_reason_", ""), model.margin_bounds_
    gamma = model_gamma(model)
    return {
        "kind": type(model),
        "classes": np.asarray(model.classes_),
        "parameters": parameters(model),
        "problem": "binary" if len(model.classes_) <= 2 and not model._several else "one-vs-rest",
        "stop_reason": reason if isinstance(reason, str) else ", ".join(map(str, reason)),
        "n_iter": int(getattr(model, "n_iter_", 1)),
        "n_features": getattr(model, "n_features_in_", None),
        "kernel": getattr(model, "kernel_", None),
        "radius": getattr(model, "radius_", None),
        "gamma": gamma,
        "brackets": () if pairs is None else tuple(pairs if isinstance(pairs, list) else [pairs]),
    }


def model_gamma(model: Classifier) -> float | None:
    """The margin that a learner aims at, where it has one."""
    gamma = getattr(model, "gamma_", None)
    return None if gamma is None else float(gamma)


def parameters(model: Classifier) -> dict[str, Any]:
    """The parameters that the run used, with those that the class has fixed."""
    names = [name for name in model.__dataclass_fields__ if not name.startswith("_")]
    begun: dict[str, Any] = vars(model).get("_begun", {})
    return {name: getattr(model, name) for name in names} | begun


def online_fields(model: Learner, evidence: bool) -> dict[str, Any]:
    """Further fields of online learners."""
    learners = model._space.learners
    nothing = [None] * len(learners)
    steps, logs = (vars(model).get("_steps"), model._journals) if evidence else (None, None)
    frame = model._frame_in_force()
    records = [
        learner_record(learner, model._learner_fields(r, learner), alpha, log)
        for r, (learner, alpha, log) in enumerate(
            zip(learners, steps or nothing, logs or nothing, strict=True)
        )
    ]
    fields: dict[str, Any] = {
        "readout": model._readout,
        "best_iter": vars(model).get("best_iter_"),
        "history": tuple(dict(record) for record in model.history_),
        "plain": bool(vars(model).get("_plain", True)),
        "changed": tuple(vars(model).get("_changed", ())),
        "from_zero": bool(model._space.from_zero),
        "bias": float(frame.bias),
        "unit": bool(frame.unit),
        "single_precision": bool(frame.dtype == np.float32),
        "learners": tuple(records),
    }
    if len(model.classes_) > 2 and model._prototypes():
        fields["problem"] = "joint"
    mixing: Mixing | None = vars(model).get("_mixing")
    if mixing is not None:
        updates = [tuple(map(tuple, record["shard_updates"])) for record in model.history_]
        mixed = ShardedRun(mixing.how, mixing.n_shards, tuple(updates))
        fields |= {"plain": mixing.plain, "mixed": mixed}
    return fields


def learner_record(
    learner: SingleSpace, own: dict[str, Any], steps: np.ndarray | None, log: Journal | None
) -> LearnerRecord:
    """One learner; ``own`` has the further fields of its class."""
    counts = learner.counts()
    return LearnerRecord(
        examples=counts.examples,
        updates=counts.updates,
        mistakes=counts.mistakes,
        errors=counts.errors,
        squared_loss=float(counts.squared_loss),
        sum_sq_norms=learner.sum_sq_norms(),
        steps=steps,
        log=None if log is None else update_log(log),
        **own,
    )


def update_log(journal: Journal) -> UpdateLog:
    """The updates of a journal. Its arrays are replaced when it grows, never changed: no copy is needed."""
    n = len(journal)
    return UpdateLog(journal.epoch[:n], journal.row[:n], journal.keep[:n], journal.alpha[:n])


def known_rows(model: Supported) -> tuple[np.ndarray, Any] | None:
    """Numbers of the support rows, and the rows; None where they are columns of a given kernel matrix."""
    return None if model.kernel_.takes == "table" else (model.support_, model.support_vectors_)
