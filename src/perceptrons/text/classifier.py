r"""Text in, label out: hashing and learning as one estimator."""

from __future__ import annotations

from ..estimators.shell import Shell, estimator
from .explaining import Contribution, Explanation
from .learner import TextClassifierSpec

__all__ = ["Contribution", "Explanation", "TextClassifier"]


@estimator
class TextClassifier(TextClassifierSpec, Shell):
    r"""Any rule on raw text: words are hashed to columns, and learned, by one estimator.

    :class:`~perceptrons.TextHasher` says what a text becomes, :class:`~perceptrons.OnlineClassifier` what is
    learned from it. The texts are cut into words once per ``fit``; the rows are kept for the further epochs,
    on disk where they would take more than ``cache_mb``. One text at a time, in batches, or all at once: the
    same updates, to the last bit.

    Parameters
    ----------
    rule : record of :mod:`perceptrons.rules`, its name, or a function under :func:`perceptrons.rules.rule`
        Default: ``rules.Perceptron()``. Names, such as ``"arow"``, are those of ``rules.NAMES``. ``AROW``,
        ``SCW1`` and ``SCW2`` keep a confidence per column; they predict with their last weights, and learn
        several classes one against the rest.
    readout : {"auto", "last", "average", "vote", "random"}, default="auto"
        ``"auto"``: the average, or the last weights for rules with a confidence per column.
    row_norm : {"l2", None}, default="l2"
        Rows, with their constant coordinate, are divided by their length.
    precision : {"float32", "float64"}, default="float32"
        Of the weights and the rows.
    cache_mb : float or None, default=1024
        How much memory hashed rows may take in ``fit``; None: any amount.
    n_jobs : int or None, default=None
        Threads for hashing, and for one-vs-rest.
    idf : bool, default=False
        Multiply the value of a text in column j by
        :math:`\mathrm{idf}_j = 1 + \ln\frac{1 + n}{1 + \mathrm{df}_j}`, before the row is scaled: n texts
        were learned before this one, and :math:`\mathrm{df}_j` of them had an entry in column j. Then the
        text is learned, and then it is counted, in every epoch and every call. So there is no pass over all
        texts before learning begins, and one text at a time, batches and ``fit`` with an ``order`` count
        alike.
        Texts of weight 0 and those held out are not counted; predictions use the counts so far and change
        none. The same text has another row at its next visit: ``readout="vote"`` and ``"random"``,
        ``log_updates``, ``certify`` and traces are refused, and ``margin_bounds_`` is None. ``coef_`` has the
        weights of the values that were multiplied. Products are made in float64 and rounded to
        ``precision``.

    Attributes
    ----------
    n_texts_ : int
        With ``idf=True``: n, the texts that were learned, each counted at every visit.
    document_counts_ : ndarray of shape (2^bits,)
        With ``idf=True``: :math:`\mathrm{df}`, how many of them had an entry in each column.
    names_ : dict
        Column to the first feature that occurred there, with ``keep_names=True``.
    n_invalid_ : int
        Invalid bytes that were read over, with ``errors="replace"``.
    covariance_ : ndarray
        With a rule that keeps a confidence per column: the diagonal of :math:`\Sigma`, of each learner.

    Examples
    --------
    >>> from perceptrons import TextClassifier
    >>> mail = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
    >>> clf = TextClassifier(random_state=0).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> clf.predict(["cheap meeting pills", "see you at noon"])
    array(['spam', 'ham'], dtype='<U4')
    >>> clf.explain("buy pills at noon").contributions[0].feature
    'buy'
    >>> clf.learn_one("cheap lunch today", "ham")
    """
