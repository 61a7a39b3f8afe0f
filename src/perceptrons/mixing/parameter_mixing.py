r"""The estimator: one model from many shards."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import fsum
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.writing import at_rest, one_writer
from ..estimators.perceptron import AveragedPerceptron
from ..estimators.shell import Shell
from . import far, fitting, supported
from .fitting import Settings
from .given import sources_of

if TYPE_CHECKING:
    from .._types import MatrixLike
    from ..core.classifier import Classifier
    from ..core.learner import Learner
    from ..theory.run_record import RunRecord
    from .fitting import Fit


def _of_estimator(name: str, text: str) -> Any:
    """An attribute of the fitted learner."""

    def read(self: ParameterMixing) -> Any:
        return getattr(self._fitted(name), name)

    return property(read, doc=text)


class ParameterMixing(Shell):
    r"""One model from many shards of the rows, by iterative parameter mixing.

    The rows are cut into S shards. In every round each shard makes one pass of the learner over its rows,
    all from the same state, and the results are mixed: :math:`w \leftarrow \sum_s\mu_s w_s` with
    :math:`\mu_s = 1/S` or :math:`\mu_s` in proportion to the updates of shard s [1]_. The rounds end when no
    shard updates, as w then separates all rows, or after ``max_iter`` rounds, that of the learner.

    For the perceptron: if :math:`\|x\| \le R` and some unit :math:`u` has
    :math:`y\langle u, x\rangle \ge \gamma > 0` for every row, the updates :math:`k_s` of the shards obey

    .. math::
        \sum_{rounds}\sum_s\mu_s k_s \le R^2/\gamma^2,

    twice that for prototypes learned together; so with equal weights there are at most
    :math:`S R^2/\gamma^2` updates. Averaging models that were trained to the end on their shards has no such
    guarantee. For the other learners no bound is claimed.

    AROW and SCW are mixed by what each shard has learned about each feature: with
    :math:`\Lambda = 1/\Sigma` before the round and :math:`\Lambda_s` after shard s,
    :math:`\Lambda \leftarrow \Lambda + \sum_s(\Lambda_s - \Lambda)`, and w is the mean of the
    :math:`w_s` with the weights :math:`\Lambda_s - \Lambda`.

    A pass over a shard is a function of the state, the shard, the round and the seed, and the sums are made
    in an order that depends on the number of shards alone: every backend makes the same bits. One shard makes
    the model of a plain fit.

    In a round every shard has weights of its own: with S shards in memory, S times those of a plain fit.
    Threads keep them from round to round where they take 512 MB at most; beyond that, and elsewhere, a shard
    keeps those that its pass has changed.

    Rows in files, and those of Dask, are never in one place: each shard is read by the task that learns it.
    On a cluster all that a worker holds can be computed again, from files or by the tasks of the caller. Rows
    that were given in memory are kept by the scheduler for that, which needs memory for all of them.

    Parameters
    ----------
    estimator : estimator, optional
        A Perceptron, AveragedPerceptron, MarginPerceptron, MIRA, PassiveAggressive, AROW, SCW, or a
        TextClassifier with a rule of these. The default is ``AveragedPerceptron()``. It is cloned. Parameters
        that need one run from row to row are refused, with the reason. Its ``random_state`` is the seed.
    n_shards : int, default=4
        Contiguous blocks of the rows. A file is cut between lines or row groups, into no more parts than it
        has of these. Every block of an array of Dask, and every partition of a data frame, is a shard.
    mixing : {"uniform", "mistakes"}, default="uniform"
        Equal weights, or in proportion to the updates of each shard in the round. One-vs-rest: for each class
        by its own updates.
    backend : {"threads", "serial", "dask"} or a client of Dask, default="threads"
        Where the shards are learned: in threads of this process, one after the other, or on the workers of
        a Dask cluster: that of the client, or of the one that this process has made last. Dask needs
        ``pip install 'perceptrons[dask]'``.
    shards : list of lists of int, or list of files or of lists of files, optional
        The row numbers of each shard, instead of ``n_shards`` blocks: a row may be in several shards, and
        must be in one. Or the files of each shard.
    reading : dict, optional
        How files are read: options of :func:`perceptrons.io.open_stream`.
    checkpoint : path, optional
        A model file that is written after every round. The same fit, given again, goes on from it, to the
        same bits; it is removed when the fit is done, and kept after ``max_time`` or a callback that stops.
    max_time : float, optional
        Stop after the first round that ends later than so many seconds.
    callback : callable or None, default=None
        Called as ``callback(mixing)`` after each round; a true result stops.
    n_jobs : int or None, default=None
        Threads; None: as many as there are shards, but no more than cores.
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    estimator_ : the fitted learner
        It holds the mixed state, and predicts. It claims no bound for a single run, which there was not.
    classes_ : ndarray
        The labels, sorted.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        The weights that predict.
    intercept_ : ndarray of shape (1 or n_classes,)
        :math:`B` times the weight of the constant coordinate.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.
    margin_bounds_ : :class:`perceptrons.theory.Bracket`, a list of them or None
        Around the best margin, as the learner states it: the mixed w is a sum of rows, too.
    free_margin_bounds_ : :class:`perceptrons.theory.Bracket`, a list of them or None
        The same with a free offset.
    radius_ : float
        Length of the longest row.
    n_iter_ : int
        Rounds.
    n_updates_ : int
        Updates of all shards.
    n_mistakes_ : int
        Mistakes of all shards.
    n_errors_ : int
        Wrong predictions of all shards, each by w before its row was learned.
    history_ : list of dict
        Of each round: examples, mistakes, updates and errors of all shards together; ``shard_updates``, for
        each learner (one, or one per class against the rest) those of each shard; ``weighted_updates``, for
        each learner :math:`\sum_s\mu_s k_s`, where shards have weights.
    weighted_updates_ : float or list of float
        :math:`\sum\mu_s k_s` over all rounds, which the theorem bounds; one per class for one-vs-rest. Not
        for AROW and SCW, whose shards have no weights.
    stop_reason_ : str
        ``"clean pass"``, ``"max_iter"``, ``"no improvement"``, ``"max_time"``, ``"callback"`` …
    seed_ : int
        What the orders of rows are drawn from.

    References
    ----------
    .. [1] R. McDonald, K. Hall and G. Mann, Distributed training strategies for the structured perceptron,
       NAACL 2010.

    Examples
    --------
    >>> from perceptrons import ParameterMixing, Perceptron, datasets
    >>> toy = datasets.four_points()
    >>> learner = Perceptron(shuffle=False, fit_intercept=False)
    >>> clf = ParameterMixing(learner, shards=[[0, 2], [1, 3]]).fit(toy.X, toy.y)
    >>> clf.coef_, clf.n_iter_, clf.weighted_updates_, clf.stop_reason_
    (array([[2., 1.]]), 3, 1.5, 'clean pass')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_shards: int = 4,
        mixing: str = "uniform",
        backend: Any = "threads",
        shards: Any = None,
        reading: dict[str, Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.n_shards = n_shards
        self.mixing = mixing
        self.backend = backend
        self.shards = shards
        self.reading = reading
        self.checkpoint = checkpoint
        self.max_time = max_time
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn in rounds, until no shard updates or for ``max_iter`` rounds of the learner.

        An interruption leaves the state of the last complete round.

        Parameters
        ----------
        X : array-like, CSR matrix, array or data frame of Dask, path, or list of paths
            Rows; or a file of them, or several: in a format of :func:`perceptrons.io.open_stream`, with the
            labels, or an array in ``.npy`` or ``.npz``. Nothing where ``shards`` has the files.
        y : array-like of shape (n_samples,), array or series of Dask, or path
            Labels. For an array in a file the file of the labels; for other files nothing.
        sample_weight : array-like of shape (n_samples,), or array or series of Dask, optional

        Returns
        -------
        self
        """
        learner: Learner = clone(self._learner())
        how = Settings(
            n_shards=self.n_shards,
            mixing=self.mixing,
            backend=self.backend,
            shards=self.shards,
            reading=self.reading,
            checkpoint=self.checkpoint,
            max_time=self.max_time,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            callback=None if self.callback is None else self._call,
        )
        with one_writer(cast("Classifier", self), anew=True):
            sources = sources_of(X, y, sample_weight, how)
            if sources is None:
                fitting.fit(learner, X, y, sample_weight, how, self._begin)
            else:
                far.fit(learner, sources, how, self._begin)
        return self

    def _learner(self) -> Any:
        return AveragedPerceptron() if self.estimator is None else self.estimator

    def _begin(self, fit: Fit) -> None:
        self.estimator_, self.seed_ = fit.learner, fit.job.seed

    def _call(self) -> object:
        assert self.callback is not None
        with at_rest(cast("Classifier", self)):
            return self.callback(self)

    # ------------------------------------------------------------ the fitted learner

    def _fitted(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self.estimator_

    classes_ = _of_estimator("classes_", "The labels, sorted.")
    coef_ = _of_estimator("coef_", "The weights that predict, (1 or n_classes, n_features).")
    intercept_ = _of_estimator("intercept_", "B times the weight of the constant coordinate.")
    n_features_in_ = _of_estimator("n_features_in_", "Width of the rows.")
    feature_names_in_ = _of_estimator("feature_names_in_", "Names of the columns, where X has them.")
    margin_bounds_ = _of_estimator("margin_bounds_", "(gamma_low, gamma_up) around the best margin.")
    free_margin_bounds_ = _of_estimator("free_margin_bounds_", "The same with a free offset.")
    radius_ = _of_estimator("radius_", "Length of the longest row.")
    n_iter_ = _of_estimator("n_iter_", "Rounds.")
    n_updates_ = _of_estimator("n_updates_", "Updates of all shards.")
    n_mistakes_ = _of_estimator("n_mistakes_", "Mistakes of all shards.")
    n_errors_ = _of_estimator("n_errors_", "Wrong predictions of all shards, of w before each row.")
    history_ = _of_estimator("history_", "The counts of each round.")
    stop_reason_ = _of_estimator("stop_reason_", "Why the rounds ended.")

    @property
    def weighted_updates_(self) -> float | list[float]:
        """The updates of all rounds, each by the weight of its shard; one per class for one-vs-rest."""
        history = self._fitted("weighted_updates_").history_
        if supported.by_confidence(self.estimator_):
            raise AttributeError(f"The shards of {type(self.estimator_).__name__} have no weights.")
        rounds = [record["weighted_updates"] for record in history]
        found = [fsum(column) for column in zip(*rounds, strict=True)]
        return found[0] if len(found) == 1 else found

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Label of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        found: np.ndarray = self.estimator_.predict(X)
        return found

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Score of each row: positive means the larger label; one column per class for more than two.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        found: np.ndarray = self.estimator_.decision_function(X)
        return found

    def run_record(self, *, evidence: bool = True) -> RunRecord:
        """All that is known of the run: what :func:`perceptrons.certify` reads.

        Parameters
        ----------
        evidence : bool, default=True
            False leaves out what only a certificate needs.

        Returns
        -------
        record : perceptrons.theory.RunRecord
        """
        check_is_fitted(self)
        found: RunRecord = self.estimator_.run_record(evidence=evidence)
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._learner()).input_tags
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_writer"}
