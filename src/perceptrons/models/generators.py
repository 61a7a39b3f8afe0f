"""The state of numpy's random generators, as plain data.

The generators do not check the state that they are given, so every number is checked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from .errors import ModelError

if TYPE_CHECKING:
    from .._types import Json, JsonObject

    #: A generator of NumPy's, of either kind.
    Draws: TypeAlias = np.random.Generator | np.random.RandomState

_WORD = {"has_uint32": 1, "uinteger": 2**32 - 1}
#: name of a bit generator -> (whole numbers of its state: largest value, arrays: type and length)
_STATES: dict[str, tuple[dict[str, int], dict[str, tuple[type[np.unsignedinteger], int]]]] = {
    "PCG64": ({"state": 2**128 - 1, "inc": 2**128 - 1}, {}),
    "PCG64DXSM": ({"state": 2**128 - 1, "inc": 2**128 - 1}, {}),
    "MT19937": ({"pos": 624}, {"key": (np.uint32, 624)}),
    "Philox": ({}, {"counter": (np.uint64, 4), "key": (np.uint64, 2)}),
    "SFC64": ({}, {"state": (np.uint64, 4)}),
}


def known(x: object) -> TypeGuard[Draws]:
    """Whether x is a generator whose state can be stored."""
    if type(x) is np.random.RandomState:
        return x.get_state(legacy=False)["bit_generator"] in _STATES
    return type(x) is np.random.Generator and type(x.bit_generator).__name__ in _STATES


def state(x: Draws) -> JsonObject:
    """The state of x, as plain data."""
    if isinstance(x, np.random.RandomState):
        return {"legacy": True, "state": dict(x.get_state(legacy=False))}
    return {"legacy": False, "state": dict(x.bit_generator.state)}


def restored(stored: Json) -> Draws:
    """The generator whose state was stored."""
    if type(stored) is not dict or stored.keys() != {"legacy", "state"} or type(stored["state"]) is not dict:
        raise ModelError("The state of a random generator is missing.")
    found = stored["state"]
    name = found.get("bit_generator")
    if type(name) is not str or name not in _STATES:
        raise ModelError(f"{name!r:.40} is no generator of numpy's that a model may have.")
    _check(name, found, legacy=bool(stored["legacy"]))
    bits = getattr(np.random, name)(0)
    if stored["legacy"]:
        legacy = np.random.RandomState(bits)
        legacy.set_state(found)
        return legacy
    bits.state = found
    return np.random.Generator(bits)


def _check(name: str, found: JsonObject, legacy: bool) -> None:
    numbers, arrays = _STATES[name]
    core = found.get("state")
    if type(core) is not dict or core.keys() != numbers.keys() | arrays.keys():
        raise ModelError(f"The state of {name} is not complete.")
    for key, largest in numbers.items():
        _whole(name, key, core[key], largest)
    for key, (dtype, length) in arrays.items():
        _vector(name, key, core[key], dtype, length)
    rest = dict(found)
    for key in ("bit_generator", "state"):
        rest.pop(key)
    if name == "Philox":
        _vector(name, "buffer", rest.pop("buffer", None), np.uint64, 4)
        _whole(name, "buffer_pos", rest.pop("buffer_pos", None), 4)
    if legacy:
        _whole(name, "has_gauss", rest.pop("has_gauss", None), 1)
        if type(rest.pop("gauss", None)) is not float:
            raise ModelError(f"The state of {name} is not complete.")
    for key in list(rest):
        if key not in _WORD:
            raise ModelError(f"The state of {name} has {key!r:.40}, which it should not have.")
        _whole(name, key, rest[key], _WORD[key])


def _whole(name: str, key: str, x: object, largest: int) -> None:
    if type(x) is not int or not 0 <= x <= largest:
        raise ModelError(f"{key} of {name} must be an integer from 0 to {largest}; got {x!r:.60}.")


def _vector(name: str, key: str, x: object, dtype: type[np.unsignedinteger], length: int) -> None:
    if not isinstance(x, np.ndarray) or x.dtype != dtype or x.shape != (length,):
        raise ModelError(f"{key} of {name} must hold {length} numbers of type {np.dtype(dtype).name}.")
