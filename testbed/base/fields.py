"""The typed state of a class: the attributes that its annotations declare, and what fits into them."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, get_args, get_origin

import numpy as np

from testbed.errors import BadInput, nearest

KINDS = {float: np.float64, int: np.int64, bool: np.bool_}
EXPECTED = "float, int, bool, PerHop, Annotated[list[float], Length(n)] or Table"


@dataclass(frozen=True)
class Length:
    """Of a list in the state: ``Annotated[list[float], Length(8)]``."""

    items: int


@dataclass(frozen=True)
class Constant:
    """Marks an array that never changes after ``__init__`` and is the same for all instances."""


@dataclass(frozen=True)
class StateField:
    """One declared attribute."""

    name: str
    kind: type  # float, int or bool; of a list, its items'
    length: int = 0  # of a list; 0 for a single number
    constant: bool = False

    @property
    def empty(self) -> Any:
        """Its value where the class gives none."""
        return [self.kind()] * self.length if self.length else self.kind()

    def fitting(self, value: Any) -> Any:
        """``value`` as the plain Python number or list that the field holds. Raises TypeError."""
        if self.constant:
            return value
        if self.length:
            if len(value) != self.length:
                raise TypeError(f"'{self.name}' holds {self.length} numbers, not {len(value)}")
            return list(value)
        if self.kind is not float and isinstance(value, float | np.floating):
            raise TypeError(f"'{self.name}' is declared {self.kind.__name__}, not float; write {self.name}: float")
        return self.kind(value)


@cache
def fields_of(form: type, apart: tuple[str, ...] = ()) -> dict[str, StateField]:
    """What ``form`` and its bases declare, but for class variables and those ``apart``. Raises BadInput."""
    found: dict[str, StateField] = {}
    for one in reversed(form.__mro__):
        for name, written in inspect.get_annotations(one).items():
            if name in apart or (isinstance(written, str) and written.startswith(("ClassVar", "typing.ClassVar"))):
                continue
            declared = _evaluated(one, name, written) if isinstance(written, str) else written
            if get_origin(declared) is not ClassVar:
                found[name] = _field(one, name, declared)
    return found


class Stateful:
    """A class with typed state: what machine code can hold, and what no attribute can be added to."""

    compiled: ClassVar[bool] = True
    """False: it is never compiled, its state may hold anything, and its callbacks may do anything."""
    made: ClassVar[bool] = False  # for one that is not compiled: whether ``__init__`` is over

    config: Any
    path: Any

    def __init__(self, config: Any, path: Any) -> None:
        if self.compiled:
            for name, one in self.fields().items():
                vars(self)[name] = one.fitting(getattr(type(self), name, one.empty))
        vars(self).update(config=config, path=path)

    @classmethod
    def fields(cls) -> dict[str, StateField]:
        """Its state. Raises BadInput if something is declared that cannot be compiled."""
        return fields_of(cls, ("config", "path"))  # type: ignore[arg-type] # mypy takes its class for unhashable

    def __setattr__(self, name: str, value: Any) -> None:
        if self.compiled:
            fields = self.fields()
            if name not in fields:
                raise AttributeError(unknown(type(self), name, fields))
            value = fields[name].fitting(value)
        elif self.made and not hasattr(self, name):
            raise AttributeError(f"self.{name} is not set in __init__; {nearest(name, list(vars(self)))}")
        vars(self)[name] = value


def unknown(form: type, name: str, fields: dict[str, StateField]) -> str:
    """What to say of an attribute that the state does not have."""
    known = nearest(name, list(fields))
    return f"{form.__name__} declares no '{name}'; {known}, or declare it in the class: {name}: float"


def _evaluated(form: type, name: str, written: str) -> Any:
    try:
        return eval(written, vars(sys.modules[form.__module__]), dict(vars(form)))
    except NameError as error:
        raise BadInput(f"{_place(form)}: {name}: {written}: {error}; expected {EXPECTED}") from error


def _field(form: type, name: str, declared: Any) -> StateField:
    base: Any = declared
    marks: list[Any] = []
    if get_origin(declared) is Annotated:
        base, *marks = get_args(declared)
    if any(isinstance(mark, Constant) for mark in marks):
        return StateField(name, float, constant=True)
    if base in KINDS:
        return StateField(name, base)
    lengths = [mark.items for mark in marks if isinstance(mark, Length)]
    if get_origin(base) is list and get_args(base)[0] in KINDS and lengths:
        return StateField(name, get_args(base)[0], lengths[0])
    shown = getattr(declared, "__name__", declared)
    raise BadInput(f"{_place(form)}: '{name}' is declared {shown}; a compiled state holds {EXPECTED}")


def _place(form: type) -> str:
    return f"{inspect.getfile(form)}, class {form.__name__}"
