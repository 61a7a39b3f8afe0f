"""What the lab offers: toy sets, learners with their parameters, kernels.

Learners and kernels are those of the library, and their parameters, words and defaults are read from their
declarations and docstrings. What is written here concerns a page: which parameters it shows, and from where
to where its sliders go.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import perceptrons

from .. import datasets, kernels, rules
from ..core import changing
from ..core.documenting import described
from ..core.learner import Learner
from ..core.parameters import in_order
from ..kernels.prepared import Rows
from .plain_words import plain
from .scenes import LIMITS

if TYPE_CHECKING:
    from .scenes import Choice, Scene

FORMAT = "perceptrons lab catalog"
SCHEMA = 1

#: Parameters that a scene sets itself, or that change no number of a run on a few points.
_NOT_SHOWN = changing.OF_A_RUN | {"class_weight", "log_updates", "device", "precision"}
#: The norm-minimising form begins at weights that are given; the lab begins at 0.
_NOT_HERE = {("MIRA", "variant")}
_GROUPS = {
    "space": changing.OF_THE_FRAME,
    "readout": ("readout", "include_initial", "normalized_votes"),
    "classes": ("multiclass", "scheme", "solver"),
}
#: From where to where a slider goes; by parameter, or by learner and parameter.
_RANGES: dict[str, tuple[float, float]] = {
    "learning_rate": (0.01, 10.0),
    "gamma": (0.01, 5.0),
    "eps": (0.05, 0.95),
    "p": (0.0, 0.95),
    "C": (0.01, 10.0),
    "delta": (0.0, 0.95),
    "alpha": (0.05, 1.0),
    "eta": (0.01, 2.0),
    "a": (0.01, 10.0),
    "r": (0.01, 10.0),
    "budget": (1, 100),
    "threshold": (1.0, 10.0),
    "intercept_scaling": (0.1, 50.0),
    "degree": (1, 9),
    "coef0": (0.0, 5.0),
    "Winnow.alpha": (1.05, 4.0),
    "PNormPerceptron.p": (2.0, 16.0),
    "SCW.eta": (0.55, 0.99),
}


class Parameter(NamedTuple):
    """A parameter of a learner or of a kernel."""

    name: str
    kind: str  #: "number", "whole", "choice", "flag" or "kernel"
    default: Any
    low: float | None  #: of a slider; numbers beyond are taken where the learner takes them
    high: float | None
    choices: list[Any] | None  #: values of a choice; of a number, the words that may stand in its place
    optional: bool  #: null is a value, too
    group: str  #: "rule", "readout", "classes", "space" or "kernel"
    text: str

    def checked(self, owner: str, value: Any) -> Any:
        """The value, where it is of this kind; whether the learner takes it, it says itself."""
        name = f"{owner}.{self.name}"
        if value is None and self.optional:
            return None
        if self.kind in ("choice", "flag"):
            known = [True, False] if self.kind == "flag" else self.choices or []
            if not any(type(value) is type(one) and value == one for one in known):
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}.")
            return value
        if self.kind == "kernel":
            return kernel(value)
        if isinstance(value, str) and value in (self.choices or []):
            return value
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (whole or (self.kind == "number" and isinstance(value, float))):
            words = "".join(f" or {word!r}" for word in self.choices or [])
            raise ValueError(f"{name} must be a {'whole ' * (self.kind == 'whole')}number{words}.")
        if not abs(value) <= LIMITS.parameter:
            raise ValueError(f"{name} must be a number of a size up to {LIMITS.parameter:g}.")
        return value


# --------------------------------------------------------------------------------------------- learners


@functools.cache
def learners() -> dict[str, type]:
    """The online learners of the library that take rows of two numbers, by name."""
    named = {name: getattr(perceptrons, name) for name in perceptrons.__all__}
    return {
        name: found
        for name, found in named.items()
        if isinstance(found, type) and issubclass(found, Learner) and not hasattr(found, "ngram_range")
    }


@functools.cache
def parameters(name: str) -> dict[str, Parameter]:
    """The parameters of a learner that the lab offers."""
    cls: Any = learners()[name]
    told = described(cls, "Parameters")
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    shown = [
        one
        for one in in_order(cls)
        if one in told and one in defaults and one not in _NOT_SHOWN and (name, one) not in _NOT_HERE
    ]
    return {one: _parameter(name, one, told[one].kind, told[one].text, defaults[one]) for one in shown}


def _parameter(owner: str, name: str, declared: str, text: str, default: Any) -> Parameter:
    """A parameter from its entry in a docstring, such as ``float or "auto", default="auto"``."""
    declared = re.sub(r", default=.*", "", declared)
    low, high = _RANGES.get(f"{owner}.{name}", _RANGES.get(name, (None, None)))
    group = next((group for group, names in _GROUPS.items() if name in names), "rule")
    made = Parameter(name, "number", default, low, high, None, "None" in declared, group, plain(text))
    if name == "kernel":
        return made._replace(kind="kernel", default={"name": default, "params": {}}, group="kernel")
    if name == "rule":
        return made._replace(kind="choice", default=_default_rule(), choices=_rule_names())
    if declared.startswith("{"):
        choices = ast.literal_eval(f"[{declared.strip('{}')}]")
        return made._replace(kind="choice", choices=choices, optional=None in choices)
    if declared.startswith("bool"):
        return made._replace(kind="flag")
    words = re.findall(r'"(\w+)"', declared)
    return made._replace(kind="whole" if declared.startswith("int") else "number", choices=words or None)


def _rule_names() -> list[str]:
    """First-order rules: those that an :class:`OnlineClassifier` takes."""
    return [name for name, record in rules.NAMES.items() if type(record) in rules.FIRST_ORDER]


def _default_rule() -> str:
    return next(name for name, record in rules.NAMES.items() if record == rules.Perceptron())


def model(choice: Choice, scene: Scene) -> Any:
    """The learner of a choice, in the order of the scene; ValueError for what the lab does not offer."""
    if choice.name not in learners():
        known = ", ".join(learners())
        raise ValueError(f"There is no learner {choice.name[:40]!r}; the lab has {known}.")
    known_parameters = parameters(choice.name)
    params = {}
    for name, value in choice.params.items():
        if name not in known_parameters:
            raise ValueError(f"{choice.name} has no parameter {name[:40]!r} in the lab.")
        params[name] = known_parameters[name].checked(choice.name, value)
    return learners()[choice.name](
        **params, shuffle=scene.shuffle, random_state=scene.seed, max_iter=scene.max_iter
    )


# ---------------------------------------------------------------------------------------------- kernels


@functools.cache
def kernel_classes() -> dict[str, type]:
    """The kernels of rows of numbers, by the names that learners take."""
    return {
        row.names[0]: row.kernel
        for row in kernels.TABLE.values()
        if row.on_command_line and row.collection is Rows and row.names
    }


@functools.cache
def kernel_parameters(name: str) -> dict[str, Parameter]:
    """The fields of a kernel."""
    cls: Any = kernel_classes()[name]
    return {
        field.name: _kernel_parameter(name, field.name, field.default) for field in dataclasses.fields(cls)
    }


def _kernel_parameter(owner: str, name: str, default: Any) -> Parameter:
    low, high = _RANGES.get(name, (None, None))
    kind = "whole" if isinstance(default, int) else "number"
    words = [default] if isinstance(default, str) else None
    return Parameter(name, kind, default, low, high, words, False, "kernel", "")


def kernel(found: Any) -> kernels.Kernel:
    """The kernel that ``{"name": …, "params": {…}}``, or a name, stands for."""
    fields = {"name": found} if isinstance(found, str) else found
    if not isinstance(fields, dict) or not set(fields) <= {"name", "params"}:
        raise ValueError("A kernel is an object with a name and params.")
    name, params = fields.get("name"), fields.get("params", {})
    if not isinstance(name, str) or name not in kernel_classes():
        raise ValueError(f"The kernels of the lab are {', '.join(kernel_classes())}.")
    if not isinstance(params, dict) or not set(params) <= set(kernel_parameters(name)):
        known = ", ".join(kernel_parameters(name)) or "none"
        raise ValueError(f"The parameters of the kernel {name} are: {known}.")
    known_parameters = kernel_parameters(name)
    made: kernels.Kernel = kernel_classes()[name](
        **{one: known_parameters[one].checked(name, value) for one, value in params.items()}
    )
    return made


# --------------------------------------------------------------------------------------------- toy sets


def sets() -> dict[str, datasets.Toy]:
    """The toy sets with two features, and one with inputs of 0 and 1."""
    made = {name: getattr(datasets, name)() for name in datasets.toy.__all__ if name != "Toy"}
    return {name: toy for name, toy in made.items() if toy.X.shape[1] == 2} | {"first_input": _disjunction()}


def _disjunction() -> datasets.Toy:
    """A disjunction of one of two inputs, for learners that take inputs of 0 and 1."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    text = "The label is the input x1, and x2 does not matter: for Winnow and Elimination."
    return datasets.Toy(X, np.array([-1, -1, 1, 1]), ["x1", "x2"], ["no", "yes"], text)


