r"""A classifier of texts in a small file, as an estimator."""

from __future__ import annotations

from ..estimators.shell import Shell, estimator
from .small import SmallTextClassifierSpec


@estimator
class SmallTextClassifier(SmallTextClassifierSpec, Shell):
    r"""What :func:`perceptrons.shrink` makes of a :class:`~perceptrons.TextClassifier`.

    It has the weights that matter most, in a byte each, and predicts, scores and explains as the model that
    it was made from, whose parameters for texts it has: with fewer and rounded weights, so a score differs
    a little, and a label where the score is near 0. It learns nothing: ``fit``, ``partial_fit`` and
    ``learn_one`` raise an error.

    The rows are those of the model: a count times the idf of its column, divided by the length of the row.
    The idf of a column that is not in the table is not known; it counts in the length with one idf for all
    of them, whose square is the mean over their entries in a new text, as far as the texts that were learned
    tell. So the length differs a little, by the same factor for all classes: on reviews of films by a
    hundredth, with a hundredth as its standard deviation.

    Attributes
    ----------
    n_weights_ : int
        How many weights are left, those of the constant coordinate not counted.
    kept_by_ : str
        What they were chosen by: ``"weight times frequency"``, or ``"weight"`` where no texts were counted.
    names_ : dict
        Column to the first feature that occurred there, where names were kept by :func:`perceptrons.shrink`.
    n_invalid_ : int
        Invalid bytes that were read over, with ``errors="replace"``.

    Examples
    --------
    >>> from perceptrons import TextClassifier, shrink
    >>> mail = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
    >>> clf = TextClassifier(random_state=0).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> small = shrink(clf, size_mb=0.01)
    >>> small.predict(["cheap meeting pills", "see you at noon"])
    array(['spam', 'ham'], dtype='<U4')
    """
