"""Hypothesis draws the same examples every time, so that a failure can be repeated and a pass is not luck.

`pytest --hypothesis-profile=search` draws new ones, and more of them.
"""

import pytest
from exhaustive import is_exhaustive
from hypothesis import settings
from places import TESTS
from uncompiled import uncompiled

# no deadline: the first call of a learner may compile it
settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=25)
settings.register_profile("search", deadline=None, max_examples=400, print_blob=True)
settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Tests that are marked so run loops as plain Python, with all their fixtures."""
    plain = item.get_closest_marker("uncompiled") and not item.get_closest_marker("compiled")
    with uncompiled(bool(plain)):
        return (yield)


def pytest_collection_modifyitems(items):
    """Mark what ``make test`` leaves out: see exhaustive.py."""
    for item in items:
        if item.path.is_relative_to(TESTS):
            path, function = item.path.relative_to(TESTS).as_posix(), getattr(item, "originalname", item.name)
            if is_exhaustive(path, function):
                item.add_marker("exhaustive")
