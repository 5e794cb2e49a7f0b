"""Names, attributes and elements as C: what a flow, its path, its options and its ACK have."""

from __future__ import annotations

import ast
import inspect
import math
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from testbed.sdk.export.c.terms import Kind, Term, common
from testbed.sdk.export.c.whole import CannotExport, Thing, Value, Whole

KINDS: dict[Any, Kind] = {"f": "double", "i": "int64_t", "b": "bool"}


class Names:
    """Those of one function; local ones are looked up in ``local``."""

    def __init__(self, whole: Whole, function: FunctionType, own: type | None) -> None:
        self.whole, self.function, self.own = whole, function, own
        self.arithmetic = whole.arithmetic
        self.local: dict[str, Value] = {}
        self.calls: list[str] = []  # names of the functions that are called

    def refused(self, node: ast.AST, why: str) -> CannotExport:
        """What to raise about what stands at ``node``."""
        line = getattr(node, "lineno", self.function.__code__.co_firstlineno)
        return CannotExport(self.function.__code__.co_filename, line, why)

    def term(self, node: ast.expr, kind: Kind | None = None) -> Term:
        """A number, of a type if that is given."""
        value = self.value(node)
        if not isinstance(value, Term):
            raise self.refused(node, f"{ast.unparse(node)} is no number")
        return self.arithmetic.cast(value, kind) if kind else value

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
        return self.arithmetic.literal(node.value)

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
                return self.arithmetic.literal(given) if module is math else self.whole.named(node.attr, given)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            raise self.refused(node, f"{ast.unparse(node)} has no form in C")
        owner = self.value(node.value)
        if isinstance(owner, Thing):
            if owner.what == "table" and node.attr == "shape":
                return Thing("shape", "", owner.value.shape)
            found = self._of(owner, node)
            if found is not None:
                return found
        raise self.refused(node, f"{ast.unparse(node)} has no form in C")

    def _of(self, owner: Thing, node: ast.Attribute) -> Value | None:
        if owner.what == "self":
            return self._of_self(owner, node)
        if owner.what == "config":
            return self.whole.option(owner.text, node.attr)
        if owner.what == "ack" and node.attr == "int_stack":
            return Thing("stack", owner.text)
        return self.whole.told(owner.what, owner.text, node.attr)

    def _of_self(self, me: Thing, node: ast.Attribute) -> Value | None:
        form, name = self.whole.form, node.attr
        if name in ("config", "path"):
            return Thing(name, f"{me.text}->{'options' if name == 'config' else name}")
        if field := self.whole.fields.get(name):
            if field.constant:
                array = np.asarray(getattr(self.whole.controller, name))
                return Thing("table", self.whole.table(name, array), array)
            return self.whole.state(me.text, field, is_set=isinstance(node.ctx, ast.Store))
        given = inspect.getattr_static(form, name, None)
        if isinstance(given, property):
            return self.whole.called(self, node, *self.whole.method(form, name), [me])
        if isinstance(given, bool | int | float):
            return self.whole.named(name, given)
        return None

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        at = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(owner, Term):
            raise self.refused(node, f"{ast.unparse(node.value)} is no array")
        if owner.what == "shape":
            (index,) = at
            if isinstance(index, ast.Constant):
                return self.arithmetic.literal(int(owner.value[index.value]))
        if owner.what == "stack":
            return Thing("hop", f"{owner.text}->hops[{self._index(at[0]).text}].")
        if owner.what == "array":
            kind, name = KINDS[np.dtype(owner.value.kind).kind], owner.value.name
            text = f"{owner.text}[{self._index(at[0], owner.value.length).text}]"
            return Term(text, kind, origin=self.whole.origin(name))
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
        return self.arithmetic.literal(int(at.number or 0) + size) if negative and size else at


def either(one: Term, other: Term) -> str:
    """Where the number comes from that is one or the other."""
    return one.origin or other.origin


def same(terms: list[Term]) -> Kind:
    """The type that all fit into."""
    return common([one.kind for one in terms]) or "double"
