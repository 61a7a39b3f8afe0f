r"""Kernel learners: w lives in the span of the examples, and only k(x, z) is ever computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import spaces
from ..engine.journal import KernelJournal
from ..engine.loops.multiclass import Top
from . import checks
from .checks import estimator
from .first_order import FirstOrder, OnlineClassifier
from .halfspace import FLOATS
from .kernel_based import KernelBased
from .perceptron import PerceptronFamily
from .readouts import KernelReadout
from .run_records import known_rows


@estimator
class KernelLearner(KernelBased, FirstOrder):
    r"""What kernel learners with every rule share.

    Parameters
    ----------
    cache_mb : float, default=1000
        Kernel values with support rows that are kept from one epoch to the next, in megabytes.
    device : {"auto", "cpu", "cuda"}, default="auto"
        ``"cuda"`` needs torch and works in float32 unless ``precision`` says otherwise. ``"auto"`` takes the
        GPU for float32 rows, if there is one and kernel and rule run there.
    precision : {None, "float32", "float64"}, default=None
        None: that of the rows. On a GPU float64 makes the same updates as the CPU; float32 may differ where a
        margin is smaller than its rounding, see ``smallest_margin_``.
    multiclass : {"joint", "ovr"}, default="joint"
        One-vs-rest learners share the kernel values.

    Attributes
    ----------
    margin_bounds_ : (float or None, float)
        In the space of the kernel: :math:`\gamma_{low}`, after a clean pass, and
        :math:`\|w\|/\sum\tau`.
    radius_ : float
        :math:`\sqrt{\max k(x, x)}`.
    smallest_margin_ : float
        The smallest :math:`|m|` that float32 arithmetic on a device has decided on; inf elsewhere.
    """

    cache_mb: float = 1000.0
    device: str = "auto"
    precision: str | None = None

    _journal = KernelJournal

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("cache_mb", self.cache_mb, zero=True)
        checks.one_of("device", self.device, ("auto", "cpu", "cuda"))
        checks.one_of("precision", self.precision, (None, "float32", "float64"))

    def _dtypes(self) -> Any:
        if self.precision is not None:
            return np.dtype(self.precision)
        return np.dtype(np.float32) if self.device == "cuda" else FLOATS

    # ------------------------------------------------------------ spaces

    def _new_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> Any:
        inner = super()._new_space(frame._replace(bias=0.0), 0, n_classes)
        return spaces.Dual(
            inner, self.kernel_, frame, n_features, self.block_size, float(self.cache_mb), self._where(frame)
        )

    def _where(self, frame: spaces.Frame) -> str:
        """The device that a fresh learner runs on."""
        if self.device == "cpu" or (self.device == "auto" and frame.dtype != np.float32):
            return "cpu"
        from ..engine.device import blocks as on_device

        top_rival = not self._is_joint() or isinstance(self._scheme(), Top)
        return on_device.choose(self.device, self.kernel_, self._known, self._rule(), top_rival)

    # ------------------------------------------------------------ scores

    @property
    def _reading(self) -> KernelReadout:
        return KernelReadout(self, self._readout, self.normalized_votes, self.include_initial)

    def _linear_scores(self, X: Any) -> np.ndarray:
        reading = self._reading
        return reading.votes(X) if reading.kind == "vote" else self._space.expand(X, reading.coefficients())

    # ------------------------------------------------------------ what a run leaves behind

    def _record_weights(self, evidence: bool) -> dict[str, Any]:
        space = self._space
        weights = {"last": space.coefficients("last").T}
        if evidence and self._keeps_average():
            weights["average"] = space.coefficients("average").T
        known = known_rows(self) if evidence else None
        return {"weights": weights, "support": np.asarray(space.support.numbers), "known_rows": known}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return super()._learner_fields(r, learner) | {"support": self.n_support_}

    # ------------------------------------------------------------ what follows from the space

    def _supporting(self, name: str) -> np.ndarray:
        """Places of the support rows that the readout uses."""
        self._fitted(name)
        if self._readout == "vote":
            used = [journal.position for journal in self._journals]
            return np.unique(np.concatenate(used))
        return np.flatnonzero(self._reading.coefficients().any(axis=1))

    @property
    def support_(self) -> np.ndarray:
        """Rows that w is made of: their numbers in ``fit``, or counted over all calls of ``partial_fit``."""
        places = self._supporting("support_")
        return self._space.support.numbers[places]

    @property
    def n_support_(self) -> int:
        """How many rows w is made of."""
        return len(self._supporting("n_support_"))

    @property
    def support_vectors_(self) -> Any:
        """The rows that w is made of; other objects as a list."""
        places = self._supporting("support_vectors_")
        rows = self._space.support.rows
        if rows is None:
            return np.empty((0, getattr(self, "n_features_in_", 0)))
        return spaces.shown(rows, places)

    @property
    def dual_coef_(self) -> np.ndarray:
        """(1 or n_classes, n_support): coefficients with their signs; of the last w where weights vote."""
        places = self._supporting("dual_coef_")
        a = self._space.coefficients("last") if self._readout == "vote" else self._reading.coefficients()
        return np.ascontiguousarray(a[places].T)

    @property
    def smallest_margin_(self) -> float:
        """The smallest |margin| that float32 arithmetic on a device has decided on; inf elsewhere."""
        return float(self._fitted("smallest_margin_").smallest_margin)


@estimator
class KernelClassifier(KernelLearner, OnlineClassifier):
    r"""Any rule with any kernel, in exact blocks.

    :math:`w = \sum_i a_i\varphi(x_i)` is a combination of examples in the space of the kernel, so
    :math:`\langle w, \varphi(x)\rangle = \sum_i a_i k(x_i, x)`, and the rule sees
    :math:`m = y\langle w, \varphi(x)\rangle` and :math:`q = k(x, x)`, as in :class:`OnlineClassifier`.
    Every bound of the rule holds with :math:`R^2 = \max k(x, x)`.

    Rows are worked on in blocks: one matrix product gives the scores of a block against the support rows,
    then the block is resolved in order. The updates are those of one row at a time, whatever the size of the
    blocks.

    Parameters
    ----------
    rule : record of :mod:`perceptrons.rules`, its name, or a function under :func:`perceptrons.rules.rule`
        Default: ``rules.Perceptron()``. Names, such as ``"pa1"``, are those of ``rules.NAMES``.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman, L. Rozonoer, Theoretical foundations of the potential function method,
       Automation and Remote Control 25, 1964.
    .. [2] Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm, Machine
       Learning 37(3), 1999.

    Examples
    --------
    >>> from perceptrons import KernelClassifier, kernels, rules
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelClassifier(rule=rules.PA1(C=1.0), kernel=kernels.Polynomial(degree=2), shuffle=False)
    >>> clf.fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """


@estimator
class KernelPerceptron(KernelLearner, PerceptronFamily):
    r"""The perceptron in the space of a kernel.

    On a mistake, :math:`y\sum_i a_i k(x_i, x) \le 0`, the example gains :math:`y` in its own coefficient. If
    some unit :math:`u` of that space has :math:`y\langle u, \varphi(x)\rangle \ge \gamma > 0` for every
    example, there are at most :math:`\max k(x, x)/\gamma^2` updates, in any order.

    Parameters
    ----------
    readout : {"last", "average", "vote", "random"}, default="last"
        A vote needs the kernel values of a new object with every support row once; the scores of all weight
        vectors are prefix sums of them.

    Examples
    --------
    >>> from perceptrons import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelPerceptron(kernel="polynomial", max_iter=None, shuffle=False).fit(X, y)
    >>> clf.predict(X), clf.stop_reason_, clf.n_support_
    (array([0, 1, 1, 0]), 'clean pass', 4)
    >>> words = KernelPerceptron(kernel="spectrum", shuffle=False)
    >>> words.fit(["free prize now", "see you soon"], ["spam", "ham"]).predict(["a prize for you"])
    array(['spam'], dtype='<U4')
    """
