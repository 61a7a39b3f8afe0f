"""Kinds of values that the fields of a certificate may have: each checks a value, returns it or raises."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

from .._types import Json
from .parts import CertificateError

Kind: TypeAlias = Callable[[str, Json], Any]

COUNT = 2**53  # counts are below this, so that they are exact as floats
LONG = 2**28  # entries of a list
TEXT = 10_000  # characters of a text


def refuse(where: str, rule: str, value: object) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    raise CertificateError(f"{where} must be {rule}; got {shown}.")


def integer(least: int = 0, most: int = COUNT) -> Kind:
    def read(where: str, value: Json) -> int:
        if not (type(value) is int and least <= value <= most):
            refuse(where, f"an integer from {least} to {most}", value)
        return int(value)

    return read


def number(least: float = -math.inf, most: float = math.inf, infinite: tuple[str, ...] = ()) -> Kind:
    """A finite number from ``least`` to ``most``, or one of the texts for infinity."""

    def read(where: str, value: Json) -> int | float:
        if isinstance(value, str) and value in infinite:
            return float(value)
        whole, real = (
            type(value) is int and abs(value) <= COUNT,
            type(value) is float and math.isfinite(value),
        )
        if (whole or real) and least <= value <= most:
            return value  # type: ignore[no-any-return]  # a whole number stays one
        ends = "" if (least, most) == (-math.inf, math.inf) else f" from {least:g} to {most:g}"
        return refuse(where, f"a finite number{ends}", value)

    return read


def text(most: int = TEXT, pattern: str | None = None) -> Kind:
    def read(where: str, value: Json) -> str:
        if not (isinstance(value, str) and len(value) <= most):
            refuse(where, f"a text of at most {most} characters", value)
        if pattern is not None and not re.fullmatch(pattern, value):
            refuse(where, f"a text of the form {pattern}", value)
        return str(value)

    return read


def one_of(*choices: str | int) -> Kind:
    def read(where: str, value: Json) -> Json:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            refuse(where, f"one of {', '.join(map(repr, choices))}", value)
        return value

    return read


def flag(where: str, value: Json) -> bool:
    if not isinstance(value, bool):
        refuse(where, "true or false", value)
    return bool(value)


def or_null(kind: Kind) -> Kind:
    return lambda where, value: None if value is None else kind(where, value)


def list_of(kind: Kind, least: int = 0, most: int = LONG) -> Kind:
    def read(where: str, value: Json) -> list[Json]:
        if not (isinstance(value, list) and least <= len(value) <= most):
            refuse(where, f"a list of {least} to {most} entries", value)
        return [kind(where, entry) for entry in value]

    return read


def record(fields: Mapping[str, Kind], optional: Mapping[str, Kind] | None = None) -> Kind:
    """An object with exactly these fields; the optional ones may be missing."""
    kinds = {**fields, **(optional or {})}

    def read(where: str, value: Json) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse(where or "The certificate", "an object", value)
        strange = sorted(set(value) - set(kinds))
        if strange:
            refuse(where or "The certificate", "an object without unknown fields", strange[0])
        missing = sorted(set(fields) - set(value))
        if missing:
            refuse(where or "The certificate", f"an object with the field {missing[0]!r}", sorted(value))
        return {name: kinds[name](f"{where}.{name}".lstrip("."), entry) for name, entry in value.items()}

    return read


def scalar(where: str, value: Json) -> bool | float | str | None:
    """A parameter or a symbol: true or false, a number, infinity, a short text or null."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value in ("inf", "-inf"):
            return float(value)
        short: str = text(200)(where, value)
        return short
    found: float = number()(where, value)
    return found
