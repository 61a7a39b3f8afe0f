"""Write the pages of the reference, ``docs/reference/``, from the lists of public names, when a build starts.

The lists are ``perceptrons.__all__`` and ``__all__`` of its public modules: those that
``tests/unit/test_exports.py`` checks. A name of ``perceptrons`` has a page of its own; a module has one page
for all its names. :data:`GROUPS` orders the former, and a name that is in no group is an error.
"""

from __future__ import annotations

import functools
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sphinx.pycode import ModuleAnalyzer

import perceptrons

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Names of ``perceptrons`` by title, in the order of the contents.
GROUPS = {
    "Perceptrons": ["Perceptron", "AveragedPerceptron", "VotedPerceptron", "MarginPerceptron"],
    "Large margin, aggressive": ["MIRA", "PassiveAggressive", "ROMMA", "ALMA", "MaxMargin"],
    "Any rule": ["OnlineClassifier"],
    "Multiplicative": ["Winnow", "BalancedWinnow", "Elimination", "PNormPerceptron"],
    "Second order": ["SecondOrderPerceptron", "AROW", "SCW"],
    "Risk": ["RiskDescent"],
    "Kernels": ["KernelPerceptron", "KernelClassifier", "BudgetKernelPerceptron"],
    "Texts": ["TextClassifier", "SmallTextClassifier", "TextHasher"],
    "Many machines": ["ParameterMixing"],
    "Proofs": ["certify", "separability", "trace", "advise"],
    "Files, sizes, settings": ["save", "load", "shrink", "tune", "from_sklearn"],
}

#: Methods that come first on the page of a class, in this order; the others follow by the alphabet.
FIRST = (
    "fit",
    "partial_fit",
    "learn_one",
    "predict",
    "predict_one",
    "decision_function",
    "score_one",
    "predict_proba",
    "predict_log_proba",
    "transform",
)

#: What a module has, for the table of contents.
MODULES = {
    "datasets": "toy sets, generators' records, public data",
    "io": "streams of rows from files",
    "kernels": "kernels, and how to make one",
    "models": "model files, checkpoints, ONNX",
    "plots": "displays of runs, margins and proofs; the lab in a notebook",
    "preprocessing": "buckets, levels, scaling, the constant coordinate",
    "proofs": "certificates, runs in the online protocol, separability, adversaries",
    "reference": "every algorithm in plain NumPy, as published",
    "rules": "update rules as records and functions, and how to add one",
    "text": "texts to rows, classifiers of texts, scores",
    "theory": "bounds, brackets of the margin, certificates",
}


def public_modules() -> dict[str, list[str]]:
    """Names of each public module, in the order in which it lists them."""
    names = [name for name in perceptrons.__all__ if inspect.ismodule(getattr(perceptrons, name))]
    return {name: list(getattr(perceptrons, name).__all__) for name in names}


def public_names() -> list[str]:
    """Every public name, as a user writes it: ``perceptrons.save``, ``perceptrons.theory.novikoff``."""
    names = [f"perceptrons.{name}" for name in perceptrons.__all__ if name != "__version__"]
    for module, listed in public_modules().items():
        names += [f"perceptrons.{module}.{name}" for name in listed]
    return names


def had(name: str) -> Any:
    """What a dotted name stands for."""
    thing: Any = perceptrons
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


def home(name: str) -> str:
    """The name under which a thing is documented: that of ``perceptrons`` where it has one there, too."""
    short = "perceptrons." + name.rpartition(".")[2]
    if short != name and short in public_names() and had(short) is had(name):
        return short
    return name


def underlined(title: str, line: str = "=") -> str:
    return f"{title}\n{line * len(title)}\n\n"


def directive(name: str) -> str:
    """The directive that documents a name, with those for the members of a class inside."""
    thing = had(name)
    if inspect.isclass(thing) and not thing.__module__.startswith("perceptrons"):
        package = thing.__module__.partition(".")[0].replace("sklearn", "scikit-learn")
        return f".. py:class:: {name.rpartition('.')[2]}\n\n   {package}'s own class.\n\n"
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
    else:
        kind = "function"
    text = f".. auto{kind}:: {name}\n\n"
    if inspect.isclass(thing):
        for member, role in members(thing).items():
            text += f"   .. auto{role}:: {name}.{member}\n\n"
        if issubclass(thing, BaseEstimator):
            text += (
                "   ``score``, ``get_params``, ``set_params`` and metadata routing are scikit-learn's.\n\n"
            )
    return text


