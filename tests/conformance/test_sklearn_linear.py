"""scikit-learn's own tests of its perceptron, passive-aggressive and SGD classifiers, on our classes.

The tests are those of the installed scikit-learn. The classes below translate its parameter names into ours
and do nothing else. What our classes do otherwise, and why, stands in a table; each of these tests has to
fail, so that the table stays true.
"""

from __future__ import annotations

from typing import Any

import peer_tests
import pytest
import sklearn.linear_model
from sklearn.base import BaseEstimator, ClassifierMixin

import perceptrons as pc

# ------------------------------------------------------------------------------ our classes under their names


class Translated(ClassifierMixin, BaseEstimator):
    """One of our classifiers, which :meth:`ours` makes of parameters with scikit-learn's names."""

    def ours(self) -> Any:
        raise NotImplementedError

    def shared(self) -> dict[str, Any]:
        """The parameters that have the same names; several classes are one against the rest, as theirs."""
        names = "fit_intercept max_iter tol shuffle verbose n_jobs random_state early_stopping warm_start"
        names += " validation_fraction n_iter_no_change class_weight"
        readout = "average" if getattr(self, "average", False) else "last"
        return {name: getattr(self, name) for name in names.split()} | {
            "multiclass": "ovr",
            "readout": readout,
        }

    def prepared(self, keep: bool) -> Any:
        model = self.ours()
        if keep and "model_" in vars(self):
            model = self.model_.set_params(**model.get_params())
        self.model_ = model
        return model

    def fit(self, X: Any, y: Any, **others: Any) -> Translated:
        self.prepared(self.warm_start).fit(X, y, **others)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Translated:
        self.prepared(True).partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return self

    def decision_function(self, X: Any) -> Any:
        return self.model_.decision_function(X)

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    @property
    def t_(self) -> int:
        """One more than the rows that were visited."""
        return 1 + sum(record["examples"] for record in self.model_.history_)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.endswith("_") or "model_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.model_, name)


VARIANTS = {"hinge": "I", "squared_hinge": "II"}


class Perceptron(Translated):
    def __init__(
        self, *, penalty=None, alpha=0.0001, l1_ratio=0.15, fit_intercept=True, max_iter=1000, tol=1e-3,
        shuffle=True, verbose=0, eta0=1.0, n_jobs=None, random_state=0, early_stopping=False,
        validation_fraction=0.1, n_iter_no_change=5, class_weight=None, warm_start=False,
    ):  # fmt: skip
        vars(self).update({name: value for name, value in locals().items() if name != "self"})

    def ours(self) -> Any:
        if self.penalty is not None:
            raise ValueError("there are no penalties")
        return pc.Perceptron(learning_rate=self.eta0, **self.shared())


class SGDClassifier(Translated):
    def __init__(
        self, loss="hinge", *, penalty="l2", alpha=0.0001, l1_ratio=0.15, fit_intercept=True, max_iter=1000,
        tol=1e-3, shuffle=True, verbose=0, epsilon=0.1, n_jobs=None, random_state=None,
        learning_rate="optimal", eta0=1.0, power_t=0.5, early_stopping=False, validation_fraction=0.1,
        n_iter_no_change=5, class_weight=None, warm_start=False, average=False,
    ):  # fmt: skip
        vars(self).update({name: value for name, value in locals().items() if name != "self"})

    def ours(self) -> Any:
        """What they call SGD with the rates "pa1" and "pa2"; a constant rate is a bound on the steps, too."""
        if self.penalty not in ("l2", None) or self.learning_rate not in (
            "optimal",
            "constant",
            "pa1",
            "pa2",
        ):
            raise ValueError("there are no other penalties and rates")
        C = 1.0 if self.learning_rate == "optimal" else self.eta0
        variant = "II" if self.learning_rate == "pa2" else VARIANTS[self.loss]
        return pc.PassiveAggressive(C=C, variant=variant, **self.shared())


class PassiveAggressiveClassifier(Translated):
    def __init__(
        self, *, C=1.0, fit_intercept=True, max_iter=1000, tol=1e-3, early_stopping=False,
        validation_fraction=0.1, n_iter_no_change=5, shuffle=True, verbose=0, loss="hinge", n_jobs=None,
        random_state=None, warm_start=False, class_weight=None, average=False,
    ):  # fmt: skip
        vars(self).update({name: value for name, value in locals().items() if name != "self"})

    def ours(self) -> Any:
        return pc.PassiveAggressive(C=self.C, variant=VARIANTS[self.loss], **self.shared())


OURS = {c.__name__: c for c in (Perceptron, SGDClassifier, PassiveAggressiveClassifier)}


def about_classifiers(parameter: Any) -> bool:
    named = parameter if isinstance(parameter, (tuple, list)) else [parameter]
    names = " ".join(getattr(part, "__name__", "") for part in named)
    return "Regressor" not in names and "OneClass" not in names


@pytest.fixture
def global_random_seed() -> int:
    """scikit-learn's fixture."""
    return 42


#: name of a test here, what its case has in its name, reason; see conftest.py
EXPECTED_FAILURES: list[tuple[str, str, str]] = []

# ------------------------------------------------------------------------ what is not run, and what differs

