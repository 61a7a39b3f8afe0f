"""The blackboard versions of `perceptrons.reference` against the golden traces."""

from __future__ import annotations

from functools import partial
from itertools import chain, pairwise, product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from golden.cases import GOLDEN, Case, close, files, load, read

from perceptrons import reference
from perceptrons.reference.structured import TaggerRun

# ----------------------------------------------------------------------------------- running a case


def binary(learner):
    """Run a binary learner; the parameters of the file are those of the function."""
    return lambda case: learner(case.X, case.y, case.order, **case.params)


def multiclass(learner):
    return lambda case: learner(case.X, case.y, case.order, n_classes=case.n_classes, **case.params)


def to_a_clean_pass(learner):
    """Run a learner that stops by itself: where it may, it is offered one epoch too many."""

    def run(case):
        params = dict(case.params)
        order = [*case.order, case.order[-1]][: params.pop("max_epochs")]
        return learner(case.X, case.y, order, until_clean=True, **params)

    return run


def variable_rate(case):
    params = dict(case.params)
    return reference.perceptron(case.X, case.y, case.order, learning_rate=params.pop("rate"), **params)


def alma(case):
    params = dict(case.params)
    assert params.pop("p") == 2
    return reference.alma(case.X, case.y, case.order, **params)


def multiclass_pa(case):
    params = dict(case.params)
    given = (case.X, case.y, case.order)
    variant = params.pop("variant")
    if variant == "crammer_singer":
        return reference.crammer_singer(*given, n_classes=case.n_classes, **params)
    if variant == "MIRA":
        return reference.multiclass_mira(*given, n_classes=case.n_classes, **params)
    assert params.pop("p") is None
    return reference.multiclass_passive_aggressive(
        *given, n_classes=case.n_classes, variant=variant, **params
    )


def risk(case):
    params = dict(case.params)
    if params["w0"] == "y0*x0":
        del params["w0"]  # the default
    assert params.pop("method") == ("sgd" if "pick" in params else "gd")
    return reference.risk_descent(case.X, case.y, rng=params.pop("uniforms", None), **params)


def tagger(case):
    params = dict(case.params)
    assert params.pop("ties") == "lexicographically smallest tag sequence"
    assert params.pop("rule") == "prediction"
    order = [range(len(case.raw["sequences"]))] * params.pop("epochs")
    return reference.structured_perceptron(case.raw["sequences"], case.raw["tags"], order, **params)


def make_kernel(params):
    """A kernel of the files. What is not understood is an error."""
    params = dict(params)
    name = params.pop("kernel")
    if params.pop("normalize", False):
        return reference.normalized_kernel(make_kernel({"kernel": name, **params}))
    if name == "polynomial":
        return reference.polynomial_kernel(gamma=params.pop("scale"), **params)
    if name == "sum":
        terms = params.pop("terms")
        assert not params
        scaled = [reference.scaled_kernel(factor, make_kernel(term)) for factor, term in terms]
        return reference.sum_kernel(*scaled)
    if name == "product":
        factors = params.pop("factors")
        assert not params
        return reference.product_kernel(*map(make_kernel, factors))
    if name in ("gaussian", "spectrum"):
        return {"gaussian": reference.gaussian_kernel, "spectrum": reference.spectrum_kernel}[name](**params)
    assert not params
    return {"linear": reference.linear_kernel, "all_subsets": reference.all_subsets_kernel}[name]


KERNEL_LEARNERS = {
    "perceptron": reference.kernel_perceptron,
    "margin": reference.kernel_margin_perceptron,
    "mira": reference.kernel_mira,
    "pa": partial(reference.kernel_passive_aggressive, variant="PA"),
    "pa1": partial(reference.kernel_passive_aggressive, variant="PA-I"),
    "pa2": partial(reference.kernel_passive_aggressive, variant="PA-II"),
    "romma": reference.kernel_romma,
    "rbp": reference.random_budget_perceptron,
    "oldest": reference.oldest_budget_perceptron,
    "forgetron": reference.forgetron,
    "projectron": reference.projectron,
}


