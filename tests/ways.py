"""Every way to set up a classifier that a certificate is made for, and what a certificate is about."""

from __future__ import annotations

import json

import numpy as np
import zoo
from plain_texts import PLAIN
from sklearn.base import BaseEstimator

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.certificates import digests
from perceptrons.certificates.certificate import Certificate

ESTIMATORS = [
    name
    for name in pc.__all__
    if isinstance(found := getattr(pc, name), type)
    and issubclass(found, BaseEstimator)
    and hasattr(found, "predict")
    and name != "SmallTextClassifier"  # it learns nothing
]
#: Ways to set up a learner, beyond its defaults.
WAYS = [
    *[(name, {}) for name in ESTIMATORS],
    ("Perceptron", {"learning_rate": "updates"}),
    ("Perceptron", {"learning_rate": "examples"}),
    ("Perceptron", {"learning_rate": 0.3, "multiclass": "ovr"}),
    ("Perceptron", {"mistake": "prediction", "scheme": "uniform"}),
    ("Perceptron", {"row_norm": "l2", "intercept_scaling": 2.0}),
    ("Perceptron", {"scheme": "proportional", "max_iter": 3}),
    ("Perceptron", {"early_stopping": True, "validation_fraction": 0.4}),
    ("VotedPerceptron", {"multiclass": "ovr", "max_iter": 1}),
    ("MarginPerceptron", {"gamma": 0.05}),
    ("MarginPerceptron", {"gamma": 10.0, "max_iter": 50}),
    ("MIRA", {"p": 0.5}),
    ("MIRA", {"p": 0.01, "margin": "geometric"}),
    ("MIRA", {"solver": "exact"}),
    ("PassiveAggressive", {"variant": "II"}),
    ("PassiveAggressive", {"variant": "hard", "row_norm": "l2", "readout": "average"}),
    ("PassiveAggressive", {"C": 0.01, "solver": "exact"}),
    ("ROMMA", {"aggressive": True, "delta": 0.5, "max_iter": 200}),
    ("ALMA", {"alpha": 0.5, "max_iter": 200}),
    ("OnlineClassifier", {"rule": rules.PA1(C=0.5), "readout": "average"}),
    ("Winnow", {"kind": 1}),
    ("Winnow", {"alpha": 1.5, "threshold": 3.0}),
    ("BalancedWinnow", {"eta": 0.01, "max_iter": None}),
    ("Elimination", {"literals": "all"}),
    ("PNormPerceptron", {"p": 4.0, "row_norm": "l2"}),
    ("AROW", {"covariance": "full"}),
    ("SCW", {"covariance": "full"}),
    ("SCW", {"covariance": "full", "variant": "II"}),
    ("RiskDescent", {"pick": "worst"}),
    ("MaxMargin", {"fit_intercept": False, "C": 1.0}),
    ("MaxMargin", {"kernel": "polynomial"}),
    ("RiskDescent", {"loss": "hinge", "batch_size": 2}),
    ("RiskDescent", {"step": "line-search"}),
    ("KernelPerceptron", {"kernel": "gaussian", "readout": "vote"}),
    ("KernelPerceptron", {"kernel": "linear", "fit_intercept": True, "readout": "average"}),
    ("KernelClassifier", {"rule": rules.ROMMA(), "multiclass": "ovr"}),
    ("KernelClassifier", {"rule": rules.PA2(C=1.0), "kernel": kernels.AllSubsets()}),
    ("BudgetKernelPerceptron", {"policy": "forgetron", "budget": 83, "kernel": kernels.Gaussian(0.5)}),
    ("BudgetKernelPerceptron", {"policy": "projectron", "budget": None}),
    ("BudgetKernelPerceptron", {"policy": "oldest", "budget": 3}),
]


def given(name, rows=zoo.X):
    """What a learner takes: rows, or texts of the same content."""
    if name != "TextClassifier":
        return rows
    return [" ".join(f"word{j}" for j in np.flatnonzero(row)) for row in rows]


def seen(clf, rows=zoo.X):
    """The rows that a certificate is about."""
    name = type(clf).__name__
    return clf.hash(given(name, rows)) if name == "TextClassifier" else rows


def plain(number):
    """Whether loops are plain Python where every way is certified: one of each family is compiled.

    So are those that overflow or divide by zero, which raises in Python where machine code has infinity.
    """
    name, params = WAYS[number]
    one_of_each = not params and name in ("Perceptron", "AROW", "Winnow", "KernelPerceptron")
    return not one_of_each and name not in ("BalancedWinnow", "PNormPerceptron", "MaxMargin")


def fitted(name, params, y=zoo.y, X=zoo.X, **others):
    clf = getattr(pc, name)(**params)
    wanted = {"shuffle": False, "random_state": 0} | others
    if name == "TextClassifier":
        wanted |= {key: value for key, value in PLAIN.items() if key not in params} | {"bits": 8}
    clf.set_params(**{k: v for k, v in wanted.items() if k in clf.get_params()})
    return clf.fit(given(name, X), y)


def names(certificate):
    return [bound.name for bound in certificate.bounds]


def sealed(certificate, change):
    """The certificate after a change, with a digest that fits it again."""
    body = json.loads(certificate.to_json())
    change(body)
    del body["sha256"]
    return Certificate.from_json(json.dumps(body | {"sha256": digests.body_digest(body)}))
