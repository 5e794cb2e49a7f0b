"""The functions of an export: each method and function that the callbacks need, once per types of its arguments."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.fields import StateField
from testbed.compiled.events import EVENTS
from testbed.compiled.layout import ACK, HOP, PATH
from testbed.compiled.options import choices
from testbed.controller import CompiledController
from testbed.errors import nearest
from testbed.plugin import PluginConfig
from testbed.sdk.export.c.arithmetic import Doubles
from testbed.sdk.export.c.library import member
from testbed.sdk.export.c.names import KINDS
from testbed.sdk.export.c.statements import Statements
from testbed.sdk.export.c.terms import Kind, Term, literal
from testbed.sdk.export.c.whole import CannotExport, Thing, Value, Writer

ANNOTATED: dict[str, Kind] = {"float": "double", "int": "int64_t", "bool": "bool"}
PASSED = {"self": "struct cc_flow *", "ack": "const struct cc_ack *", "stack": "const struct cc_ack *"}
Key = tuple[FunctionType, tuple[str, ...]]


@dataclass
class Function:
    """One function in C."""

    name: str
    comment: str
    kind: Kind | None
    returns: str  # the same in C
    parameters: str
    lines: list[str]
    calls: list[str]  # names

    @property
    def text(self) -> str:
        """All of it."""
        head = f"static {self.returns} {self.name}({self.parameters})"
        return "\n".join([*([self.comment] if self.comment else []), head, "{", *self.lines, "}"])


@dataclass
class Functions:
    """All that is written about one controller."""

    controller: CompiledController
    prefix: str
    arithmetic: Doubles = field(default_factory=Doubles)
    constants: dict[str, Term] = field(default_factory=dict)  # by their names in C
    tables: dict[str, NDArray[Any]] = field(default_factory=dict)
    skipped: list[CannotExport] = field(default_factory=list)  # statements of __init__

    def __post_init__(self) -> None:
        self.form = type(self.controller)
        self.fields = self.form.fields()
        self.options = dict(option_kinds(type(self.controller.config)))
        self.choices = choices(type(self.controller.config))
        self.made: dict[Key, Function | None] = {}  # None: it is being made
        self.names: dict[str, Function] = {}
        self.taken = {f"{self.prefix}_{event}" for event in (*EVENTS, "set_up", "starts")}

    def method(self, form: type, name: str) -> tuple[FunctionType, type | None]:
        """A method as ``form`` has it, and the class that it is of; None if it has no self."""
        own = next(one for one in form.__mro__ if name in vars(one))
        given = vars(own)[name]
        function: Any = given.fget if isinstance(given, property) else getattr(given, "__func__", given)
        return inspect.unwrap(function), None if isinstance(given, staticmethod) else own

    def called(
        self, caller: Writer, node: ast.AST, function: FunctionType, own: type | None, given: list[Value]
    ) -> Value:
        """A call as C; the function is written if it is not yet."""
        arguments = self._arguments(caller, node, function, given)
        made = self.function(function, own, arguments, caller, node)
        caller.calls.append(made.name)
        for name, one in zip(_parameters(function), arguments, strict=True):
            if isinstance(one, Term):
                self.origin(f"{function.__qualname__}.{name}", one.origin)
        text = f"{made.name}({', '.join(one.text for one in arguments)})"
        origin = self.origin(f"{function.__qualname__}.return")
        return Term(text, made.kind, origin=origin) if made.kind else Thing("nothing", text)

    def _arguments(self, caller: Writer, node: ast.AST, function: FunctionType, given: list[Value]) -> list[Value]:
        names, told = _parameters(function), function.__annotations__
        defaults = (function.__defaults__ or ())[len(given) - len(names) :] if len(given) < len(names) else ()
        values = [*given, *(self.arithmetic.literal(one) for one in defaults)]
        if len(values) != len(names):
            raise caller.refused(node, f"{function.__name__} takes {len(names)} arguments")
        for i, (name, value) in enumerate(zip(names, values, strict=True)):
            if isinstance(value, Term) and (kind := ANNOTATED.get(str(told.get(name)))):
                values[i] = replace(self.arithmetic.cast(value, kind), origin=value.origin)
            elif isinstance(value, Thing) and value.what not in PASSED:
                raise caller.refused(node, f"'{name}' cannot be handed over in C; hand over numbers")
        return values

    def function(  # noqa: PLR0917 - what is called, by whom, and where
        self,
        function: FunctionType,
        own: type | None,
        given: list[Value],
        caller: Writer | None = None,
        node: ast.AST | None = None,
        name: str = "",
    ) -> Function:
        """The function for arguments of these types. Raises CannotExport."""
        kinds = tuple(one.kind if isinstance(one, Term) else one.what for one in given)
        key = function, kinds
        if key not in self.made:
            self.made[key] = None
            made = self.made[key] = self._written(function, own, kinds, name or self._name(function, own))
            self.names[made.name] = made
        found = self.made[key]
        if found is None:
            assert caller is not None
            raise caller.refused(node or ast.Pass(), f"{function.__name__} calls itself; write a loop")
        return found

    def _name(self, function: FunctionType, own: type | None) -> str:
        name = f"{self.prefix}_{function.__name__.strip('_')}"
        if name in self.taken and own:
            name = f"{self.prefix}_{snake(own.__name__)}_{function.__name__.strip('_')}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _written(self, function: FunctionType, own: type | None, kinds: tuple[str, ...], name: str) -> Function:
        tree, text = parsed(function)
        body = Statements(self, function, own, text, function.__code__.co_firstlineno)
        bound: dict[str, Value] = {}
        parameters: list[str] = []
        for parameter, kind in zip(_parameters(function), kinds, strict=True):
            named = {"self": "flow", "ack": "ack"}.get(kind) or Statements.named(parameter)
            if kind in PASSED:
                bound[parameter] = Thing(kind, named)
                parameters.append(f"{PASSED[kind]}{named}")
                continue
            known: Kind = kind  # type: ignore[assignment]
            bound[parameter] = Term(named, known, origin=self.origin(f"{function.__qualname__}.{parameter}"))
            parameters.append(f"{self.arithmetic.types[known]} {named}")
        changed = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        for parameter in changed & set(bound):
            raise body.refused(tree, f"the argument '{parameter}' is changed; use another name")
        lines = body.body(tree.body, bound)
        unread = [one for one in bound.values() if not _is_read(one.text, lines)]
        ignored = [f"\t(void){one.text};" for one in unread]
        comment = _comment(ast.get_docstring(tree) or "")
        returns = self.arithmetic.types[body.returns] if body.returns else "void"
        inside = [*ignored, *lines]
        return Function(name, comment, body.returns, returns, ", ".join(parameters) or "void", inside, body.calls)

    def beginning(self, baked: list[str]) -> Function:
        """What ``__init__`` does, without what only Python can: that is in ``baked``, as lines."""
        self.skipped.clear()
        lines, calls = [], []
        for one in self.fields.values():
            initial = getattr(self.form, one.name, one.empty)
            if not one.constant and not one.length and initial != one.kind() and one.name not in self.form_decided:
                value = self.arithmetic.cast(literal(one.kind(initial)), KIND[one.kind])
                lines.append(f"\tflow->{member(one.name)} = {value.text};")
        for own in reversed(self.form.__mro__):
            function = vars(own).get("__init__")
            if not (issubclass(own, CompiledController) and own is not CompiledController and function):
                continue
            tree, text = parsed(function)
            body = Beginning(self, function, own, text, function.__code__.co_firstlineno)
            me, config, path = _parameters(function)
            things = {
                me: Thing("self", "flow"),
                config: Thing("config", "flow->options"),
                path: Thing("path", "flow->path"),
            }
            lines += body.body(tree.body, dict(things))
            calls += body.calls
        made = Function(
            f"{self.prefix}_set_up",
            "/* A flow begins. */",
            None,
            "void",
            "struct cc_flow *flow",
            [*lines, *baked] or ["\t(void)flow;"],
            calls,
        )
        self.names[made.name] = made
        return made

    form_decided = ("rate", "window", "timer")

    def named(self, name: str, value: float | int) -> Term:
        """A constant, as a macro."""
        if (other := self.arithmetic.constant(name, value)) is not None:
            return other
        found = self.arithmetic.literal(value)
        while (known := self.constants.get(name)) is not None and known != found:
            name += "_"
        self.constants[name] = found
        if isinstance(value, bool):
            return Term(name, "bool")
        return Term(name, found.kind)

    def state(self, flow: str, field: StateField, *, is_set: bool) -> Value:  # noqa: ARG002 - part of the interface
        """A field of a flow."""
        text = f"{flow}->{member(field.name)}"
        if field.length:
            return Thing("array", text, field)
        return Term(text, KINDS[np.dtype(field.kind).kind])

    def option(self, options: str, name: str) -> Term | None:
        """An option."""
        kind = self.options.get(name)
        return Term(f"{options}->{name}", kind) if kind else None

    def told(self, what: str, owner: str, name: str) -> Term | None:
        """What a path, an ACK or a hop says."""
        layout = {"path": PATH, "ack": ACK, "hop": HOP}.get(what)
        if layout is None or name not in (layout.names or ()):
            return None
        arrow = "" if owner.endswith(".") else "." if what == "path" else "->"
        return Term(f"{owner}{arrow}{name}", KINDS[layout[name].kind])

    def origin(self, place: str, found: str = "") -> str:  # noqa: ARG002 - part of the interface
        """Doubles and 64 bits do without."""
        return ""

    def table(self, name: str, array: NDArray[Any]) -> str:
        """An array that does not change."""
        name = snake(name)
        while (known := self.tables.get(name)) is not None and not np.array_equal(known, array):
            name += "_"
        self.tables[name] = array
        return f"{self.prefix}_{name}_table"

    def choice(self, option: str, text: str | None) -> str:
        """One of an option's texts, as the macro of its number."""
        texts = self.choices[option]
        if text not in texts:
            hint = nearest(str(text), list(texts))
            raise CannotExport(inspect.getfile(self.form), 1, f"option '{option}' is compared with {text!r}; {hint}")
        return re.sub(r"\W", "_", f"{option}_{text}").upper()

    def needed(self, roots: list[Function]) -> Iterator[Function]:
        """Functions before those that call them."""
        done: set[str] = set()

        def visit(one: Function) -> Iterator[Function]:
            if one.name not in done:
                done.add(one.name)
                for name in one.calls:
                    yield from visit(self.names[name])
                yield one

        for root in roots:
            yield from visit(root)


