"""From the options to a learner: the class of a rule's name, and its parameters."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from .. import rules
from .errors import Misuse

if TYPE_CHECKING:
    from ..core.confidence import SecondOrderLearner
    from ..core.first_order import FirstOrder
    from ..core.learner import Learner
    from ..core.maximum_margin import MaxMarginSpec
    from ..core.risk import RiskDescentSpec
    from ..kernels import Kernel
    from .options import Learning

    #: Parameters of a learner, by name.
    Parameters: TypeAlias = dict[str, Any]
    #: A learner of the core: of rows in batches, or of all rows at once.
    AnyLearner: TypeAlias = Learner | RiskDescentSpec | MaxMarginSpec


RULES = rules.commands()  #: by name: classes are slow to import, so each is imported when it is needed

_OWN = ("C", "p", "variant", "gamma", "eps", "alpha", "eta", "delta", "r")  #: options that are parameters
_OF_TEXT = {name: name for name in ("tokens", "analyzer", "values", "idf", "bits")} | {"hash_seed": "seed"}
_RUN_BY_US = {"callback", "verbose", "warm_start", "shuffle", "random_state", "early_stopping"}
_OF_EPOCHS = {
    "max_iter",
    "n_iter_no_change",
    "validation_fraction",
    "tol",
}  #: parameters of ``fit`` that a stream does not have


def complete_rule(start: str) -> list[str]:
    """The rules whose names begin with ``start``, for completion in the shell."""
    return [name for name in _known() if name.startswith(start)]


def _known() -> list[str]:
    """The names of all rules: those of the package, and those that a plugin has registered."""
    return [*RULES, *(name for name in rules.NAMES if name not in RULES)]


def learner(learning: Learning, seed: int, encoding_errors: str | None) -> AnyLearner:
    """The learner that the options describe, its parameters checked."""
    learning = _with_default(learning)
    if learning.rule not in _known():
        raise Misuse(f"--rule must be one of {', '.join(_known())}; got {learning.rule!r}.")
    if learning.text and learning.kernel is not None:
        raise Misuse("--text and --kernel do not go together; give one of them.")
    named = _given(learning)
    if learning.text:
        model = _text_learner(learning, named, seed, encoding_errors)
    elif learning.kernel is not None:
        model = _kernel_learner(learning, learning.kernel, named, seed)
    elif learning.rule not in RULES:
        model = _made(_class("OnlineClassifier"), {"rule": rules.named(learning.rule), **named}, seed)
    else:
        class_ = _class(RULES[learning.rule].class_name)
        model = _made(class_, {**RULES[learning.rule].fixed, **named}, seed)
    return _checked(model)


def _with_default(learning: Learning) -> Learning:
    """The options with a rule, where none was given: the perceptron, or that of a learner of texts."""
    if learning.rule is not None:
        return learning
    if not learning.text:
        return replace(learning, rule="perceptron")
    from ..text.storage import RULE

    return replace(learning, rule="arow", r=RULE.r if learning.r is None else learning.r)


def _checked(model: AnyLearner) -> AnyLearner:
    from ..core import plan

    try:
        plan.check_parameters(model)
    except ValueError as error:
        raise Misuse(str(error)) from error
    if hasattr(model, "partial_fit"):
        if model.probability and model.calibration_rows == "held out":
            raise Misuse(
                "--probability learns from each row before the row is learned, and "
                f"{type(model).__name__} has other scores then: take a linear rule, such as arow."
            )
        try:
            plan.check_pieces(model)
        except ValueError as error:
            kernel = getattr(model, "kernel", None)
            raise Misuse(
                f"{type(model).__name__} learns in batches, and {kernel} takes its width from all of "
                "the data: give the width, as in --kernel 'Gaussian(gamma=0.1)'."
            ) from error
    return model


def _class(name: str) -> type:
    from ..models.registry import learner

    return learner(name)


def _parameters(class_: type) -> set[str]:
    """The names of the parameters of a class."""
    from ..core.parameters import names_of

    return set(names_of(class_))


def _given(learning: Learning) -> Parameters:
    """Parameters that were given, by their names in the class."""
    found = {name: getattr(learning, name) for name in _OWN if getattr(learning, name) is not None}
    if learning.readout is not None:
        found["readout"] = learning.readout
    if learning.probability:
        found["probability"] = True
    for text in learning.param or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Misuse(f"--param takes name=value; got {text!r}.")
        found[name] = value_of(value)
    for name in ("ngrams", *_OF_TEXT):
        if not learning.text and name not in ("bits", "hash_seed") and getattr(learning, name) is not None:
            raise Misuse(f"--{name} is for texts; give --text.")
    return found


def value_of(text: str) -> Any:
    """A parameter's value: none, true, false, a number, a list of them, or else a word.

    >>> value_of("0.5"), value_of("none"), value_of("true"), value_of("l2"), value_of("(1, 2)")
    (0.5, None, True, 'l2', (1, 2))
    """
    words = {"none": None, "null": None, "true": True, "false": False, "inf": float("inf")}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _made(class_: type, parameters: Parameters, seed: int) -> AnyLearner:
    """The learner; a parameter that it does not have is refused."""
    known = _parameters(class_)
    idle = _RUN_BY_US | (_OF_EPOCHS if hasattr(class_, "partial_fit") else set())
    useless = next((name for name in parameters if name in idle), None)
    if useless is not None:
        raise Misuse(f"--param {useless} has no meaning here; see --passes, --shuffle, --seed and --holdout.")
    if parameters.get("class_weight") == "balanced" and hasattr(class_, "partial_fit"):
        raise Misuse(
            "--param class_weight=balanced counts all rows, and a stream is read batch by batch: give "
            "class_weight=running, which counts the rows so far, or weights: \"class_weight={'spam': 2}\"."
        )
    if parameters.get("intercept_scaling") == "auto" and hasattr(class_, "partial_fit"):
        raise Misuse(
            "--param intercept_scaling=auto takes B from all rows, and a stream is read batch by batch: give "
            "a number, such as 0.3 times the length of a typical row."
        )
    strange = next((name for name in parameters if name not in known), None)
    if strange is not None:
        others = ", ".join(sorted(known - idle))
        raise Misuse(f"{class_.__name__} has no parameter {strange!r}; it has {others}.")
    if "random_state" in known:
        parameters = {"random_state": seed, **parameters}
    if isinstance(parameters.get("kernel"), str):
        parameters = {**parameters, "kernel": kernel_of(parameters["kernel"])}
    made: AnyLearner = class_(**parameters)
    return made


# ------------------------------------------------------------------- rules within other learners


def _text_learner(
    learning: Learning, named: Parameters, seed: int, encoding_errors: str | None
) -> AnyLearner:
    class_ = _class("TextClassifier")
    for option, name in _OF_TEXT.items():
        if getattr(learning, option) is not None:
            named[name] = getattr(learning, option)
    if learning.ngrams is not None:
        named["ngram_range"] = _range(learning.ngrams)
    if encoding_errors is not None:
        named["errors"] = encoding_errors
    return _with_rule(class_, learning, named, seed, "--text")


def _kernel_learner(learning: Learning, kernel: str, named: Parameters, seed: int) -> AnyLearner:
    named["kernel"] = kernel_of(kernel)
    if learning.rule in ("kernel-perceptron", "budget", "max-margin"):
        return _made(_class(RULES[learning.rule].class_name), named, seed)
    return _with_rule(_class("KernelClassifier"), learning, named, seed, "--kernel")


def _with_rule(class_: type, learning: Learning, named: Parameters, seed: int, option: str) -> AnyLearner:
    """A learner that takes any rule, with the rule of the class that ``--rule`` names."""
    from ..core import plan

    assert learning.rule is not None
    if learning.rule not in RULES:
        return _made(class_, {"rule": rules.named(learning.rule), **named}, seed)
    own = _class(RULES[learning.rule].class_name)
    if learning.rule not in _fitting(option):
        raise Misuse(f"{option} takes the rules {', '.join(_fitting(option))}; got --rule {learning.rule}.")
    here = _parameters(class_)
    of_rule = {name: value for name, value in named.items() if name not in here}
    source = _checked(_made(own, {**RULES[learning.rule].fixed, **of_rule}, seed))
    rest = {name: value for name, value in named.items() if name in here}
    taken = cast("FirstOrder | SecondOrderLearner", source)
    covariance = getattr(source, "covariance", None)
    if covariance is not None:
        if covariance != "diagonal":
            raise Misuse("--text keeps the diagonal of a covariance; drop covariance=full.")
        rest = {"readout": "last", **rest}
    if not plan.moves_two_classes(taken):
        raise Misuse(f"{option} moves the true class and its best rival only; drop {', '.join(of_rule)}.")
    if getattr(source, "gamma", None) == "auto":
        raise Misuse(f"--rule margin needs --gamma with {option}.")
    return _made(class_, {"rule": plan.rule(taken), **rest}, seed)


def _fitting(option: str) -> list[str]:
    """The rules that another learner takes."""
    families = ("first order", "confidence") if option == "--text" else ("first order",)
    rows = [row for row in rules.TABLE.values() if row.family in families]
    return [row.learner.command for row in rows if row.learner.command is not None]


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise Misuse(f"--ngrams takes a range such as 1-2; got {text!r}.") from None


# ---------------------------------------------------------------------------------------- kernels


def kernel_of(text: str) -> Kernel | str:
    """A kernel from its name, or written as in Python: ``Normalized(Polynomial(degree=2)) + Linear()``.

    >>> kernel_of("Gaussian(gamma=0.5)")
    Gaussian(gamma=0.5)
    """
    try:
        made: Kernel | str = _built(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError, ValueError, KeyError, MemoryError, RecursionError) as error:
        raise Misuse(f"--kernel takes a kernel such as 'Gaussian(gamma=0.1)'; got {text!r}.") from error
    return made


def _built(node: ast.expr) -> Any:
    """The value of an expression of kernels and constants; anything else is refused."""
    from perceptrons import kernels

    if isinstance(node, ast.Name):
        if node.id in kernels.NAMES:
            return node.id
        node = ast.Call(node, [], [])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        row = kernels.TABLE.get(node.func.id)
        own = kernels.registered().get(node.func.id)
        class_ = own if row is None else row.kernel if row.on_command_line else None
        if not isinstance(class_, type):
            raise ValueError(f"{node.func.id} is no kernel")
        values = [_built(part) for part in node.args]
        named = {str(part.arg): _built(part.value) for part in node.keywords}
        return class_(*values, **named)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
        left, right = _built(node.left), _built(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right
    return ast.literal_eval(node)