NOT_RUN = {
    "test_perceptron": (),
    "test_passive_aggressive": (
        "test_class_deprecation",  # of their class
        "test_passive_aggressive_regressor_vs_sgd",
        "test_regressor_correctness",
        "test_regressor_mse",
        "test_regressor_partial_fit",
        "test_regressor_undefined_methods",
    ),
    "test_sgd": (
        # of regressors and of the one-class machine
        "test_ocsvm_vs_sgdocsvm",
        "test_sgd_one_class_svm_estimator_type",
        "test_sgd_one_class_svm_formulation_with_scipy_minimize",
        "test_sgd_oneclass_convergence",
        "test_sgd_oneclass_vs_linear_oneclass",
        "test_sgd_oneclass_vs_linear_oneclass_offsets_match",
        # of their private functions
        "test_gradient_squared_hinge",
        "test_loss_epsilon_insensitive",
        "test_loss_hinge",
        "test_loss_modified_huber",
        "test_loss_squared_epsilon_insensitive",
        "test_validation_mask_correctly_subsets",
    ),
}
"""Tests of something that we do not have."""

PENALTY = "by design: there are no penalties; MaxMargin(C) minimises a norm and a loss"
RATE = "by design: the rates are constant, 1/updates and 1/examples, those that have a theorem"
LOSS = "by design: the perceptron's loss, the hinge loss and its square are all there is"
PROBABILITY = "by design: a halfspace has no probabilities; CalibratedClassifierCV makes some"
PRIVATE = "by design: the averaged weights are coef_ with readout='average'; the test looks at private names"
AUGMENTED = "by design: the constant coordinate of the intercept is part of the squared length of a row"
LATE = "by design: an average is over all examples"
WORDS = "by design: it is refused in our own words"
SPLIT = "by design: the rows held out are drawn from our generator, so they are others"
UNPENALISED = (
    "by design: without a penalty a margin of 1 is reached on the rows given, and w is not made short"
)
CLASSES = "by design: partial_fit takes up classes as they come"
STEADY = "by design: the rate does not fall, so the scores go on changing on rows that no halfspace separates"
WARNING = "by design: stop_reason_ tells why fit has stopped; running to max_iter is not an accident"

DIFFERENCES = {
    "test_perceptron": [("perceptron_l1_ratio", "", PENALTY)],
    "test_passive_aggressive": [
        ("classifier_accuracy", "-True]", PRIVATE),
        ("classifier_partial_fit", "-True]", PRIVATE),
        ("classifier_correctness", "", AUGMENTED),
    ],
    "test_sgd": [
        ("warm_start", "[invscaling", RATE),
        ("warm_start", "[adaptive", RATE),
        ("partial_fit_equal_fit_classif", "[invscaling", RATE),
        ("partial_fit_equal_fit_classif", "[adaptive", RATE),
        ("adaptive_longer_than_constant", "", RATE),
        ("learning_rate_PA_raises", "", "by design: PA-I and PA-II are for the same hinge loss"),
        ("power_t_limits", "", RATE),
        ("plain_has_no_average_attr", "", PRIVATE),
        ("late_onset_averaging_not_reached", "", LATE),
        ("late_onset_averaging_reached", "", LATE),
        ("average_binary_computed_correctly", "", LOSS),
        ("sgd_multiclass_average", "", LOSS),
        ("sgd_clf", "", LOSS),
        ("regression_losses", "", LOSS),
        ("sgd_predict_proba_method_access", "", PROBABILITY),
        ("sgd_proba", "", PROBABILITY),
        ("sgd_l1_ratio_not_used", "", PENALTY),
        ("sgd_failing_penalty_validation", "", PENALTY),
        ("sgd_l1", "", PENALTY),
        ("l1_ratio", "", PENALTY),
        ("numerical_stability_large_gradient", "", PENALTY),
        ("large_regularization", "", PENALTY),
        ("class_weights", "", UNPENALISED),
        ("sample_weights", "", UNPENALISED),
        ("balanced_weight", "", UNPENALISED),
        ("validation_set_not_used_for_training", "", SPLIT),
        ("partial_fit_exception", "", CLASSES),
        ("provide_coef", "", WORDS),
        ("set_intercept_offset", "", WORDS),
        ("underflow_or_overflow", "", WORDS),
        ("sgd_error_on_zero_validation_weight", "", WORDS),
        ("sgd_early_stopping_with_partial_fit", "", WORDS),
        ("partial_fit_weight_class_balanced", "", WORDS),
        ("sgd_random_state", "", WARNING),
        ("tol_parameter", "", STEADY),
        ("multi_thread_multi_class_and_early_stopping", "", STEADY),
    ],
}
"""Tests that fail: the name, what the case has in its name (all cases without it), and the reason."""

for _module, _table in DIFFERENCES.items():
    _theirs = peer_tests.load(f"sklearn.linear_model.tests.{_module}", sklearn.linear_model, OURS)
    _tests = peer_tests.tests_of(_theirs, NOT_RUN[_module], about_classifiers)
    globals().update({f"{_module}__{_name}": _test for _name, _test in _tests.items()})
    EXPECTED_FAILURES += [(f"{_module}__{_name}", _part, _reason) for _name, _part, _reason in _table]
