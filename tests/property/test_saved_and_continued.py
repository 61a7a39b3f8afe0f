"""Learning, saving, loading and going on is learning without an interruption, to the last bit."""

from __future__ import annotations

import copy
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from plain_texts import PLAIN
from sklearn.base import BaseEstimator
from uncompiled import compiled

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.models import load, save
from perceptrons.models.saving import pieces

pytestmark = pytest.mark.uncompiled

RNG = np.random.default_rng(7)
#: 0/1 rows, so that Winnow and Elimination take them too
X = RNG.integers(0, 2, size=(60, 6)).astype(float)
TWO = (X[:, 0] + X[:, 3] - X[:, 5] > 0.5).astype(int)
THREE = np.asarray(["ham", "eggs", "spam"])[(X[:, 0] + 2 * X[:, 1] > 1).astype(int) + (X[:, 4] > 0)]
LETTERS = ["".join(RNG.choice(list("abcd"), size=RNG.integers(1, 9))) for _ in range(60)]
TEXTS = [f"{a} {b[::-1]} {a}" for a, b in zip(LETTERS, LETTERS[1:] + LETTERS[:1])]
TABLE = (X + 0.5) @ (X + 0.5).T


@rules.rule
def half_a_step(m, q, state):
    return (1.0, 0.5) if m <= 0.0 else (1.0, 0.0)


def overlap(a, b):
    return float(len(set(a) & set(b)))


class Case(NamedTuple):
    name: str
    params: dict[str, Any]
    X: Any = X
    y: Any = TWO
    pieces: bool = True  #: it learns in pieces
    objects: dict[str, Any] = {}  # noqa: RUF012  # what only the user has

    def __str__(self) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in self.params.items())
        shown = re.sub(r"<function (\w+) at 0x\w+>", r"\1", shown)  # the same name in every process
        kind = "csr" if sp.issparse(self.X) else getattr(self.X, "dtype", "objects")
        return f"{self.name}({shown}), {len(set(self.y))} classes, {kind}"

    def make(self) -> Any:
        return getattr(pc, self.name)(**copy.deepcopy(self.params))


def bits(model: Any) -> bytes:
    """All that a model is: its file."""
    return b"".join(bytes(piece) for piece in pieces(model))


def same_file(a: Any, b: Any, X: Any) -> None:
    assert type(a) is type(b)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    assert bits(a) == bits(b)


def stored(model: Any, tmp_path: Any, objects: Any = None) -> Any:
    save(model, tmp_path / "a.model")
    return load(tmp_path / "a.model", objects=objects or None)


