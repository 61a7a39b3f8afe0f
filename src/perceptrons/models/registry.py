"""What a model file may hold: the library's own records, kernels, spaces and estimators, each under a name.

A name in a file is looked up here and nowhere else, so no file can cause an import. The names do not say
in which module a class is: a class may move, and the files of earlier releases stay readable.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from typing import TYPE_CHECKING, Any, TypeAlias

import perceptrons

from .. import kernels, rules
from ..core import class_weights, curves, first_visits
from ..core.bare import bare
from ..core.parameters import names_of
from ..core.run_records import Mixing
from ..core.solved import Descent, Problem
from ..engine import blocks, journal, spaces
from ..engine.loops import budget, multiclass, multiplicative
from ..engine.solvers.result import Answer
from ..io.records import Limits
from ..kernels import prepared
from ..text import weight_table
from .errors import ModelError

if TYPE_CHECKING:
    from ..core.classifier import Classifier
    from ..mixing.parameter_mixing import ParameterMixing
    from ..text.hasher import TextHasher

    #: What a file may hold: a learner, an estimator or a transformer of the library.
    Model: TypeAlias = Classifier | TextHasher | ParameterMixing

#: Attributes of an object, by name.
Attributes: TypeAlias = dict[str, Any]


def _named(prefix: str, *classes: type) -> dict[str, type]:
    return {f"{prefix}.{cls.__name__}": cls for cls in classes}


#: public name -> module with the spec of the learner
SPECS = {
    "OnlineClassifier": "core.first_order",
    **dict.fromkeys(
        ("Perceptron", "AveragedPerceptron", "VotedPerceptron", "MarginPerceptron"), "core.perceptron"
    ),
    **dict.fromkeys(("MIRA", "PassiveAggressive", "ROMMA", "ALMA"), "core.aggressive"),
    **dict.fromkeys(("Winnow", "BalancedWinnow", "Elimination", "PNormPerceptron"), "core.multiplicative"),
    **dict.fromkeys(("SecondOrderPerceptron", "AROW", "SCW"), "core.confidence"),
    **dict.fromkeys(("KernelPerceptron", "KernelClassifier"), "core.kernel"),
    "BudgetKernelPerceptron": "core.budget",
    "RiskDescent": "core.risk",
    "MaxMargin": "core.maximum_margin",
    "TextClassifier": "text.learner",
    "SmallTextClassifier": "text.small",
}
OTHERS = ("TextHasher", "ParameterMixing")  #: estimators that are stored, and have no weights of their own

#: records: tuples with named fields
RECORDS: dict[str, type] = {
    **_named("rule", *rules.FIRST_ORDER, *rules.SECOND_ORDER),
    **_named(
        "scheme",
        multiclass.Top,
        multiclass.Uniform,
        multiclass.Proportional,
        multiclass.Exact,
        multiclass.CrammerSinger,
    ),
    **_named("link", multiplicative.Winnow, multiplicative.Balanced, multiplicative.PNorm),
    **_named("policy", budget.Random, budget.Oldest, budget.Forgetron, budget.Projectron),
    **_named("space", spaces.Frame),
    **_named("descent", Descent),
    **_named("classes", class_weights.Counted),
    **_named("margin", Answer, Problem),
    **_named("run", Mixing),
    **_named("table", weight_table.Idf),
    **_named("calibration", first_visits.FirstVisits, curves.Calibrated, curves.Sigmoids, curves.Steps),
}

#: kernels: immutable, made by their constructors, which check what they are given
KERNELS: dict[str, type] = _named("kernel", *(row.kernel for row in kernels.TABLE.values()))
OWN = "own."  #: before the name of a class of kernels that the user has registered

#: objects: a dictionary of attributes, each checked by :mod:`perceptrons.models.checks`
OBJECTS: dict[str, type] = {
    **_named(
        "space",
        spaces.Linear,
        spaces.Joint,
        spaces.OneVsRest,
        spaces.PerLabel,
        spaces.Labels,
        spaces.Confident,
        spaces.Multiplicative,
        spaces.Elimination,
        spaces.Dual,
        spaces.Budget,
    ),
    **_named("journal", journal.Journal, journal.KernelJournal, journal.RowJournal),
    **_named("support", blocks.Support),
    **_named("table", weight_table.WeightTable),
    **_named("rows", prepared.Rows, prepared.Strings, prepared.Table, prepared.Objects, prepared.Parts),
}

_NAMES = {cls: name for table in (RECORDS, KERNELS, OBJECTS) for name, cls in table.items()}

#: attributes of an estimator that belong to a running process, not to the model
NOT_STORED = frozenset(
    {
        "_fast_path",
        "_writer",
        "_counting",
        "_metadata_request",
        "_skl_callbacks",
        "_skl_callbacks_to_teardown",
        "_callback_fit_ctx",
        "_parent_callback_ctx",
    }
)


#: what fitting leaves on an estimator besides user-made notes; :mod:`perceptrons.models.wholes` checks each
_LEFT = frozenset(
    {
        *("classes_", "n_features_in_", "feature_names_in_"),
        *(
            "_space",
            "_journals",
            "_bounds",
            "_steps",
            "_longest",
            "_plain",
            "_mixing",
            "_begun",
            "_changed",
            "_counted",
            "_calibration",
            "best_iter_",
            "validation_scores_",
            "_framed",
            "_progressive",
            "history_",
            "n_iter_",
            "stop_reason_",
        ),
        *("random_step_", "gamma_"),
        *("_names", "_given_names", "_words", "n_invalid_"),
        *("kernel_", "_known", "_draws"),
        *("_descents", "_paths", "_from_zero", "_indicator"),
        *("_problems", "_support_rows", "support_", "dual_coef_", "radius_"),
        *("estimator_", "seed_"),
        "_table",
    }
)


def left_by_fitting(cls: type, name: str) -> bool:
    """Whether fitting may leave an attribute of this name on an estimator of this class.

    False for a note of the user's: a public name that means nothing to the class. Raise on any other name.
    """
    if name in _LEFT:
        return True
    strange = name.startswith("_") or not name.isidentifier() or name in NOT_STORED
    if strange or (hasattr(cls, name) and name not in parameters(cls)):
        raise ModelError(f"{cls.__name__} has no attribute {name!r:.60} that could be stored.")
    return False


def name_of(cls: type) -> str | None:
    """The name under which objects of a class are stored, or None."""
    if cls not in _NAMES and cls in kernels.registered().values():
        return OWN + cls.__name__
    return _NAMES.get(cls)


def by_object(parameter: str, value: Any) -> Any:
    """The rule or kernel function of the user's that has this name; any other value as it is.

    A file holds no name that only a registration explains: reading it needs the object, as it does where the
    parameter is the object itself. A client of Dask, which is a connection, becomes the name of its kind.
    """
    if parameter == "backend":
        return value if isinstance(value, str) else "dask"
    if parameter in ("checkpoint", "shards", "reading"):
        return _plain(value)
    if parameter == "rule" and isinstance(value, str):
        found = rules.NAMES.get(value.lower().replace("_", "-"))
        return found if isinstance(found, rules.UserRule) else value
    if parameter == "kernel" and isinstance(value, str) and value in kernels.NAMES:
        made = kernels.NAMES[value]()
        return made.function if isinstance(made, kernels.Pairwise) else value
    return value


def _plain(value: Any) -> Any:
    """Paths as strings, and limits of a reader as a dict, in lists and dicts of them."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, Limits):
        return value._asdict()
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value


