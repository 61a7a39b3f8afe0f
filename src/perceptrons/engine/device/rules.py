"""A rule for many rows at once: its plain Python source, rewritten without branches.

A device computes with all rows of a block at once, so a rule has to return results for all of them, each on
its own path through the function. The source of the rule is parsed and written anew as a list of single
assignments: a branch becomes a mask, an early return a choice by that mask. What a path that was not taken
computes, a quotient by 0 or the root of a negative number, is dropped by the choice.

The new source is written once for torch and once for Triton, as two functions of the same arguments,
``(m, q, N, k, t, c, tol, p0, p1, p2, p3)``: numbers in float64, one per row or one for all. p0 to p3 are the
hyperparameters of the record in their order, so another value of C does not need another kernel.
``decide`` returns (keep, tau). ``stops`` returns False only where decide would return (1, 0), and need not
divide to find that out: it is called for all rows of a block, and ``decide`` for the first row that is True.

A rule may assign names, branch, and return a pair. It may use numbers, names of numbers outside the
function, arithmetic, comparisons, and/or/not, min, max, abs, sqrt, exp, log, floor and float, the fields
of the record and of the state, and the helpers of :mod:`perceptrons.rules`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import inspect
import linecache
import math
import numbers
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...rules import FIRST_ORDER, HELPERS, RuleError, State, UserRule
from .writer import (
    ARGUMENTS,
    COMPARISONS,
    EVERYWHERE,
    NOWHERE,
    ONE_ARGUMENT,
    ROOM,
    TORCH,
    TRITON,
    Constant,
    Dialect,
    Mask,
    Number,
    Outside,
    Pair,
    Record,
    RuleWriter,
    Truth,
    Value,
)

if TYPE_CHECKING:
    from ..._types import Record as RuleRecord


class _Function:
    """One function that is rewritten: a rule, or a helper that a rule calls."""

    def __init__(self, writer: RuleWriter, function: Callable[..., Any], arguments: list[Value]):
        self.writer = writer
        self.function = getattr(function, "py_func", function)  # it may be compiled already
        self.outer = _outer_names(self.function)
        self.names: dict[str, Value] = {}
        self.result: Value | None = None
        self.depth = 0  #: of branches; outside them all rows that are left take the same path
        self.body, parameters = self._source()
        self._bind(parameters, arguments)

    def _source(self) -> tuple[list[ast.stmt], ast.arguments]:
        """The statements and the parameters."""
        name = getattr(self.function, "__name__", "")
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(self.function)))
        except (OSError, TypeError, SyntaxError, ValueError) as error:
            raise self.writer.refuse("its source cannot be read") from error
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node.body, node.args
        lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
        if name != "<lambda>" or len(lambdas) != 1:
            raise self.writer.refuse("its source cannot be found")
        body = ast.copy_location(ast.Return(lambdas[0].body), lambdas[0].body)
        return [body], lambdas[0].args

    def _bind(self, parameters: ast.arguments, arguments: list[Value]) -> None:
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
            raise self.writer.refuse("parameters other than plain ones")
        names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        defaults = list(self.function.__defaults__ or ())
        missing = len(names) - len(arguments)
        if not 0 <= missing <= len(defaults):
            raise self.writer.refuse(f"it takes {len(names)} arguments, not {len(arguments)}")
        values = [*arguments, *(_known(value) for value in defaults[len(defaults) - missing :])]
        self.names.update(zip(names, values))

    def run(self, where: Mask) -> Value:
        """Write the body for the rows of a mask; the result of the function."""
        if self.block(self.body, where) != NOWHERE or self.result is None:
            raise self.writer.refuse("a path that ends without a return")
        return self.result

    # ------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt], where: Mask) -> Mask:
        """Write statements; the mask of the rows that come out at the end of them."""
        for statement in statements:
            if where == NOWHERE:
                break
            where = self.statement(statement, where)
        return where

    def statement(self, node: ast.stmt, where: Mask) -> Mask:
        match node:
            case ast.Return(value=value):
                if value is None:
                    raise self.writer.refuse("a return without a pair", node)
                result, before = self.expression(value, where), self.result
                self.result = result if before is None else self.writer.choose(where, result, before, node)
                return NOWHERE
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(test, body, orelse, where)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.expression(value, where), where)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.expression(value, where), where)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                old = self.name(name, node)
                new = self.writer.binary(op, old, self.expression(value, where), where, node)
                self.assign(target, new, where)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise self.writer.refuse(f"the statement {type(node).__name__}", node)
        return where

    def branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], where: Mask) -> Mask:
        writer = self.writer
        taken = writer.truth(self.expression(test, where), test)
        if isinstance(taken, Constant):
            return self.block(body if taken.value else orelse, where)
        self.depth += 1
        inside = self.block(body, writer.both(where, taken))
        outside = self.block(orelse, writer.both(where, writer.opposite(taken)))
        self.depth -= 1
        return writer.either(inside, outside)

    def assign(self, target: ast.expr, value: Value, where: Mask) -> None:
        match target:
            case ast.Name(id=name):
                if isinstance(value, Record | Outside):
                    raise self.writer.refuse("a name for something that is no number", target)
                if self.depth > 0:
                    old = self.names.get(name, Constant(math.nan))
                    if isinstance(value, Pair) and not isinstance(old, Pair):
                        old = Pair((Constant(math.nan),) * len(value.items))
                    value = self.writer.choose(where, value, old, target)
                self.names[name] = value
            case ast.Tuple(elts=targets):
                if not isinstance(value, Pair) or len(targets) != len(value.items):
                    raise self.writer.refuse("an assignment that does not fit its names", target)
                for one, item in zip(targets, value.items):
                    self.assign(one, item, where)
            case _:
                raise self.writer.refuse(f"an assignment to {ast.unparse(target)}", target)

    # ------------------------------------------------------------ expressions

    def expression(self, node: ast.expr, where: Mask) -> Value:
        writer = self.writer
        match node:
            case ast.Constant(value=bool() | int() | float() as known):
                return Constant(known)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.Attribute(value=value, attr=attribute):
                return self.attribute(self.expression(value, where), attribute, node)
            case ast.Tuple(elts=elements):
                return Pair(tuple(self.expression(element, where) for element in elements))
            case ast.BinOp(left=left, op=op, right=right):
                a = self.expression(left, where)
                return writer.binary(op, a, self.expression(right, where), where, node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return writer.opposite(writer.truth(self.expression(operand, where), node))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self.expression(operand, where)
                if isinstance(number, Constant):
                    return Constant(-number.value)
                return Number(writer.emit(f"-{writer.number(number, node)}"))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return writer.apply("float", self.expression(operand, where), node)
            case ast.BoolOp(op=op, values=values):
                return self.connective(isinstance(op, ast.And), values, where)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.comparison(left, ops, comparators, where, node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                taken = writer.truth(self.expression(test, where), test)
                if isinstance(taken, Constant):
                    return self.expression(body if taken.value else orelse, where)
                a = self.expression(body, writer.both(where, taken))
                b = self.expression(orelse, writer.both(where, writer.opposite(taken)))
                return writer.choose(taken, a, b, node)
            case ast.Call(func=called, args=args, keywords=keywords):
                return self.call(called, args, keywords, where, node)
            case _:
                raise writer.refuse(f"the expression {ast.unparse(node)}", node)

    def name(self, name: str, node: ast.AST) -> Value:
        if name in self.names:
            return self.names[name]
        if name in self.outer:
            return _known(self.outer[name])
        raise self.writer.refuse(f"the name {name!r}, which has no value", node)

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        if isinstance(value, Record) and name in value.fields:
            return value.fields[name]
        if isinstance(value, Outside) and inspect.ismodule(value.value) and hasattr(value.value, name):
            return _known(getattr(value.value, name))
        raise self.writer.refuse(f"the attribute {name!r}", node)

    def connective(self, conjunction: bool, values: list[ast.expr], where: Mask) -> Value:
        """and, or: operands after the one where Python would stop are not evaluated."""
        writer = self.writer
        result = self.expression(values[0], where)
        for node in values[1:]:
            left = writer.truth(result, node)
            on = left if conjunction else writer.opposite(left)
            if on == NOWHERE:
                break
            value = self.expression(node, writer.both(where, on))
            if on == EVERYWHERE:
                result = value
            elif isinstance(result, Truth) and isinstance(value, Truth):
                result = (writer.both if conjunction else writer.either)(result, value)
            else:  # Python returns one of the operands
                result = writer.choose(on, value, result, node)
        return result

    def comparison(
        self, left: ast.expr, ops: list[ast.cmpop], right: list[ast.expr], where: Mask, node: ast.expr
    ) -> Value:
        writer = self.writer
        result: Mask = EVERYWHERE
        a = self.expression(left, where)
        for op, other in zip(ops, right):
            if type(op) not in COMPARISONS:
                raise writer.refuse(f"the comparison {ast.unparse(node)}", node)
            sign, fold = COMPARISONS[type(op)]
            b = self.expression(other, writer.both(where, result))
            if isinstance(a, Constant) and isinstance(b, Constant):
                this: Mask = Constant(bool(fold(a.value, b.value)))
            else:
                this = Truth(writer.emit(f"{writer.number(a, node)} {sign} {writer.number(b, node)}"))
            result = writer.both(result, this)
            a = b
        return result

    def call(
        self, called: ast.expr, args: list[ast.expr], keywords: list[ast.keyword], where: Mask, node: ast.expr
    ) -> Value:
        writer = self.writer
        target = self.expression(called, where)
        function = target.value if isinstance(target, Outside) else None
        values = [self.expression(arg, where) for arg in args if not isinstance(arg, ast.Starred)]
        if not keywords and len(values) == len(args):
            if function in HELPERS and function not in writer.inlined:
                writer.inlined.append(function)
                result = _Function(writer, function, values).run(where)
                writer.inlined.pop()
                return result
            if function in (min, max) and len(values) > 1:
                return writer.extreme("<" if function is min else ">", values, node)
            if _is_listed(function) and len(values) == 1:
                return writer.apply(ONE_ARGUMENT[function], values[0], node)
        raise writer.refuse(f"the call {ast.unparse(node)}", node)


def _is_listed(function: object) -> bool:
    return function.__hash__ is not None and function in ONE_ARGUMENT


def _known(value: object) -> Value:
    """A value from outside the function."""
    if isinstance(value, numbers.Real):
        return Constant(int(value) if isinstance(value, numbers.Integral) else float(value))
    if isinstance(value, tuple) and all(isinstance(item, numbers.Real) for item in value):
        return Pair(tuple(_known(item) for item in value))
    return Outside(value)


def _outer_names(function: Callable[..., Any]) -> dict[str, Any]:
    """Every name from outside that a function can use."""
    names = {**vars(builtins), **getattr(function, "__globals__", {})}
    cells = zip(
        getattr(getattr(function, "__code__", None), "co_freevars", ()),
        getattr(function, "__closure__", None) or (),
    )
    for name, cell in cells:
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return names


# ---------------------------------------------------------------- what the engine calls


def _check(rule: object) -> None:
    if not isinstance(rule, UserRule) and type(rule) not in FIRST_ORDER:
        raise RuleError(
            f"rule must be a record of perceptrons.rules or a function under @rules.rule; got {rule!r}."
        )


def hyperparameters(rule: RuleRecord | UserRule) -> tuple[float, ...]:
    """The values of p0 to p3."""
    _check(rule)
    values = () if isinstance(rule, UserRule) else tuple(float(value) for value in rule)
    return (*values, *(0.0,) * (ROOM - len(values)))


class Text(NamedTuple):
    """The new source."""

    decide: str
    stops: str


class Functions(NamedTuple):
    """The new source, compiled."""

    decide: Callable[..., Any]
    stops: Callable[..., Any]


def text(rule: RuleRecord | UserRule, dialect: Dialect) -> Text:
    """The branch-free functions of a rule, as text."""
    _check(rule)
    if isinstance(rule, UserRule):
        return _user_text(rule, dialect)
    return _record_text(type(rule), dialect)


@functools.lru_cache(maxsize=128)
def _user_text(rule: UserRule, dialect: Dialect) -> Text:
    return _rewrite(rule.__name__, rule.function, None, dialect)


@functools.lru_cache(maxsize=128)
def _record_text(record: Any, dialect: Dialect) -> Text:
    return _rewrite(record.__name__, FIRST_ORDER[record], record._fields, dialect)


def _rewrite(
    label: str, function: Callable[..., Any], fields: tuple[str, ...] | None, dialect: Dialect
) -> Text:
    writer = RuleWriter(label, dialect, guarded=fields is None)
    if fields is not None and len(fields) > ROOM:
        raise writer.refuse(f"{len(fields)} hyperparameters; there is room for {ROOM}")
    known = {name: Number(name) for name in ARGUMENTS}
    arguments: list[Value] = [known["m"], known["q"], Record({name: known[name] for name in State._fields})]
    if fields is not None:
        arguments.insert(0, Record({name: known[f"p{j}"] for j, name in enumerate(fields)}))
    result = _Function(writer, function, arguments).run(EVERYWHERE)
    if not isinstance(result, Pair) or len(result.items) != 2:
        raise writer.refuse("a result that is no pair (keep, tau)")
    result = writer.choose(writer.bad, Pair((Constant(math.nan),) * 2), result)
    assert isinstance(result, Pair)
    decide = writer.function("decide", [writer.number(item) for item in result.items])
    mask = writer.may_step(*result.items)
    if isinstance(mask, Constant):
        mask = Truth(writer.emit("m == m" if mask.value else "m != m"))
    return Text(decide, writer.function("stops", [mask.name]))


def for_torch(rule: RuleRecord | UserRule) -> Functions:
    """The functions of a rule for torch tensors."""
    return _for_torch(text(rule, TORCH))


@functools.lru_cache(maxsize=128)
def _for_torch(text: Text) -> Functions:
    import torch

    return Functions(*(_function(name, one, {"torch": torch}) for name, one in text._asdict().items()))


def for_triton(rule: RuleRecord | UserRule) -> Functions:
    """The functions of a rule that Triton kernels can call."""
    return _for_triton(text(rule, TRITON))


@functools.lru_cache(maxsize=128)
def _for_triton(text: Text) -> Functions:
    import triton  # type: ignore[import-not-found, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]

    return Functions(*(triton.jit(_function(name, one, {"tl": tl})) for name, one in text._asdict().items()))


def _function(name: str, text: str, names: dict[str, Any]) -> Any:
    """The function of a text; :mod:`inspect` finds its source again, which Triton needs."""
    filename = f"<rule {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {"__name__": __name__, **names}
    exec(compile(text, filename, "exec"), names)
    return names[name]