KIND: dict[type, Kind] = {float: "double", int: "int64_t", bool: "bool"}


class Beginning(Statements):
    """The body of an ``__init__``: what has no form in C is left out, and is found again by its outcome."""

    def statements(self, given: Any) -> None:
        for one in given:
            if ast.unparse(one).startswith("super().__init__("):
                continue
            before = len(self.lines)
            try:
                super().statements([one])
            except CannotExport as error:
                del self.lines[before:]
                self.whole.skipped.append(error)


def option_kinds(form: type[PluginConfig]) -> Iterator[tuple[str, Kind]]:
    """Options that C can have: numbers, and a choice among texts as its number."""
    texts = choices(form)
    for name, one in form.model_fields.items():
        if name in texts:
            yield name, "int64_t"
        elif one.annotation in KIND:
            yield name, KIND[one.annotation]


def parsed(function: FunctionType) -> tuple[ast.FunctionDef, str]:
    """Its tree, with the line numbers of the file, and its text."""
    text = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(text)
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    (body,) = tree.body
    assert isinstance(body, ast.FunctionDef)
    return body, text


def snake(name: str) -> str:
    """``ThetaPowerTcp`` as ``theta_power_tcp``; what C does not allow in a name is gone."""
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()


def _parameters(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _is_read(name: str, lines: list[str]) -> bool:
    return any(re.search(rf"\b{name}\b", re.sub(r"/\*.*?\*/", "", line)) for line in lines)


def _comment(text: str) -> str:
    lines = text.replace("``", "").replace("`", "").replace("*/", "* /").strip().splitlines()
    if len(lines) < 2:
        return f"/* {lines[0]} */" if lines else ""
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])
