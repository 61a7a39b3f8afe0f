"""Modules of the user's that register rules, kernels and formats of files."""

from __future__ import annotations

import importlib
import os
import sys

from .errors import Failure, Misuse


def imported(name: str) -> None:
    """Import a module by its name; the current folder is searched last."""
    if not all(part.isidentifier() for part in name.split(".")):
        raise Misuse(f"--plugin takes the name of a module, such as my_rules; got {name!r}.")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise Misuse(
                f"--plugin finds no module {name!r}, neither here nor where Python looks."
            ) from error
        raise Failure(f"--plugin {name}: {error}") from error
    except Exception as error:
        raise Failure(f"--plugin {name}: {type(error).__name__}: {error}") from error
