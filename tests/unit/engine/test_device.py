"""A block resolved in one stroke: the same updates as one row at a time, for every rule."""

from __future__ import annotations

import functools
import subprocess
import sys
from math import exp, floor, inf, isfinite, isnan, log, nan, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from perceptrons import rules
from perceptrons.engine.device import resolve as engine
from perceptrons.engine.device import rules as device_rules
from perceptrons.engine.device.resolve import DeviceLog, resolve, resolve_joint
from perceptrons.engine.loops import scalars as S
from perceptrons.rules import NO_STEP, REFUSED, RuleError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
LEVEL = 0.4

# ------------------------------------------------------------------------------------------ rules


@rules.rule(weighted=True)
def capped(m, q, state):
    loss = 1.0 - m
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, min(LEVEL * state.c, loss / q)


@rules.rule
def whole(m, q, state):
    if m > 0:
        return 1, 0
    return 1, 1


@rules.rule
def shrinking(m, q, state):
    return 0.9, 1.0 / (state.t + state.k + state.N + 1)


@rules.rule
def forgetful(m, q, state):
    """w is thrown away now and then."""
    if m > 0.1:
        return NO_STEP
    return (0.0 if state.k % 3 == 2 else 0.5), 0.8


@rules.rule
def vanishing(m, q, state):
    """The scale has to be multiplied out."""
    return (1e-5, 0.3) if m <= 0.2 else (1.0, 0.0)


@rules.rule
def backwards(m, q, state):
    return (1.0, -0.1) if m > 0.5 else (-0.5, 0.3) if m < 0 else NO_STEP


@rules.rule
def hesitant(m, q, state):
    """Where the answer is (1, 0) shows only in the numbers."""
    return 1.0, max(0.0, 0.5 - m) / q


@rules.rule
def refusing(m, q, state):
    return REFUSED if m < 0.3 else rules.NO_STEP


OURS = [record() for record in rules.FIRST_ORDER]
OTHERS = [
    rules.Perceptron(eta=0.3),
    rules.Margin(gamma=0.4, eps=0.1),
    rules.MIRA(p=0.5),
    rules.GeometricMIRA(p=0.8),
    rules.PA1(C=0.05),
    rules.PA2(C=0.2),
    rules.AggressiveROMMA(delta=0.3),
    rules.ALMA(alpha=0.9),
]
USERS = [capped, whole, shrinking, forgetful, vanishing, backwards, hesitant, refusing]
RULES = [*OURS, *OTHERS, *USERS]


# ------------------------------------------------------------------------------------------ one row at a time


