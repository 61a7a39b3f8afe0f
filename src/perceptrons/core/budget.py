r"""The kernel perceptron on a support set of bounded size."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..engine import spaces
from ..engine.journal import RowJournal
from ..engine.loops import budget
from . import checks
from .kernel_based import KernelBased
from .parameters import spec
from .run_records import known_rows

if TYPE_CHECKING:
    from .._types import Collection
    from ..engine.draws import RandomSource
    from ..engine.loops.budget import Forgetron, Oldest, Policy, Random

POLICIES = ("random", "oldest", "forgetron", "projectron")


@spec
class BudgetKernelPerceptronSpec(KernelBased):
    """Parameters and plan of :class:`perceptrons.BudgetKernelPerceptron`."""

    budget: int | None = 100
    policy: str = "random"
    eta: float = 0.1
    mistake: str = "margin"

    _of_state = ("kernel", "budget", "policy")
    _journal = RowJournal
    _takes_several = False

    if TYPE_CHECKING:  # set by fit
        _draws: RandomSource = field(init=False)

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("policy", self.policy, POLICIES)
        checks.whole("budget", self.budget, none=self.policy == "projectron")
        checks.positive("eta", self.eta, zero=True)
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Budget,)

    def _policy(self) -> Policy:
        if self.policy == "projectron":
            return budget.Projectron(float(self.eta))
        records: dict[str, type[Random | Oldest | Forgetron]] = {
            "random": budget.Random,
            "oldest": budget.Oldest,
            "forgetron": budget.Forgetron,
        }
        return records[self.policy]()

    def _new_space(
        self, frame: spaces.Frame, n_features: int, n_classes: int, several: bool = False
    ) -> spaces.Space:
        self._draws = checks.generator(self.random_state)  # shared by the learners of one-vs-rest
        return super()._new_space(frame, n_features, n_classes, several)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Budget:
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

    def _linear_scores(self, X: Collection) -> np.ndarray:
        return self._space.scores(X, "last")

    # ------------------------------------------------------------ the record of a run

    def _record_weights(self, evidence: bool) -> dict[str, Any]:
        known = known_rows(self) if evidence else None
        return {"weights": {"last": self.dual_coef_}, "support": self.support_, "known_rows": known}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"support": len(learner), "forgetting_cost": learner.forgetting_cost}

    # ------------------------------------------------------------ computed from the space

    def _lists(self, name: str) -> list[spaces.Budget]:
        return cast("list[spaces.Budget]", self._fitted(name).learners)

    def _entries(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(example number, row) of all entries, oldest first."""
        lists = self._lists(name)
        born, first = np.unique(np.concatenate([learner.born for learner in lists]), return_index=True)
        return born, np.concatenate([learner.ids for learner in lists])[first]

    @property
    def n_support_(self) -> int:
        """The number of entries; an entry in the lists of several classes counts once."""
        return len(self._entries("n_support_")[0])

    @property
    def support_(self) -> np.ndarray:
        """Rows in the list, oldest first, with their numbers in the pass that added them."""
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
