"""Kernel learners on a device make the updates of the CPU; torch on the CPU stands in for a GPU."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from property.learners import half_steps
from sklearn.datasets import load_digits
from uncompiled import uncompiled

import perceptrons as pc
from perceptrons import kernels, rules

torch = pytest.importorskip("torch", reason="torch path: NOT RUN (torch is not installed)")
pytestmark = pytest.mark.torch

from perceptrons.core.kernel import KernelLearner  # noqa: E402
from perceptrons.engine.device import blocks as on_device  # noqa: E402  # needs torch

X, y = load_digits(return_X_y=True)
X = X / 16.0

WHERE = [on_device.TWIN, *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=WHERE)
def device(request, monkeypatch):
    """Makes every kernel learner that is built from here on run there."""

    def there():
        monkeypatch.setattr(KernelLearner, "_where", lambda self, frame: request.param)

    return there


LEARNERS = [
    dict(rule=rules.Perceptron()),
    dict(rule=rules.Perceptron(), readout="average"),
    dict(rule=rules.Perceptron(), readout="vote"),
    dict(rule=rules.Perceptron(), readout="average", normalized_votes=True),
    dict(rule=rules.Margin(0.1, 0.5)),
    dict(rule=rules.MIRA(0.1)),
    dict(rule=rules.PA1(0.1), fit_intercept=True),
    dict(rule=rules.PA2(0.1)),
    dict(rule=rules.ROMMA(), readout="average"),
    dict(rule=rules.AggressiveROMMA(0.1)),
    dict(rule=rules.ALMA(0.5)),
    dict(rule=rules.RateByExamples()),
    dict(rule=half_steps),
]
KERNELS = [kernels.Polynomial(degree=2), kernels.Gaussian(gamma=0.5) + 0.5 * kernels.Linear()]


def trained(params, **ours):
    made = {"shuffle": True, "random_state": 0, "max_iter": 2, "log_updates": True} | params | ours
    return pc.KernelClassifier(**made)


def counts(model):
    """The records of its passes; progressive errors are not counted on a device."""
    return [{k: n for k, n in record.items() if "progressive" not in k} for record in model.history_]


def same_but_for_rounding(ours, theirs, rows):
    assert np.array_equal(ours.update_log_["row"], theirs.update_log_["row"])
    np.testing.assert_allclose(ours.update_log_["step"], theirs.update_log_["step"], rtol=1e-9)
    assert counts(ours) == counts(theirs)
    assert np.array_equal(ours.support_, theirs.support_)
    scores = theirs.decision_function(rows)
    np.testing.assert_allclose(ours.decision_function(rows), scores, atol=1e-9 * np.abs(scores).max())
    cores = [m._space.learners for m in (ours, theirs)]
    np.testing.assert_allclose(*[[one.guess() for one in core] for core in cores], rtol=1e-9)


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
@pytest.mark.parametrize("params", LEARNERS, ids=lambda p: "-".join(str(v) for v in p.values()))
def test_every_rule_makes_the_same_updates_in_float64(device, params, multiclass):
    """The CPU's side runs as plain Python: the device has its own code for every rule."""
    with uncompiled(params["rule"] != rules.Perceptron()):
        updates_are_the_same(device, params, multiclass)


def updates_are_the_same(device, params, multiclass):
    theirs = trained(params, kernel=KERNELS[0], multiclass=multiclass, device="cpu").fit(X[:150], y[:150])
    device()
    ours = trained(params, kernel=KERNELS[0], multiclass=multiclass, block_size=64).fit(X[:150], y[:150])
    same_but_for_rounding(ours, theirs, X[150:250])
    for model in (ours, theirs):
        model.partial_fit(X[150:200], y[150:200])
    same_but_for_rounding(ours, theirs, X[200:250])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("cache_mb", [0, 1000])
