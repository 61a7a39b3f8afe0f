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
    exhaustive = draws_many() or item.get_closest_marker("exhaustive")
    later = item.get_closest_marker("compiled_later") and not exhaustive
    plain = later or item.get_closest_marker("uncompiled")
    with uncompiled(bool(plain and not item.get_closest_marker("compiled"))):
        return (yield)


def pytest_collection_finish():
    """Garbage is looked for among what tests make, and not among all modules and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def left_out(config, path, function=""):
    """Whether this is ``make test``, and the module, or this function of it, is not one of its."""
    if config.option.markexpr != "not exhaustive" or not path.is_relative_to(TESTS):
        return False
    return is_exhaustive(path.relative_to(TESTS).as_posix(), function)


def pytest_ignore_collect(collection_path, config):
    """Do not import a module that ``make test`` leaves out as a whole."""
    return left_out(config, collection_path) or None


def pytest_pycollect_makeitem(collector, name):
    """Make no items of a function that ``make test`` leaves out: some have hundreds."""
    return [] if name.startswith("test_") and left_out(collector.config, collector.path, name) else None


def pytest_collection_modifyitems(items):
    """Mark what ``make test`` leaves out, see exhaustive.py, and with more draws what runs in both."""
    for item in items:
        both = any(item.get_closest_marker(name) for name in ("draws", "compiled_later"))
        if draws_many() and (both or is_hypothesis_test(getattr(item, "obj", None))):
            item.add_marker("exhaustive")
        if item.path.is_relative_to(TESTS):
            path, function = item.path.relative_to(TESTS).as_posix(), getattr(item, "originalname", item.name)
            if is_exhaustive(path, function):
                item.add_marker("exhaustive")
