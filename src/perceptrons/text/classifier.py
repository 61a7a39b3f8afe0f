r"""Text in, label out: hashing and learning as one estimator."""

from __future__ import annotations

from ..estimators.shell import Shell, estimator
from .explaining import Contribution, Explanation
from .learner import TextClassifierSpec

__all__ = ["Contribution", "Explanation", "TextClassifier"]


@estimator
class TextClassifier(TextClassifierSpec, Shell):
    r"""Raw text in, labels out: tokens are hashed to columns, and learned, by one estimator.

    Words and signs of a text, and pairs of neighbours, are its features: a feature that occurs :math:`c`
    times has the value :math:`(1 + \ln c)\,\mathrm{idf}_j` in its column, :math:`j = h(f) \bmod 2^{bits}`;
    :math:`\mathrm{idf}_j` is large for what few of the texts learned before have. The row, with a constant
    coordinate, is divided by its length, and learned by AROW with :math:`r = 0.1` in three epochs: for
    :math:`m = y\langle w, x\rangle < 1`, with the diagonal :math:`\Sigma` that begins as the identity,

    .. math::
        \beta = \frac{1}{x^\top \Sigma x + r}, \qquad
        w \leftarrow w + \beta (1 - m)\, y\, \Sigma x, \qquad
        \Sigma \leftarrow \Sigma - \beta\, \mathrm{diag}\big((\Sigma x)(\Sigma x)^\top\big).

    Several classes are learned one against the rest. Every part is a parameter:
    :class:`~perceptrons.TextHasher` says what a text may become, :class:`~perceptrons.OnlineClassifier` what
    may be learned from it. An averaged perceptron on counts of words is
    ``TextClassifier(rule="perceptron", tokens="words", ngram_range=(1, 1), values="count", idf=False)``.

    The texts are cut once per ``fit``; the rows are kept for the further epochs, on disk where they would
    take more than ``cache_mb``. One text at a time, in batches, or all at once: the same updates, to the last
    bit.

    Parameters
    ----------
    tokens : {"all", "words"}, default="all"
        What runs are made of: all that one sees, words of a single letter and each other character
        (punctuation, symbols, emoji) too; or words of two or more letters, marks, digits and underscores.
    ngram_range : (int, int), default=(1, 2)
        Shortest and longest run of tokens.
    values : {"count", "binary", "sublinear"}, default="sublinear"
        How often a feature occurs, 1, or one plus the logarithm of how often.
    idf : bool, default=True
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
    max_iter : int or None, default=3
        Epochs of ``fit``.
    rule : record of :mod:`perceptrons.rules`, its name, or a function under :func:`perceptrons.rules.rule`
        Default: ``rules.AROW(r=0.1)``. Names, such as ``"arow"``, are those of ``rules.NAMES``. ``AROW``,
        ``SCW1`` and ``SCW2`` keep a confidence per column; they predict with their last weights, and learn
        several classes one against the rest.
    readout : {"auto", "last", "average", "vote", "random"}, default="auto"
        ``"auto"``: the average, or the last weights for rules with a confidence per column.
    row_norm : {"l2", None}, default="l2"
        Rows, with their constant coordinate, are divided by their length.
    precision : {"float32", "float64"}, default="float32"
        Of the weights and the rows.
    cache_mb : float or None, default=1024
        How much memory hashed rows may take in ``fit``, beyond which they are on disk, and between the passes
        of :func:`perceptrons.io.fit_stream`, beyond which texts are read again; None: any amount.
    n_jobs : int or None, default=None
        Threads for hashing, for predictions, and for one-vs-rest.

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
    label_storage_ : LabelStorage
        Of texts with several labels: ``columns`` in use, ``pairs`` of a column and a label with a weight of
        their own, ``bytes`` that they take, and whether they are ``in_lists``.
    covariance_ : ndarray
        With a rule that keeps a confidence per column: the diagonal of :math:`\Sigma`, of each learner.

    Notes
    -----
    **Several labels a text.** y may have a list, tuple or set of labels for each text, or be an indicator
    matrix of 0 and 1; texts without any label are negatives of all. The rule is then one with a confidence
    per column (``AROW``, ``SCW1``, ``SCW2``). A label is *seen* when a text with it is first learned, and is
    learned from that text on, with :math:`w_l = 0`; before, its score is -1. So ``fit`` with an ``order``,
    batches, and single texts make the same model, to the last bit, whenever a label appears.

    Up to 256 labels seen, each has a :math:`w_l` and a diagonal :math:`\Sigma_l` of its own, from
    :math:`\Sigma_l = I` on, and learns every text x: with :math:`y_l = 1` where the text has the label and
    -1 where not, :math:`m = y_l\langle w_l, x\rangle` and :math:`v = x^\top\Sigma_l x` the rule gives
    :math:`\alpha, \beta`, and :math:`w_l \leftarrow w_l + \alpha y_l \Sigma_l x`,
    :math:`\Sigma_l \leftarrow \Sigma_l - \beta\,\mathrm{diag}(\Sigma_l x)^2`.

    With the text that brings the 257th label one :math:`\Sigma` is shared from then on, in each column the
    smallest of those so far. A text then changes its own labels and the five others with the highest scores
    above -1 (of equal scores, those that were seen first), each by its own :math:`\alpha` and the common
    :math:`\Sigma`; afterwards :math:`\Sigma` loses the largest :math:`\beta` of them, once.

    Only columns of texts that have changed something get storage, in ``precision``: up to 256 labels a line
    of a weight and a variance for every label, 8 bytes per pair of column and label in float32; with more
    labels one variance, and a list of the labels with a weight, 8 bytes per pair and room for more, 12 to 24
    bytes in all. An array of :math:`2^{bits}` numbers of 4 bytes finds the columns.

    ``predict`` gives the labels with a score above 0. ``sample_weight`` may be 0 or 1, ``class_weight`` is
    refused; so are ``log_updates``, ``shrink``, ``certify`` and :class:`~perceptrons.ParameterMixing`.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze, Adaptive regularization of weight vectors, NIPS 2009.

    Examples
    --------
    >>> from perceptrons import TextClassifier
    >>> mail = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
    >>> clf = TextClassifier(random_state=0).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> clf.predict(["cheap meeting pills", "see you at noon"])
    array(['spam', 'ham'], dtype='<U4')
    >>> clf.explain("buy pills at noon").contributions[0].feature
    'at'
    >>> clf.learn_one("cheap lunch today", "ham")

    Texts with several labels:

    >>> topics = [["trade"], ["food"], ["trade", "fashion"], []]
    >>> clf = TextClassifier(random_state=0).fit(mail, topics)
    >>> clf.predict(["buy watches", "lunch at noon"])
    [['trade', 'fashion'], ['food']]
    >>> clf.predict(["buy watches"], k=1)
    [['trade']]
    """
