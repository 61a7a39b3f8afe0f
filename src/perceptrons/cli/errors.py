"""The two ways in which a command fails on purpose."""

from __future__ import annotations


class Failure(Exception):
    """The work failed; the message says why."""


class Misuse(Exception):
    """The command was given wrongly; the message says what is right."""
