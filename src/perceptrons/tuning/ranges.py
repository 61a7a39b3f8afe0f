"""The values that are tried for the parameters of each estimator.

Parameters that depend on each other are one entry: a tuple of names, and tuples of values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import kernels, rules
from ..core.parameters import names_of

#: Names of parameters to the values that they take together.
Ranges: TypeAlias = dict[tuple[str, ...], list[tuple[Any, ...]]]
#: Parameters and their values.
Change: TypeAlias = dict[str, Any]

_SCALE = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_EPOCHS = (1, 2, 3, 5, 10, 20)

#: by class: what is its own
_OWN: dict[str, dict[str, Sequence[Any]]] = {
    "MarginPerceptron": {"eps": (0.25, 0.5, 0.75)},
    "MIRA": {"p": (0.0, 0.03, 0.1, 0.3, 1.0)},
    "PassiveAggressive": {"C": _SCALE, "variant": ("I", "II")},
    "ROMMA": {"aggressive": (False, True)},
    "ALMA": {"alpha": (0.5, 0.7, 0.9, 0.95)},
    "OnlineClassifier": {"rule": (rules.Perceptron(), *(rules.PA1(C) for C in _SCALE))},
    "Winnow": {"alpha": (1.1, 1.3, 1.5, 2.0, 3.0)},
    "BalancedWinnow": {"eta": _SCALE},
    "Elimination": {"literals": ("monotone", "all")},
    "PNormPerceptron": {"p": (2.0, 3.0, 5.0, 8.0, 12.0)},
    "SecondOrderPerceptron": {"a": _SCALE},
    "AROW": {"r": _SCALE},
    "SCW": {"C": _SCALE, "eta": (0.6, 0.75, 0.9, 0.95)},
    "RiskDescent": {"step": _SCALE, "max_steps": (100, 300, 1000, 3000)},
    "MaxMargin": {"C": (*_SCALE, 100.0)},
    "KernelClassifier": {"rule": (rules.Perceptron(), *(rules.PA1(C) for C in _SCALE))},
}
_OF_TEXTS: dict[str, Sequence[Any]] = {
    "tokens": ("all", "words"),
    "values": ("sublinear", "binary", "count"),
    "idf": (True, False),
    "rule": (*(rules.AROW(r) for r in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)), rules.PA1(0.1), rules.PA1(1.0)),
    "max_iter": (1, 2, 3, 5, 8),
}
_CUTS = [
    *(("word", (1, n)) for n in (1, 2, 3)),
    *(("char_wb", (low, high)) for low, high in ((2, 4), (2, 5), (3, 6))),
    ("char", (1, 5)),
]
_BITS = (18, 20, 22)
_MOST_BYTES = 1 << 30  # that the weights of a trial may take
_BYTES = 16  # of a weight with its variance or its average, and the count of its column


def of_estimator(estimator: Any, n_classes: int) -> Ranges:
    """The values to try for an estimator of the library."""
    name, known = type(estimator).__name__, set(names_of(type(estimator)))
    if "ngram_range" in known:
        usual = [] if estimator.rule is not None else [rules.AROW(r=0.1)]  # which None stands for
        tried = {**_OF_TEXTS, "rule": [rule for rule in _OF_TEXTS["rule"] if rule not in usual]}
        return _listed(tried, known) | _cuts() | _bits(estimator.bits, n_classes)
    found: dict[str, Sequence[Any]] = dict(_OWN.get(name, {}))
    if "max_iter" in known and name != "MaxMargin":
        found["max_iter"] = _EPOCHS
    if "readout" in known:
        found["readout"] = ("last", "average")
    if "row_norm" in known:
        found["row_norm"] = (None, "l2")
    kernel = getattr(estimator, "kernel", None)
    if kernel is not None and kernels.as_kernel(kernel).takes == "numbers":
        found["kernel"] = ("polynomial", "gaussian", "linear", kernels.Polynomial(degree=2))
    return _listed(found, known)


def given(ranges: Mapping[str, Iterable[Any]], estimator: Any) -> Ranges:
    """The user's own values, by the name of the parameter."""
    known = set(names_of(type(estimator)))
    for name, values in ranges.items():
        if name not in known:
            others = ", ".join(sorted(known))
            raise ValueError(f"{type(estimator).__name__} has no parameter {name!r}; it has {others}.")
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or not list(values):
            raise ValueError(f"ranges[{name!r}] must be a list of values to try; got {values!r}.")
    return {(name,): [(value,) for value in values] for name, values in ranges.items()}


def _listed(found: Mapping[str, Sequence[Any]], known: set[str]) -> Ranges:
    return {(name,): [(value,) for value in values] for name, values in found.items() if name in known}


def _cuts() -> Ranges:
    return {("analyzer", "ngram_range"): list(_CUTS)}


def _bits(given: int, n_classes: int) -> Ranges:
    """Bits whose weights take no more memory than a gigabyte, or than those of the estimator."""
    vectors = 1 if n_classes <= 2 else n_classes
    most = max(_MOST_BYTES, _BYTES * vectors << given)
    return {("bits",): [(bits,) for bits in _BITS if _BYTES * vectors << bits <= most]}


def without(ranges: Ranges, estimator: Any, fixed: Iterable[str]) -> Ranges:
    """The ranges with the values of the estimator for parameters that are fixed."""
    kept, found = set(fixed), {}
    for names, values in ranges.items():
        stay = [k for k, name in enumerate(names) if name in kept]
        now = {k: getattr(estimator, names[k]) for k in stay}
        left = [value for value in values if all(value[k] == now[k] for k in stay)]
        if left and len(stay) < len(names):
            found[names] = left
    return found


def candidates(estimator: Any, ranges: Ranges, n: int, rng: np.random.Generator) -> list[Change]:
    """n different changes of the parameters, the first of them none; each keeps about half of the values."""
    present = {name: getattr(estimator, name) for names in ranges for name in names}
    found, seen = [Change()], {_shown(present)}
    for _ in range(20 * n):
        if len(found) == n:
            break
        change = Change()
        for names, values in ranges.items():
            pick, keep = int(rng.integers(len(values))), bool(rng.integers(2))
            if not keep:
                change |= dict(zip(names, values[pick], strict=True))
        shown = _shown(present | change)
        if shown not in seen:
            seen.add(shown)
            found.append({name: value for name, value in change.items() if value != present[name]})
    return found


def _shown(parameters: Change) -> str:
    return repr(sorted((name, repr(value)) for name, value in parameters.items()))