def case(seed, size=9, B=7, K=2, dtype=np.float64, weights=False, track="last", joint=False, fresh=False):
    """A block of a learner in the middle of its life, as NumPy arrays."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 4)) * 0.7
    X[0] = X[1]
    if size > 3:
        X[3] = -X[2]
    gram = X @ X.T
    position = rng.choice(size, B, replace=size < B)
    v = np.zeros((K, size)) if fresh else rng.normal(size=(K, size)) * 0.4
    scale = np.ones(K) if fresh else np.full(K, rng.choice([0.5, 1.0, -1.3]))
    if joint:
        scale[:] = scale[0]
    v = v.astype(dtype).astype(float)
    scalars = np.zeros((K, S.SIZE))
    for k in range(K):
        scalars[k] = [scale[k], 0.0, 0.7, 3.1, 11, 4, 3, 2, 1, 5.5, 6.5, 0.9, 2.0, 1e-17, 0.0, 0.0]
        scalars[k, S.N] = scale[k] ** 2 * v[k] @ gram @ v[k]
        if fresh:
            scalars[k] = S.fresh()
    if joint:
        scalars = scalars[:1].copy()
        scalars[0, S.N] = scale[0] ** 2 * sum(v[k] @ gram @ v[k] for k in range(K))
    F = v @ gram[:, position]
    A = None if track == "last" else rng.normal(size=(K, size))
    return SimpleNamespace(
        F=(F.T if joint else F).astype(dtype),
        G=gram[np.ix_(position, position)].astype(dtype),
        y=rng.integers(0, K, B) if joint else rng.choice([-1.0, 1.0], (K, B)).astype(dtype),
        q=np.diag(gram)[position].copy(),
        c=rng.choice([0.0, 0.5, 1.0, 2.0], B) if weights else None,
        position=position.astype(np.int64),
        v=np.ascontiguousarray(v.T if joint else v).astype(dtype),
        A=A if A is None or not joint else np.ascontiguousarray(A.T),
        track=track,
        scalars=scalars,
        smallest=np.full(1 if joint else K, inf),
    )


def ask(rule, m, q, state):
    try:
        keep, tau = rules.ask(rule, m, q, state)
        return float(keep), float(tau)
    except ZeroDivisionError:
        return nan, nan


class Plain:
    """One learner, row by row, in plain Python: what the engine does, word for word."""

    def __init__(self, rule, data, k, joint, prediction, tol, limit):
        self.__dict__.update(
            rule=rule, data=data, k=k, joint=joint, prediction=prediction, tol=tol, limit=limit
        )
        self.F = data.F.astype(float) if joint else data.F[k].astype(float)
        self.v = data.v if joint else data.v[k]
        self.A = None if data.A is None else data.A if joint else data.A[k]
        self.own = data.scalars[k]
        self.eps = np.finfo(data.v.dtype).eps
        self.entries = []

    def pace(self):
        scale, N = self.own[S.SCALE], self.own[S.N]
        if self.data.track != "unit":
            return scale
        return scale / sqrt(N) if N > 0.0 else 0.0

    def multiply_out(self):
        if self.A is not None:
            self.A += self.own[S.SCALE_SUM] * self.v.astype(float)
        self.v[...] = self.v * self.own[S.SCALE]
        self.F *= self.own[S.SCALE]
        self.own[S.SCALE_SUM], self.own[S.SCALE] = 0.0, 1.0

    def look(self, i):
        """(m, q, wrong, the pairs of a sign and a class that get the step)."""
        data, scale = self.data, self.own[S.SCALE]
        if not self.joint:
            s, y = scale * self.F[i], float(data.y[self.k, i])
            return y * s, data.q[i], (s > 0.0) != (y > 0.0), [(y, None)]
        true, y = scale * self.F[i], int(data.y[i])
        z = max((r for r in range(true.size) if r != y), key=lambda r: (true[r], -r))
        m = true[y] - true[z]
        return m, 2.0 * data.q[i], bool(m < 0.0 or (m == 0.0 and z < y)), [(1.0, y), (-1.0, z)]

    def run(self):
        own, data = self.own, self.data
        for i in range(data.q.size):
            weight = 1.0 if data.c is None else float(data.c[i])
            if weight == 0.0:
                continue
            m, q, wrong, signs = self.look(i)
            if not isfinite(m):
                return S.BAD_SCORE, i
            mistake = wrong if self.prediction else m <= 0.0
            keep, tau = 1.0, 0.0
            state = rules.State(own[S.N], int(own[S.UPDATES]), int(own[S.EXAMPLES]) + 1, weight, self.tol)
            if mistake or m != 0.0:
                keep, tau = ask(self.rule, float(m), float(q), state)
            if keep == 0.0 and tau == 0.0:
                own[S.REFUSED] += 1
            elif keep != 1.0 or tau != 0.0:
                new = keep * keep * own[S.N] + 2.0 * keep * tau * m + tau * tau * q
                if not (new <= self.limit and (self.joint or isfinite(data.v.dtype.type(tau)))):
                    return S.BAD_STEP, i
                self.step(i, keep, tau, m, q, new, signs)
            own[S.EXAMPLES] += 1
            own[S.SCALE_SUM] += self.pace()
            own[S.ERRORS] += wrong
            own[S.MISTAKES] += mistake
            own[S.LOWEST] = min(own[S.LOWEST], m)
            own[S.LOSS2] += max(0.0, 1.0 - m) ** 2
            k = 0 if self.joint else self.k
            if m != 0.0:
                data.smallest[k] = min(data.smallest[k], abs(m))
        return S.DONE, data.q.size - 1

    def step(self, i, keep, tau, m, q, new, signs):
        own, data = self.own, self.data
        if keep != 1.0:
            terms = keep * keep * own[S.N] + abs(2.0 * keep * tau * m) + tau * tau * q
            own[S.DRIFT] = keep * keep * own[S.DRIFT] + self.eps * terms
            if keep == 0.0:
                if own[S.N] != 0.0:
                    if self.A is not None:
                        self.A += own[S.SCALE_SUM] * self.v.astype(float)
                    self.v[...] = 0.0
                    self.F[...] = 0.0
                own[S.SCALE] = 1.0
            else:
                own[S.SCALE] *= keep
                if not S.SCALE_LOW < abs(own[S.SCALE]) < S.SCALE_HIGH:
                    self.multiply_out()
        if own[S.SCALE] != 1.0 and sqrt(max(0.0, new)) > sqrt(self.limit) * abs(own[S.SCALE]):
            self.multiply_out()
        alpha = np.zeros(self.F.shape[1] if self.joint else 1)
        for sign, r in signs:
            d = tau * sign / own[S.SCALE]
            entry = data.position[i] if r is None else (data.position[i], r)
            if self.A is not None:
                self.A[entry] += -own[S.SCALE_SUM] * d
            self.v[entry] = float(self.v[entry]) + d
            scores = self.F if r is None else self.F[:, r]
            scores[i + 1 :] += d * data.G[i, i + 1 :].astype(float)
            alpha[r or 0] = tau * sign
        own[S.UPDATES] += 1
        own[S.N] = max(0.0, new)
        own[S.TAU] = keep * own[S.TAU] + tau if tau >= 0.0 and keep >= 0.0 else nan
        own[S.SUM_Q] += data.q[i]
        self.entries.append((i, int(own[S.EXAMPLES]) + 1, keep, alpha))


def copied(data):
    return SimpleNamespace(
        **{
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in vars(data).items()
        }
    )


def plain(rule, data, joint=False, prediction=False, tol=1e-12, limit=1e300):
    """The state afterwards, how each learner ended, and what each logged."""
    data = copied(data)
    learners = [Plain(rule, data, k, joint, prediction, tol, limit) for k in range(data.scalars.shape[0])]
    with np.errstate(all="ignore"):
        endings = [learner.run() for learner in learners]
    return data, endings, [learner.entries for learner in learners]


def blocked(rule, data, joint=False, prediction=False, tol=1e-12, limit=1e300, device="cpu", logged=True):
    """The same by the engine."""
    t = SimpleNamespace(
        **{
            name: torch.from_numpy(value.copy()).to(device) if isinstance(value, np.ndarray) else value
            for name, value in vars(data).items()
        }
    )
    learners, B = data.scalars.shape[0], data.q.size
    log = None
    if logged:
        log = DeviceLog(
            *(torch.full((learners, B), -1, dtype=torch.int64, device=device) for _ in range(2)),
            torch.full((learners, B), nan, dtype=torch.float64, device=device),
            torch.full(
                (learners, B, data.F.shape[1]) if joint else (learners, B),
                nan,
                dtype=torch.float64,
                device=device,
            ),
            torch.full((learners,), -1, dtype=torch.int64, device=device),
        )
    ending = (resolve_joint if joint else resolve)(
        rule,
        t.F,
        t.G,
        t.y,
        t.q,
        t.c,
        t.position,
        t.v,
        t.A,
        t.track,
        t.scalars,
        log,
        prediction,
        tol,
        limit,
        t.smallest,
    )
    assert ending.device.type == device and ending.dtype == torch.int64
    out = SimpleNamespace(
        **{name: value.cpu().numpy() if torch.is_tensor(value) else value for name, value in vars(t).items()}
    )
    entries = None
    if logged:
        row, example, keep, alpha, count = (field.cpu().numpy() for field in log)
        entries = [
            [(row[k, e], example[k, e], keep[k, e], np.atleast_1d(alpha[k, e])) for e in range(count[k])]
            for k in range(learners)
        ]
        assert all((row[k, count[k] :] == -1).all() for k in range(learners))
    return out, [tuple(pair) for pair in ending.tolist()], entries


def blocks_agree(rule, data, **options):
    """Both ways, on every device there is; the updates of the first learner are answered."""
    want, endings, entries = plain(rule, data, **options)
    loose = 1e-10 if data.v.dtype == np.float64 else 1e-5
    for device in DEVICES:
        got, ended, logged = blocked(rule, data, device=device, **options)
        assert ended == endings
        assert [[entry[:2] for entry in one] for one in logged] == [
            [entry[:2] for entry in one] for one in entries
        ]
        for mine, theirs in zip(logged, entries):
            for a, b in zip(mine, theirs):
                np.testing.assert_allclose(a[2], b[2], rtol=1e-9)
                np.testing.assert_allclose(a[3], b[3], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(got.v, want.v, rtol=loose, atol=loose)
        if want.A is not None:
            np.testing.assert_allclose(got.A, want.A, rtol=loose, atol=loose)
        np.testing.assert_allclose(got.scalars, want.scalars, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(got.smallest, want.smallest, rtol=1e-9, atol=1e-12)
        for name in ("G", "y", "q", "c", "position"):
            np.testing.assert_array_equal(getattr(got, name), getattr(data, name))
    return entries[0]


def names(rule):
    return getattr(rule, "__name__", None) or repr(rule)


# ------------------------------------------------------------------------------------------ the same updates


@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
@pytest.mark.parametrize("rule", RULES, ids=names)
def test_as_one_row_at_a_time(rule, joint):
    updates = 0
    for seed, (track, weights, prediction) in enumerate(
        [("last", False, False), ("average", True, False), ("unit", False, True), ("average", False, True)]
    ):
        data = case(seed, size=12, B=11, K=3, track=track, weights=weights, joint=joint)
        updates += len(blocks_agree(rule, data, joint=joint, prediction=prediction))
        data = case(seed, size=30, B=40, K=3, track=track, weights=weights, joint=joint, fresh=True)
        updates += len(blocks_agree(rule, data, joint=joint, prediction=prediction))
    assert updates > 10 or rule is refusing


@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
@pytest.mark.parametrize("rule", [rules.PA1(C=0.3), rules.ROMMA(), forgetful, vanishing], ids=names)
def test_float32(rule, joint):
    for seed in range(3):
        data = case(seed, B=8, K=2, dtype=np.float32, track="average", joint=joint)
        blocks_agree(rule, data, joint=joint, tol=1e-6, limit=1e76)


@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
def test_one_row_and_one_learner(joint):
    for seed in range(6):
        blocks_agree(rules.PA(), case(seed, size=2, B=1, K=2 if joint else 1, joint=joint), joint=joint)


def test_all_rows_without_weight():
    data = case(0, weights=True)
    data.c[:] = 0.0
    got, ended, entries = blocked(rules.PA(), data)
    assert ended == [(S.DONE, 6)] * 2 and entries == [[], []]
    np.testing.assert_array_equal(got.scalars, data.scalars)
    np.testing.assert_array_equal(got.smallest, inf)


def test_larger_blocks():
    for seed, rule in enumerate([rules.PA1(), rules.ALMA(), rules.Perceptron()]):
        assert len(blocks_agree(rule, case(seed, size=150, B=150, K=2, fresh=True))) > 5


@pytest.mark.parametrize("prediction", [False, True])
@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
def test_ties(joint, prediction):
    """A first row has score 0; whether it counts depends on its label."""
    for seed in range(4):
        data = case(seed, B=6, K=3, joint=joint, fresh=True)
        blocks_agree(rules.Perceptron(), data, joint=joint, prediction=prediction)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_block_too_large_for_a_gpu():
    data = case(0)
    data.q = np.ones(engine.MAX_ROWS + 1)
    with pytest.raises(ValueError, match="at most 16384 rows; got 16385"):
        blocked(rules.PA(), data, device="cuda")


def test_without_a_log():
    data = case(3, track="average")
    with_log, _, _ = blocked(rules.PA(), data)
    without, _, entries = blocked(rules.PA(), data, logged=False)
    assert entries is None
    np.testing.assert_array_equal(with_log.scalars, without.scalars)
    np.testing.assert_array_equal(with_log.A, without.A)


def test_pieces_of_larger_tensors():
    """Blocks are cut out of buffers."""
    data = case(5, K=2, track="average")
    want, _, _ = plain(rules.PA(), data)
    for device in DEVICES:
        big = {
            name: torch.zeros((2, 40), dtype=torch.float64, device=device) for name in ("F", "y", "v", "A")
        }
        part = {
            name: buffer[:, : getattr(data, name).shape[1]].copy_(torch.from_numpy(getattr(data, name)))
            for name, buffer in big.items()
        }
        G = torch.zeros((20, 20), dtype=torch.float64, device=device)[:7, :7]
        G.copy_(torch.from_numpy(data.G))
        rest = [
            torch.from_numpy(a.copy()).to(device)
            for a in (data.q, data.position, data.scalars, data.smallest)
        ]
        q, position, scalars, smallest = rest
        resolve(
            rules.PA(), part["F"], G, part["y"], q, None, position, part["v"], part["A"], "average", scalars,
            None, False, 1e-12, 1e300, smallest,
        )  # fmt: skip
        np.testing.assert_allclose(part["v"].cpu().numpy(), want.v, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(scalars.cpu().numpy(), want.scalars, rtol=1e-9)
        assert not big["v"][:, 9:].any()


# ------------------------------------------------------------------------------------------ bad endings


@rules.rule
def spoilt(m, q, state):
    return (1.0, 0.2) if state.k < 7 else (nan, nan)


@rules.rule
def divided(m, q, state):
    return 1.0, min(0.3, 1.0 / (state.t - 14))


@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
@pytest.mark.parametrize("value", [inf, -inf, nan])
def test_a_score_that_is_not_finite(value, joint):
    data = case(1, K=3, joint=joint, track="average")
    if joint:
        data.F[4] = value
    else:
        data.F[1, 4] = value
    blocks_agree(rules.PA(), data, joint=joint)
    *_, endings = blocked(rules.PA(), data, joint=joint)[:2]
    assert (S.BAD_SCORE, 4) in endings


@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
@pytest.mark.parametrize("rule", [spoilt, divided], ids=names)
def test_an_answer_that_is_no_number(rule, joint):
    data = case(2, B=9, K=2, joint=joint)
    blocks_agree(rule, data, joint=joint)
    assert {end for end, _ in blocked(rule, data, joint=joint)[1]} == {S.BAD_STEP}


@pytest.mark.parametrize("joint", [False, True], ids=["rows", "joint"])
def test_a_norm_beyond_the_limit(joint):
    data = case(0, size=30, B=30, K=2, joint=joint, fresh=True)
    blocks_agree(rules.Perceptron(), data, joint=joint, limit=2.0)
    assert S.BAD_STEP in {end for end, _ in blocked(rules.Perceptron(), data, joint=joint, limit=2.0)[1]}


def test_a_step_too_long_for_float32():
    data = case(0, dtype=np.float32)
    blocks_agree(rules.rule(lambda m, q, state: (1.0, 1e39)), data)
    assert blocked(rules.rule(lambda m, q, state: (1.0, 1e39)), data)[1] == [(S.BAD_STEP, 0)] * 2


# ------------------------------------------------------------------------------------------ the rewriting

SHIFT, FLAG, STEPS = 0.25, True, (1.0, 0.125)


def stairs(m, q, state):
    if m > 1.0:
        return NO_STEP
    elif m > 0.5:
        tau = 0.1
    elif -0.5 < m <= SHIFT:
        tau = 0.2 + 0.1 * (q > 1)
    else:
        tau = 0.3
        if q == 0.0:
            return rules.REFUSED
        tau /= q
    return 1.0, tau


def words(m, q, state):
    """Every operation."""
    ready = not (m >= 0.3 or q < 0.2) and state.t > 2
    size: float = abs(-m) ** 2 + q**0.5 + floor(3.7 * m) + exp(-q) + log(1 + q) + +m
    first, (second, third) = size // 2, (size % 0.7, float(state.k))
    if ready:
        pass
    if FLAG and not ready:
        return STEPS
    return (1 - SHIFT, max(first, second, third, -1)) if ready else (1.0, m and q)


def guarded(m, q, state):
    if (q > 0 and m / q > 0.5) or q == 0:
        return 1.0, 0.0
    return 1.0, sqrt(max(q, 1e-3)) ** -2


def relaxing(m, q, state):
    if m > 0.5 or q == 0.0:
        return NO_STEP
    keep, tau = rules.relax(m, q, state.N, state.tol)
    step = (keep, tau)
    if tau < 0.0:
        step = rules.NO_STEP
    return step


def careless(m, q, state):
    return 1.0, 1.0 / q if m < 0.2 else 0.0


def default(m, q, state, rate=0.3):
    return 1.0, rate * (m < 0)


def closure(rate):
    def inner(m, q, state):
        return 1.0, rate / state.t if m <= 0 else 0

    return inner


def stepped(level):
    if level:
        nonzero = level
    return lambda m, q, state: (1.0, nonzero if m < 0 else 0.0)


WRITTEN = [stairs, words, guarded, relaxing, careless, default, closure(0.7), stepped(2)]


@pytest.mark.parametrize("function", WRITTEN, ids=lambda f: f.__qualname__)
def test_the_new_source_answers_the_same(function):
    functions = device_rules.for_torch(rules.rule(function))
    rng = np.random.default_rng(0)
    m, q = rng.normal(size=400), rng.gamma(1.0, size=400)
    m[:40], q[20:60] = 0.0, 0.0
    tensors = [torch.from_numpy(array) for array in (m, q, np.arange(400) % 7 + 1.0, np.ones(400))]
    for N, k in ((0.0, 0), (1.7, 3)):
        shared = [torch.tensor(float(value), dtype=torch.float64) for value in (N, k, 1e-12, 0, 0, 0, 0)]
        arguments = (*tensors[:2], *shared[:2], *tensors[2:], *shared[2:])
        keep, tau = (value.expand(400).tolist() for value in functions.decide(*arguments))
        stop = functions.stops(*arguments).expand(400).tolist()
        for i in range(400):
            state = rules.State(N, k, i % 7 + 1, 1.0, 1e-12)
            want = ask(rules.rule(function), float(m[i]), float(q[i]), state)
            np.testing.assert_allclose((keep[i], tau[i]), want, rtol=1e-13, atol=1e-15)
            assert stop[i] or want == NO_STEP


def test_a_test_without_a_division():
    """All rows of a block are tested at every update, so the test should be cheap."""
    for rule in (rules.PA(), rules.PA1(), rules.MIRA(), rules.RateByUpdates(), rules.ROMMA(), hesitant):
        assert "/" not in device_rules.text(rule, device_rules.TORCH).stops


def test_hyperparameters_are_arguments():
    assert device_rules.for_torch(rules.PA1(C=1.0)) is device_rules.for_torch(rules.PA1(C=2.0))


def loop(m, q, state):
    for _ in range(3):
        m += 1
    return 1.0, m


def silent(m, q, state):
    if m > 0:
        return 1.0, 0.0


def single(m, q, state):
    return m


def triple(m, q, state):
    return 1.0, 0.0, 0.0


def mixed(m, q, state):
    return (1.0, 0.0) if m > 0 else 0.0


def unknown(m, q, state):
    return 1.0, undefined(m)  # noqa: F821


def strange(m, q, state):
    return 1.0, state.weight


def lists(m, q, state):
    return 1.0, [m, q][0]


def strings(m, q, state):
    return "keep", "tau"


def bits(m, q, state):
    return 1.0, state.k & 1


def powers(m, q, state):
    return 1.0, m**q


def renamed(m, q, state):
    other = state
    return 1.0, other.k


def key(m, q, state):
    return 1.0, max(m, q, key=abs)


def starred(*row):
    return 1.0, 0.0


def few(m):
    return 1.0, 0.0


def bare(m, q, state):
    return


def between(m, q, state):
    return 1.0, 1.0 * (m in (q, q))


REFUSALS = {
    loop: "the statement For in line 2",
    silent: "a path that ends without a return",
    single: r"a result that is no pair \(keep, tau\)",
    triple: r"a result that is no pair \(keep, tau\)",
    mixed: "a pair on one path and something else on another",
    unknown: "the name 'undefined', which has no value in line 2",
    strange: "the attribute 'weight' in line 2",
    lists: r"the expression \[m, q\]\[0\]",
    strings: "the expression 'keep'",
    bits: "the operator BitAnd",
    powers: "a power that is no small whole number",
    renamed: "a name for something that is no number",
    key: r"the call max\(m, q, key=abs\)",
    starred: "parameters other than plain ones",
    few: "it takes 1 arguments, not 3",
    bare: "a return without a pair",
    between: r"the comparison m in \(q, q\)",
    max: "its source cannot be read",
    functools.partial(few): "its source cannot be read",
}


@pytest.mark.parametrize("function", REFUSALS, ids=lambda f: getattr(f, "__name__", "partial"))
def test_a_rule_that_cannot_be_rewritten(function):
    rule = rules.rule(function)
    data = case(0)
    match = f"rule '{rule.__name__}' cannot run on this device: {REFUSALS[function]}.*use device='cpu'"
    with pytest.raises(RuleError, match=match):
        blocked(rule, data)


def test_something_that_is_no_rule():
    for rule in (rules.AROW(), single, None):
        with pytest.raises(RuleError, match="rule must be a record"):
            blocked(rule, case(0))


def test_an_unbound_name_is_no_number():
    def late(m, q, state):
        if m > 0:
            tau = 0.5
        return 1.0, tau

    decide, _ = device_rules.for_torch(rules.rule(late))
    one = torch.ones(1, dtype=torch.float64)
    assert float(decide(one, *[one] * 10)[1]) == 0.5
    assert isnan(float(decide(-one, *[one] * 10)[1]))


# ------------------------------------------------------------------------------------------ what it needs


def test_it_needs_torch_alone():
    """It can be imported, and used, where our other dependencies are missing."""
    code = """
import sys
for name in ("numba", "scipy", "sklearn"):
    sys.modules[name] = None
from perceptrons.engine.device import resolve as device
from perceptrons import rules
assert "torch" not in sys.modules
import torch
d = torch.float64
v, scalars = torch.zeros((1, 2), dtype=d), torch.tensor([[1.0] + [0.0] * 13], dtype=d)
ending = device.resolve(
    rules.PA(), torch.zeros((1, 2), dtype=d), torch.eye(2, dtype=d), torch.tensor([[1.0, -1.0]], dtype=d),
    torch.ones(2, dtype=d), None, torch.arange(2), v, None, "last", scalars, None, False, 1e-12, 1e300,
    torch.ones(1, dtype=d),
)
assert ending.tolist() == [[0, 1]] and v.tolist() == [[1.0, -1.0]]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
