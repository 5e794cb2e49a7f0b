"""The Python interface: what a plugin or a script may use, a line for each name. `python -m tests.support.interface`
renews interface.txt.

It is renewed only once CHANGELOG.md says what has changed: interface.txt begins with the digest of the change log that
it was last renewed with.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import hashlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

import testbed
from tests.support.checkout import ROOT

FILE, CHANGES = ROOT / "tests" / "support" / "interface.txt", ROOT / "CHANGELOG.md"
ALL: tuple[str, ...] = ()
MODULES = {  # as docs/reference/python.md lists them; of some only what is named here
    "testbed": testbed.__all__,
    **dict.fromkeys(("controller", "learned", "tuner", "chooser", "receiver", "plugin", "units", "sdk.jobs"), ALL),
    "sdk.gym": ("make",),
    "sdk.conformance.controllers": ("check",),
    "registry": ("find",),
}
OF_PYDANTIC = "model_"


def lines() -> list[str]:
    """A line for each name, in order."""
    return sorted({line for name, named in MODULES.items() for line in _module(name, named)})


def recorded() -> tuple[str, list[str]]:
    """The change log's digest, and the lines."""
    digest, *rest = FILE.read_text().splitlines()
    return digest, rest


def digest() -> str:
    """Of the change log."""
    return hashlib.sha256(CHANGES.read_bytes()).hexdigest()


def _module(name: str, named: Sequence[str]) -> Iterator[str]:
    module = import_module(name if name == "testbed" else f"testbed.{name}")
    for one in named or _defined(module):
        yield from _named(f"{module.__name__}.{one}", getattr(module, one))


def _defined(module: ModuleType) -> list[str]:
    """In it, not imported."""
    found: list[str] = []
    for part in ast.parse(inspect.getsource(module)).body:
        if isinstance(part, ast.ClassDef | ast.FunctionDef):
            found.append(part.name)
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    return [one for one in found if not one.startswith("_")]


def _named(path: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"class {path}({', '.join(base.__name__ for base in value.__bases__ if base is not object)})"
        yield from _members(path, value)
    elif inspect.isfunction(value):
        yield f"def {path}{inspect.signature(value)}"
    else:
        yield f"{path}: {type(value).__name__}"


def _members(path: str, form: type) -> Iterator[str]:
    if issubclass(form, enum.Enum):
        yield from (f"{path}.{one.name}" for one in form)
        return
    made = inspect.signature(form).parameters if dataclasses.is_dataclass(form) else {}
    given = {name for name, one in made.items() if one.default is not one.empty} or (vars(form) if not made else {})
    annotated = inspect.get_annotations(form)
    for name, kind in annotated.items():
        if not name.startswith("_"):
            yield f"{path}.{name}: {getattr(kind, '__forward_arg__', kind)}{' = ...' if name in given else ''}"
    for name, value in vars(form).items():
        hidden = name.startswith(("_", OF_PYDANTIC)) and (name != "__init__" or made)
        if isinstance(value, property | cached_property) and not hidden:
            yield f"{path}.{name}: property"
        elif name not in annotated and not hidden and (callable(value) or isinstance(value, classmethod)):
            yield f"def {path}.{name}{inspect.signature(getattr(form, name))}"


def main() -> int:
    """Renew it."""
    now = lines()
    if FILE.exists() and recorded()[1] != now and recorded()[0] == digest():
        print("the interface has changed: say in CHANGELOG.md what a user has to do, then renew it", file=sys.stderr)
        return 1
    FILE.write_text("\n".join([digest(), *now]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