def test_two_classes_row_weights_and_kernels(device, kernel, cache_mb, monkeypatch):
    monkeypatch.setattr(on_device.DeviceBlocks, "sheet", 16)
    keep = y < 2
    A, b, c = X[keep], y[keep], (np.arange(keep.sum()) % 3 > 0).astype(float)
    params = dict(rule=rules.PA1(1.0), kernel=kernel, cache_mb=cache_mb, max_iter=3)
    theirs = trained(params, device="cpu").fit(A, b, sample_weight=c)
    device()
    same_but_for_rounding(trained(params, block_size=50).fit(A, b, sample_weight=c), theirs, X[keep])


def test_float32_reports_the_smallest_margin(device):
    device()
    model = trained({}, kernel=KERNELS[0], precision="float32").fit(X[:200], y[:200])
    assert model._space.frame.dtype == np.float32
    assert 0.0 < model.smallest_margin_ < np.inf


def test_a_rule_that_fails_on_a_device_names_the_row(device):
    @rules.rule
    def breaks(m, q, state):
        return 1.0, 1.0 / (state.k - 5.0) ** 0.5

    device()
    model = trained(dict(rule=breaks), kernel=KERNELS[0], shuffle=False, block_size=3)
    with pytest.raises(rules.RuleError, match=r"'breaks' at row \d+ "):
        model.fit(X[:40], y[:40] > 4)
    assert model.stop_reason_ == "failed"
    assert np.isfinite(model.decision_function(X[:40])).all()


def test_scores_that_overflow_name_the_row(device):
    device()
    A = X[:20] * 1e60
    model = trained(dict(rule=rules.PA()), kernel=kernels.Polynomial(degree=2), shuffle=False)
    with pytest.raises(ValueError, match="row"):
        model.fit(A * 1e20, y[:20] > 4)


def test_what_a_device_cannot_do_is_said(monkeypatch):
    dense = KERNELS[0].prepare(X[:3])

    def refusal(kernel=KERNELS[0], rows=dense, rule=rules.Perceptron(), top=True):  # noqa: B008
        return str(on_device._trouble(kernel, rows, rule, top))

    if not torch.cuda.is_available():
        assert "no CUDA device" in refusal()
        with pytest.raises(ValueError, match="use device='cpu'"):
            pc.KernelPerceptron(device="cuda").fit(X[:20], y[:20])
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert refusal() == "None"
    assert "no form for a device" in refusal(kernel=kernels.AllSubsets())
    assert "sparse" in refusal(rows=KERNELS[0].prepare(sp.csr_array(X[:3])))
    assert "scheme='top'" in refusal(top=False)

    @rules.rule
    def loops(m, q, state):
        for _ in range(3):
            m += 1.0
        return 1.0, m

    assert "device='cpu'" in refusal(rule=loops)


def test_auto_stays_on_the_cpu_where_there_is_no_gpu():
    model = pc.KernelPerceptron(device="auto").fit(X[:20].astype(np.float32), y[:20])
    assert model._space.device == ("cuda" if torch.cuda.is_available() else "cpu")


def test_the_device_modules_need_numpy_and_torch_only():
    code = """
import sys
for name in ("scipy", "numba", "sklearn", "rich"):
    sys.modules[name] = None
import numpy as np
from perceptrons import rules
from perceptrons.engine.blocks import Support
from perceptrons.engine.device.blocks import DeviceBlocks, Team, TWIN
from perceptrons.kernels import Polynomial
from perceptrons.kernels.prepared import Rows
rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))
y = np.where(X @ [1.0, 2.0, -1.0] > 0, 1.0, -1.0)
kernel = Polynomial(degree=2)
team = Team(rules.Perceptron(), 1, np.float64)
blocks = DeviceBlocks(kernel, Rows(X), kernel.diagonal(Rows(X)), 0.0, Support(), 16, 0.0, team, TWIN)
for _ in range(20):
    blocks.begin_pass(y[None, :], np.empty(0))
    blocks.run(np.arange(50), [1], keep_log=False)
    blocks.end_pass()
values = kernel.matrix(Rows(X), Rows(X[team.support]))
print(int(((values @ team.v[0] > 0) == (y > 0)).all()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1", done.stderr
