"""From a scene to its run: traces, sentences, errors, bounds, the certificate, the geometry.

Nothing learns here but learners of the library; what they do is recorded by :func:`perceptrons.trace`.
"""

from __future__ import annotations

import inspect
import json
import math
import warnings
from typing import Any

import numpy as np

from ..certificates.certificate import Bound, Certificate
from ..certificates.claims import CLAIMS
from ..core.kernel_based import KernelBased
from ..estimators.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron
from ..proofs.certifying import certify
from ..theory import bounds as theory
from . import advice, catalog, code, geometry, playing, sentences
from .learned_rows import LearnedRows, learned_rows
from .playing import Played
from .scenes import Scene, scene_from

FORMAT = "perceptrons lab run"
SCHEMA = 1
#: Seconds that the solvers of a certificate may take.
MOST_SECONDS = 1.0


def run(scene: Scene | dict[str, Any], grid: int | None = None) -> dict[str, Any]:
    """The run of a scene, as JSON has it; ValueError says in a sentence why there is none.

    ``grid``: columns of the grid of a kernel; None: as many as a page draws well.
    """
    if not isinstance(scene, Scene):
        scene = scene_from(scene)
    choices = [scene.learner] if scene.second is None else [scene.learner, scene.second]
    models = [catalog.model(choice, scene) for choice in choices]
    rows = learned_rows(scene)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that does not end says so by its reason
        try:
            made = [_one(model, rows, scene, grid) for model in models]
        except ArithmeticError as error:  # weights of exponentials, above all
            raise ValueError(
                f"The numbers of this run become too large to compute with ({error}); "
                "bring the points closer to 0, or make the steps smaller."
            ) from error
    return {"format": FORMAT, "schema": SCHEMA, "scene": scene.to_dict(), "runs": made}


def _one(model: Any, rows: LearnedRows, scene: Scene, grid: int | None) -> dict[str, Any]:
    kernel, two = isinstance(model, KernelBased), len(np.unique(rows.codes)) == 2
    played = playing.play(model, rows, scene, _comparator(model, rows) if two and not kernel else None)
    traces = [playing.segment(played, rows, stretch) for stretch in played.stretches]
    certificate = _certificate(played, rows)
    last = played.stretches[-1].part
    names = [scene.classes[code] for code in np.unique(rows.codes)]
    grids = _grids(played, traces, grid)
    segments = []
    for stretch, trace, values in zip(played.stretches, traces, grids, strict=True):
        part = stretch.part
        segments.append(
            {
                "X": rows.X[part.rows].tolist(),
                "y": rows.codes[part.rows].tolist(),
                "turned": part.turned,
                "first": stretch.first,
                "trace": json.loads(trace.to_json()),
                "best": None
                if kernel
                else geometry.best(rows.X[part.rows], rows.y[part.rows], trace.bias, trace.unit),
                "kernel": None if stretch is played.stretches[-1] else values,
            }
        )
    return {
        "segments": segments,
        "sentences": [line for trace in traces for line in sentences.sentences(trace, model, names)],
        "errors": _errors(played, rows),
        "bounds": _bounds(played, rows, certificate),
        "certificate": {"text": _said(certificate, played), "json": certificate.to_json()},
        "best": segments[-1]["best"],
        "advice": advice.advice(rows.X[last.rows], rows.y[last.rows]) if two else None,
        "kernel": grids[-1],
        "reason": played.stretches[-1].reason,
        "code": code.script(played, rows, scene),
    }


def _comparator(model: Any, rows: LearnedRows) -> Any:
    """The separator of the largest margin on all rows; where there is none, something without a margin."""
    model = playing.settled(model, rows.X[rows.parts[0].rows], rows.y[rows.parts[0].rows])
    bias = float(model.intercept_scaling) if getattr(model, "fit_intercept", False) else 0.0
    found = geometry.best(rows.X, rows.y, bias, getattr(model, "row_norm", None) == "l2")
    return None if found is None else found["w"] if bias else found["w"][:2]


# ----------------------------------------------------------------------------------------------- errors


def _errors(played: Played, rows: LearnedRows) -> list[dict[str, Any]]:
    """The share of wrong rows after each epoch, by the last w, the average and the vote."""
    order = played.epochs
    by_readout = {
        name: _shares(model, played, rows, order) for name, model in _readouts(played.model).items()
    }
    ends = np.cumsum([len(epoch) for epoch in order])
    return [
        {"epoch": e, "at": int(ends[e])}
        | {name: by_readout[name][e] if name in by_readout else None for name in ("last", "average", "vote")}
        for e in range(len(order))
    ]


