"""``perceptrons plot``: a picture of a model and data, in a file."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import printing, rows
from .errors import Failure, Misuse
from .options import Reading
from .stored import open_data, open_model

if TYPE_CHECKING:
    import numpy as np

    from ..core.classifier import Classifier

_FORMATS = (".svg", ".png", ".pdf")
#: Kinds that show a text or its words; all others need rows of numbers.
_OF_TEXTS = ("features", "explanation", "errors")


class Request(NamedTuple):
    """What is drawn, and of what."""

    kind: str
    model: Classifier
    X: Any
    y: np.ndarray
    axes: tuple[int, int] | None
    shape: tuple[int, int] | None
    top: int
    row: int


def plot(
    path: str,
    data: list[str],
    reading: Reading,
    output: str,
    kind: str,
    axes: str | None,
    shape: str | None,
    top: int,
    row: int,
    as_json: bool,
) -> int:
    """Draw one picture and write it; the same model and data make the same bytes."""
    ending = os.path.splitext(output)[1].lower()
    if ending not in _FORMATS:
        raise Misuse(f"--output must end in {', '.join(_FORMATS)}; got {output!r}.")
    pair, size = _two(axes, ",", "--axes", "0,3"), _two(shape, "x", "--shape", "28x28")
    _needs_matplotlib()
    opened = open_model(path, scikit_learn=True)
    if hasattr(opened.model, "ngram_range") and kind not in _OF_TEXTS:
        raise Failure(f"{path} learned from texts; --kind {kind} needs rows of numbers. See --kind features.")
    with open_data(opened, data, reading, learned=True) as stream:
        stream.select(holdout=rows.share(opened.holdout))
        X, y, _ = rows.whole(stream)
    request = Request(kind, opened.model, X, y, pair, size, top, row)
    display = _draw(_KINDS[kind], request)
    _write(output, _content(display.figure_, ending[1:]))
    if as_json:
        printing.document({"file": output, "kind": kind, "title": display.title})
    else:
        print(f"{output}: {display.title}")
    return 0


def _needs_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise Failure("plot needs matplotlib: pip install 'perceptrons[plot]'.") from error


def _two(text: str | None, between: str, option: str, example: str) -> tuple[int, int] | None:
    """Two whole numbers, as ``0,3`` or ``28x28``."""
    if text is None:
        return None
    found = re.fullmatch(rf"\s*(\d+)\s*{between}\s*(\d+)\s*", text)
    if found is None:
        raise Misuse(f"{option} takes two numbers, as {example}; got {text!r}.")
    return int(found[1]), int(found[2])


# --------------------------------------------------------------------------------------- pictures


def _draw(make: Callable[[Request, Any], Any], request: Request) -> Any:
    """The display, drawn in a figure of the size that suits it, which pyplot does not know."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    display = make(request, figure.subplots())
    size = display.figure_size
    if tuple(figure.get_size_inches()) != tuple(size):
        figure.clear()
        figure.set_size_inches(*size)
        display.plot(figure.subplots())
    return display


def _halfspace(request: Request, ax: Any) -> Any:
    from ..plots import HalfspaceDisplay

    d = request.X.shape[1]
    if request.axes is None and d != 2:
        raise Misuse(f"The data have {d:,} features; say which two to show, as --axes 0,1.")
    if request.axes is not None and (request.axes[0] == request.axes[1] or max(request.axes) >= d):
        raise Misuse(f"--axes takes two different columns from 0 to {d - 1}.")
    return HalfspaceDisplay.from_estimator(request.model, request.X, request.y, features=request.axes, ax=ax)


def _weights(request: Request, ax: Any) -> Any:
    from ..plots import WeightSpaceDisplay

    _few_weights(request)
    if not hasattr(request.model, "learn_one"):
        path, with_b = _last_weights(request.model)
        return WeightSpaceDisplay.from_data(request.X, request.y, fit_intercept=with_b, path=path, ax=ax)
    return WeightSpaceDisplay.from_trace(_traced(request), ax=ax)


def _risk(request: Request, ax: Any) -> Any:
    from ..plots import RiskSurfaceDisplay

    _few_weights(request)
    model = request.model
    if hasattr(model, "keep_path"):
        again = model.set_params(keep_path=True).fit(request.X, request.y)  # type: ignore[attr-defined]  # RiskDescent
        return RiskSurfaceDisplay.from_estimator(again, request.X, request.y, ax=ax)
    path, with_b = _last_weights(model)
    return RiskSurfaceDisplay.from_data(request.X, request.y, fit_intercept=with_b, path=path, ax=ax)


def _mistakes(request: Request, ax: Any) -> Any:
    from ..plots import MistakeCurveDisplay

    _online(request)
    return MistakeCurveDisplay.from_estimator(
        request.model, request.X, request.y, order=_order(request), ax=ax
    )


def _proof(request: Request, ax: Any) -> Any:
    from ..plots import ConvergenceProofDisplay

    _online(request)
    _linear(request.model)
    if len(request.model.classes_) != 2:
        raise Failure(f"The model has {len(request.model.classes_)} classes; the proof is drawn for two.")
    return ConvergenceProofDisplay.from_trace(_traced(request, u="max-margin"), ax=ax)


