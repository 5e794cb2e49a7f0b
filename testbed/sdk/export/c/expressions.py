"""Python expressions as C: arithmetic by Python's rules, calls, and what a flow, its path and its ACK have."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from testbed.base.fields import StateField
from testbed.compiled.layout import ACK, HOP, PATH
from testbed.compiled.source import CannotCompile
from testbed.sdk.export.c import terms
from testbed.sdk.export.c.library import MATH, TESTS, WHOLE, member
from testbed.sdk.export.c.terms import Kind, Term, binary, cast, common, literal

ARITHMETIC: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", terms.SUM), ast.Sub: ("-", terms.SUM), ast.Mult: ("*", terms.PRODUCT),
}  # fmt: skip
BITWISE: dict[type[ast.operator], str] = {
    ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
COMPARED: dict[type[ast.cmpop], tuple[str, int]] = {
    ast.Lt: ("<", terms.COMPARISON), ast.LtE: ("<=", terms.COMPARISON), ast.Gt: (">", terms.COMPARISON),
    ast.GtE: (">=", terms.COMPARISON), ast.Eq: ("==", terms.EQUALITY), ast.NotEq: ("!=", terms.EQUALITY),
}  # fmt: skip
CONVERTED: dict[str, Kind] = {"float": "double", "int": "int64_t", "bool": "bool"}
KINDS: dict[Any, Kind] = {"f": "double", "i": "int64_t", "b": "bool"}


@dataclass(frozen=True)
class Thing:
    """What is no number: ``what`` is self, config, path, ack, stack, hop, array or table; ``text`` names it in C."""

    what: str
    text: str
    value: Any = None  # a table; of an array its field


Value = Term | Thing


class Whole(Protocol):
    """The export that a function is a part of (functions.py)."""

    controller: Any
    form: type[Any]
    fields: dict[str, StateField]
    options: dict[str, Kind]
    choices: dict[str, tuple[str, ...]]
    helpers: set[str]
    skipped: list[CannotExport]

    def method(self, form: type, name: str) -> tuple[FunctionType, type | None]:
        """A method, and the class that it is of."""
        ...

    def called(
        self, caller: Expressions, node: ast.AST, function: FunctionType, own: type | None, given: list[Value]
    ) -> Value:
        """A call."""
        ...

    def named(self, name: str, value: float | int) -> Term:
        """A constant."""
        ...

    def table(self, name: str, array: NDArray[Any]) -> str:
        """An array that does not change."""
        ...

    def choice(self, option: str, text: str | None) -> str:
        """One of an option's texts."""
        ...


