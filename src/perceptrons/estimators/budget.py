r"""The kernel perceptron on a support set of bounded size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import spaces
from ..engine.journal import RowJournal
from ..engine.loops import budget
from . import checks
from .checks import estimator
from .kernel_based import KernelBased
from .run_records import known_rows

POLICIES = ("random", "oldest", "forgetron", "projectron")


@estimator
class BudgetKernelPerceptron(KernelBased):
    r"""Kernel perceptron that remembers a bounded number of examples.

    A mistake adds its example to the support list with coefficient :math:`y`. When the list is full, a policy
    says what is forgotten:

    ``"random"``
        one entry, drawn uniformly [1]_;
    ``"oldest"``
        the first one;
    ``"forgetron"``
        the first one, after all coefficients have shrunk by the largest factor that keeps the damage within
        15/32 of the mistakes. If :math:`k(x, x) \le 1`, the budget B is at least 83 and
        :math:`\|u\| \le \frac14\sqrt{(B+1)/\ln(B+1)}`, it makes at most
        :math:`2\|u\|^2 + 4\sum\max(0, 1 - y\langle u, \varphi(x)\rangle)` mistakes [2]_;
    ``"projectron"``
        nothing: a mistake whose example is within ``eta`` of the span of the list is projected onto it, so
        that the list stops growing by itself. With ``eta`` towards 0 it makes the perceptron's updates [3]_.

    An example that comes again is a new entry. More than two classes: one list per class against the rest.
    The last w predicts; there is no other readout.

    Parameters
    ----------
    budget : int or None, default=100
        Longest support list. None, no limit, is for the projectron; with a limit it projects every mistake
        once its list is full.
    policy : {"random", "oldest", "forgetron", "projectron"}, default="random"
        What becomes of a full list, see above.
    eta : float, default=0.1
        Largest distance that the projectron closes by projecting.

    Attributes
    ----------
    support_ : ndarray of int
        The rows in the list, oldest first, as numbered in the pass that brought them in; of all classes.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi, C. Gentile, Tracking the best hyperplane with a simple budget
       perceptron, Machine Learning 69, 2007.
    .. [2] O. Dekel, S. Shalev-Shwartz, Y. Singer, The forgetron: a kernel-based perceptron on a budget, SIAM
       Journal on Computing 37(5), 2008.
    .. [3] F. Orabona, J. Keshet, B. Caputo, Bounded kernel-based online learning, JMLR 10, 2009.

    Examples
    --------
    >>> from perceptrons import BudgetKernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = BudgetKernelPerceptron(budget=4, policy="oldest", shuffle=False).fit(X, y)
    >>> clf.n_support_, clf.dual_coef_
    (4, array([[-1., -1.,  1.,  1.]]))
    """

    budget: int | None = 100
    policy: str = "random"
    eta: float = 0.1
    mistake: str = "margin"

    _of_state = ("kernel", "budget", "policy")
    _journal = RowJournal

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("policy", self.policy, POLICIES)
        checks.whole("budget", self.budget, none=self.policy == "projectron")
        checks.positive("eta", self.eta, zero=True)
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))

    def _policy(self) -> Any:
        if self.policy == "projectron":
            return budget.Projectron(float(self.eta))
        records = {"random": budget.Random, "oldest": budget.Oldest, "forgetron": budget.Forgetron}
        return records[self.policy]()

    def _new_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> Any:
        self._draws = checks.generator(self.random_state)  # shared by the learners of one-vs-rest
        return super()._new_space(frame, n_features, n_classes)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        return spaces.Budget(
            self.kernel_,
            self._policy(),
            self.budget,
            frame,
            n_features,
            self._draws,
            self.mistake == "prediction",
            self.block_size,
        )

    def _linear_scores(self, X: Any) -> np.ndarray:
        return self._space.scores(X, "last")

    # ------------------------------------------------------------ what a run leaves behind

    def _record_weights(self, evidence: bool) -> dict[str, Any]:
        known = known_rows(self) if evidence else None
        return {"weights": {"last": self.dual_coef_}, "support": self.support_, "known_rows": known}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"support": len(learner), "forgetting_cost": learner.forgetting_cost}

    # ------------------------------------------------------------ what follows from the space

    def _lists(self, name: str) -> list[Any]:
        return self._fitted(name).learners

    def _entries(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(example number, row) of all entries, oldest first."""
        lists = self._lists(name)
        born, first = np.unique(np.concatenate([learner.born for learner in lists]), return_index=True)
        return born, np.concatenate([learner.ids for learner in lists])[first]

    @property
    def n_support_(self) -> int:
        """How many entries the list has; different ones, where there is a list per class."""
        return len(self._entries("n_support_")[0])

    @property
    def support_(self) -> np.ndarray:
        """Rows in the list, oldest first, as numbered in the pass that brought them in."""
        return self._entries("support_")[1]

    @property
    def dual_coef_(self) -> np.ndarray:
        """(1 or n_classes, n_support): coefficients with their signs."""
        lists = self._lists("dual_coef_")
        born, _ = self._entries("dual_coef_")
        dual = np.zeros((len(lists), len(born)))
        for r, learner in enumerate(lists):
            dual[r, np.searchsorted(born, learner.born)] = learner.coefficients
        return dual

    @property
    def support_vectors_(self) -> Any:
        """The rows in the list; other objects as a list."""
        lists = [learner for learner in self._lists("support_vectors_") if len(learner)]
        if not lists:
            return np.empty((0, getattr(self, "n_features_in_", 0)))
        rows = lists[0].rows
        for learner in lists[1:]:
            rows = rows.join(learner.rows)
        _, first = np.unique(np.concatenate([learner.born for learner in lists]), return_index=True)
        return spaces.shown(rows, first)
