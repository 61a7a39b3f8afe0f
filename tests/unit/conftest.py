"""Modules that look at every learner, or at every way to set one up, for something around the loops.

One learner of each family of loops runs compiled ones, the others plain Python. A changing learning rate is
a rule of its own, with loops of its own: ``make test`` compiles those that the golden cases need.
"""

from __future__ import annotations

import re

PLAIN = {
    "certificates": {"test_certificate", "test_tampering"},
    "engine": {"test_spaces", "test_wide_rows"},
    "estimators": {"test_changing", "test_growing", "test_intercept_scaling", "test_one_row", "test_pieces"},
    "proofs": {"test_certify"},
    "theory": {"test_debugging", "test_run_record"},
}
COMPILED = re.compile(r"[\[-](Perceptron|AROW|Winnow|KernelPerceptron)[\](-]")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in PLAIN.get(item.path.parent.name, ()):
            if not COMPILED.search(item.name):
                item.add_marker("uncompiled")
            elif "learning_rate" in item.name:
                item.add_marker("compiled_later")
