"""Pieces of branch-free source: what :mod:`.rules` writes a rule anew with."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...rules import RuleError, State

ROOM = 4  #: hyperparameters that a record may have
ARGUMENTS = ("m", "q", *State._fields, *(f"p{j}" for j in range(ROOM)))

LARGEST_POWER = 16
NAMES = re.compile(r"\b[cx]\d+\b")
ONE_ARGUMENT: dict[Any, str] = {
    abs: "abs",
    math.fabs: "abs",
    np.abs: "abs",
    math.sqrt: "sqrt",
    np.sqrt: "sqrt",
    math.exp: "exp",
    np.exp: "exp",
    math.log: "log",
    np.log: "log",
    math.floor: "floor",
    np.floor: "floor",
    float: "float",
    np.float64: "float",
}
FOLD: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "float": float,
}
ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
}
QUOTIENTS: dict[str, Callable[[float, float], float]] = {
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[float, float], bool]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}

# ---------------------------------------------------------------- what an expression turns into


@dataclass(frozen=True)
class Number:
    """The name of a float64 in the new source."""

    name: str


@dataclass(frozen=True)
class Truth:
    """The name of a boolean in the new source."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A number or boolean known while the rule is rewritten."""

    value: float


@dataclass(frozen=True)
class Pair:
    """A tuple of numbers; it exists only while the rule is rewritten."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Record:
    """The rule itself or the state: something that has fields."""

    fields: dict[str, Number]


@dataclass(frozen=True)
class Outside:
    """A module or a function."""

    value: Any


Value: TypeAlias = Number | Truth | Constant | Pair | Record | Outside
#: Rows that take a path; the constants are True and False.
Mask: TypeAlias = Truth | Constant

NOWHERE = Constant(False)
EVERYWHERE = Constant(True)


class Dialect(NamedTuple):
    """How one library writes what is not plain arithmetic."""

    call: str  #: prefix of its functions
    constant: Callable[[float], str]


def _spelled(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value}")'


TORCH = Dialect("torch.", lambda value: f"torch.tensor({_spelled(value)}, dtype=torch.float64)")
TRITON = Dialect("tl.", lambda value: f"tl.full((), {_spelled(value)}, tl.float64)")


# ---------------------------------------------------------------- the rewriting


class RuleWriter:
    """Collects single assignments, for one rule and one dialect."""

    def __init__(self, label: str, dialect: Dialect, guarded: bool):
        self.label = label
        self.dialect = dialect
        self.guarded = guarded  #: whether a division by 0 on a path that is taken makes the result NaN
        self.bad: Mask = NOWHERE
        self.constants: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self.origin: dict[str, tuple[Any, ...]] = {}  #: how a number was made, where `stops` needs that
        self.inlined: list[Callable[..., Any]] = []

    def refuse(self, what: str, node: ast.AST | None = None) -> RuleError:
        line = f" in line {node.lineno} of its source" if isinstance(node, ast.expr | ast.stmt) else ""
        return RuleError(
            f"rule {self.label!r} cannot run on this device: {what}{line}. Write it with assignments, if, "
            "return, arithmetic, comparisons, min, max, abs and sqrt alone, or use device='cpu'."
        )

    # ------------------------------------------------------------ pieces of new source

    def emit(self, text: str) -> str:
        name = f"x{len(self.lines)}"
        self.lines[name] = text
        return name

    def number_from(self, text: str, *origin: Any) -> Number:
        """A new number, and how it was made."""
        name = self.emit(text)
        self.origin[name] = origin
        return Number(name)

    def number(self, value: Value, node: ast.AST | None = None) -> str:
        """The name that holds this as a float64."""
        if isinstance(value, Number):
            return value.name
        if isinstance(value, Constant):
            text = self.dialect.constant(float(value.value))
            return self.constants.setdefault(text, f"c{len(self.constants)}")
        if isinstance(value, Truth):
            one, zero = self.number(Constant(1.0)), self.number(Constant(0.0))
            return self.emit(f"{self.dialect.call}where({value.name}, {one}, {zero})")
        raise self.refuse("a number is wanted where something else stands", node)

    def truth(self, value: Value, node: ast.AST | None = None) -> Mask:
        """This as a Truth, or as a Constant that is True or False."""
        if isinstance(value, Truth):
            return value
        if isinstance(value, Constant):
            return Constant(bool(value.value))
        return Truth(self.emit(f"{self.number(value, node)} != {self.number(Constant(0.0))}"))

    def both(self, a: Mask, b: Mask) -> Mask:
        if isinstance(a, Constant):
            return b if a.value else NOWHERE
        if isinstance(b, Constant):
            return a if b.value else NOWHERE
        return Truth(self.emit(f"{a.name} & {b.name}"))

    def either(self, a: Mask, b: Mask) -> Mask:
        if isinstance(a, Constant):
            return EVERYWHERE if a.value else b
        if isinstance(b, Constant):
            return EVERYWHERE if b.value else a
        return Truth(self.emit(f"{a.name} | {b.name}"))

    def opposite(self, a: Mask) -> Mask:
        return Constant(not a.value) if isinstance(a, Constant) else Truth(self.emit(f"~{a.name}"))

    def choose(self, where: Mask, a: Value, b: Value, node: ast.AST | None = None) -> Value:
        """a where the mask is set, b elsewhere."""
        if isinstance(where, Constant):
            return a if where.value else b
        if a == b:
            return a
        if isinstance(a, Pair) or isinstance(b, Pair):
            if not (isinstance(a, Pair) and isinstance(b, Pair) and len(a.items) == len(b.items)):
                raise self.refuse("a pair on one path and something else on another", node)
            return Pair(tuple(self.choose(where, c, d, node) for c, d in zip(a.items, b.items)))
        left, right = self.number(a, node), self.number(b, node)
        text = f"{self.dialect.call}where({where.name}, {left}, {right})"
        return self.number_from(text, "choice", where, a, b)

    # ------------------------------------------------------------ operations

    def divide(self, sign: str, a: Value, b: Value, where: Mask, node: ast.AST) -> Value:
        """a / b, a // b or a % b; the last two as Python does them."""
        if isinstance(a, Constant) and isinstance(b, Constant) and b.value != 0:
            return Constant(QUOTIENTS[sign](a.value, b.value))
        left, right = self.number(a, node), self.number(b, node)
        if self.guarded and not (isinstance(b, Constant) and b.value != 0):
            zero = Truth(self.emit(f"{right} == {self.number(Constant(0.0))}"))
            self.bad = self.either(self.bad, self.both(where, zero))
        quotient = self.number_from(f"{left} / {right}", "quotient", a, b)
        if sign == "/":
            return quotient
        whole = self.emit(f"{self.dialect.call}floor({quotient.name})")
        return Number(whole if sign == "//" else self.emit(f"{left} - {whole} * {right}"))

    def binary(self, op: ast.operator, a: Value, b: Value, where: Mask, node: ast.AST) -> Value:
        signs: dict[type[ast.operator], str] = {ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
        if type(op) in signs:
            return self.divide(signs[type(op)], a, b, where, node)
        if isinstance(op, ast.Pow):
            return self.power(a, b, where, node)
        if type(op) not in ARITHMETIC:
            raise self.refuse(f"the operator {type(op).__name__}", node)
        sign, fold = ARITHMETIC[type(op)]
        if isinstance(a, Constant) and isinstance(b, Constant):
            return Constant(fold(a.value, b.value))
        return Number(self.emit(f"{self.number(a, node)} {sign} {self.number(b, node)}"))

    def power(self, a: Value, b: Value, where: Mask, node: ast.AST) -> Value:
        if isinstance(a, Constant) and isinstance(b, Constant) and a.value > 0:
            return Constant(float(a.value) ** b.value)
        if isinstance(b, Constant) and b.value == 0.5:
            return self.apply("sqrt", a, node)
        if not (isinstance(b, Constant) and abs(b.value) <= LARGEST_POWER and b.value == int(b.value)):
            raise self.refuse("a power that is no small whole number", node)
        result: Value = Constant(1.0)
        for _ in range(abs(int(b.value))):
            result = a if result == Constant(1.0) else self.binary(ast.Mult(), result, a, where, node)
        return result if b.value >= 0 else self.divide("/", Constant(1.0), result, where, node)

    def apply(self, name: str, a: Value, node: ast.AST) -> Value:
        """A function of one number."""
        if isinstance(a, Constant):
            try:
                return Constant(FOLD[name](a.value))
            except (ValueError, OverflowError) as error:
                raise self.refuse(f"{name}({a.value}): {error}", node) from error
        text = self.number(a, node)
        return Number(text if name == "float" else self.emit(f"{self.dialect.call}{name}({text})"))

    def extreme(self, sign: str, values: list[Value], node: ast.AST) -> Value:
        """min or max as Python has it: a later one is taken only if it is truly smaller or larger."""
        best = values[0]
        for value in values[1:]:
            if isinstance(best, Constant) and isinstance(value, Constant):
                best = (min if sign == "<" else max)(best, value, key=operator.attrgetter("value"))
                continue
            better = Truth(self.emit(f"{self.number(value, node)} {sign} {self.number(best, node)}"))
            text = f"{self.dialect.call}where({better.name}, {self.number(value)}, {self.number(best)})"
            best = self.number_from(text, "one of", value, best)
        return best

    # ------------------------------------------------------------ the test alone

    def may_step(self, keep: Value, tau: Value) -> Mask:
        """A mask that holds every row where keep is not 1 or tau is not 0, NaN included."""
        return self.either(self.may_differ(keep, 1.0), self.may_differ(tau, 0.0))

    def may_differ(self, value: Value, other: float) -> Mask:
        if isinstance(value, Constant):
            return Constant(bool(value.value != other))
        match self.origin.get(getattr(value, "name", ""), ()):
            case ("choice", where, a, b):
                left, right = self.may_differ(a, other), self.may_differ(b, other)
                if left == right:
                    return left
                return self.either(self.both(where, left), self.both(self.opposite(where), right))
            case ("one of", a, b):
                return self.either(self.may_differ(a, other), self.may_differ(b, other))
            case ("quotient", a, b) if other == 0.0:
                above = self.may_differ(a, 0.0)
                if above == EVERYWHERE or (isinstance(b, Constant) and b.value != 0):
                    return above
                length = self.emit(f"{self.dialect.call}abs({self.number(b)})")
                below = Truth(self.emit(f"{length} > {self.number(Constant(0.0))}"))
                return self.either(above, self.opposite(below))
            case ("quotient", _, _):
                return EVERYWHERE
        return Truth(self.emit(f"{self.number(value)} != {self.number(Constant(other))}"))

    def function(self, name: str, results: list[str]) -> str:
        """The text of a function, without the lines that its results do not need."""
        needed = set(results)
        lines = []
        for left, right in reversed(self.lines.items()):
            if left in needed:
                needed.update(NAMES.findall(right))
                lines.append(f"{left} = {right}")
        constants = [f"{left} = {text}" for text, left in self.constants.items() if left in needed]
        head = f"def {name}({', '.join(ARGUMENTS)}):"
        return "\n    ".join([head, *constants, *reversed(lines), f"return {', '.join(results)}"]) + "\n"
