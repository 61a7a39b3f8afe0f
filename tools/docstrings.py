"""Check the docstrings of the public classes by numpydoc's rules: ``python tools/docstrings.py``."""

from __future__ import annotations

import inspect
import sys

from numpydoc.validate import validate  # type: ignore[import-untyped]  # it has no stubs

import perceptrons
from perceptrons import plots

#: rules that are not ours: a section "See Also" in every docstring
NOT_OURS = {"SA01"}


def main() -> int:
    """Print what is wrong, one line each; 1 where something is."""
    n_wrong = 0
    names = [name for name in perceptrons.__all__ if inspect.isclass(getattr(perceptrons, name))]
    for name in [*names, *(f"plots.{name}" for name in plots.__all__)]:
        for code, message in validate(f"perceptrons.{name}")["errors"]:
            if code not in NOT_OURS:
                n_wrong += 1
                print(f"{name}: {code} {message}")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
