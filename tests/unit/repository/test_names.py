"""One name for one thing: classes of different modules have different names."""

from __future__ import annotations

import ast
from collections import defaultdict

from places import ROOT

#: a rule and the estimator that learns by it; what a run states and what a certificate proves
PUBLIC_PAIRS = {"ALMA", "AROW", "Bracket", "MIRA", "Perceptron", "ROMMA"}
#: records and spaces of the engine that model files name, beside the estimator or kernel that uses them
STORED = {"Elimination", "Linear", "Winnow"}


def test_classes_do_not_share_names():
    found = defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.name)
    shared = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert shared.keys() - PUBLIC_PAIRS - STORED == set(), shared
    assert shared.keys() >= PUBLIC_PAIRS | STORED