class Expressions:
    """Those of one function; names are looked up in ``local``."""

    def __init__(self, whole: Whole, function: FunctionType, own: type | None) -> None:
        self.whole, self.function, self.own = whole, function, own
        self.local: dict[str, Value] = {}
        self.numbers: set[str] = set()  # local names whose type is still unknown
        self.calls: list[str] = []  # keys of the functions that are called

    def refused(self, node: ast.AST, why: str) -> CannotCompile:
        """What to raise about what stands at ``node``."""
        line = getattr(node, "lineno", self.function.__code__.co_firstlineno)
        return CannotExport(self.function.__code__.co_filename, line, why)

    def term(self, node: ast.expr, kind: Kind | None = None) -> Term:
        """A number, of a type if that is given."""
        value = self.value(node)
        if not isinstance(value, Term):
            raise self.refused(node, f"{ast.unparse(node)} is no number")
        if kind == "int64_t" and value.kind == "double":
            self.whole.helpers.add("to_whole")
        return cast(value, kind) if kind else value

    def test(self, node: ast.expr) -> Term:
        """A condition."""
        return self.term(node, "bool")

    def value(self, node: ast.expr) -> Value:
        """Whatever it is. Raises CannotExport."""
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            raise self.refused(node, f"{ast.unparse(node)} has no form in C")
        found: Value = write(node)
        return found

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, bool | int | float):
            raise self.refused(node, f"{ast.unparse(node)} is no number")
        return literal(node.value)

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.local:
            return self.local[node.id]
        known = self.function.__globals__
        if node.id not in known:
            raise self.refused(node, f"'{node.id}' is not known here")
        value = known[node.id]
        if isinstance(value, bool | int | float):
            return self.whole.named(node.id, value)
        if isinstance(value, tuple | np.ndarray) and len(value):
            return Thing("table", self.whole.table(node.id, np.asarray(value)), np.asarray(value))
        raise self.refused(node, f"'{node.id}' is no number")

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id not in self.local:
            module = self.function.__globals__.get(node.value.id)
            given = getattr(module, node.attr, None)
            if isinstance(module, ModuleType) and isinstance(given, bool | int | float):
                return literal(given) if module is math else self.whole.named(node.attr, given)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            raise self.refused(node, f"{ast.unparse(node)} has no form in C")
        owner = self.value(node.value)
        if isinstance(owner, Thing):
            if owner.what == "table" and node.attr == "shape":
                return Thing("shape", "", owner.value.shape)
            found = getattr(self, f"_of_{owner.what}", lambda *_: None)(owner, node)
            if found is not None:
                return found  # type: ignore[no-any-return]
        raise self.refused(node, f"{ast.unparse(node)} has no form in C")

    def _of_self(self, me: Thing, node: ast.Attribute) -> Value | None:  # noqa: PLR0911 - each kind of attribute
        form, name = self.whole.form, node.attr
        if name in ("config", "path"):
            return Thing(name, f"{me.text}->{'options' if name == 'config' else name}")
        if field := self.whole.fields.get(name):
            if field.constant:
                array = np.asarray(getattr(self.whole.controller, name))
                return Thing("table", self.whole.table(name, array), array)
            text = f"{me.text}->{member(name)}"
            if field.length:
                return Thing("array", text, field)
            return Term(text, KINDS[np.dtype(field.kind).kind])
        given = inspect.getattr_static(form, name, None)
        if isinstance(given, property):
            return self.whole.called(self, node, *self.whole.method(form, name), [me])
        if isinstance(given, bool | int | float):
            return self.whole.named(name, given)
        return None

    def _of_config(self, config: Thing, node: ast.Attribute) -> Value | None:
        kind = self.whole.options.get(node.attr)
        return Term(f"{config.text}->{node.attr}", kind) if kind else None

    def _of_path(self, path: Thing, node: ast.Attribute) -> Value | None:
        return self._member(path, node.attr, PATH, ".")

    def _of_ack(self, ack: Thing, node: ast.Attribute) -> Value | None:
        return Thing("stack", ack.text) if node.attr == "int_stack" else self._member(ack, node.attr, ACK, "->")

    def _of_hop(self, hop: Thing, node: ast.Attribute) -> Value | None:
        return self._member(hop, node.attr, HOP, "" if hop.text.endswith(".") else "->")

    @staticmethod
    def _member(owner: Thing, name: str, layout: np.dtype[Any], arrow: str) -> Value | None:
        if name not in (layout.names or ()):
            return None
        return Term(f"{owner.text}{arrow}{name}", KINDS[layout[name].kind])

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        at = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(owner, Term):
            raise self.refused(node, f"{ast.unparse(node.value)} is no array")
        if owner.what == "shape":
            (index,) = at
            if isinstance(index, ast.Constant):
                return literal(int(owner.value[index.value]))
        if owner.what == "stack":
            return Thing("hop", f"{owner.text}->hops[{self._index(at[0]).text}].")
        if owner.what == "array":
            kind = KINDS[np.dtype(owner.value.kind).kind]
            return Term(f"{owner.text}[{self._index(at[0], owner.value.length).text}]", kind)
        if owner.what == "table" and len(at) == owner.value.ndim:
            sizes = zip(at, owner.value.shape, strict=True)
            places = "".join(f"[{self._index(one, size).text}]" for one, size in sizes)
            return Term(f"{owner.text}{places}", KINDS[owner.value.dtype.kind])
        raise self.refused(node, f"{ast.unparse(node)} has no form in C")

    def _index(self, node: ast.expr, size: int = 0) -> Term:
        at = self.term(node)
        if at.kind == "double":
            raise self.refused(node, "an index is a whole number; write int(...)")
        negative = at.number is not None and at.number < 0
        return literal(int(at.number or 0) + size) if negative and size else at

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.term(node.left), self.term(node.right)
        return self.combined(node, left, node.op, right)

    def combined(self, node: ast.AST, left: Term, op: ast.operator, right: Term) -> Term:
        """``left op right`` by Python's rules."""
        both = common([left.kind, right.kind]) or "int64_t"
        kind: Kind = "double" if both == "double" else "int64_t"
        folded = _folded(op, left, right)
        if folded is not None:
            return literal(folded)
        if type(op) in ARITHMETIC:
            sign, binds = ARITHMETIC[type(op)]
            return binary(cast(left, kind), sign, cast(right, kind), kind, binds)
        if isinstance(op, ast.Div):
            return binary(cast(left, "double"), "/", cast(right, "double"), "double", terms.PRODUCT)
        if isinstance(op, ast.Pow):
            if kind != "double":
                raise self.refused(node, "a power of whole numbers; write float(...)")
            return Term(f"pow({cast(left, 'double').text}, {cast(right, 'double').text})", "double")
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._divided(op, cast(left, kind), cast(right, kind), kind)
        if type(op) in BITWISE and kind == "int64_t":
            left, right = cast(left, kind), cast(right, kind)
            text = f"{left.within(terms.UNARY)} {BITWISE[type(op)]} {right.within(terms.UNARY)}"
            return Term(text, kind, terms.BITS)
        raise self.refused(node, "this operator has no form in C")

    def _divided(self, op: ast.operator, left: Term, right: Term, kind: Kind) -> Term:
        if kind == "double" and isinstance(op, ast.FloorDiv):
            return Term(f"floor({binary(left, '/', right, kind, terms.PRODUCT).text})", kind)
        name = "real_mod" if kind == "double" else "floor_div" if isinstance(op, ast.FloorDiv) else "floor_mod"
        return self._helped(name, kind, left, right)

    def _helped(self, name: str, kind: Kind, *operands: Term) -> Term:
        self.whole.helpers.add(name)
        return Term(f"{name}({', '.join(one.text for one in operands)})", kind)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Term(f"!{self.test(node.operand).within(terms.UNARY)}", "bool", terms.UNARY)
        term = self.term(node.operand)
        if term.kind == "bool":
            term = cast(term, "int64_t")
        if isinstance(node.op, ast.USub):
            if term.number is not None:
                return literal(-term.number)
            inner = term.within(terms.ATOM) if term.text.startswith("-") else term.within(terms.UNARY)
            return Term(f"-{inner}", term.kind, terms.UNARY)
        return Term(f"~{term.within(terms.UNARY)}", term.kind, terms.UNARY) if isinstance(node.op, ast.Invert) else term

    def _boolop(self, node: ast.BoolOp) -> Value:
        given = [self.term(one) for one in node.values]
        kind = common([one.kind for one in given])
        if kind == "bool":
            return self.all_or_any(node.op, given)
        last, assumed = cast(given[-1], kind or "double"), isinstance(node.op, ast.Or)
        for one in reversed(given[:-1]):
            value, condition = cast(one, kind or "double"), cast(one, "bool")
            yes, no = (value, last) if assumed else (last, value)
            last = self._choice(condition, yes, no)
        return last

    def all_or_any(self, op: ast.boolop, given: Sequence[Term]) -> Term:
        """Conditions as one."""
        sign, binds = ("&&", terms.AND) if isinstance(op, ast.And) else ("||", terms.OR)
        parts = [f"({one.text})" if one.binds in (terms.AND, terms.OR) and one.binds != binds else one.within(binds)
                 for one in given]  # fmt: skip
        return Term(f" {sign} ".join(parts), "bool", binds)

    def _compare(self, node: ast.Compare) -> Value:
        if text := self._chosen_text(node):
            return text
        given, parts = [self.term(one) for one in (node.left, *node.comparators)], []
        for left, op, right in zip(given[:-1], node.ops, given[1:], strict=True):
            if type(op) not in COMPARED:
                raise self.refused(node, f"{ast.unparse(node)} has no form in C")
            sign, binds = COMPARED[type(op)]
            kind = common([left.kind, right.kind]) or "double"
            sides = [cast(one, kind).within(terms.SHIFT) for one in (left, right)]
            parts.append(Term(f"{sides[0]} {sign} {sides[1]}", "bool", binds))
        return parts[0] if len(parts) == 1 else self.all_or_any(ast.And(), parts)

    def _chosen_text(self, node: ast.Compare) -> Term | None:
        """A choice among texts that is compared with some of them."""
        left, right = node.left, node.comparators[0]
        option, texts = (left, right) if isinstance(left, ast.Attribute) else (right, left)
        if not isinstance(option, ast.Attribute) or option.attr not in self.whole.choices or len(node.ops) > 1:
            return None
        if self.value(option.value) != Thing("config", self.value(option.value).text):
            return None
        term = self.term(option)
        each = texts.elts if isinstance(texts, ast.Tuple) else [texts]
        is_not = isinstance(node.ops[0], ast.NotEq | ast.NotIn)
        names = [self.whole.choice(option.attr, getattr(one, "value", None)) for one in each]
        sign = "!=" if is_not else "=="
        parts = [Term(f"{term.text} {sign} {name}", "bool", terms.EQUALITY) for name in names]
        return parts[0] if len(parts) == 1 else self.all_or_any(ast.And() if is_not else ast.Or(), parts)

    def _ifexp(self, node: ast.IfExp) -> Value:
        yes, no = self.term(node.body), self.term(node.orelse)
        kind = common([yes.kind, no.kind]) or "double"
        return self._choice(self.test(node.test), cast(yes, kind), cast(no, kind))

    @staticmethod
    def _choice(condition: Term, yes: Term, no: Term) -> Term:
        parts = [one.within(terms.OR) for one in (condition, yes, no)]
        return Term("{} ? {} : {}".format(*parts), yes.kind, terms.CHOICE)

    def _call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise self.refused(node, "arguments by name; give them by position")
        called = node.func
        if isinstance(called, ast.Attribute):
            if isinstance(called.value, ast.Name) and called.value.id not in self.local:
                module = self.function.__globals__.get(called.value.id)
                if module is math:
                    return self._math(node, called.attr)
                if module is np and called.attr == "float32":
                    return Term(
                        f"(double)(float){self.term(node.args[0], 'double').within(terms.UNARY)}", "double", terms.UNARY
                    )
                if isinstance(module, ModuleType) and isinstance(getattr(module, called.attr, None), FunctionType):
                    return self.whole.called(self, node, getattr(module, called.attr), None, self._arguments(node))
            return self._method(node, called)
        name = getattr(called, "id", "")
        if name in self.function.__globals__:
            function = self.function.__globals__[name]
            if isinstance(function, FunctionType):
                return self.whole.called(self, node, function, None, self._arguments(node))
        return self._builtin(node, name)

    def _arguments(self, node: ast.Call) -> list[Value]:
        return [self.value(one) for one in node.args]

    def _method(self, node: ast.Call, called: ast.Attribute) -> Value:
        form: type = self.whole.form
        if isinstance(called.value, ast.Call) and getattr(called.value.func, "id", "") == "super":
            mro = form.__mro__
            after = mro[mro.index(self.own or object) + 1 :]
            form = next((one for one in after if called.attr in vars(one)), object)
            me: Value = Thing("self", "flow")
        else:
            me = self.value(called.value)
        if not (isinstance(me, Thing) and me.what == "self" and callable(getattr(form, called.attr, None))):
            raise self.refused(node, f"{ast.unparse(node)} has no form in C")
        function, own = self.whole.method(form, called.attr)
        arguments = self._arguments(node)
        return self.whole.called(self, node, function, own, [me, *arguments] if own else arguments)

    def _math(self, node: ast.Call, name: str) -> Value:
        if name in MATH:
            given = ", ".join(self.term(one, "double").text for one in node.args)
            return Term(f"{MATH[name]}({given})", "double")
        given = self.term(node.args[0], "double").text
        if name in TESTS:
            return Term(f"{TESTS[name]}({given}) != 0", "bool", terms.EQUALITY)
        if name in WHOLE:
            return self._helped("to_whole", "int64_t", Term(f"{WHOLE[name]}({given})", "double"))
        raise self.refused(node, f"math.{name} has no form in C yet")

    def _builtin(self, node: ast.Call, name: str) -> Value:
        if name in ("min", "max") and len(node.args) > 1:
            given = [self.term(one) for one in node.args]
            kind: Kind = "double" if common([one.kind for one in given]) == "double" else "int64_t"
            helper = f"{name}_{'of' if kind == 'double' else 'whole'}"
            found = cast(given[0], kind)
            for one in given[1:]:
                found = self._helped(helper, kind, found, cast(one, kind))
            return found
        if name == "len":
            return self._length(node.args[0])
        if len(node.args) == 1 and name in CONVERTED:
            return self.term(node.args[0], CONVERTED[name])
        if len(node.args) == 1 and name == "round":
            return self._helped(
                "to_whole", "int64_t", Term(f"rint({self.term(node.args[0], 'double').text})", "double")
            )
        if len(node.args) == 1 and name == "abs":
            term = self.term(node.args[0])
            if term.kind == "double":
                return Term(f"fabs({term.text})", "double")
            return self._helped("max_whole", "int64_t", term, Term(f"-{term.within(terms.ATOM)}", "int64_t"))
        raise self.refused(node, f"{name}(...) has no form in C")

    def _length(self, node: ast.expr) -> Term:
        value = self.value(node)
        if isinstance(value, Thing) and value.what == "stack":
            return Term(f"{value.text}->hop_count", "int64_t")
        if isinstance(value, Thing) and value.what in ("array", "table", "shape"):
            return literal(value.value.length if value.what == "array" else len(value.value))
        raise self.refused(node, f"len({ast.unparse(node)}) has no form in C")


def _folded(op: ast.operator, left: Term, right: Term) -> float | int | None:
    """Of two literals, where C would reckon otherwise: whole numbers beyond an int, and powers."""
    if left.number is None or right.number is None:
        return None
    if isinstance(op, ast.Pow):
        return left.number**right.number
    reckon = {ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__}.get(type(op))
    both_whole = isinstance(left.number, int) and isinstance(right.number, int)
    if not reckon or not both_whole or abs(reckon(float(left.number), float(right.number))) < terms.LEAST_WIDE:
        return None
    return int(reckon(float(left.number), float(right.number)))


class CannotExport(CannotCompile):
    """Names file and line, and what has no form in C."""

    def __init__(self, file: str, line: int, why: str) -> None:
        self.file, self.line = file, line
        Exception.__init__(self, f"{file}, line {line}: cannot be written as C: {why}")
