"""What every display does, as scikit-learn's do: artists are kept, and figures are made on request."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import DISPLAYS, display

from perceptrons import plots

pytestmark = pytest.mark.uncompiled


def shown(ax):
    """The title on one line."""
    return ax.get_title().replace("\n", " ").replace("\u00a0", " ")


def test_every_display_is_looked_at_here():
    assert sorted([*DISPLAYS, "lab"]) == sorted(plots.__all__) == dir(plots)


@pytest.mark.parametrize("name", sorted(DISPLAYS))
def test_axes_that_are_given_are_drawn_on(name, ax):
    made = display(name, ax=ax)
    assert type(made).__name__ == name
    assert made.ax_ is ax and made.figure_ is ax.figure
    assert shown(ax) == made.title != ""
    assert plt.get_fignums() == []
    made.figure_.canvas.draw()


@pytest.mark.parametrize("name", sorted(DISPLAYS))
def test_a_figure_is_made_and_a_display_is_drawn_again(name):
    made = display(name)
    assert len(plt.get_fignums()) == 1 and plt.gcf() is made.figure_
    first = made.ax_
    assert made.plot() is made
    assert len(plt.get_fignums()) == 2 and made.ax_ is not first
    assert tuple(made.figure_.get_size_inches()) == tuple(made.figure_size)
    assert made.ax_.get_title() == first.get_title()
    assert (made.ax_.get_xlabel(), made.ax_.get_ylabel()) == (first.get_xlabel(), first.get_ylabel())
    assert len(made.ax_.get_children()) == len(first.get_children())


@pytest.mark.parametrize("name", sorted(DISPLAYS))
def test_nothing_of_a_picture_is_cut_off(name):
    made = display(name)
    made.figure_.canvas.draw()
    tight = made.figure_.get_tightbbox()
    width, height = made.figure_.get_size_inches()
    assert tight.x0 >= -0.01 and tight.y0 >= -0.01 and tight.x1 <= width + 0.01 and tight.y1 <= height + 0.01


@pytest.mark.parametrize("name", sorted(DISPLAYS))
def test_without_matplotlib(name, monkeypatch):
    made = display(name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    told = rf"{name} needs matplotlib: pip install 'perceptrons\[plot\]'"
    with pytest.raises(ImportError, match=told):
        made.plot()
    with pytest.raises(ImportError, match=told):
        display(name)


def test_the_package_loads_no_matplotlib():
    code = (
        "import sys\nfrom perceptrons import plots\nfor name in plots.__all__: getattr(plots, name)\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"'perceptrons\.plots' has no attribute 'Halfspace'"):
        plots.Halfspace  # noqa: B018


def test_a_long_title_is_cut_into_lines(ax):
    long = display("MarginDistributionDisplay", ax=ax)
    assert "\n" not in ax.get_title()
    long.margins = {f"a model with a long name, {i}": np.ones(1) for i in range(4)}
    long.plot(ax)
    assert "\n" in ax.get_title() and shown(ax) == long.title