# ---------------------------------------------------------------------------------------------- as JSON


def catalog() -> dict[str, Any]:
    """The catalogue as JSON has it."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "sets": [_set(name, toy) for name, toy in sets().items()],
        "learners": [_learner(name) for name in learners()],
        "kernels": [_kernel(name) for name in kernel_classes()],
        "limits": LIMITS._asdict(),
    }


def _set(name: str, toy: datasets.Toy) -> dict[str, Any]:
    labels, codes = np.unique(toy.y, return_inverse=True)
    assert len(labels) == len(toy.target_names)
    return {
        "name": name,
        "title": name.replace("_", " "),
        "text": toy.DESCR,
        "X": toy.X.tolist(),
        "y": codes.tolist(),
        "classes": list(toy.target_names),
    }


def _learner(name: str) -> dict[str, Any]:
    cls = learners()[name]
    facts = rules.facts_of(cls())
    record = None if facts is None else facts.record
    shown = parameters(name)
    return {
        "name": name,
        "title": re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name),
        "text": plain((cls.__doc__ or "").partition("\n\n")[0]),
        "lecture": _source(record),
        "family": "kernel" if "kernel" in shown else "" if facts is None else facts.family,
        "kernel": "kernel" in shown,
        "params": [one._asdict() for one in shown.values()],
    }


def _source(record: type | None) -> str:
    """Where a rule is from, as its docstring says in brackets."""
    found = re.search(r"\[([^\]]*\d{4})\]", (record.__doc__ or "") if record is not None else "")
    return found.group(1) if found else ""


def _kernel(name: str) -> dict[str, Any]:
    cls = kernel_classes()[name]
    params = [one._asdict() for one in kernel_parameters(name).values()]
    return {
        "name": name,
        "title": re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__),
        "text": plain((cls.__doc__ or "").partition("\n\n")[0]),
        "params": params,
    }
