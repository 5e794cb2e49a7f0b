"""From a controller class to plain functions: what numba cannot know of a class is written out.

``self.cut(now)`` becomes a call of a function of the record, a text compared with an option becomes the option's
number, an array becomes a constant. What cannot be compiled is refused here, with its file and line; the rest is
numba's. Line numbers stay those of the author's file.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from testbed.base.fields import Stateful, unknown
from testbed.compiled.events import CREDITS, interface_of
from testbed.compiled.layout import PLACE, place_of
from testbed.compiled.options import choices, numbers
from testbed.errors import BadInput, nearest

WHOLE = "_whole_number"  # a function that takes whole numbers only
POWER = "_power"  # ``**``
REFUSED: dict[tuple[type[ast.AST], ...], str] = {
    (ast.Lambda,): "a lambda; write a function of the module",
    (ast.Try,): "try; test for what can go wrong instead",
    (ast.With,): "with; do this in __init__",
    (ast.Import, ast.ImportFrom): "an import; write it at the top of the file",
    (ast.Global, ast.Nonlocal): "a variable of the module is changed; declare state in the class",
    (ast.List, ast.Dict, ast.Set): "a list, dict or set; declare an array in the class, or write a tuple",
    (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp): "a comprehension; write a loop",
    (ast.JoinedStr,): "a text with values in it; say it without them",
    (ast.NamedExpr,): "an assignment inside of an expression; give it a line of its own",
    (ast.Yield, ast.YieldFrom, ast.Await): "a generator; callbacks return",
}
KEPT = "_translation"  # in a class: the last one of it


@dataclass
class Translated:
    """A function for numba."""

    name: str
    code: CodeType
    globals: dict[str, Any]
    defaults: tuple[Any, ...] | None  # of its last arguments
    calls: dict[str, str] = field(default_factory=dict)  # global names in it, and which translated function each is


class Translation:
    """The functions that the events of a controller or path chooser need, by name. Raises BadInput."""

    def __init__(self, controller: Stateful) -> None:
        self.controller, self.form = controller, type(controller)
        self.fields = self.form.fields()
        self.options, self.texts = numbers(controller.config), choices(type(controller.config))
        self.functions: dict[str, Translated] = {}
        self.attributes: dict[str, tuple[str, int]] = {}  # where each was seen first
        self.places: dict[int, tuple[str, int]] = {}  # file and line of statements that may raise, or decide
        self._names: dict[FunctionType, str] = {}
        self._read = hashlib.sha256()
        self._found: list[tuple[Callable[[Stateful], object], object]] = []  # how to look again, and what was there
        self.interface = interface_of(self.form)
        self.events = self._events()
        for event in self.events:
            self.method(self.form, event)

    def _events(self) -> list[str]:
        """Which it does not leave to the base."""
        form, base = self.form, self.interface.base
        return [one for one in self.interface.names if getattr(form, one) is not getattr(base, one)]

    def holds_for(self, controller: Stateful) -> bool:
        """Whether one of the same class would have the same: nobody has changed what was read since."""
        return (
            type(controller.config) is type(self.controller.config)
            and numbers(controller.config).keys() == self.options.keys()
            and self._events() == self.events
            and all(_shown(look(controller)) == shown for look, shown in self._found)
        )

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the first callback: where an error is if nobody knows better."""
        code = inspect.unwrap(getattr(self.form, self.events[0])).__code__
        return code.co_filename, code.co_firstlineno

    @property
    def digest(self) -> str:
        """SHA-256 of everything that was read."""
        return self._read.hexdigest()

    def method(self, form: type, name: str) -> str:
        """Translate a method as ``form`` has it; returns the name of the function."""
        own, given = _lookup(form, name)
        self._found.append((lambda _: _lookup(form, name)[1], given))
        function: Any = given.fget if isinstance(given, property) else getattr(given, "__func__", given)
        static = isinstance(given, staticmethod)
        return self.function(inspect.unwrap(function), f"{own.__name__}__{name}", None if static else own)

    def function(self, function: FunctionType, name: str, own: type | None = None) -> str:
        """Translate a function, a method of ``own`` if that is given; returns its name, once per function."""
        if function in self._names:
            return self._names[function]
        while name in self.functions:
            name += "_"
        self._names[function] = name
        source = self._source(function)
        told = self.functions[name] = Translated(
            name, function.__code__, dict(function.__globals__), function.__defaults__
        )
        code = function.__code__
        self._read.update(f"{name}\0{source}\0{code.co_firstlineno}\0".encode())  # the line, as errors say it
        tree = ast.parse(textwrap.dedent(source))
        ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
        (body,) = tree.body
        assert isinstance(body, ast.FunctionDef)
        written = ast.fix_missing_locations(_Writer(self, told, function, own).visit(body))
        written.name = name
        module = compile(ast.Module([written], []), function.__code__.co_filename, "exec", dont_inherit=True)
        told.code = next(one for one in module.co_consts if isinstance(one, CodeType))
        return name

    def read(self, name: str, look: Callable[[Stateful], Any]) -> Any:
        """What is compiled in, a constant or a function; ``look`` finds it again."""
        value = look(self.controller)
        shown = _shown(value)
        self._found.append((look, shown))
        if isinstance(shown, bytes):
            self._read.update(f"{name}\0".encode() + shown)
        return value

    def _source(self, function: FunctionType) -> str:
        try:
            return inspect.getsource(function)
        except OSError as error:
            raise BadInput(f"the source of {function.__qualname__} cannot be read, so it cannot be compiled") from error


