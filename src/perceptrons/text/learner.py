r"""Text in, label out: hashing and learning in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from .._types import Label, Record, SparseMatrix
from ..core import changing, one_row, progressive
from ..core.label_lists import SEVERAL, of_one
from ..core.parameters import spec
from ..core.writing import enable_fast_path
from ..engine import intake, running_idf, spaces
from ..rows import Csr
from . import loops, several, single
from .explaining import Explains
from .hashing import AnyTexts, HashedRows, Hasher, csr, csr_array, most_entries, workspace_for
from .intakes import TextIntake
from .names import Names
from .prepared import Hashed
from .storage import StoredTexts

#: Longer texts are learned as batches of one.
_FAST_PATH_BYTES = 1 << 16


class TextFastPath(NamedTuple):
    """The arguments of the compiled calls that learn and score a single text."""

    learn: Callable[..., int]
    score: Callable[..., float]
    core: Record
    one: single.OneText
    row_buffer: np.ndarray
    signs: dict[Label, float]

    @property
    def form(self) -> None:
        """A fast path for rows has their form here; texts have none."""
        return None


@spec
class TextClassifierSpec(StoredTexts, Explains):
    """Learning, scores and labels of :class:`perceptrons.TextClassifier`."""

    # ------------------------------------------------------------ intake

    def _recipe(self) -> Record:
        return (
            self.bits,
            self.analyzer,
            self.tokens,
            tuple(self.ngram_range),
            self.lowercase,
            self._stop_key(),
            self.values,
            self.signed,
            self.seed,
            self.errors,
            self.precision,
        )

    def _hasher(self) -> Hasher:
        """The hasher for the present parameters, made again where they have changed."""
        recipe = self._recipe()
        kept = vars(self).get("_hashing")
        if kept is None or kept[0] != recipe:
            self._check_text_params()
            kept = self._hashing = (recipe, self._new_hasher(False, self.precision))
        return kept[1]

    @property
    def _intake(self) -> TextIntake:
        return TextIntake(self)

    def _check_width(self, reset: bool) -> None:
        if reset:
            self.n_features_in_ = 1 << self.bits
        elif "_space" in vars(self) and self._space.n_features != 1 << self.bits:
            raise ValueError(
                f"bits={self.bits} does not fit the model, which has {self._space.n_features} columns. "
                "Fit again, or set bits back."
            )
        else:
            changing.check_unchanged(self, self._of_state)

    def _own_rows(self, hashed: Hashed, reset: bool) -> SparseMatrix:
        if hashed.recipe != self._recipe():
            raise ValueError("These texts were hashed by a model with other parameters; give the texts.")
        X = hashed.X
        if not is_sparse(X) or X.format != "csr" or X.shape[1] != 1 << self.bits:
            raise ValueError("These rows are not what prepare_batch makes; give the texts.")
        intake.check_again(X)
        self._check_width(reset)
        return X

    @property
    def prepares_in_any_order(self) -> bool:
        """Whether two threads may call :meth:`prepare_batch` at the same time.

        Not where names of words are kept, which depend on the batch that comes first, and not in a class that
        has a ``prepare_batch`` of its own.
        """
        return not self.keep_names and type(self).prepare_batch is TextClassifierSpec.prepare_batch

    def prepare_batch(self, X: AnyTexts) -> Hashed:
        """Hash texts for :meth:`partial_fit`; any thread may call it.

        Parameters
        ----------
        X : iterable of str or bytes, or :class:`perceptrons.io.Texts`

        Returns
        -------
        Hashed
            What :meth:`partial_fit` and :meth:`predict` take in place of the texts.
        """
        names = None
        if self.keep_names:
            names = Names(1 << self.bits, self.__dict__.setdefault("_words", {}))
        rows = self._hasher().matrix(self._texts(X), self.cache_mb, self._n_threads(), names)
        return Hashed(rows, self._recipe()).fix_columns()

    def hash(self, X: AnyTexts) -> SparseMatrix:
        """The rows that the texts become, before they are scaled: a CSR array of shape (n_texts, 2^bits).

        With ``idf=True``: before their values are weighed by the counts of texts, too.
        """
        return csr_array(self._hasher().matrix(self._texts(X), n_threads=self._n_threads()))

    def decision_function(self, X: AnyTexts) -> np.ndarray:
        """Score of each text: positive means the larger label; one column per class for more than two.

        Texts are hashed and scored some at a time, by ``n_jobs`` threads.

        Parameters
        ----------
        X : iterable of str or bytes, or :class:`perceptrons.io.Texts`

        Returns
        -------
        scores : ndarray of shape (n_texts,) or (n_texts, n_classes)
        """
        score = super().decision_function
        self._contract.check_fitted(self)
        if not isinstance(X, Hashed):
            X = self._texts(X)
        if isinstance(X, Hashed) or not len(X) or self._readout == "vote":
            return score(X)
        space, df = self._space, self._counts()
        if df is not None and type(space) is spaces.Confident and not space.several:
            self._check_width(reset=False)
            frame = self._frame_in_force()
            found = self._hasher().scores_under(X, space.v, df, frame.bias, frame.unit, self._n_threads())
            if np.isfinite(found).all():
                return found
        recipe = self._recipe()
        return self._hasher().scores(X, lambda rows: score(Hashed(rows, recipe)), self._n_threads())

    def _weighed(self, X: SparseMatrix) -> SparseMatrix:
        """Hashed texts with values by the counts of texts so far."""
        if self._counts() is None:
            return X
        return csr(X.indices.view(np.uint32), self._intake.rows(X).data, X.indptr, X.shape[1])

    def _linear_scores(self, X: Any) -> np.ndarray:
        # at the cost of the entries alone: the weights of all columns are not needed
        if self._readout not in ("last", "average") or self.normalized_votes:
            return super()._linear_scores(self._weighed(X))
        scores: np.ndarray = self._space.scores(self._intake.rows(X), self._readout)
        if self._readout == "average" and self.include_initial:
            t = max(1, self._examples())
            scores = scores * (t / (t + 1.0))
        return scores

    # ------------------------------------------------------------ learning

    def fit(
        self,
        X: AnyTexts,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        order: Sequence[npt.ArrayLike] | None = None,
    ) -> Self:
        """Learn texts in epochs; parameters as in :meth:`perceptrons.OnlineClassifier.fit`, X being texts.

        y has one label per text, or lists, tuples or sets of labels, of which some may be empty.
        """
        if not self.warm_start:
            self.__dict__.pop("_words", None)
        super().fit(self._named_texts(X), y, sample_weight, coef_init, intercept_init, order)
        return self

    @classmethod
    def tune(
        cls,
        texts: AnyTexts,
        labels: npt.ArrayLike,
        seconds: float | None = 60.0,
        size_mb: float | None = None,
        *,
        trials: int = 27,
        random_state: int = 0,
        verbose: int = 0,
        **fixed: Any,
    ) -> Any:
        """A fitted model whose parameters were chosen by held-out errors: :func:`perceptrons.tune`.

        Tried are n-grams of words and of characters, tokens, values, idf, rules, passes and bits.

        Parameters
        ----------
        texts : iterable of str or bytes, or :class:`perceptrons.io.Texts`
        labels : array-like
        seconds : float or None, default=60
            No trial is begun that would probably end, with the fit after it, later than this.
        size_mb : float, optional
            The result is a :class:`~perceptrons.SmallTextClassifier` whose file is not larger.
        trials : int, default=27
            How many sets of parameters are tried.
        random_state : int, default=0
            Seed of the draws and of the model: with the same seed and number of trials, and time for all
            of them, the model is the same.
        verbose : int, default=0
            1: a line for each trial on standard error.
        **fixed : dict
            Parameters that are not tuned.

        Returns
        -------
        model : TextClassifier or SmallTextClassifier
            With ``tuning_``, the table of the trials.
        """
        import perceptrons

        return perceptrons.tune(
            cls(**fixed),
            texts,
            labels,
            seconds=seconds,
            size_mb=size_mb,
            trials=trials,
            fixed=tuple(fixed),
            random_state=random_state,
            verbose=verbose,
        )

    def partial_fit(
        self,
        X: AnyTexts,
        y: npt.ArrayLike,
        classes: Sequence[Label] | np.ndarray | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn one pass over texts in the order given; y as in :meth:`fit`."""
        super().partial_fit(self._named_texts(X), y, classes, sample_weight)
        return self

    def _named_texts(self, X: AnyTexts) -> AnyTexts:
        """X; hashed already where the names of its features are to be kept."""
        return self.prepare_batch(X) if self.keep_names and not isinstance(X, Hashed) else X

    @property
    def n_invalid_(self) -> int:
        """Bytes that were read over because they are no UTF-8."""
        return int(self._hasher().invalid[0])

    @property
    def names_(self) -> dict[int, str]:
        """Column to the first feature that occurred there."""
        if not self.keep_names:
            raise AttributeError("names_ needs keep_names=True.")
        return dict(vars(self).get("_words", {}))

    # ------------------------------------------------------------ one text at a time

    def learn_one(self, x: str | bytes, y: Label) -> None:
        """Learn one text.

        Parameters
        ----------
        x : str or bytes
        y : label, or a list, tuple or set of labels
            A new label becomes a new class.
        """
        fast = self.__dict__.get("_fast_path")
        if fast is not None:
            learn, _, core, one, row_buffer, signs = fast
            raw, sign = _raw(x), signs.get(y) if not isinstance(y, SEVERAL) else None
            if raw is not None and sign is not None and learn(core, raw, sign, one, row_buffer) == 0:
                return
        # no fast path, a new label, or the fast path failed: this call does the same work, and raises errors
        one_row.learn(self, x, y)
        if self.keep_names:
            self.prepare_batch([x])

    def score_one(self, x: str | bytes) -> float | list[float]:
        """Score of one text: a float, or a list of one per class for more than two classes."""
        fast = self.__dict__.get("_fast_path")
        if fast is not None and self._readout in ("last", "average") and not self.normalized_votes:
            _, score, core, one, row_buffer, _ = fast
            raw = _raw(x)
            if raw is not None and not self.include_initial:
                s: float = score(core, raw, one, row_buffer)
                if isfinite(s):
                    return s
        found: float | list[float] = super().score_one(x)
        return found

    def _enable_fast_path(self, x: object) -> None:
        """Prepare the fast path for further texts."""
        space = cast("spaces.Linear | spaces.Confident", self._space)  # of one w: else there is no fast path
        one_w = space.columns == 1 and not space.several
        plain = one_w and not self._keeps_journal() and self._steady()
        if not plain or self.keep_names or self.normalized_votes:
            return
        recipe = self._hasher().recipe
        room = int(most_entries(recipe, _FAST_PATH_BYTES))
        out = loops.Out(
            np.zeros(room, np.uint32),
            np.zeros(room, space.frame.dtype),
            np.empty(0, np.uint64),
            np.empty(0, np.uint64),
            running_idf.NO_COUNTS,
            np.empty(0, space.frame.dtype),
        )
        workspace = workspace_for(recipe, _FAST_PATH_BYTES)._replace(invalid=self._hasher().invalid)
        counts, logs = space.df, running_idf.logarithms()
        if counts is None:
            counts, logs = running_idf.NO_COUNTS, intake.EMPTY
        one = single.OneText(recipe, workspace, out, np.zeros(2, np.uint64), counts, logs)
        row_buffer, core = space.row_buffer(), space.core()
        progressive.count_on(self, row_buffer)
        learn = single.learn_text.direct(core, b"", 1.0, one, row_buffer)
        score = single.score_text.direct(core, b"", one, row_buffer)
        labels = self.classes_.tolist()
        signs = {labels[0]: 1.0} if len(labels) == 1 else {labels[0]: -1.0, labels[1]: 1.0}
        enable_fast_path(self, TextFastPath(learn, score, core, one, row_buffer, signs))

    # ------------------------------------------------------------ labels

    def predict(self, X: AnyTexts, k: int | None = None, threshold: float | None = None) -> Any:
        """Label of each text; where texts have several labels, a list of them for each.

        Parameters
        ----------
        X : iterable of str or bytes, or :class:`perceptrons.io.Texts`
        k : int, optional
            Give lists of the k labels with the highest scores, whatever these are.
        threshold : float, optional
            Give lists of the labels with a score above it; with ``k``, the k best of them. Texts with several
            labels: 0 where neither is given.

        Returns
        -------
        labels : ndarray of shape (n_texts,), or list of lists
            Each list begins with the highest score. After an indicator matrix, and without ``k`` and
            ``threshold``: an indicator matrix.
        """
        several.check(k, threshold)
        plain = k is None and threshold is None and (not self._several or "_indicator" in vars(self))
        if plain:
            return super().predict(X)
        self._contract.check_fitted(self)
        return several.best_labels(self, X, k, threshold)

    def score(self, X: AnyTexts, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Share of the texts whose label is right; of several labels, all must be right.

        Parameters
        ----------
        X : iterable of str or bytes, or :class:`perceptrons.io.Texts`
        y : labels, lists of labels, or an indicator matrix
        sample_weight : array-like of shape (n_texts,), optional

        Returns
        -------
        score : float
        """
        if not self._several or "_indicator" in vars(self):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]  # scikit-learn's
        found = [set(one) == set(of_one(labels)) for one, labels in zip(self.predict(X), y, strict=True)]
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(np.asarray(found, np.float64), weights=weights))

    def predict_one(self, x: str | bytes) -> Label:
        """Label of one text as a type of Python; where texts have several labels, a list of them."""
        if self._several:
            return self.predict([x])[0]
        return super().predict_one(x)

    # ------------------------------------------------------------ where a prediction comes from

    def _check_explained(self) -> None:
        if self._readout == "vote":
            raise ValueError("A vote has no weights to take apart; use readout='average' or 'last'.")

    def _valued(self, rows: HashedRows) -> HashedRows:
        X = self._weighed(csr(rows.indices, rows.data, rows.indptr, 1 << self.bits))
        return rows._replace(data=X.data)

    def _weights_of(self, rows: HashedRows, column: int) -> tuple[np.ndarray, float]:
        """Weights of the features of one text, and what the constant coordinate adds, before scaling."""
        if self._readout == "random" or self.normalized_votes:
            w = self._weights()[column]
            return w[rows.indices.astype(np.int64)], float(self._bias() * w[-1])
        n = len(rows.indices)
        frozen = intake.frozen
        ones = np.ones(n, self._space.frame.dtype)

        def looked(bias: float, count: int) -> np.ndarray:  # rows of a single 1, or of the constant alone
            pointers = frozen(np.arange(count + 1) if not bias else np.zeros(count + 1), np.int64)
            record = Csr(
                frozen(ones),
                frozen(rows.indices),
                pointers.view(np.uint64),
                frozen(np.ones(count)),
                bias,
                False,
            )
            return np.asarray(self._space.scores(record, self._readout)[:, column])

        share = 1.0
        if self._readout == "average" and self.include_initial:
            share = 1.0 - 1.0 / (max(1, self._examples()) + 1.0)
        constant = float(looked(self._bias(), 1)[0]) if self._bias() else 0.0
        return share * looked(0.0, n), share * constant

    # ------------------------------------------------------------ methods that scikit-learn calls

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k != "_hashing"}


def _raw(x: object) -> bytes | None:
    """The bytes of a text, or None for what the fast path does not take."""
    if type(x) is bytes:
        return x
    if type(x) is str:
        try:
            return x.encode()
        except UnicodeEncodeError:
            return None
    return None
