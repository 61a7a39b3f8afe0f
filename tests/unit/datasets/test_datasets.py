"""The toy sets keep the promises of their docstrings."""

import numpy as np
import pytest
from comparing import augmented
from scipy.optimize import linprog, nnls

from perceptrons import datasets

FIXED = [
    datasets.four_points,
    datasets.three_points,
    datasets.slab_points,
    datasets.spam_words,
    datasets.xor,
]
DRAWN = [
    datasets.clouds_near,
    datasets.clouds_far,
    datasets.overlapping_clouds,
    datasets.rings,
    datasets.three_classes,
]
SEEDS = range(50)


def separator(X, y):
    """Some (w, b) with y(w·x + b) >= 1 on every row, or None when there is none."""
    Z = y[:, None] * augmented(X)
    answer = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(y)), bounds=(None, None))
    assert answer.status in (0, 2)  # solved, or proved infeasible
    return answer.x


def best_margin(Z):
    """The distance of the origin from the convex hull of the rows y·x."""
    system = np.vstack([Z.T, np.ones(len(Z))])
    weights, _ = nnls(system, np.eye(len(system))[-1])
    return np.linalg.norm(Z.T @ (weights / weights.sum()))


def epochs(X, y, p=None, seed=None, limit=10_000):
    """Epochs to a clean pass, which is counted, of the perceptron (p=None) or of MIRA(p)."""
    rng = None if seed is None else np.random.default_rng(seed)
    rows = [tuple(z) for z in (y[:, None] * augmented(X)).tolist()]  # z = y (x, 1)
    w = (0.0, 0.0, 0.0)
    for epoch in range(1, limit + 1):
        clean = True
        for i in range(len(rows)) if rng is None else rng.permutation(len(rows)):
            z = rows[i]
            m = w[0] * z[0] + w[1] * z[1] + w[2] * z[2]
            if m <= (p or 0.0):
                tau = 1.0 if p is None else (1.0 - m) / (z[0] ** 2 + z[1] ** 2 + z[2] ** 2)
                w = (w[0] + tau * z[0], w[1] + tau * z[1], w[2] + tau * z[2])
                clean = False
        if clean:
            return epoch
    raise AssertionError(f"no clean pass in {limit} epochs")


@pytest.mark.parametrize("make", FIXED + DRAWN)
def test_every_set_is_well_formed(make):
    toy = make()
    assert toy.X.dtype == np.float64 and toy.y.dtype == np.int64
    assert toy.X.shape == (len(toy.y), len(toy.feature_names))
    assert len(np.unique(toy.y)) == len(toy.target_names)
    assert toy.DESCR in repr(toy)
    assert ((toy.X * 64) % 1 == 0).all()


def test_nothing_public_is_left_out():
    assert {make.__name__ for make in FIXED + DRAWN} == set(datasets.toy.__all__) - {"Toy"}
    assert set(datasets.toy.__all__) < set(datasets.__all__)


@pytest.mark.parametrize("make", DRAWN)
def test_drawn_sets_depend_on_the_seed_alone(make):
    first, again, other = make(random_state=3), make(random_state=3), make(random_state=4)
    assert np.array_equal(first.X, again.X) and not np.array_equal(first.X, other.X)
    assert np.array_equal(make().X, make(random_state=0).X)
    generator = np.random.default_rng(3)
    assert np.array_equal(make(random_state=generator).X, first.X)
    assert not np.array_equal(make(random_state=generator).X, first.X)


@pytest.mark.parametrize("make", DRAWN)
def test_classes_are_balanced_and_take_turns(make):
    k = len(make().target_names)
    y = make(n_samples=7 * k).y
    assert (y == np.tile(y[:k], 7)).all() and len(set(y[:k])) == k
    with pytest.raises(ValueError, match=rf"n_samples must be at least {k}.*got n_samples={k - 1}\."):
        make(n_samples=k - 1)


