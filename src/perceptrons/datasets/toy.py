r"""The toy sets of the lectures, which every picture and example of the library uses.

Small enough to check by hand or to see at a glance, and the same on every machine: the drawn sets
have a fixed default seed, and all coordinates are multiples of 1/64, so that sums are exact.

============================  ====  =======================================================
set                           rows  what it shows
============================  ====  =======================================================
`four_points`                    4  the perceptron by hand: two updates
`three_points`                   3  one point against two, maximum margin by hand
`slab_points`                    3  a maximum margin with an offset: w = (1, 4)/17
`spam_words`                     3  text as rows of words
`xor`                            4  no line separates it, a product of features does
`clouds_near`, `clouds_far`     40  what a distance from the origin costs
`overlapping_clouds`            80  no line separates it
`rings`                         80  no line separates it, a circle does
`three_classes`                 60  one prototype per class
============================  ====  =======================================================

>>> X, y, *_ = xor()
>>> (X[:, 0] * X[:, 1] == -y).all()  # XOR is a product
np.True_
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Toy",
    "four_points",
    "three_points",
    "slab_points",
    "spam_words",
    "xor",
    "clouds_near",
    "clouds_far",
    "overlapping_clouds",
    "rings",
    "three_classes",
]

FAR = (0.0, 25.0)  #: what `clouds_far` adds to every row of `clouds_near`


class Toy(NamedTuple):
    """A small data set; unpacks as ``X, y, *_ = four_points()``."""

    X: NDArray[np.float64]  #: one row per example
    y: NDArray[np.int64]  #: labels: -1 and +1, or 0, 1, 2 for three classes
    feature_names: list[str]  #: one per column
    target_names: list[str]  #: one per label, in increasing order of the labels
    DESCR: str  #: one sentence

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        return f"<Toy {rows} x {columns}, {' / '.join(self.target_names)}: {self.DESCR}>"


def four_points() -> Toy:
    """Four points in the plane, two of each class, for the perceptron by hand.

    From w = 0, in this order and without intercept: a tie at the first row gives w = (1, 2), the
    last row corrects it to (2, 1), and the second pass is clean.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = four_points()
    >>> X, y
    (array([[ 1.,  2.], [ 2.,  1.], [-1., -1.], [-1.,  1.]]), array([ 1,  1, -1, -1]))
    >>> y * (X @ [1, 2]), y * (X @ [2, 1])  # margins after the first update, after the second
    (array([ 5.,  4.,  3., -1.]), array([4., 5., 3., 1.]))
    """
    X = [[1, 2], [2, 1], [-1, -1], [-1, 1]]
    return _binary(X, [1, 1, -1, -1], "Two points against two, separable without intercept.")


def three_points() -> Toy:
    r"""One point against two, a maximum margin to be found with a ruler.

    Among the lines through the origin the best is :math:`x_1 + x_2 = 0`, with margin
    :math:`1/\sqrt 2`; with an intercept it moves to :math:`x_1 + x_2 = 1/2`, half way between the
    point and the two, and the margin grows to :math:`3/(2\sqrt 2)`.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = three_points()
    >>> y * (X @ [1, 1])  # divide by the length of (1, 1)
    array([2., 1., 1.])
    >>> y * (X @ [1, 1] - 0.5)
    array([1.5, 1.5, 1.5])
    """
    X = [[1, 1], [-1, 0], [0, -1]]
    return _binary(X, [1, -1, -1], "One point against two, separable without intercept.")


def slab_points() -> Toy:
    r"""One point against two, whose widest slab has :math:`w = (1, 4)/17` and :math:`b = -1/17`.

    Each row is a constraint :math:`y(\langle w, x\rangle + b) \ge 1` on (w, b). The shortest w that meets all
    three is (1, 4)/17, so the margin is :math:`1/\|w\| = \sqrt{17}`. All rows are on the border of the slab,
    and the first two determine it: w is parallel to their difference (2, 8).

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = slab_points()
    >>> y * (X @ [1, 4] - 1)  # divided by 17 these are the functional margins
    array([17., 17., 17.])
    """
    X = [[2, 4], [0, -4], [4, -5]]
    return _binary(X, [1, -1, -1], "One point against two; the widest slab has w = (1, 4)/17, b = -1/17.")


def spam_words() -> Toy:
    """Three mails over five words; spam is -1.

    Returns
    -------
    Toy
        ``X[i, j]`` is 1 when word j occurs in mail i.

    Examples
    --------
    >>> mails = spam_words()
    >>> for row, label in zip(mails.X, mails.y):
    ...     words = [word for word, there in zip(mails.feature_names, row) if there]
    ...     print(mails.target_names[int(label > 0)], *words)
    spam viagra the
    ham learning the
    spam nigeria
    """
    return Toy(
        X=np.array([[1, 0, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1]], dtype=np.float64),
        y=np.array([-1, 1, -1], dtype=np.int64),
        feature_names=["viagra", "learning", "the", "dating", "nigeria"],
        target_names=["spam", "ham"],
        DESCR="Three mails over five words; spam is -1.",
    )


def xor() -> Toy:
    """Exclusive or of two signs: +1 when they differ.

    No line separates it, with or without an intercept: the positive rows and the negative rows have
    the same mean. The product of the two features does.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = xor()
    >>> X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
    (array([0., 0.]), array([0., 0.]))
    """
    X = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    return _binary(X, [-1, 1, 1, -1], "Exclusive or of two signs; not linearly separable.")


def clouds_near(n_samples: int = 40, random_state: int | np.random.Generator | None = 0) -> Toy:
    r"""Two separable clouds on either side of the origin.

    Discs of radius 1.25 around (1.5, 1.5) and (-1.5, -1.5); the line :math:`x_1 + x_2 = 0`
    separates them for every seed. Rows alternate, + first.

    Epochs to a clean pass, which is counted, from w = 0 with the constant coordinate 1, on the
    default rows:

    =============  ==============  ==================  =============  =================
    learner        here, in order  here, 500 shuffles  far, in order  far, 500 shuffles
    =============  ==============  ==================  =============  =================
    perceptron                  2                   2              6            2 to 10
    MIRA, p = 0.2               2                   2            107           18 to 64
    MIRA, p = 0.9               2                   2           2610       2877 to 2973
    =============  ==============  ==================  =============  =================

    *Far* is `clouds_far`; a shuffled run has a fresh order for every epoch (seeds 0 to 499). The
    perceptron needs the right signs only. MIRA with p = 0.9 needs a functional margin of 0.9
    everywhere, and where rows are long its steps, :math:`(1 - y\langle w, x\rangle)/\|x\|`, are
    short.

    Parameters
    ----------
    n_samples : int, default=40
        Number of rows, both classes together; the first class has one more when it is odd.
    random_state : int, numpy Generator or None, default=0
        Seed of the drawing; None draws afresh each time.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = clouds_near()
    >>> X.shape, y[:4], bool((y * X.sum(axis=1) > 0).all())
    ((40, 2), array([ 1, -1,  1, -1]), True)
    """
    y = _alternate(n_samples, [1, -1])
    X = _on_grid(1.5 * y[:, None] + _disc(n_samples, 1.25, random_state))
    return _binary(X, y, "Two separable clouds on either side of the origin.")


def clouds_far(n_samples: int = 40, random_state: int | np.random.Generator | None = 0) -> Toy:
    r"""The clouds of `clouds_near`, moved by (0, 25).

    Nothing changed between the classes, but with the constant coordinate 1 the radius grows from
    3.4 to 27.8 and the best margin in the augmented space shrinks from 1.10 to 0.36, so that the
    bound :math:`R^2/\gamma^2` on updates goes from 9.7 to 5834. MIRA with p = 0.9 needs more than a
    hundred times the epochs of the perceptron (table in `clouds_near`). Centring undoes it.

    Parameters
    ----------
    n_samples, random_state
        As in `clouds_near`.

    Returns
    -------
    Toy

    Examples
    --------
    >>> bool((clouds_far().X == clouds_near().X + [0, 25]).all())
    True
    """
    near = clouds_near(n_samples, random_state)
    return near._replace(X=near.X + FAR, DESCR="The clouds of clouds_near, moved by (0, 25).")


def overlapping_clouds(n_samples: int = 80, random_state: int | np.random.Generator | None = 0) -> Toy:
    """Two round clouds, normally distributed, that run into each other.

    Standard deviation 1.5 around (1, 1) and (-1, -1). No line separates the default rows; the best
    rule for the distribution, :math:`x_1 + x_2 > 0`, errs on 17 rows in 100.

    Parameters
    ----------
    n_samples : int, default=80
        Number of rows, both classes together; they alternate, + first.
    random_state : int, numpy Generator or None, default=0
        Seed of the drawing; None draws afresh each time.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = overlapping_clouds()
    >>> int((y * X.sum(axis=1) <= 0).sum())  # errors of the best rule on these 80 rows
    16
    """
    rng = np.random.default_rng(random_state)
    y = _alternate(n_samples, [1, -1])
    X = _on_grid(1.0 * y[:, None] + rng.normal(scale=1.5, size=(n_samples, 2)))
    return _binary(X, y, "Two normal clouds that overlap; not linearly separable.")


def rings(n_samples: int = 80, random_state: int | np.random.Generator | None = 0) -> Toy:
    """A ring around a ring.

    Positive rows lie at a distance of 0.5 to 1 from the origin, negative ones at 2 to 2.5, up to
    the grid of 1/64. The circle of radius 1.5 separates them, so a polynomial of degree 2 does.

    Parameters
    ----------
    n_samples : int, default=80
        Number of rows, both classes together; they alternate, + first.
    random_state : int, numpy Generator or None, default=0
        Seed of the drawing; None draws afresh each time.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = rings()
    >>> bool((y * (1.5**2 - (X**2).sum(axis=1)) > 0).all())
    True
    """
    rng = np.random.default_rng(random_state)
    y = _alternate(n_samples, [1, -1])
    radius = np.where(y > 0, 0.5, 2.0) + 0.5 * rng.random(n_samples)
    X = _on_grid(_polar(radius, rng.random(n_samples)))
    return _binary(X, y, "A ring around a ring; a circle separates them, no line does.")


def three_classes(n_samples: int = 60, random_state: int | np.random.Generator | None = 0) -> Toy:
    """Three separable clouds around the origin, labels 0, 1, 2.

    Discs of radius 1.25 around three points at a distance of 3, a third of a turn apart, the first
    one straight above. The three points are prototypes that classify every row, for every seed: the
    largest of the inner products has its label.

    Parameters
    ----------
    n_samples : int, default=60
        Number of rows, all classes together; labels run 0, 1, 2, 0, ...
    random_state : int, numpy Generator or None, default=0
        Seed of the drawing; None draws afresh each time.

    Returns
    -------
    Toy

    Examples
    --------
    >>> X, y, *_ = three_classes()
    >>> prototypes = np.array([[0, 2], [-1.75, -1], [1.75, -1]])
    >>> bool(((X @ prototypes.T).argmax(axis=1) == y).all())
    True
    """
    y = _alternate(n_samples, [0, 1, 2])
    centres = _polar(np.full(3, 3.0), np.array([3, 7, 11]) / 12)
    X = _on_grid(centres[y] + _disc(n_samples, 1.25, random_state))
    return Toy(X, y, ["x1", "x2"], ["top", "left", "right"], "Three separable clouds around the origin.")


def _binary(X: ArrayLike, y: ArrayLike, description: str) -> Toy:
    return Toy(
        X=np.asarray(X, dtype=np.float64),
        y=np.asarray(y, dtype=np.int64),
        feature_names=["x1", "x2"],
        target_names=["negative", "positive"],
        DESCR=description,
    )


def _alternate(n: int, labels: list[int]) -> NDArray[np.int64]:
    if n < len(labels):
        raise ValueError(f"n_samples must be at least {len(labels)}, one row per class; got n_samples={n}.")
    return np.resize(np.array(labels, dtype=np.int64), n)


def _polar(radius: NDArray[np.float64], turn: NDArray[np.float64]) -> NDArray[np.float64]:
    angle = 2.0 * np.pi * turn
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _disc(n: int, radius: float, random_state: int | np.random.Generator | None) -> NDArray[np.float64]:
    rng = np.random.default_rng(random_state)
    return _polar(radius * np.sqrt(rng.random(n)), rng.random(n))  # uniform on the disc


def _on_grid(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(X * 64.0) / 64.0