READOUTS = ("last", "average", "vote", "random")
CASES = [
    *(Case("OnlineClassifier", {"readout": r, "random_state": 1}) for r in READOUTS),
    *(Case("OnlineClassifier", {"readout": r, "random_state": 1}, y=THREE) for r in READOUTS),
    *(
        Case("OnlineClassifier", {"readout": r, "multiclass": "ovr", "random_state": 1}, y=THREE)
        for r in READOUTS
    ),
    Case("OnlineClassifier", {"rule": rules.PA1(C=0.5), "log_updates": True}),
    Case("OnlineClassifier", {"rule": half_a_step}, objects={"rule": half_a_step}),
    Case(
        "OnlineClassifier", {"rule": half_a_step, "multiclass": "ovr"}, y=THREE, objects={"rule": half_a_step}
    ),
    Case("Perceptron", {"learning_rate": "updates", "row_norm": "l2"}),
    Case("Perceptron", {"scheme": "proportional", "class_weight": "running"}, y=THREE),
    Case("Perceptron", {"class_weight": {0: 2.0, 1: 0.5}}, X=sp.csr_array(X)),
    Case("Perceptron", {}, X=X.astype(np.float32)),
    Case("Perceptron", {"mistake": "prediction"}, pieces=False),
    Case("AveragedPerceptron", {"normalized_votes": True}),
    Case("AveragedPerceptron", {"include_initial": True}, X=sp.csr_array(X), y=THREE),
    Case("VotedPerceptron", {}, X=sp.csr_array(X)),
    Case("VotedPerceptron", {"row_norm": "l2"}, X=sp.csr_matrix(X), y=THREE),
    Case("MarginPerceptron", {"gamma": 0.1}),
    Case("MarginPerceptron", {}, y=THREE),
    Case("MIRA", {"p": 0.25}),
    Case("MIRA", {"solver": "exact"}, y=THREE),
    Case("PassiveAggressive", {"variant": "II"}),
    Case("PassiveAggressive", {"solver": "exact", "readout": "average"}, y=THREE),
    Case("ROMMA", {"aggressive": True, "readout": "average"}),
    Case("ROMMA", {}, y=THREE),
    Case("ALMA", {"alpha": 0.5, "readout": "vote"}),
    Case("Winnow", {}),
    Case("Winnow", {"kind": 1, "threshold": 3.0}, y=THREE),
    Case("Elimination", {"literals": "all"}),
    Case("Elimination", {}, y=THREE),
    Case("BalancedWinnow", {}),
    Case("PNormPerceptron", {"p": 3.0}, y=THREE),
    Case("SecondOrderPerceptron", {}),
    Case("AROW", {}),
    Case("TextClassifier", {"bits": 8, "keep_names": True}, X=TEXTS),
    Case("TextClassifier", {"bits": 8, "rule": rules.AROW(r=0.5), "readout": "last"}, X=TEXTS, y=THREE),
    Case("TextClassifier", {**PLAIN, "bits": 8, "readout": "vote", "stop_words": ["abba"]}, X=TEXTS, y=THREE),
    Case("TextClassifier", {"bits": 8, "idf": True, "rule": rules.AROW(r=0.5)}, X=TEXTS, y=THREE),
    Case("TextClassifier", {"bits": 8, "idf": True, "values": "sublinear"}, X=TEXTS),
    Case("AROW", {"covariance": "full"}, y=THREE),
    Case("SCW", {"covariance": "full", "variant": "II"}),
    Case("SCW", {}, X=sp.csr_array(X)),
    Case("RiskDescent", {"max_steps": 40}, pieces=False),
    Case(
        "RiskDescent",
        {"loss": "hinge", "pick": "random", "random_state": 3, "max_steps": 40},
        y=THREE,
        pieces=False,
    ),
    Case("MaxMargin", {"C": 1.0}, pieces=False),
    Case("MaxMargin", {"C": 1.0}, X=sp.csr_array(X), y=THREE, pieces=False),
    Case("MaxMargin", {"C": 1.0, "kernel": kernels.Gaussian(0.5)}, y=THREE, pieces=False),
    Case("MaxMargin", {"C": 1.0, "kernel": kernels.Spectrum(2)}, X=LETTERS, pieces=False),
    Case("KernelPerceptron", {}),
    Case("KernelPerceptron", {"readout": "vote", "kernel": kernels.Gaussian(0.5)}, y=THREE),
    Case("KernelPerceptron", {"kernel": "gaussian", "readout": "average"}, pieces=False),
    Case("KernelPerceptron", {"kernel": "precomputed"}, X=TABLE, pieces=False),
    Case(
        "KernelPerceptron",
        {"kernel": kernels.Normalized(kernels.Spectrum(2)) + kernels.Spectrum(1)},
        X=LETTERS,
    ),
    Case(
        "KernelClassifier",
        {"kernel": kernels.Spectrum(2, mode="min"), "multiclass": "ovr"},
        X=LETTERS,
        y=THREE,
    ),
    Case(
        "KernelClassifier",
        {"rule": rules.MIRA(0.5), "readout": "random", "random_state": 5},
        X=sp.csr_array(X),
    ),
    Case(
        "KernelClassifier", {"kernel": 2.0 * kernels.AllSubsets() * kernels.Linear(), "fit_intercept": True}
    ),
    Case("KernelClassifier", {"kernel": "linear", "log_updates": True}, X=X.astype(np.float32), y=THREE),
    Case("KernelClassifier", {"kernel": overlap}, X=LETTERS, objects={"kernel": overlap}),
    Case(
        "KernelClassifier",
        {"kernel": kernels.Spectrum(1) + kernels.Pairwise(overlap)},
        X=LETTERS,
        objects={"kernel.terms.1.function": overlap},
    ),
    *(
        Case("BudgetKernelPerceptron", {"budget": 5, "policy": policy, "random_state": 2}, y=y)
        for policy in ("random", "oldest", "forgetron", "projectron")
        for y in (TWO, THREE)
    ),
    Case("BudgetKernelPerceptron", {"budget": 4, "random_state": np.random.default_rng(3)}),
    Case("BudgetKernelPerceptron", {"budget": 4, "random_state": np.random.RandomState(3)}, y=THREE),
    Case("BudgetKernelPerceptron", {"budget": None, "policy": "projectron", "eta": 0.5, "random_state": 6}),
    Case(
        "BudgetKernelPerceptron",
        {"budget": 4, "kernel": kernels.Spectrum(2), "random_state": 6, "log_updates": True},
        X=LETTERS,
    ),
]


#: A case of each family of loops, and the readouts that loops know of.
COMPILED = [
    str(case)
    for case in CASES
    if case.pieces
    and (case.name, case.params)
    in [
        ("OnlineClassifier", {"readout": "last", "random_state": 1}),
        ("OnlineClassifier", {"readout": "average", "random_state": 1}),
        ("AROW", {}),
        ("Winnow", {}),
        ("BalancedWinnow", {}),
        ("KernelPerceptron", {}),
        ("BudgetKernelPerceptron", {"budget": 5, "policy": "oldest", "random_state": 2}),
    ]
]