def test_four_points_is_the_worked_example():
    X, y, *_ = datasets.four_points()
    assert X.tolist() == [[1, 2], [2, 1], [-1, -1], [-1, 1]] and y.tolist() == [1, 1, -1, -1]
    w, updates = np.zeros(2), []
    for _ in range(2):
        for i in range(4):
            if y[i] * (w @ X[i]) <= 0:
                w += y[i] * X[i]
                updates.append(i)
    assert w.tolist() == [2, 1] and updates == [0, 3]


def test_slab_points_margins():
    X, y, *_ = datasets.slab_points()
    assert (y * (X @ [1, 4] - 1)).tolist() == [17, 17, 17]  # (w, b) = (1, 4, -1)/17
    assert (X[0] - X[1]).tolist() == [2, 8]  # parallel to w, so that no shorter w has these margins


def test_three_points_margins():
    X, y, *_ = datasets.three_points()
    assert sorted(y) == [-1, -1, 1]
    assert np.isclose(best_margin(y[:, None] * X), 1 / np.sqrt(2))
    # with an intercept: half the distance from the point to the segment between the two
    assert np.isclose(best_margin(X[0] - X[1:]) / 2, 3 / (2 * np.sqrt(2)))


def test_spam_words_is_the_table():
    toy = datasets.spam_words()
    assert toy.feature_names == ["viagra", "learning", "the", "dating", "nigeria"]
    assert ["".join(str(int(v)) for v in row) for row in toy.X] == ["10100", "01100", "00001"]
    assert toy.y.tolist() == [-1, 1, -1] and toy.target_names[0] == "spam"


@pytest.mark.parametrize("make", [datasets.xor, datasets.overlapping_clouds, datasets.rings])
def test_no_line_separates(make):
    toy = make()
    assert separator(toy.X, toy.y) is None


def test_xor_is_a_product():
    X, y, *_ = datasets.xor()
    assert (y == -X[:, 0] * X[:, 1]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_separators_hold_for_every_seed(seed):
    X, y, *_ = datasets.clouds_near(random_state=seed)
    assert (y * X.sum(axis=1) > 0).all()
    X, y, *_ = datasets.rings(random_state=seed)
    assert (y * (1.5**2 - (X**2).sum(axis=1)) > 0).all()
    X, y, *_ = datasets.three_classes(random_state=seed)
    turns = np.array([3, 7, 11]) / 12 * 2 * np.pi
    assert ((X @ np.array([np.cos(turns), np.sin(turns)])).argmax(axis=1) == y).all()


def test_far_clouds_are_the_near_ones_moved():
    near, far = datasets.clouds_near(), datasets.clouds_far()
    assert np.array_equal(far.X - near.X, np.tile(datasets.FAR, (len(near.X), 1)))
    assert np.array_equal(far.y, near.y)


@pytest.mark.parametrize(
    ("make", "radius", "margin", "bound"),
    [(datasets.clouds_near, 3.4, 1.10, 9.7), (datasets.clouds_far, 27.8, 0.36, 5834)],
)
def test_geometry_of_the_clouds(make, radius, margin, bound):
    X, y, *_ = make()
    R, gamma = np.linalg.norm(augmented(X), axis=1).max(), best_margin(y[:, None] * augmented(X))
    assert (round(R, 1), round(gamma, 2)) == (radius, margin)
    assert np.isclose((R / gamma) ** 2, bound, rtol=0.01)
    assert separator(X, y) is not None


@pytest.mark.parametrize("seed", [None, *range(20)])
def test_near_clouds_are_easy_for_all(seed):
    X, y, *_ = datasets.clouds_near()
    assert max(epochs(X, y, p, seed) for p in (None, 0.2, 0.9)) <= 5


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_far_clouds_are_a_hundred_times_harder_for_eager_mira(seed):
    X, y, *_ = datasets.clouds_far()
    perceptron, timid, eager = (epochs(X, y, p, seed) for p in (None, 0.2, 0.9))
    assert perceptron < timid < eager
    assert eager >= 100 * perceptron
    if seed is None:
        assert (perceptron, timid, eager) == (6, 107, 2610)  # the docstring's column


def test_centring_brings_the_far_clouds_back():
    X, y, *_ = datasets.clouds_far()
    assert max(epochs(X - X.mean(axis=0), y, p) for p in (None, 0.2, 0.9)) <= 5
