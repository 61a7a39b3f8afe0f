"""The command line ``perceptrons``: train, predict, evaluate, certify, plot, info, fetch, demo, lab.

Nothing that is slow to import is imported before the command is parsed, so ``--help`` is fast.
"""

from .running import main

__all__ = ["main"]
