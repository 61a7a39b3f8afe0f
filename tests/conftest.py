"""Hypothesis draws the same examples every time, so that a failure can be repeated and a pass is not luck.

``make test`` draws few; ``make test-exhaustive`` draws more for theorems and properties.
`pytest --hypothesis-profile=search` draws new ones, and many.
"""

import gc

import pytest
from exhaustive import draws_many, is_exhaustive
from hypothesis import is_hypothesis_test, settings
from places import TESTS
from uncompiled import uncompiled

# no deadline: the first call of a learner may compile it
settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=12)
settings.register_profile("exhaustive", settings.get_profile("steady"), max_examples=25)
settings.register_profile("search", deadline=None, max_examples=400, print_blob=True)
settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Tests that are marked so run loops as plain Python, with all their fixtures."""
    plain = item.get_closest_marker("uncompiled") and not item.get_closest_marker("compiled")
    with uncompiled(bool(plain)):
        return (yield)


def pytest_collection_finish():
    """Garbage is looked for among what tests make, and not among all modules and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_ignore_collect(collection_path, config):
    """Do not import a module that ``make test`` leaves out as a whole."""
    if config.option.markexpr == "not exhaustive" and collection_path.is_relative_to(TESTS):
        return is_exhaustive(collection_path.relative_to(TESTS).as_posix()) or None
    return None


def pytest_collection_modifyitems(items):
    """Mark what ``make test`` leaves out: see exhaustive.py. With more draws, mark what draws, too."""
    for item in items:
        draws = is_hypothesis_test(getattr(item, "obj", None)) or item.get_closest_marker("draws")
        if draws and draws_many():
            item.add_marker("exhaustive")
        if item.path.is_relative_to(TESTS):
            path, function = item.path.relative_to(TESTS).as_posix(), getattr(item, "originalname", item.name)
            if is_exhaustive(path, function):
                item.add_marker("exhaustive")
