"""A plugin class of a notebook or script becomes a file that stands alone, which is a plugin like any other.

So the run's processes, numba, the manifest's digest, a sweep and whoever repeats the run need to know nothing of
notebooks. The file has the class, what it uses of the notebook (functions, classes, plain values), and imports. What
cannot be written down is refused by name.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import linecache
import math
import sys
import textwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from testbed import controller, plugin, tuner, units
from testbed.base.atomic import atomic_write
from testbed.base.compiler import cache_folder
from testbed.base.installed import entry_points
from testbed.errors import BadInput
from testbed.registry import GROUPS

SHARED = (controller, tuner, plugin, units)  # where names without a home of their own, such as PerHop, are looked for


def spec(kind: str, given: str | Path | type) -> str:
    """What names a plugin in an experiment: a name, a path, or for a class either. Raises BadInput."""
    if not isinstance(given, type):
        return str(given)
    base: type = controller.ControllerBase if kind == "controller" else tuner.Tuner
    if not issubclass(given, base):
        raise BadInput(f"{kind} {given.__name__}: expected a subclass of {base.__name__}")
    home = f"{given.__module__}:{given.__qualname__}"
    for entry in entry_points(group=GROUPS[kind]):
        if entry.value == home:
            return entry.name
    module = sys.modules.get(given.__module__)
    file = getattr(module, "__file__", None)
    if given.__module__ != "__main__" and file and getattr(module, given.__name__, None) is given:
        return f"{file}:{given.__name__}"
    return f"{_Written(kind, given).file()}:{given.__name__}"


class _Written:
    """The source of one class and of all that it needs."""

    def __init__(self, kind: str, form: type) -> None:
        self.title, self.form = f"{kind} {form.__name__}", form
        self.imports: dict[str, None] = {}
        self.parts: list[str] = []
        self.done: dict[str, object] = {}
        self.add(form.__name__, form)

    def file(self) -> Path:
        """Kept beside what is compiled, named by its content."""
        text = "\n".join(self.imports) + "\n\n\n" + "\n\n\n".join(self.parts) + "\n"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        target = cache_folder() / "plugins" / digest / f"{self.form.__name__}.py"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(target, text.encode())
        return target

    def add(self, name: str, value: Any) -> None:
        """What ``name`` stands for, once."""
        if name in self.done:
            if self.done[name] is not value:
                raise self.refused(name, "is two things")
            return
        self.done[name] = value
        if isinstance(value, ModuleType):
            self.imports[f"import {value.__name__} as {name}"] = None
        elif home := _home(value):
            self.imports[f"from {home[0]} import {home[1]} as {name}"] = None
        elif isinstance(value, type | FunctionType):
            if value.__name__ != name:
                raise self.refused(name, f"is {value.__name__} by another name")
            self._source(value)
        else:
            self.parts.append(f"{name} = {self._plain(name, value)}")

    def _source(self, value: type | FunctionType) -> None:
        functions = _functions(value)
        if not functions:
            raise self.refused(value.__name__, "has no method, so that its source cannot be found")
        if any(one.__code__.co_flags & _FUTURE for one in functions):
            self.imports = {"from __future__ import annotations": None, **self.imports}
        segment = self._segment(value, functions[0].__code__)
        known = functions[0].__globals__
        enclosed = {free for one in functions for free in one.__code__.co_freevars} - {"__class__"}
        for node in ast.walk(ast.parse(segment)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != value.__name__:
                if node.id in enclosed:
                    raise self.refused(node.id, "belongs to a function around the class; move it out")
                if node.id in known and known[node.id] is not getattr(builtins, node.id, None):
                    self.add(node.id, known[node.id])
        self.parts.append(segment)

    def _segment(self, value: type | FunctionType, code: CodeType) -> str:
        """From the cell or script that defined it; `inspect.getsource` looks for classes in modules' files only."""
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:  # a cell with magic commands
            tree = ast.Module([], [])
        kinds = (ast.ClassDef, ast.FunctionDef)
        for node in ast.walk(tree):
            if isinstance(node, kinds) and node.name == value.__name__:
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                if first <= code.co_firstlineno <= (node.end_lineno or 0):
                    return textwrap.dedent("".join(lines[first - 1 : node.end_lineno])).rstrip()
        raise self.refused(value.__name__, "has no source that can be read; write it in a file, and give its path")

    def _plain(self, name: str, value: object) -> str:
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        text = repr(value)
        try:
            same = ast.literal_eval(text) == value
        except (ValueError, SyntaxError):
            same = False
        if not same:
            kind = type(value).__name__
            raise self.refused(name, f"is a value ({kind}) that cannot be written down; make it in __init__")
        return text

    def refused(self, name: str, why: str) -> BadInput:
        """Says what and why."""
        return BadInput(f"{self.title} cannot go into a file of its own: '{name}' {why}")


_FUTURE = 0x1000000  # of a code object: it has `from __future__ import annotations`


def _functions(value: type | FunctionType) -> list[FunctionType]:
    if isinstance(value, FunctionType):
        return [value]
    found = (getattr(one, "__func__", getattr(one, "fget", one)) for one in vars(value).values())
    own = [inspect.unwrap(one) for one in found if isinstance(one, FunctionType)]
    return [one for one in own if one.__qualname__.startswith(value.__qualname__)]


def _home(value: Any) -> tuple[str, str] | None:
    """The module that an import finds it in, and its name there; None for what is the notebook's own."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    own = not isinstance(module, str) or module == "__main__"
    if not own and name and getattr(sys.modules.get(str(module)), name, None) is value:
        return str(module), name
    for one in SHARED:
        for known, held in vars(one).items():
            if held is value and not isinstance(value, int | float | str | bool | tuple | None):
                return one.__name__, known
    return None