def members(thing: type) -> dict[str, str]:
    """Public methods, properties and fields of a class that this package defines, and what each is.

    Parameters and attributes of an estimator are in its docstring, so only its methods are named.
    """
    estimator = issubclass(thing, BaseEstimator)
    fields = set(getattr(thing, "_fields", ())) | set(getattr(thing, "__dataclass_fields__", ()))
    found = {}
    for name in dir(thing):
        owner = next((base for base in thing.__mro__ if name in base.__dict__), object)
        member = inspect.getattr_static(thing, name)
        if name.startswith("_") or not owner.__module__.startswith("perceptrons"):
            continue
        if isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
            found[name] = "method"
        elif isinstance(member, (property, functools.cached_property)) and not estimator:
            found[name] = "property"
        elif name in fields and not estimator:
            found[name] = "attribute"
    first = [name for name in FIRST if name in found]
    fields_first = [name for name in getattr(thing, "_fields", ()) if name in found]
    return {name: found[name] for name in [*first, *fields_first, *found]}


def table(names: list[str], module: str) -> str:
    """Names with the first sentences of their docstrings."""
    lines = [".. autosummary::", "   :nosignatures:", ""]
    shown = [name if (name := home(full)).startswith(f"{module}.") else f"~{name}" for full in names]
    return "\n".join([*lines, *(f"   {name.removeprefix(f'{module}.')}" for name in shown)]) + "\n\n"


def pages() -> dict[str, str]:
    """Text of every page by its file name."""
    grouped = [name for names in GROUPS.values() for name in names]
    single = [n for n in perceptrons.__all__ if n != "__version__" and n not in public_modules()]
    if sorted(grouped) != sorted(single):
        raise ValueError(f"GROUPS and perceptrons.__all__ differ in {sorted({*grouped} ^ {*single})}.")
    if sorted(MODULES) != sorted(public_modules()):
        raise ValueError(
            f"MODULES and the public modules differ in {sorted({*MODULES} ^ {*public_modules()})}."
        )
    made = {}
    for name in single:
        made[f"perceptrons.{name}.rst"] = (
            underlined(name) + ".. currentmodule:: perceptrons\n\n" + directive(f"perceptrons.{name}")
        )
    for module, names in public_modules().items():
        made[f"perceptrons.{module}.rst"] = module_page(module, names)
    made["index.rst"] = contents(public_modules())
    return made


def module_page(module: str, names: list[str]) -> str:
    """Docstring, table and names of a module; values, which have no docstrings, are below the table."""
    full = f"perceptrons.{module}"
    listed = [f"{full}.{name}" for name in names if not inspect.ismodule(getattr(had(full), name))]
    called = [name for name in listed if inspect.isroutine(had(name)) or inspect.isclass(had(name))]
    values = [name for name in listed if name not in called]
    text = underlined(full) + f".. automodule:: {full}\n\n.. currentmodule:: {full}\n\n"
    text += table(called, full) + "".join(directive(name) for name in called if home(name) == name)
    return text + "".join(value(name) for name in values)


def value(name: str) -> str:
    """A public value, with the comment beside its definition, in whichever module that is."""
    thing, last = had(name), name.rpartition(".")[2]
    for module in sorted(one for one in sys.modules if one.startswith("perceptrons")):
        if vars(sys.modules[module]).get(last) is thing:
            comments = ModuleAnalyzer.for_module(module).find_attr_docs()
            if ("", last) in comments:
                described = "\n".join(f"   {line}" for line in comments["", last])
                return f".. py:data:: {last}\n\n{described}\n\n"
    raise ValueError(f"{name} is public and has no comment, #: or a string, where it is defined.")


def contents(modules: dict[str, list[str]]) -> str:
    """The first page: all names of ``perceptrons`` by group, then the modules."""
    text = underlined("Reference")
    text += (
        "Every public name. A name that is on none of these pages may change without notice;\n"
        "the file CHANGELOG.md says how the others may change.\n\n"
    )
    for title, names in GROUPS.items():
        text += underlined(title, "-") + table([f"perceptrons.{name}" for name in names], "")
    text += underlined("Modules", "-") + ".. list-table::\n   :widths: auto\n\n"
    for module in modules:
        text += f"   * - :mod:`perceptrons.{module}`\n     - {MODULES[module]}\n"
    text += "\n"
    grouped = {**GROUPS, "Modules": list(modules)}
    for title, names in grouped.items():
        text += f".. toctree::\n   :hidden:\n   :maxdepth: 1\n   :caption: {title}\n\n"
        text += "".join(f"   perceptrons.{name}\n" for name in names) + "\n"
    return text


def write(app: Sphinx) -> None:
    """Write the pages that changed, and remove those of names that are gone."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    made = pages()
    for path in folder.glob("*.rst"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def without_aliases(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """A field of a named tuple says "Alias for field number 0" where it has no comment: say nothing."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for them."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("builder-inited", write, priority=100)
    app.connect("autodoc-process-docstring", without_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
