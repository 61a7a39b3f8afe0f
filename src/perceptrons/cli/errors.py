"""The errors that commands raise."""

from __future__ import annotations


class Failure(Exception):
    """The work failed; the message says why."""


class Misuse(Exception):
    """The command has a mistake; the message says what is right."""
