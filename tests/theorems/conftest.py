"""Theorems are about what is learned, and compiled code learns the same: one module of each family of loops
runs it."""

from __future__ import annotations

import pytest

COMPILED = {"test_novikoff", "test_winnow", "test_arow", "test_forgetron"}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "theorems" and item.path.stem not in COMPILED:
            item.add_marker(pytest.mark.uncompiled)
