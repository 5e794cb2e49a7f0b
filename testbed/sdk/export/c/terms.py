"""C expressions with their type and how tightly they bind, so that parentheses stand only where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["double", "int64_t", "bool"]
ATOM, UNARY, PRODUCT, SUM, SHIFT, COMPARISON, EQUALITY, BITS, AND, OR, CHOICE = range(11)
LEAST_WIDE = 2**31  # of whole numbers: what a C compiler takes for more than an int


@dataclass(frozen=True)
class Term:
    """An expression."""

    text: str
    kind: Kind
    binds: int = ATOM
    number: float | int | None = None  # its value, if it is a literal
    origin: str = ""  # what it counts from, where that matters (card/)

    def within(self, binds: int) -> str:
        """Its text as an operand of what binds so."""
        return self.text if self.binds <= binds else f"({self.text})"


def literal(value: float | int) -> Term:
    """A number, to the bit."""
    if isinstance(value, bool):
        return Term(str(value).lower(), "bool", number=value)
    if isinstance(value, int):
        return Term(str(value), "int64_t", ATOM if value >= 0 else UNARY, number=value)
    text = repr(value).replace("inf", "INFINITY").replace("nan", "NAN")
    return Term(text, "double", UNARY if text.startswith("-") else ATOM, number=value)


def cast(term: Term, kind: Kind) -> Term:
    """The same value as another type."""
    if term.kind == kind:
        return term
    if kind == "bool":
        zero = "0.0" if term.kind == "double" else "0"
        return Term(f"{term.within(SHIFT)} != {zero}", "bool", EQUALITY)
    if kind == "double" and term.number is not None and term.kind == "int64_t":
        return literal(float(term.number))
    if kind == "int64_t" and term.kind == "double":
        return Term(f"to_whole({term.text})", "int64_t")
    return Term(f"({kind}){term.within(UNARY)}", kind, UNARY)


def common(kinds: Sequence[Kind | None]) -> Kind | None:
    """The type that all of them fit into; None says nothing."""
    known = {kind for kind in kinds if kind is not None}
    if "double" in known:
        return "double"
    return "int64_t" if "int64_t" in known else "bool" if known else None


def binary(left: Term, operator: str, right: Term, kind: Kind, binds: int) -> Term:
    """Both as operands of one type; the right one must bind tighter."""
    return Term(f"{left.within(binds)} {operator} {right.within(binds - 1)}", kind, binds)