def kernel_learner(case):
    params = dict(case.params)
    learner, kernel = KERNEL_LEARNERS[params.pop("learner")], make_kernel(params.pop("kernel"))
    if "delta" in params:
        params["aggressive"] = True
    return learner(case.X, case.y, case.order, kernel=kernel, **params)


RUN = {
    "alma": alma,
    "arow": binary(reference.arow),
    "balanced_winnow": binary(reference.balanced_winnow),
    "batch_perceptron": to_a_clean_pass(reference.perceptron),
    "budget_kernel": kernel_learner,
    "elimination": binary(reference.elimination),
    "kernel_learners": kernel_learner,
    "margin_perceptron": to_a_clean_pass(reference.margin_perceptron),
    "mira": binary(reference.mira),
    "multiclass_pa": multiclass_pa,
    "multiclass_perceptron": multiclass(reference.multiclass_perceptron),
    "pa": binary(reference.passive_aggressive),
    "perceptron": binary(reference.perceptron),
    "perceptron_risk": risk,
    "pnorm": binary(reference.pnorm),
    "romma": binary(reference.romma),
    "scw": binary(reference.scw),
    "second_order": binary(reference.second_order_perceptron),
    "structured_perceptron": tagger,
    "variable_rate": variable_rate,
    "voted_averaged": binary(reference.voted_perceptron),
    "winnow": binary(reference.winnow),
}

# ----------------------------------------------------------- what a file may expect, and its answer


def radius(case, run):
    return np.linalg.norm(run.rows(case.X), axis=1).max()


def margin_lower(case, run):
    return (case.y * run.scores(case.X)).min() / np.linalg.norm(run.w)


def update_bound(case, run):
    """2 R^2 / (eps gamma)^2 - 2 / eps, the initialisation not counted."""
    eps, gamma = case.params["eps"], case.params["gamma"]
    return 2.0 * radius(case, run) ** 2 / (eps * gamma) ** 2 - 2.0 / eps


def random_readout(case, run):
    return [reference.random_scores(run, case.X_test, r) for r in case.expected["random_steps"]]


def hidden_disjunction(case, run):
    """The inputs given, if the labels are their disjunction (up to some noise); else none."""
    relevant = case.expected["relevant"]
    agree = case.X[:, relevant].any(axis=1) == (case.y > 0)
    return relevant if agree.mean() > 0.75 else []


def vote(case, run, **options):
    return reference.vote_scores(run, case.X_test, **options)


def mean(case, run):
    return reference.average_scores(run, case.X_test)


EXACT = {
    "update_indices": lambda case, run: run.updates,
    "updates_per_epoch": lambda case, run: [len(rows) for rows in run.updates],
    "errors_per_epoch": lambda case, run: run.errors,
    "epochs_run": lambda case, run: len(run.updates),
    "converged": lambda case, run: run.converged,
    "test_predictions": lambda case, run: run.predict(case.X_test).tolist(),
    "test_vote_predictions": lambda case, run: reference.decide(vote(case, run)).tolist(),
    "test_average_predictions": lambda case, run: reference.decide(mean(case, run)).tolist(),
    "random_steps": lambda case, run: [r for r in case.expected["random_steps"] if 1 <= r <= run.t],
    "counts": lambda case, run: run.counts,
    "stalled": lambda case, run: run.stalled,
    "infeasible_seen": lambda case, run: bool(run.infeasible),
    "promotions": lambda case, run: run.promotions,
    "demotions": lambda case, run: run.demotions,
    "halted": lambda case, run: run.halted,
    "steps": lambda case, run: len(run.steps),
    "misclassified_per_step": lambda case, run: run.updates,
    "test_tags": lambda case, run: run.tag(case.raw["test_sequences"]),
    "relevant": hidden_disjunction,
    "n_support": lambda case, run: run.n_support,
    "support": lambda case, run: run.support,
    "evicted": lambda case, run: run.evicted,
    "projected": lambda case, run: run.projected,
}