def test_every_estimator_is_here():
    public = {
        name
        for name in pc.__all__
        if isinstance(cls := getattr(pc, name), type)
        and issubclass(cls, BaseEstimator)
        and hasattr(cls, "predict")
    }
    # tests/unit/text/test_shrink.py has what shrink makes, which learns nothing
    assert public - {"ParameterMixing", "SmallTextClassifier"} == {case.name for case in CASES}


@pytest.mark.parametrize("case", compiled(CASES, *COMPILED), ids=str)
def test_a_fitted_model_comes_back(case, tmp_path):
    model = case.make().fit(case.X, case.y)
    back = stored(model, tmp_path, case.objects)
    same_file(model, back, case.X)
    assert repr(back.get_params().keys()) == repr(model.get_params().keys())
    if case.pieces:  # and goes on
        for one in (model, back):
            one.partial_fit(case.X[:20], case.y[:20])
        same_file(model, back, case.X)


@pytest.mark.parametrize("case", compiled([case for case in CASES if case.pieces], *COMPILED), ids=str)
def test_pieces_with_a_file_between_them(case, tmp_path):
    whole, cut = case.make(), case.make()
    for part in (slice(0, 13), slice(13, 30), slice(30, 60)):
        for model in (whole, cut):
            model.partial_fit(case.X[part], case.y[part])
        cut = stored(cut, tmp_path, case.objects)
    same_file(whole, cut, case.X)


@pytest.mark.parametrize("case", [case for case in CASES if case.pieces and case.name != "SCW"][::3], ids=str)
def test_one_row_at_a_time_with_a_file_between(case, tmp_path):
    whole, cut = case.make(), case.make()
    for i in range(24):
        row = case.X[[i]] if sp.issparse(case.X) else case.X[i]
        for model in (whole, cut):
            model.learn_one(row, case.y[i])
        if i in (0, 1, 2, 11, 17):
            cut = stored(cut, tmp_path, case.objects)
    same_file(whole, cut, case.X)


@pytest.mark.parametrize("name", ["Perceptron", "AveragedPerceptron", "VotedPerceptron", "AROW", "Winnow"])
def test_named_features_that_grow(name, tmp_path):
    whole, cut = getattr(pc, name)(), getattr(pc, name)()
    words = [f"w{j}" for j in range(40)]
    draw = np.random.default_rng(1)
    for i in range(40):
        x = {word: 1.0 for word in draw.choice(words[: 3 + i], size=3)}
        for model in (whole, cut):
            model.learn_one(x, ["no", "yes"][i % 2] if i < 30 else "perhaps")
        if i % 7 == 0:
            cut = stored(cut, tmp_path)
        assert cut.predict_one(x) == whole.predict_one(x)
    assert bits(whole) == bits(cut)
    assert whole.feature_names_in_.tolist() == cut.feature_names_in_.tolist()


def test_classes_that_appear_after_loading(tmp_path):
    whole, cut = pc.VotedPerceptron(), pc.VotedPerceptron()
    for start, label in ((0, "b"), (10, "a"), (20, "c"), (30, "d")):
        y = np.full(10, label)
        for model in (whole, cut):
            model.partial_fit(X[start : start + 10], y)
        cut = stored(cut, tmp_path)
    same_file(whole, cut, X)


def test_a_warm_start_goes_on(tmp_path):
    model = pc.AveragedPerceptron(warm_start=True, max_iter=3, random_state=4).fit(X, THREE)
    back = stored(model, tmp_path)
    same_file(model.fit(X, THREE), back.fit(X, THREE), X)


def test_a_model_saved_from_within_its_fit(tmp_path):
    """A pass under way belongs to the process: the file has the model as it is between two epochs."""

    def keep(model):
        if model.n_iter_ == 2:
            save(model, tmp_path / "mid.model")

    pc.KernelPerceptron(max_iter=4, shuffle=False, readout="vote", callback=keep).fit(X, THREE)
    short = pc.KernelPerceptron(max_iter=2, shuffle=False, readout="vote", callback=keep).fit(X, THREE)
    mid = load(tmp_path / "mid.model")
    assert mid.callback is None
    np.testing.assert_array_equal(mid.decision_function(X), short.decision_function(X))
    mid.partial_fit(X, THREE)
    short.partial_fit(X, THREE)
    np.testing.assert_array_equal(mid.decision_function(X), short.decision_function(X))


def test_the_fast_lane_is_built_again(tmp_path):
    model = pc.Perceptron()
    for i in range(10):
        model.learn_one(X[i], TWO[i])
    assert "_fast_path" in vars(model)
    back = stored(model, tmp_path)
    assert "_fast_path" not in vars(back)
    for i in range(10, 60):
        model.learn_one(X[i], TWO[i])
        back.learn_one(X[i], TWO[i])
    assert "_fast_path" in vars(back)
    same_file(model, back, X)
