"""Calls as C: methods, functions, `math`, and what Python has built in."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from types import FunctionType, ModuleType

import numpy as np

from testbed.sdk.export.c.expressions import Expressions
from testbed.sdk.export.c.names import either, same
from testbed.sdk.export.c.terms import Kind, Term
from testbed.sdk.export.c.whole import Thing, Value

CONVERTED: dict[str, Kind] = {"float": "double", "int": "int64_t", "bool": "bool"}


class Calls(Expressions):
    """Those of one function."""

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
                    return self.arithmetic.single(self.term(node.args[0], "double"))
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
        found = self.arithmetic.function(name, [self.term(one) for one in node.args])
        if found is None:
            raise self.refused(node, f"math.{name} has no form in C yet")
        return found

    def _builtin(self, node: ast.Call, name: str) -> Value:
        if name in ("min", "max") and len(node.args) > 1:
            given = [self.term(one) for one in node.args]
            kind: Kind = "double" if same(given) == "double" else "int64_t"
            found = self.arithmetic.cast(given[0], kind)
            for one in given[1:]:
                least = self.arithmetic.extreme(name, found, self.arithmetic.cast(one, kind))
                found = replace(least, origin=either(found, one))
            return found
        if name == "len":
            return self._length(node.args[0])
        if len(node.args) == 1 and name in CONVERTED:
            return self.term(node.args[0], CONVERTED[name])
        if len(node.args) == 1 and name == "round":
            nearest = self.arithmetic.nearest(self.term(node.args[0], "double"))
            if nearest is not None:
                return nearest
        if len(node.args) == 1 and name == "abs":
            return self.arithmetic.absolute(self.term(node.args[0]))
        raise self.refused(node, f"{name}(...) has no form in C")

    def _length(self, node: ast.expr) -> Term:
        value = self.value(node)
        if isinstance(value, Thing) and value.what == "stack":
            return Term(f"{value.text}->hop_count", "int64_t")
        if isinstance(value, Thing) and value.what in ("array", "table", "shape"):
            return self.arithmetic.literal(value.value.length if value.what == "array" else len(value.value))
        raise self.refused(node, f"len({ast.unparse(node)}) has no form in C")
