"""What a function that is being written knows of the export that it is a part of (functions.py)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

from numpy.typing import NDArray

from testbed.base.fields import StateField
from testbed.compiled.source import CannotCompile
from testbed.sdk.export.c.arithmetic import Doubles
from testbed.sdk.export.c.terms import Term


@dataclass(frozen=True)
class Thing:
    """What is no number: ``what`` is self, config, path, ack, stack, hop, array or table; ``text`` names it in C."""

    what: str
    text: str
    value: Any = None  # a table; of an array its field


Value = Term | Thing


class CannotExport(CannotCompile):
    """Names file and line, and what has no form in C."""

    def __init__(self, file: str, line: int, why: str) -> None:
        self.file, self.line = file, line
        Exception.__init__(self, f"{file}, line {line}: cannot be written as C: {why}")


class Writer(Protocol):
    """Of a function."""

    calls: list[str]  # names of the functions that it calls

    def refused(self, node: ast.AST, why: str) -> CannotExport:
        """What to raise about what stands at ``node``."""
        ...


class Whole(Protocol):
    """The export."""

    arithmetic: Doubles
    controller: Any
    form: type[Any]
    fields: dict[str, StateField]
    choices: dict[str, tuple[str, ...]]
    skipped: list[CannotExport]

    def method(self, form: type, name: str) -> tuple[FunctionType, type | None]:
        """A method, and the class that it is of."""
        ...

    def called(
        self, caller: Writer, node: ast.AST, function: FunctionType, own: type | None, given: list[Value]
    ) -> Value:
        """A call."""
        ...

    def state(self, flow: str, field: StateField, *, is_set: bool) -> Value:
        """A field of a flow, which is read or set."""
        ...

    def option(self, options: str, name: str) -> Term | None:
        """An option."""
        ...

    def told(self, what: str, owner: str, name: str) -> Term | None:
        """What a path, an ACK or a hop says."""
        ...

    def origin(self, place: str, found: str = "") -> str:
        """What is known of where the number in ``place`` comes from, and what is ``found`` about it."""
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