def translated(controller: Stateful) -> Translation:
    """Its translation, or the last one of its class where that still holds. Raises BadInput."""
    form = type(controller)
    last: Translation | None = vars(form).get(KEPT)
    if last is None or not last.holds_for(controller):
        last = Translation(controller)
        setattr(form, KEPT, last)
    return last


def _lookup(form: type, name: str) -> tuple[type, Any]:
    """Which class of ``form`` has it, and what it is."""
    own = next(one for one in form.__mro__ if name in vars(one))
    return own, vars(own)[name]


def _shown(value: object) -> object:
    """What to compare, and to read if it is bytes: constants by their value, functions by what they are."""
    if isinstance(value, FunctionType | property | staticmethod | classmethod):
        return value
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()


class _Writer(ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, whole: Translation, told: Translated, function: FunctionType, own: type | None) -> None:
        self.whole, self.told, self.function, self.own = whole, told, function, own
        arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
        self.me = arguments[0] if own and arguments else None
        self.local = set(function.__code__.co_varnames)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name != self.function.__name__:
            raise self.refused(node, "a function inside of a function; move it out")
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            raise self.refused(node, "arguments with * or **; name all of them")
        node.decorator_list, node.returns = [], None
        for one in (*node.args.posonlyargs, *node.args.args):
            one.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        assigned: ast.AST = self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))
        return assigned

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) == "math.pow":
            node.func = ast.copy_location(ast.Name(POWER, ast.Load()), node.func)
            node.args[0] = ast.copy_location(ast.Call(ast.Name("float", ast.Load()), [node.args[0]], []), node)
        name, arguments = None, [self.visit(one) for one in node.args]
        if isinstance(node.func, ast.Attribute):
            name = self._method(node.func)
            if name and not isinstance(inspect.getattr_static(self.whole.form, node.func.attr), staticmethod):
                arguments.insert(0, ast.Name(str(self.me), ast.Load()))
        if name is None:
            node.func = self.visit(node.func)
        else:
            node.func = ast.copy_location(ast.Name(name, ast.Load()), node.func)
        node.args = arguments
        node.keywords = [self.visit(one) for one in node.keywords]
        return node

    def _method(self, called: ast.Attribute) -> str | None:
        """The function behind ``self.name`` or ``super().name``; None if it is something else."""
        form: type | None = None
        if isinstance(called.value, ast.Name) and called.value.id == self.me:
            form = self.whole.form
        elif isinstance(called.value, ast.Call) and getattr(called.value.func, "id", "") == "super":
            mro = self.whole.form.__mro__
            form = next(one for one in mro[mro.index(self.own or object) + 1 :] if called.attr in vars(one))
        if form is None or not callable(getattr(form, called.attr, None)):
            return None
        name = self.whole.method(form, called.attr)
        self.told.calls[name] = name
        return name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = self.function.__globals__
        if isinstance(node.ctx, ast.Load) and node.id not in self.local and node.id in known:
            if not inspect.ismodule(known[node.id]):
                name = node.id
                value = self.whole.read(name, lambda _: known.get(name))
                if isinstance(value, FunctionType):
                    self.told.calls[node.id] = self.whole.function(value, node.id)
        elif (
            isinstance(node.ctx, ast.Load)
            and node.id not in self.local
            and not hasattr(builtins, node.id)
            and node.id not in (WHOLE, POWER)
        ):
            raise self.refused(node, f"name '{node.id}' is not defined")
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        left, right = node.left, node.comparators[0]
        option, text = (left, right) if isinstance(left, ast.Attribute) else (right, left)
        if isinstance(option, ast.Attribute) and (allowed := self.whole.texts.get(option.attr)):
            for one in text.elts if isinstance(text, ast.Tuple) else [text]:
                if not isinstance(one, ast.Constant) or one.value not in allowed:
                    hint = nearest(ast.unparse(one), list(allowed))
                    raise self.refused(node, f"option '{option.attr}' is compared with {ast.unparse(one)}; {hint}")
                one.value = allowed.index(one.value)
            option.value = self.visit(option.value)
            return node
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.whole.attributes.setdefault(node.attr, (self.function.__code__.co_filename, node.lineno))
        form, me = self.whole.form, isinstance(node.value, ast.Name) and node.value.id == self.me
        inner = node.value
        if isinstance(inner, ast.Attribute) and getattr(inner.value, "id", "") == self.me:
            if inner.attr in ("config", "path") and not isinstance(node.ctx, ast.Load):
                raise self.refused(node, f"{inner.attr} is changed; keep what changes in the state")
            if inner.attr == "config":
                self._option(node)
        if isinstance(node.ctx, ast.Store) and not me and self.whole.interface is not CREDITS:  # whose hosts have state
            raise self.refused(node, f"{ast.unparse(node)} is changed; a callback sets only what its class declares")
        if node.attr == "int_stack" and isinstance(inner, ast.Name) and not me and self.whole.interface is not CREDITS:
            hops, count = (ast.Attribute(inner, name, ast.Load()) for name in ("hops", "hop_count"))  # as in decide.h
            stack = ast.copy_location(ast.Subscript(hops, ast.Slice(upper=count), node.ctx), node)
            return self.generic_visit(ast.fix_missing_locations(stack))
        if not me or node.attr in ("config", "path"):
            return self.generic_visit(node)
        found = self.whole.fields.get(node.attr)
        if found and found.constant:
            name = f"{form.__name__}__{node.attr}"
            if name not in self.told.globals:
                attribute = node.attr
                self.told.globals[name] = self.whole.read(
                    name, lambda one: np.ascontiguousarray(getattr(one, attribute))
                )
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        if found:
            if found.length and not isinstance(node.ctx, ast.Load):
                raise self.refused(node, f"an array as a whole; set its items: self.{node.attr}[i] = ...")
            return node
        given = inspect.getattr_static(form, node.attr, None)
        if isinstance(given, property):
            name = self.whole.method(form, node.attr)
            self.told.calls[name] = name
            return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [node.value], []), node)
        if isinstance(given, float | int) and isinstance(node.ctx, ast.Load):
            attribute = node.attr
            self.whole.read(attribute, lambda _: inspect.getattr_static(form, attribute, None))
            return ast.copy_location(ast.Constant(given), node)
        raise self.refused(node, unknown(form, node.attr, self.whole.fields))

    def _option(self, node: ast.Attribute) -> None:
        option, config = node.attr, self.whole.controller.config
        if option in self.whole.texts:
            allowed = ", ".join(self.whole.texts[option])
            raise self.refused(node, f"option '{option}' is a text: all it can be is compared with one of {allowed}")
        if option in self.whole.options:
            return
        known = list(type(config).model_fields)
        if option in known:
            raise self.refused(node, f"option '{option}' is no number: read it in __init__")
        raise self.refused(node, f"there is no option '{option}'; {nearest(option, known)}")

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if any(self._is_whole(target) for target in node.targets):
            node.value = ast.Call(ast.Name(WHOLE, ast.Load()), [node.value], [])
        for target in node.targets:
            if isinstance(target, ast.Tuple) and any(self._is_whole(one) for one in target.elts):
                raise self.refused(node, "several targets, one of them declared int; give it a line of its own")
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.op, ast.Pow):
            raise self.refused(node, "**=; write x = x ** y")
        if self._is_whole(node.target):
            loaded = ast.parse(ast.unparse(node.target), mode="eval").body
            value = ast.copy_location(ast.BinOp(ast.copy_location(loaded, node), node.op, node.value), node)
            assigned: ast.AST = self.visit(ast.copy_location(ast.Assign([node.target], value), node))
            return assigned
        return self.generic_visit(node)

    def _is_whole(self, target: ast.expr) -> bool:
        """Whether it is an attribute that holds whole numbers, which would be cut from others without a word."""
        if not isinstance(target, ast.Attribute) or getattr(target.value, "id", None) != self.me:
            return False
        found = self.whole.fields.get(target.attr)
        return found is not None and found.kind is not float and not found.length

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A power is libm's, as Python's: numba multiplies instead where the exponent is a whole number."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.copy_location(ast.Call(ast.Name(POWER, ast.Load()), [node.left, node.right], []), node)

    def visit(self, node: ast.AST) -> Any:
        """Refuse what has no form in machine code; what is left may still be refused by numba."""
        for kinds, instead in REFUSED.items():
            if isinstance(node, kinds):
                raise self.refused(node, instead)
        before = [self._mark(node, PLACE)] if self.me and _may_raise(node) else []
        after = [self._mark(node, place_of(name)) for name in self._decided(node)]
        written = super().visit(node)
        if not before and not after:
            return written
        return [*before, *(written if isinstance(written, list) else [written]), *after]

    def _decided(self, node: ast.AST) -> list[str]:
        """What of the decision a statement sets."""
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found = [part for one in targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
        return [
            one.attr
            for one in found
            if isinstance(one, ast.Attribute) and getattr(one.value, "id", None) == self.me
            and one.attr in self.whole.interface.decided
        ]  # fmt: skip

    def _mark(self, node: ast.AST, column: str) -> ast.stmt:
        """Remember this statement: numba does not say where it divided by zero, nor C who set what is impossible."""
        places = self.whole.places
        places[len(places) + 1] = (self.function.__code__.co_filename, node.lineno)  # type: ignore[attr-defined]
        target = ast.Attribute(ast.Name(str(self.me), ast.Load()), column, ast.Store())
        return ast.copy_location(ast.Assign([target], ast.Constant(len(places))), node)

    def refused(self, node: ast.AST, why: str) -> CannotCompile:
        """What to raise about what stands at ``node``."""
        line = getattr(node, "lineno", self.function.__code__.co_firstlineno)
        return CannotCompile(self.function.__code__.co_filename, line, why)


def _may_raise(node: ast.AST) -> bool:
    """Whether a statement itself, not one inside of it, divides, looks into an array, or calls what may."""
    if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef):
        return False
    head = getattr(node, "test", getattr(node, "iter", node))
    return any(isinstance(one, ast.Div | ast.FloorDiv | ast.Mod | ast.Subscript | ast.Call) for one in ast.walk(head))


class CannotCompile(BadInput):
    """Names file and line, and what to write instead."""

    def __init__(self, file: str, line: int, why: str) -> None:
        self.file, self.line = file, line
        escape = "or set compiled = False in the class, and Python runs it as it is"
        super().__init__(f"{file}, line {line}: cannot be compiled: {why} ({escape})")