def registered(kind: str, path: str, called: str) -> Any:
    """A rule or a kernel that was registered, by its own name; None if there is none.

    ``path`` leads from the model to where it is used.
    """
    if kind == "rule":
        own = (rule for rule in rules.NAMES.values() if isinstance(rule, rules.UserRule))
        return next((rule for rule in own if rule.__name__ == called), None)
    own_kernel = kernels.registered().get(called) if path.startswith("kernel") else None
    return own_kernel if isinstance(own_kernel, type) == (kind == "class") else None


def estimator_name(model: object) -> str:
    """The public name of an estimator's class."""
    name = type(model).__name__
    if name in SPECS and type(model) is learner(name):
        return name
    if name in perceptrons.__all__ and getattr(perceptrons, name) is type(model):
        return name
    raise ModelError(
        f"A model file holds the estimators of perceptrons; {name} of {type(model).__module__} is none. "
        "Store a class of your own with pickle, or the model it wraps with perceptrons.save."
    )


def estimator(name: str) -> type:
    """The estimator of a public name."""
    if name in SPECS or name in OTHERS:
        cls: type = getattr(perceptrons, name)
        return cls
    raise ModelError(
        f"The file holds a {name[:60]!r}, and this version of perceptrons has no such estimator: "
        "pip install --upgrade perceptrons."
    )


def learner(name: str) -> type:
    """The learner of the same name without scikit-learn."""
    if name not in SPECS:
        return estimator(name)
    cls: type = bare(getattr(importlib.import_module(f"perceptrons.{SPECS[name]}"), f"{name}Spec"))
    return cls


#: parameters that files of this format do not all have, by estimator: stored unless they have these values,
#: which a file without them means, whatever the default is today
LATER: dict[str, Attributes] = {
    "RiskDescent": {"keep_path": False},
    "TextHasher": {"tokens": "words"},
    "TextClassifier": {"idf": False},
}
#: the same, of every estimator that has them: stored unless they have the default of its class
LATER_OF_ALL = frozenset({"probability", "calibration", "calibration_rows"})


def parameters(cls: type) -> list[str]:
    """The names of an estimator's parameters, in alphabetical order."""
    if dataclasses.is_dataclass(cls):
        return names_of(cls)
    named: list[str] = sorted(cls._get_param_names())  # type: ignore[attr-defined]  # of scikit-learn
    return named


def stored_parameters(model: Model) -> list[str]:
    """Names of the parameters that a file of this model has.

    A file that uses nothing new stays as it was, and earlier versions of the library read it.
    """
    later = LATER.get(type(model).__name__, {})
    if dataclasses.is_dataclass(model):
        later = later | {
            one.name: one.default for one in dataclasses.fields(model) if one.name in LATER_OF_ALL
        }
    return [p for p in parameters(type(model)) if p not in later or not _same(getattr(model, p), later[p])]


def _same(value: object, other: object) -> bool:
    return type(value) is type(other) and value == other


def fields(cls: type[kernels.Kernel]) -> list[str]:
    """The names of a kernel's parameters."""
    return [field.name for field in dataclasses.fields(cls)]
