r"""Text in, label out: hashing and learning in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from .. import rules
from .._sparse import is_sparse
from .._types import Label, Record, SparseMatrix
from ..core import calibrating, changing, checks, one_row, progressive
from ..core.first_order import READOUTS, OnlineClassifierSpec
from ..core.intakes import NumberIntake
from ..core.label_lists import SEVERAL, of_one
from ..core.parameters import spec
from ..core.writing import enable_fast_path
from ..engine import intake, running_idf, spaces
from ..io import Texts
from ..rows import Csr
from . import explaining, loops, several, single
from .explaining import Explains, Explanation
from .hashing import AnyTexts, HashedRows, Hasher, as_texts, csr, csr_array, most_entries, workspace_for
from .names import Names
from .parameters import TextParameters
from .prepared import Hashed

#: Parameters that say which columns a text has.
OF_HASHING = (
    *("bits", "analyzer", "tokens", "ngram_range", "lowercase", "stop_words", "values", "signed", "seed"),
)
#: The rule of a learner whose rule is None.
RULE = rules.AROW(r=0.1)
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


class LabelStorage(NamedTuple):
    """What the weights of texts with several labels take."""

    columns: int  #: in use, without the constant
    pairs: int  #: of a column and a label that have a weight of their own
    bytes: int  #: of weights, variances and lists, with room for more; without the table of the columns
    in_lists: bool  #: each column has a list of its labels, instead of a line of all


class TextIntake(NumberIntake):
    """Texts, or rows that a model has hashed for itself."""

    __slots__ = ()

    model: TextClassifierSpec

    def tags(self) -> dict[str, bool]:
        return {"string": True, "two_d_array": False, "sparse": False}

    def checked(self, X: Any, *, reset: bool) -> SparseMatrix:
        model = self.model
        if isinstance(X, Hashed):
            return model._own_rows(X, reset)
        texts = model._texts(X)
        if not len(texts):
            raise ValueError("Found array with 0 sample(s): X holds no text, and at least one is required.")
        model._check_width(reset)
        return model._hasher().matrix(texts, model.cache_mb, model._n_threads())

    def exact(self, given: object, X: object) -> bool:
        return True  # the rows are those that the texts are hashed to

    def form(self, x: Any) -> tuple[int, Any]:
        model = self.model
        model.n_features_in_ = 1 << model.bits
        return model.n_features_in_, np.dtype(model.precision)

    def rows(self, X: SparseMatrix, learn: bool = False, frame: spaces.Frame | None = None) -> Csr:
        """X as the loops read it; to be scored, with values by the counts of texts so far."""
        rows = cast(Csr, super().rows(X, learn, frame))
        df = None if learn else self.model._counts()
        return rows if df is None else running_idf.present(rows, df)

    def one(self, x: Any) -> tuple[SparseMatrix, list[str]]:
        if not isinstance(x, (str, bytes)):
            raise ValueError(f"x must be a text, str or bytes; got {type(x).__name__}.")
        self.model._check_width(reset=False)
        return self.model._hasher().matrix(self.model._texts([x])), []


@spec
class TextClassifierSpec(TextParameters, OnlineClassifierSpec, Explains):
    """Parameters and plan of :class:`perceptrons.TextClassifier`."""

    tokens: str = "all"
    ngram_range: tuple[int, int] = (1, 2)
    values: str = "sublinear"
    readout: str = "auto"
    row_norm: str | None = "l2"
    max_iter: int | None = 3
    precision: str = "float32"
    cache_mb: float | None = 1024.0
    idf: bool = True

    if TYPE_CHECKING:  # set by fit
        _indicator: bool = field(init=False)  #: True where y was an indicator matrix

    _of_state = (*OF_HASHING, "precision", "idf")
    _takes_lists = True
    _READOUTS: ClassVar[tuple[str, ...]] = ("auto", *READOUTS)

    def _check_params(self) -> None:
        super()._check_params()
        self._check_text_params()
        checks.one_of("precision", self.precision, ("float32", "float64"))
        if self.cache_mb is not None:
            checks.positive("cache_mb", self.cache_mb, zero=True)
        checks.flag("idf", self.idf)
        if self.idf:
            self._check_idf()

    # ------------------------------------------------------------ the running idf

    def _check_idf(self) -> None:
        """Refuse what needs rows that are the same at every visit."""
        why = "with idf=True the row of a text changes from visit to visit"
        if self._readout in ("vote", "random"):
            raise ValueError(
                f"readout={self.readout!r} goes through the updates again, and {why}; use readout='last' or "
                "'average', or idf=False."
            )
        if self.log_updates:
            raise ValueError(
                f"log_updates=True names the row of each update, and {why}: set one of them to False."
            )
        if self.fit_intercept and self._scales_itself():
            raise ValueError(
                f"intercept_scaling='auto' takes B from the lengths of all rows, and {why}: give a number."
            )

    def _new_space(
        self, frame: spaces.Frame, n_features: int, n_classes: int, several: bool = False
    ) -> spaces.Space:
        space: spaces.Space
        if several:
            space = spaces.Labels(self._rule_of_labels(), frame, n_features, n_classes)
        else:
            space = super()._new_space(frame, n_features, n_classes)
        if self.idf:
            space.count_texts()
        return space

    # ------------------------------------------------------------ several labels a text

    def _rule_of_labels(self) -> Record:
        """The rule by which every label is learned."""
        if not self._second_order():
            raise ValueError(
                "Texts with several labels are learned by rules with a confidence per column: give "
                f"rule=rules.AROW(), SCW1() or SCW2(); got rule={self.rule!r}."
            )
        if self.log_updates:
            raise ValueError("Updates on texts with several labels are not logged: set log_updates=False.")
        if calibrating.on_first_visits(self):
            raise ValueError(
                "The scores of texts with several labels are not kept when the texts are learned: set "
                "calibration_rows='held out' for probabilities."
            )
        return cast(Record, self._rule())

    @property
    def label_storage_(self) -> LabelStorage:
        """What the weights of several labels take: columns in use, pairs of column and label, bytes."""
        space = cast("spaces.Labels", self._fitted("label_storage_"))
        if not self._several:
            raise AttributeError("label_storage_ is there for texts with several labels only.")
        return LabelStorage(space.n_slots - 1, space.n_pairs, space.n_bytes, space.in_lists)

    def _begin_lists(self, indicator: bool) -> None:
        vars(self).pop("_indicator", None)
        if indicator:
            self._indicator = True

    def _check_run(self) -> None:
        if not self._several:
            super()._check_run()

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        if self._several:
            raise ValueError("A run on texts with several labels has no record: its theory is of one label.")
        return super()._record_fields(evidence)

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

    def _counts(self) -> np.ndarray | None:
        """How many texts each column has occurred in, all texts last; None: they are not counted."""
        return self._space.df if "_space" in vars(self) else None

    def _counted_texts(self, name: str) -> np.ndarray:
        self._fitted(name)
        df = self._counts()
        if df is None:
            raise AttributeError(f"{name} is there with idf=True only.")
        return df

    @property
    def n_texts_(self) -> int:
        """Texts that were learned, each counted at every visit."""
        return int(self._counted_texts("n_texts_")[-1])

    @property
    def document_counts_(self) -> np.ndarray:
        """For each column, how many of them had an entry there."""
        return self._counted_texts("document_counts_")[:-1].copy()

    # ------------------------------------------------------------ rules with a confidence per column

    def _rule(self) -> Record | rules.UserRule:
        return RULE if self.rule is None else rules.named(self.rule)

    def _second_order(self) -> bool:
        return type(self._rule()) in rules.CONFIDENCE

    @property
    def _readout(self) -> str:
        if self.readout != "auto":
            return self.readout
        return "last" if self._second_order() else "average"

    def _check_rule(self, rule: Record | rules.UserRule) -> None:
        if not self._second_order():
            super()._check_rule(rule)
        elif self._readout != "last" or self.normalized_votes:
            raise ValueError(
                f"rule {type(rule).__name__} predicts with its last weights: give readout='last' and "
                f"normalized_votes=False; got readout={self.readout!r}."
            )

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.SingleSpace:
        if self._second_order():
            return spaces.Confident(cast(Record, self._rule()), frame, n_features, full=False)
        return super()._binary_space(frame, n_features)

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Confident, spaces.Labels) if self._second_order() else super()._space_kinds()

    def _is_joint(self) -> bool:
        return super()._is_joint() and not self._second_order()

    def _start_at(self, space: Any, d: int, coef_init: Any, intercept_init: Any) -> None:
        if self._second_order():
            raise ValueError(f"rule {type(self._rule()).__name__} starts from w = 0; drop coef_init.")
        super()._start_at(space, d, coef_init, intercept_init)

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        fields = super()._learner_fields(r, learner)
        if type(learner.rule) in rules.CONFIDENCE:
            fields["covariance"] = learner.trimmed_sigma()
        return fields

    @property
    def covariance_(self) -> np.ndarray:
        """Diagonal of Sigma, one row per learner, for rules that have one."""
        if not self._second_order():
            raise AttributeError("covariance_ is there for rules.AROW, SCW1 and SCW2 only.")
        if self._several:
            raise AttributeError("covariance_ is not there for texts with several labels.")
        learners = cast(list[spaces.Confident], self._fitted("covariance_").learners)
        return np.stack([learner.trimmed_sigma() for learner in learners])

    # ------------------------------------------------------------ intake

    def _recipe(self) -> Record:
        stop = self.stop_words if isinstance(self.stop_words, (str, type(None))) else tuple(self._stop_list())
        return (
            self.bits,
            self.analyzer,
            self.tokens,
            tuple(self.ngram_range),
            self.lowercase,
            stop,
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

    def _texts(self, X: AnyTexts) -> Texts:
        return as_texts(X, self.errors == "replace")

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
        return Hashed(rows, self._recipe())

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

    # ------------------------------------------------------------ where a prediction comes from

    def explain(self, text: str | bytes) -> Explanation:
        """The prediction for one text, as a sum of contributions of its features.

        With two classes contributions are those to the score, where a positive score means the larger label;
        with more, those to the score of the class predicted.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        Explanation
            ``label``, ``score``, ``intercept``, and ``contributions``: features with their value, weight and
            contribution, the largest first. ``str()`` shows them. ``parts`` is the text in pieces, which a
            notebook shows in colours: blue and ``+`` for what adds to the score, orange and ``−`` for what
            takes from it.
        """
        return explaining.explain(self, text)

    def strongest(self, n: int = 10) -> dict[Label, list[tuple[str, float]]]:
        """The features with the largest weights for each label; needs ``keep_names=True``.

        Parameters
        ----------
        n : int, default=10
            How many for each label.
        """
        return explaining.strongest(self, n)

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
