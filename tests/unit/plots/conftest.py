"""Pictures are drawn without a screen, and every figure that a test leaves open is closed after it."""

from __future__ import annotations

import matplotlib
import pytest

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def figures_are_closed():
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know."""
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()
