"""Lines and half-planes in a rectangle."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons.plots._plane import Box, box_around, half_planes_in, line_in

BOX = Box(-1.0, 1.0, -2.0, 2.0)


def area(corners):
    x, y = corners.T
    return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))


def test_a_line_goes_from_border_to_border():
    assert line_in([1.0, 0.0], 0.5, BOX).tolist() == [[0.5, -2.0], [0.5, 2.0]]
    ends = line_in([1.0, 1.0], 0.0, BOX)
    assert sorted(ends.tolist()) == [[-1.0, 1.0], [1.0, -1.0]]
    assert line_in([1.0, 0.0], 1.5, BOX) is None
    assert line_in([1.0, 1.0], 9.0, BOX) is None
    assert line_in([0.0, 0.0], 0.0, BOX) is None


@pytest.mark.parametrize(
    ("A", "c", "expected"),
    [
        ([], [], 8.0),
        ([[1, 0]], [0], 4.0),
        ([[1, 0], [-1, 0]], [-0.25, -0.5], 3.0),
        ([[1, 1], [1, -1]], [0, 0], 1.0),
        ([[1, 0], [-1, 0]], [0.5, 0.5], 0.0),
        ([[0, 0]], [1], 0.0),
        ([[0, 0]], [-1], 8.0),
    ],
)
def test_half_planes_are_cut_out(A, c, expected):
    assert area(half_planes_in(np.reshape(A, (-1, 2)), c, BOX)) == pytest.approx(expected)


def test_a_box_has_room_around_its_points():
    assert box_around([[0.0, 0.0], [10.0, 20.0]], 0.1) == (-1.0, 11.0, -2.0, 22.0)
    assert box_around([[0.0, 0.0], [10.0, 20.0]], 0.0, square=True) == (-5.0, 15.0, 0.0, 20.0)
    assert box_around([[3.0, 4.0]], 0.0) == (2.0, 4.0, 3.0, 5.0)
