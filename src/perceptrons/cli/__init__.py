"""The command line ``perceptrons``: train, predict, evaluate, certify, info, fetch, demo.

Nothing heavy is imported before a command is known, so ``--help`` answers at once.
"""

from .running import main

__all__ = ["main"]