def _bracket(request: Request, ax: Any) -> Any:
    from ..plots import MarginBracketDisplay

    _online(request)
    return MarginBracketDisplay.from_trace(_traced(request), ax=ax)


def _margins(request: Request, ax: Any) -> Any:
    from ..plots import MarginDistributionDisplay

    kind = "distance" if getattr(request.model, "kernel_", None) is None else "geometric"
    return MarginDistributionDisplay.from_estimator(request.model, request.X, request.y, kind=kind, ax=ax)


def _errors(request: Request, ax: Any) -> Any:
    from ..plots import ProgressiveErrorDisplay

    _online(request)
    return ProgressiveErrorDisplay.from_estimators([request.model], request.X, request.y, ax=ax)


def _images(request: Request, ax: Any) -> Any:
    from ..plots import WeightsImageDisplay

    _linear(request.model)
    d = request.X.shape[1]
    height, width = request.shape or (math.isqrt(d), math.isqrt(d))
    if height * width != d:
        raise Misuse(f"The data have {d:,} features; give the size of an image, as --shape {_shape(d)}.")
    return WeightsImageDisplay.from_estimator(request.model, shape=request.shape, ax=ax)


def _features(request: Request, ax: Any) -> Any:
    from ..plots import TopFeaturesDisplay

    if hasattr(request.model, "strongest"):
        if not getattr(request.model, "keep_names", False):
            raise Failure("The model knows no words; train it with --param keep_names=True.")
    else:
        _linear(request.model)
    return TopFeaturesDisplay.from_estimator(request.model, n=request.top, ax=ax)


def _explanation(request: Request, ax: Any) -> Any:
    from ..plots import ExplanationDisplay

    if not hasattr(request.model, "explain"):
        raise Failure("--kind explanation needs a model that was trained with --text.")
    if request.row >= len(request.X):
        raise Misuse(f"--row must be below {len(request.X):,}, the number of texts; got {request.row}.")
    return ExplanationDisplay.from_estimator(request.model, request.X[request.row], n=request.top, ax=ax)


_KINDS: dict[str, Callable[[Request, Any], Any]] = {
    "halfspace": _halfspace,
    "weights": _weights,
    "risk": _risk,
    "mistakes": _mistakes,
    "proof": _proof,
    "bracket": _bracket,
    "margins": _margins,
    "errors": _errors,
    "images": _images,
    "features": _features,
    "explanation": _explanation,
}


# ------------------------------------------------------------------------------------- what they need


def _shape(d: int) -> str:
    """The height and width that are nearest to a square."""
    height = next(h for h in range(math.isqrt(d), 0, -1) if d % h == 0)
    return f"{height}x{d // height}"


def _online(request: Request) -> None:
    """Refuse a learner that visits no rows one by one."""
    if not hasattr(request.model, "learn_one"):
        name, told = (
            type(request.model).__name__,
            f"--kind {request.kind} is for learners of one row at a time",
        )
        raise Failure(f"{name} learns from all rows at once; {told}.")


def _linear(model: Classifier) -> None:
    if not hasattr(model, "coef_"):
        raise Failure(f"{type(model).__name__} has no weights of its features; it is not linear.")


def _few_weights(request: Request) -> None:
    """Refuse what has no picture in the plane of w."""
    _linear(request.model)
    if len(request.model.classes_) != 2:
        raise Failure(f"The model has {len(request.model.classes_)} classes; w-space is drawn for two.")
    size = request.X.shape[1] + bool(getattr(request.model, "fit_intercept", False))
    if size > 3:
        raise Failure(f"w has {size:,} coordinates; two can be shown, or three in a slice.")


def _last_weights(model: Any) -> tuple[Any, bool]:
    """w as a path of one point, with b where there is one."""
    with_b = bool(getattr(model, "fit_intercept", False))
    w = model.coef_[0].tolist() + (model.intercept_.tolist() if with_b else [])
    return [w], with_b


def _traced(request: Request, **given: Any) -> Any:
    from ..proofs import trace

    return trace(request.model, request.X, request.y, order=_order(request), **given)


def _order(request: Request) -> list[np.ndarray] | None:
    """The rows in their order, pass by pass, where the model learned them so; None: as in ``fit``."""
    import numpy as np

    n = len(request.y)
    learned = sum(record.get("examples", 0) for record in getattr(request.model, "history_", ()))
    if getattr(request.model, "stop_reason_", None) != "partial_fit" or learned % n:
        return None
    return [np.arange(n)] * (learned // n)


# -------------------------------------------------------------------------------------------- files


def _content(figure: Any, ending: str) -> bytes:
    """The picture as bytes, without the time of day and without random names."""
    import matplotlib

    without = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "perceptrons"}):
        figure.savefig(buffer, format=ending, metadata=without[ending], dpi=150)
    return buffer.getvalue()


def _write(path: str, content: bytes) -> None:
    """Write a file whole or not at all; a device or a pipe is written to directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as device:
            device.write(content)
        return
    from ..models import files

    with files.Lock(path) as lock, lock.replacing() as handle, open(handle, "wb", closefd=False) as file:
        file.write(content)