def _readouts(model: Any) -> dict[str, Any]:
    """The same learner with each readout."""
    if isinstance(model, (AveragedPerceptron, VotedPerceptron)):
        known = inspect.signature(Perceptron).parameters
        model = Perceptron(**{name: getattr(model, name) for name in known})
    if "readout" not in inspect.signature(type(model)).parameters:
        return {"last": playing.fresh(model)}
    return {name: playing.fresh(model, readout=name) for name in ("last", "average", "vote")}


def _shares(model: Any, played: Played, rows: LearnedRows, order: list[np.ndarray]) -> list[float]:
    found: list[float] = []
    ends = np.cumsum([len(epoch) for epoch in order])

    def note(fitted: Any) -> None:
        at = int(ends[len(found)])
        part = next(s.part for s in reversed(played.stretches) if s.first < at).rows
        found.append(float(np.mean(fitted.predict(rows.X[part]) != rows.y[part])))

    model.callback = note
    model.fit(rows.X, rows.y, order=order)
    return found


# ---------------------------------------------------------------------------------- certificate and bounds


def _certificate(played: Played, rows: LearnedRows) -> Certificate:
    """The certificate of the run, on all rows of it."""
    fitted = playing.fresh(played.model)
    plain = played.order is None and not played.trace.truncated
    fitted.fit(rows.X, rows.y, order=None if plain else played.epochs)
    return certify(fitted, rows.X, rows.y, comparators="all", max_time=MOST_SECONDS)


def _said(certificate: Certificate, played: Played) -> str:
    """The certificate as text; of a run with edits, what it is about."""
    if played.order is None:
        return str(certificate)
    return f"Points were changed on the way: this is about all rows that the run has ever had.\n{certificate}"


def _bounds(played: Played, rows: LearnedRows, certificate: Certificate) -> list[dict[str, Any]]:
    """What the theorems of the certificate allow the counts of mistakes or of updates, which a page draws.

    Bounds on errors are left out: a score of 0 may be a mistake and no error.
    """
    made = []
    for bound in certificate.bounds:
        counted = bound.statement.partition(" ")[0]
        drawn = counted in ("mistakes", "updates") and CLAIMS[bound.name].counts and bound.sense == "<="
        if drawn and bound.holds and len(bound.allowed) == 1 and math.isfinite(bound.allowed[0]):
            named = {"name": bound.name, "text": bound.statement, "counts": counted}
            so_far = _allowed_so_far(played, rows, certificate, bound)
            made.append(named | {"value": bound.allowed[0], "per_visit": so_far})
    return made


def _allowed_so_far(
    played: Played, rows: LearnedRows, certificate: Certificate, bound: Bound
) -> list[float] | None:
    """The bound with the hinge loss up to each visit; None for other bounds, and where u is not weights."""
    trace, vector = played.trace, certificate.vectors.get(bound.vector or "")
    if bound.name != "hinge_tight" or vector is None or vector.weights is None or trace.w is None:
        return None
    sign = np.where(rows.y == trace.classes[1], 1.0, -1.0)
    u = bound.scales[0] * np.ravel(vector.weights)
    scores = sign * (geometry.augmented(rows.X, trace.bias, trace.unit) @ u)
    losses = np.maximum(0.0, 1.0 - scores)[trace.row]
    total = np.cumsum(losses) * (1.0 + 1e-9) + 1e-12 * np.arange(1, len(losses) + 1)  # rounding is below
    radius, length = (float(bound.symbols[0][name] or 0.0) for name in ("R", "u_norm"))
    return [theory.hinge_tight(radius, length, float(H)) for H in total]


# -------------------------------------------------------------------------------------------- kernel grids


def _grids(played: Played, traces: list[Any], columns: int | None) -> list[dict[str, Any] | None]:
    """The kernel values of each segment; None for linear learners."""
    model = played.model
    if not isinstance(model, KernelBased):
        return [None] * len(traces)
    constant = float(model.intercept_scaling) ** 2 if model.fit_intercept else 0.0
    columns = columns or geometry.grid_columns(sum(len(trace.X) for trace in traces))
    box = geometry.box_around(np.concatenate([trace.X for trace in traces]))
    return [geometry.kernel_grid(model.kernel, trace.X, constant, box, columns) for trace in traces]