REAL = {
    "w": lambda case, run: run.w,
    "W": lambda case, run: run.w,
    "z": lambda case, run: run.z,
    "theta": lambda case, run: run.theta,
    "v": lambda case, run: run.v,
    "A": lambda case, run: run.A,
    "sigma": lambda case, run: run.sigma,
    "norm": lambda case, run: np.linalg.norm(run.w),
    "sum_squared_loss": lambda case, run: run.sum_squared_loss,
    "test_scores": lambda case, run: run.scores(case.X_test),
    "radius": radius,
    "margin_lower": margin_lower,
    "margin_upper": lambda case, run: np.linalg.norm(run.w) / sum(run.steps),
    "update_bound": update_bound,
    "vectors": lambda case, run: run.vectors,
    "average": lambda case, run: reference.average(run),
    "lazy_u": lambda case, run: run.lazy,
    "test_vote": vote,
    "test_vote_with_initial": lambda case, run: vote(case, run, include_initial=True),
    "test_average": mean,
    "test_random": random_readout,
    "risk_per_step": lambda case, run: run.risks,
    "final_risk": lambda case, run: run.risks[-1],
    "emission": lambda case, run: run.split(run.w)[0],
    "transition": lambda case, run: run.split(run.w)[1],
    "emission_average": lambda case, run: run.split(reference.lazy_average(run))[0],
    "transition_average": lambda case, run: run.split(reference.lazy_average(run))[1],
    "dual": lambda case, run: run.w,
    "average_dual": lambda case, run: reference.lazy_average(run),
    "norm_squared": lambda case, run: run.norm_squared,
    "coefficients": lambda case, run: run.coefficients,
    "phi": lambda case, run: run.phi,
}


def answer(case: Case, run: reference.Run, key: str) -> Any:
    if case.file == "perceptron_risk" and key == "update_indices":  # no epochs, hence one list
        return list(chain.from_iterable(run.updates))
    return (EXACT | REAL)[key](case, run)


