"""shrink: a model of texts in a file of a given size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..core import calibrating, changing, checks
from ..core.bare import Bare
from ..core.curves import Calibrated
from ..core.first_visits import FirstVisits
from ..core.parameters import names_of
from ..core.writing import held_still
from ..text.learner import TextClassifierSpec
from ..text.parameters import TextParameters
from ..text.pruning import Ranking, ranking, table_of
from . import registry
from .saving import pieces

if TYPE_CHECKING:
    from .._types import Json

MEGABYTE = 10**6
_LEAST_BYTES = 2  # of a weight: its code, and at least one of its key
_CLOSE = 1000  # the search ends at this part of what could be kept


def shrink(model: Any, size_mb: float, *, keep_names: bool = False) -> Any:
    r"""A small copy of a :class:`~perceptrons.TextClassifier`, which predicts and learns nothing more.

    The weights are ordered by :math:`|w_j|\,\mathrm{idf}_j\sqrt{\mathrm{df}_j}`, where the model has counted
    the texts of each column (``idf=True``), and else by :math:`|w_j|` alone. As many of the first as fit are
    kept, each rounded to one of 255 multiples of a scale, one for each class; the others become 0. A column
    that stays keeps its idf, in 255 steps. The weight of the constant coordinate, and what makes a
    probability of a score, stay as they are.

    How much that changes predictions depends on the data: evaluate both models on texts that were not
    learned.

    Parameters
    ----------
    model : TextClassifier
        Fitted; two classes or more, readout ``"last"`` or ``"average"``. It is not changed.
    size_mb : float
        The file that :func:`perceptrons.save` writes has at most so many million bytes.
    keep_names : bool, default=False
        Keep the names of the columns that stay, for ``strongest``, where the model has them. They count in
        the size, usually for more than the weights. ``explain`` finds names in the text.

    Returns
    -------
    small : SmallTextClassifier

    See Also
    --------
    save : writes the file.

    Examples
    --------
    >>> from perceptrons import TextClassifier, shrink
    >>> mail = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
    >>> clf = TextClassifier(random_state=0).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> shrink(clf, size_mb=0.01).predict(["cheap watches"])
    array(['spam'], dtype='<U4')
    """
    return shrunk(model, size_mb, keep_names)


def shrunk(
    model: Any,
    size_mb: float,
    keep_names: bool = False,
    position: Json = None,
    notes: Mapping[str, object] | None = None,
) -> Any:
    """:func:`shrink`, for a file that also holds a position; ``notes`` become attributes of the model."""
    _check(model, size_mb, keep_names)
    most = int(size_mb * MEGABYTE)
    with held_still(model):
        ranked = ranking(model)
        made = _maker(model, ranked, keep_names, dict(notes or {}))
    small = made(0)
    if (needed := file_bytes(small, position)) > most:
        raise ValueError(
            f"size_mb={size_mb!r} is too small: without any weight this model takes "
            f"{needed / MEGABYTE:.6f} MB."
        )
    low, high = 0, min(len(ranked), most // _LEAST_BYTES) + 1  # so many fit, so many do not
    n = high - 1
    while high - low > 1 + low // _CLOSE:
        tried = made(n)
        if file_bytes(tried, position) <= most:
            small, low = tried, n
        else:
            high = n
        n = (low + high) // 2
    return small


def _check(model: Any, size_mb: float, keep_names: bool) -> None:
    if not isinstance(model, TextClassifierSpec):
        raise TypeError(f"shrink takes a TextClassifier; got {type(model).__name__}.")
    checks.positive("size_mb", size_mb)
    checks.flag("keep_names", keep_names)
    model._contract.check_fitted(model)
    if model._several:
        raise ValueError("shrink is for models of one label a text; this one has several.")
    if model._readout not in ("last", "average"):
        raise ValueError(
            f"A model that predicts by readout={model._readout!r} has no weights to keep; use 'last' or "
            "'average'."
        )
    if keep_names and not model.keep_names:
        raise ValueError(
            "The model has no names of its columns; drop keep_names, or learn with keep_names=True."
        )


def _maker(
    model: TextClassifierSpec, ranked: Ranking, keep_names: bool, notes: dict[str, object]
) -> Callable[[int], Any]:
    """A function that makes the small model of the first n weights."""
    classes = registry.learner if isinstance(model, Bare) else registry.estimator
    params = {name: model._learned_with(name) for name in names_of(TextParameters)}
    params |= {"keep_names": keep_names, "errors": model.errors, "n_jobs": model.n_jobs}
    words = dict[int, str](vars(model).get("_words", {})) if keep_names else {}

    params |= {"probability": model.probability, "calibration": model.calibration}
    frame, labels, curves = model._frame_in_force(), model.classes_.copy(), _curves(model)

    def made(n: int) -> Any:
        small = classes("SmallTextClassifier")(**params)
        vars(small).update(notes)
        small._table = table_of(ranked, n)
        small._framed = frame
        small._begun = changing.parameters_of_state(small)
        small.classes_ = labels
        small.n_features_in_ = ranked.n_columns
        if curves is not None:
            small._calibration = curves
        if keep_names:
            small._words = {j: words[j] for j in small._table.columns.tolist() if j in words}
        return small

    return made


def _curves(model: TextClassifierSpec) -> Calibrated | None:
    """What makes probabilities of scores, where the model has it for the readout that predicts."""
    kept = vars(model).get("_calibration")
    if not model.probability or kept is None or (isinstance(kept, FirstVisits) and not len(kept.number)):
        return None
    found = calibrating.settled(model)
    last = found._replace(readout="last")  # a small model has one readout
    return last if found.readout == calibrating.readout_of(model) else None


def file_bytes(model: Any, position: Json = None) -> int:
    """The bytes of the file of a model."""
    return sum(len(piece) for piece in pieces(model, position))