CASES = [case for file in files() if file in RUN for case in load(file)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reference_reproduces(case):
    unknown = case.expected.keys() - EXACT.keys() - REAL.keys()
    assert not unknown, f"{case} expects {sorted(unknown)}, which this test does not check"
    run = RUN[case.file](case)
    for key, expected in case.expected.items():
        got = answer(case, run, key)
        assert got == expected if key in EXACT else close(got, expected), (
            f"{case}, {key}: {got} is not {expected}"
        )


KERNELS = load("kernels") if "kernels" in files() else []


@pytest.mark.parametrize("case", [case for case in KERNELS if "kernel" in case.params], ids=str)
def test_kernel_matrix(case):
    assert case.raw.keys() == {"name", "params", "A", "B", "expected"}
    assert close(reference.gram(make_kernel(case.params), case.raw["A"], case.raw["B"]), case.expected)


@pytest.mark.parametrize("case", [case for case in KERNELS if "kernel" not in case.params], ids=str)
def test_positive_semidefinite(case):
    assert case.raw.keys() == {"name", "params", "expected"}
    assert case.params.keys() == {"check", "matrix"}
    assert case.params["check"] == "psd"
    assert case.expected.keys() == {"psd", "min_eigenvalue"}
    G = np.array(case.params["matrix"])
    verdict = reference.is_psd(G)
    assert verdict.psd is case.expected["psd"]
    assert close(verdict.min_eigenvalue, case.expected["min_eigenvalue"])
    assert close(verdict.combination @ G @ verdict.combination, verdict.min_eigenvalue)
    assert close(np.linalg.norm(verdict.combination), 1.0)


# ------------------------------------------------------------------------------ parameter mixing

MIXED = load("ipm") if "ipm" in files() else []


@pytest.mark.parametrize("case", MIXED, ids=str)
def test_parameter_mixing(case):
    assert case.params.keys() == {"shards", "epochs", "mix"}
    run = reference.parameter_mixing(case.X, case.y, **case.params)
    found = {
        "updates_per_epoch_per_shard": run.updates,
        "mu": run.mu,
        "w_per_epoch": run.w_per_epoch,
        "w": run.w,
        "weighted_mistakes": run.weighted_updates,
        "test_scores": np.asarray(case.X_test) @ run.w,
    }
    assert found.keys() == case.expected.keys()
    assert found.pop("updates_per_epoch_per_shard") == case.expected["updates_per_epoch_per_shard"]
    for name, value in found.items():
        assert close(value, case.expected[name]), name


# ---------------------------------------------------------------------------- nothing is overlooked

NOT_ON_THE_BLACKBOARD = {"bounds", "hard_margin", "preprocessing"}
"""Files whose answer is a number, an optimum or a table, not a run; each has a test of its own."""

KNOWN = RUN.keys() | {"kernels"}


@pytest.mark.parametrize("file", files())
def test_every_file_is_known(file):
    assert file in KNOWN | {"ipm"} | NOT_ON_THE_BLACKBOARD, f"{file}.json is not run"


def test_no_file_is_missing():
    known = KNOWN | {"ipm"} | NOT_ON_THE_BLACKBOARD
    assert set(files()) == known if Path(__file__).parent == GOLDEN else known.intersection(files())


@pytest.mark.parametrize("file", [file for file in files() if file in KNOWN])
def test_every_part_of_a_file_is_read(file):
    content = read(file)
    assert content["schema"] == "golden/1"
    projections = {"simplex_projection"} if file == "multiclass_pa" else set()
    assert content.keys() <= {"schema", "algorithm", "section", "datasets", "cases"} | projections
    data = {"dataset", "order"}
    if file == "structured_perceptron":
        data = {"sequences", "tags", "test_sequences"}
    if file == "kernel_learners":
        data |= {"strings", "block_sizes_to_try"}  # here blocks are of one row
    if file == "kernels":
        data = {"A", "B"}
    parts = set(chain.from_iterable(content["cases"]))
    assert parts <= {"name", "params", "expected", "min_gap", "exact_ties"} | data


PROJECTIONS = [p for file in files() for p in read(file).get("simplex_projection", [])]


@pytest.mark.parametrize("given", PROJECTIONS, ids=lambda given: str(given["v"]))
def test_projection_on_the_simplex(given):
    assert given.keys() == {"v", "radius", "projection"}
    assert close(reference.project_on_simplex(given["v"], given["radius"]), given["projection"])


# -------------------------------------- what no trace covers, held against what it must be equal to


def sample(seed, m=40, n=4, n_classes=2, noise=0.0):
    """Random examples labelled by random prototypes, and four shuffled epochs."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-64, 65, size=(m, n)) / 64
    y = (X @ rng.normal(size=(n, n_classes))).argmax(axis=1)
    y = np.where(rng.random(m) < noise, rng.integers(n_classes, size=m), y)
    return X, y, [rng.permutation(m).tolist() for _ in range(4)]


SEEDS = pytest.mark.parametrize("seed", range(5))


@SEEDS
@pytest.mark.parametrize(
    ("two", "many", "params"),
    [
        (reference.romma, reference.multiclass_romma, {}),
        (reference.romma, reference.multiclass_romma, {"aggressive": True, "delta": 0.3}),
        (reference.mira, reference.multiclass_mira, {"p": 0.2}),
        (reference.passive_aggressive, reference.multiclass_passive_aggressive, {"variant": "PA"}),
    ],
)
def test_two_classes_are_the_binary_learner(seed, two, many, params):
    X, y, order = sample(seed, noise=0.1)
    binary_run, run = two(X, 2 * y - 1, order, **params), many(X, y, order, **params)
    assert run.updates == binary_run.updates
    assert run.errors == binary_run.errors
    assert run.mistakes == binary_run.mistakes
    assert close(run.w[1] - run.w[0], binary_run.w)


@SEEDS
@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
@pytest.mark.parametrize("solver", ["top", "exact"])
def test_two_class_pa_is_the_binary_one_with_twice_the_c(seed, variant, solver):
    X, y, order = sample(seed, noise=0.1)
    binary_run = reference.passive_aggressive(X, 2 * y - 1, order, variant=variant, C=0.5)
    run = reference.multiclass_passive_aggressive(X, y, order, variant=variant, C=0.25, solver=solver)
    assert run.updates == binary_run.updates
    assert close(run.w[1] - run.w[0], binary_run.w)


@SEEDS
def test_two_class_margin_perceptron_is_the_binary_one_at_a_margin_root_two_larger(seed):
    X, y, order = sample(seed, noise=0.1)
    binary_run = reference.margin_perceptron(X, 2 * y - 1, order, gamma=0.5)
    run = reference.multiclass_margin_perceptron(X, y, order, gamma=0.5 * np.sqrt(2.0))
    assert run.updates == binary_run.updates
    assert close(run.w[1] - run.w[0], 2.0 * binary_run.w)


@SEEDS
@pytest.mark.parametrize("aggressive", [False, True])
def test_multiclass_romma_reaches_margin_one_by_the_shortest_vector_allowed(seed, aggressive):
    X, y, order = sample(seed, n_classes=3)
    run = reference.multiclass_romma(X, y, order, aggressive=aggressive, delta=0.1)
    assert run.k > 3
    for (old, new), i in zip(pairwise(run.vectors), chain.from_iterable(run.updates), strict=True):
        s_old, s_new = old @ X[i], new @ X[i]
        rival = np.where(np.arange(3) == y[i], -np.inf, s_old).argmax()
        assert close(s_new[y[i]] - s_new[rival], 1.0)
        assert (new * old).sum() >= (old**2).sum() - 1e-9
        assert (new**2).sum() >= (old**2).sum()


@SEEDS
def test_lazy_average_is_the_average(seed):
    X, y, order = sample(seed, n_classes=3, noise=0.1)
    for run in (
        reference.multiclass_perceptron(X, y, order),
        reference.romma(X, np.where(y == 0, -1, 1), order),
        reference.arow(X, np.where(y == 0, -1, 1), order),
    ):
        assert sum(run.counts) == run.t == 4 * len(X)
        assert close(reference.lazy_average(run), reference.average(run))
        assert close(reference.random_scores(run, X, run.t), run.scores(X))
        assert close(reference.random_scores(run, X, 0), np.zeros_like(run.scores(X)))


def test_normalized_readouts_use_directions():
    run = reference.voted_perceptron([[3, 0], [0, 4], [0, -4]], [1, -1, -1])
    assert close(run.vectors, [[0, 0], [3, 0], [3, -4], [3, 0]])
    assert run.counts == [0, 1, 1, 1]
    x = [[1.0, 1.0]]
    assert close(reference.last_scores(run, x, normalized=True), [1.0])
    assert close(reference.random_scores(run, x, 2, normalized=True), [-0.2])
    assert close(reference.average_scores(run, x, normalized=True), [1.8 / 3])
    assert close(reference.average_scores(run, x, include_initial=True, normalized=True), [1.8 / 4])
    assert close(reference.vote_scores(run, x), [1])


@SEEDS
def test_a_multiclass_vote_of_two_classes_is_the_binary_vote(seed):
    X, y, order = sample(seed, noise=0.2)
    binary_run = reference.perceptron(X, 2 * y - 1, order)
    run = reference.multiclass_perceptron(X, y, order)
    for include_initial in (False, True):
        binary_votes = reference.vote_scores(binary_run, X, include_initial)
        votes = reference.vote_scores(run, X, include_initial)
        assert close(votes[:, 1] - votes[:, 0], binary_votes)
        assert close(votes.sum(axis=1), np.full(len(X), run.t + include_initial))


@pytest.mark.parametrize("learner", [reference.arow, reference.scw])
def test_a_diagonal_covariance_is_the_full_one_for_unit_vectors(learner):
    rng = np.random.default_rng(0)
    X, y = np.eye(5)[rng.integers(5, size=40)], rng.choice([-1, 1], size=40)
    full, diagonal = learner(X, y), learner(X, y, covariance="diagonal")
    assert diagonal.updates == full.updates
    assert close(diagonal.w, full.w)
    assert close(np.diag(diagonal.sigma), full.sigma)


@SEEDS
@pytest.mark.parametrize("kind", [1, 2])
def test_an_scw_step_meets_its_optimality_condition(seed, kind):
    X, y, _ = sample(seed)
    x, label = X[0], 2 * y[0] - 1
    run = reference.scw([x], [label], eta=0.9, C=50.0, kind=kind)
    assert run.k == 1
    loss = NormalDist().inv_cdf(0.9) * np.sqrt(x @ run.sigma @ x) - label * (run.w @ x)
    assert close(loss, {1: 0.0, 2: run.steps[0] / (2 * 50.0)}[kind])


@SEEDS
@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
def test_mini_batches_of_all_rows_are_the_full_batch(seed, loss):
    X, y, _ = sample(seed)
    y = 2 * y - 1
    full = reference.risk_descent(X, y, loss=loss, max_steps=300)
    mini = reference.risk_descent(X, y, loss=loss, max_steps=300, batch_size=len(X))
    assert mini.updates == full.updates
    assert mini.halted == full.halted
    assert close(mini.w, full.w)
    assert close(mini.risks, full.risks)


@SEEDS
def test_mini_batches_of_one_row_are_the_perceptron(seed):
    X, y, order = sample(seed)
    y, order = 2 * y - 1, order * 20
    mini = reference.risk_descent(X, y, order, batch_size=1)
    online = reference.perceptron(X, y, order, w0=y[0] * X[0], until_clean=True)
    assert list(chain.from_iterable(mini.updates)) == list(chain.from_iterable(online.updates))
    assert close(mini.w, online.w)
    assert mini.halted
    assert online.converged


@SEEDS
@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
def test_line_search_is_the_smallest_best_step_on_the_ray(seed, loss):
    X, y, _ = sample(seed, noise=0.2)
    y, corner = 2 * y - 1, {"perceptron": 0.0, "hinge": 1.0}[loss]

    def risk_at(w):
        return np.maximum(0.0, corner - y * (X @ w)).sum()

    run = reference.risk_descent(X, y, step="line-search", loss=loss, max_steps=50)
    assert run.stalled or run.halted or run.t == 50
    assert all(later < earlier for earlier, later in pairwise(run.risks))
    shortest = 0.5 * np.linalg.norm(X[0])
    for (w, new), V, eps in zip(pairwise(run.vectors), run.updates, run.steps, strict=True):
        g = (y[V, None] * X[V]).sum(axis=0)
        assert np.linalg.norm(new) >= shortest
        if np.linalg.norm(w + 2.0 * eps * g) >= shortest:  # the step was not halved
            assert risk_at(new) <= min(risk_at(w + f * eps * g) for f in np.linspace(0, 3, 301)) + 1e-9
            assert eps < 1e-9 or risk_at(new) < risk_at(w + 0.99 * eps * g)


def test_line_search_on_paper():
    # slopes -3 until 1, -1 until 2, then 0: everything beyond 2 is as good, 2 is the smallest
    assert reference.line_search(np.array([-2.0, -2.0, 5.0]), np.array([2.0, 1.0, 0.0])) == 2.0
    # the second example stops being right at 1 and costs more than the first gains
    assert reference.line_search(np.array([-4.0, 2.0]), np.array([1.0, -2.0])) == 1.0
    # an example on the boundary turns wrong at once: no step helps
    assert reference.line_search(np.array([-4.0, 0.0]), np.array([1.0, -2.0])) == 0.0


@SEEDS
def test_best_tags_are_the_first_best_of_all_sequences(seed):
    rng = np.random.default_rng(seed)
    run = TaggerRun(w=rng.integers(-2, 3, size=3 * (4 + 3)), n_tags=3, n_symbols=4)
    for length in range(1, 6):
        sentence = rng.integers(4, size=length).tolist()
        everything = product(range(3), repeat=length)  # in lexicographic order: max takes the first
        best = max(everything, key=lambda z, x=sentence: run.w @ run.features(x, z))
        assert run.tag([sentence]) == [list(best)]


# ------------------------------------------------------------- kernels, against what they stand for


@SEEDS
@pytest.mark.parametrize("params", [(1, 0.0, 1.0), (2, 1.0, 1.0), (3, 0.5, 2.0), (4, 0.25, 0.5)], ids=str)
def test_monomials_are_the_features_of_the_polynomial_kernel(seed, params):
    X, _, _ = sample(seed, m=6, n=3)
    features = np.array([reference.monomials(x, *params) for x in X])
    assert close(features @ features.T, reference.gram(reference.polynomial_kernel(*params), X))


@SEEDS
def test_products_are_the_features_of_the_all_subsets_kernel(seed):
    X, _, _ = sample(seed, m=6, n=4)
    features = np.array([reference.subset_products(x) for x in X])
    assert features.shape == (6, 2**4)
    assert close(features @ features.T, reference.gram(reference.all_subsets_kernel, X))


@pytest.mark.parametrize("mode", ["multiset", "set", "min"])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_spectrum_counts_are_features(mode, p):
    strings = ["abracadabra", "abra", "ab", "", "cadabrac", "aaaa"]
    feature = {
        "multiset": lambda n, u, k: n[u] * (k == 1),
        "set": lambda n, u, k: (n[u] > 0) * (k == 1),
        "min": lambda n, u, k: n[u] >= k,  # min(n, m) counts the k with n >= k and m >= k
    }[mode]
    counts = [reference.substring_counts(s, p) for s in strings]
    features = [
        [float(feature(n, u, k)) for u in sorted(set().union(*counts)) for k in range(1, 12)] for n in counts
    ]
    G = reference.gram(reference.spectrum_kernel(p, mode), strings)
    assert close(np.array(features) @ np.transpose(features), G)
    assert reference.is_psd(G).psd
    as_bytes = [s.encode() for s in strings]
    assert close(reference.gram(reference.spectrum_kernel(p, mode), as_bytes), G)


def test_an_asymmetric_matrix_is_no_kernel():
    verdict = reference.is_psd([[2.0, 1.0], [0.0, 2.0]])
    assert not verdict.psd
    assert close(verdict.min_eigenvalue, 1.5)
    assert reference.is_psd(np.eye(2) * 1e-12 - np.ones((2, 2)) * 1e-11).psd  # within rounding


DUALS = [
    (reference.perceptron, reference.kernel_perceptron, {}),
    (reference.perceptron, reference.kernel_perceptron, {"rule": "prediction"}),
    (reference.margin_perceptron, reference.kernel_margin_perceptron, {"gamma": 0.5, "eps": 0.25}),
    (reference.mira, reference.kernel_mira, {"p": 0.25}),
    (reference.passive_aggressive, reference.kernel_passive_aggressive, {"variant": "PA", "C": None}),
    (reference.passive_aggressive, reference.kernel_passive_aggressive, {"variant": "PA-I", "C": 0.5}),
    (reference.passive_aggressive, reference.kernel_passive_aggressive, {"variant": "PA-II", "C": 0.5}),
    (reference.romma, reference.kernel_romma, {}),
    (reference.romma, reference.kernel_romma, {"aggressive": True, "delta": 0.25}),
]


@SEEDS
@pytest.mark.parametrize(("primal", "dual", "params"), DUALS)
def test_a_linear_kernel_is_the_learner_itself(seed, primal, dual, params):
    """The constant 0.25 is that of a constant coordinate 0.5."""
    X, y, order = sample(seed, noise=0.1)
    y = 2 * y - 1
    kernel = reference.sum_kernel(reference.linear_kernel, reference.constant_kernel(0.25))
    run = primal(X, y, order, bias=0.5, **params)
    other = dual(X, y, order, kernel=kernel, **params)
    assert other.updates == run.updates
    assert other.errors == run.errors
    assert other.mistakes == run.mistakes
    assert close(run.rows(X).T @ other.w, run.w)
    assert close(other.norm_squared, run.w @ run.w)
    for readout in (reference.average_scores, reference.vote_scores, reference.last_scores):
        assert close(readout(other, X), readout(run, X))
    assert close(
        reference.average_scores(other, X, normalized=True), reference.average_scores(run, X, normalized=True)
    )
    assert close(reference.lazy_average(other), reference.average(other))


@SEEDS
@pytest.mark.parametrize(("primal", "dual", "params"), DUALS)
def test_a_polynomial_kernel_is_the_learner_on_monomials(seed, primal, dual, params):
    X, y, order = sample(seed, m=20, n=3, noise=0.1)
    y = 2 * y - 1
    run = primal([reference.monomials(x) for x in X], y, order, **params)
    other = dual(X, y, order, kernel=reference.polynomial_kernel(), **params)
    assert other.updates == run.updates
    assert close(other.scores(X), run.scores([reference.monomials(x) for x in X]), 1e-7)


@SEEDS
@pytest.mark.parametrize("learner", [reference.oldest_budget_perceptron, reference.forgetron])
def test_a_budget_that_is_never_reached_changes_nothing(seed, learner):
    X, y, order = sample(seed, noise=0.1)
    kernel = reference.gaussian_kernel(1.0)
    run = reference.kernel_perceptron(X, 2 * y - 1, order, kernel=kernel)
    other = learner(X, 2 * y - 1, order, kernel=kernel, budget=run.k)
    assert other.updates == run.updates
    assert close(other.w, run.w)


@SEEDS
def test_the_cost_of_forgetting_is_paid_by_mistakes(seed):
    X, y, order = sample(seed, noise=0.3)
    run = reference.forgetron(X, 2 * y - 1, order, kernel=reference.gaussian_kernel(1.0), budget=5)
    assert len(run.evicted) > 10
    assert min(run.phi) < 1.0
    assert 15.0 / 32.0 * run.k + 1e-12 >= run.Q


@SEEDS
def test_a_projectron_of_distance_zero_is_the_perceptron_on_few_rows(seed):
    X, y, order = sample(seed, noise=0.2)
    run = reference.kernel_perceptron(X, 2 * y - 1, order, kernel=reference.linear_kernel)
    other = reference.projectron(X, 2 * y - 1, order, kernel=reference.linear_kernel, eta=0.0)
    assert other.updates == run.updates
    assert len(other.support) <= np.linalg.matrix_rank(X) < run.n_support
    assert close(other.scores(X), run.scores(X), 1e-7)


def test_a_full_projectron_projects_everything():
    X, y, order = sample(0, noise=0.2)
    run = reference.projectron(X, 2 * y - 1, order, kernel=reference.gaussian_kernel(1.0), eta=0.1, budget=4)
    assert len(run.support) == 4
    assert run.projected == run.k - 4 > 0
