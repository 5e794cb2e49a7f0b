"""How numbers are computed with in C: `Doubles` for testbed_cc.h. The program for a card has another one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import ClassVar

from testbed.sdk.export.c import terms
from testbed.sdk.export.c.library import HELPERS, MATH, TESTS, WHOLE
from testbed.sdk.export.c.terms import Kind, Term, binary, cast, literal

OPERATORS: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", terms.SUM), ast.Sub: ("-", terms.SUM), ast.Mult: ("*", terms.PRODUCT),
}  # fmt: skip
BITWISE: dict[type[ast.operator], str] = {
    ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
COMPARED: dict[type[ast.cmpop], tuple[str, int]] = {
    ast.Lt: ("<", terms.COMPARISON), ast.LtE: ("<=", terms.COMPARISON), ast.Gt: (">", terms.COMPARISON),
    ast.GtE: (">=", terms.COMPARISON), ast.Eq: ("==", terms.EQUALITY), ast.NotEq: ("!=", terms.EQUALITY),
}  # fmt: skip


class Doubles:
    """Doubles and whole numbers of 64 bits, by Python's rules. Operands are of one kind, unless it says otherwise."""

    types: ClassVar[dict[Kind, str]] = {"double": "double", "int64_t": "int64_t", "bool": "bool"}
    zeros: ClassVar[dict[Kind, str]] = {"double": "0.0", "int64_t": "0", "bool": "false"}
    shared: ClassVar[dict[str, str]] = HELPERS  # functions that an export has if it needs them

    def __init__(self) -> None:
        self.helpers: set[str] = set()  # those that it needs

    def literal(self, value: float | int) -> Term:
        """A number."""
        return literal(value)

    def constant(self, name: str, value: float | int) -> Term | None:  # noqa: ARG002 - others know some
        """A constant of the source that stands for another one here."""
        return None

    def cast(self, term: Term, kind: Kind) -> Term:
        """The same value as another type."""
        if kind == "int64_t" and term.kind == "double":
            self.helpers.add("to_whole")
        return cast(term, kind)

    def in_place(self, kind: Kind) -> bool:
        """Whether C's += and so on do with numbers of this type."""
        return kind != "bool"

    def combined(self, op: ast.operator, left: Term, right: Term, kind: Kind) -> Term | None:
        """``left op right``; None if there is no such thing."""
        if isinstance(op, ast.Div):
            return binary(cast(left, "double"), "/", cast(right, "double"), "double", terms.PRODUCT)
        if isinstance(op, ast.Pow):
            return self.function("pow", [left, right]) if kind == "double" else None
        left, right = cast(left, kind), cast(right, kind)
        if type(op) in OPERATORS:
            sign, binds = OPERATORS[type(op)]
            return binary(left, sign, right, kind, binds)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._divided(op, left, right, kind)
        return bits(op, left, right) if kind == "int64_t" else None

    def _divided(self, op: ast.operator, left: Term, right: Term, kind: Kind) -> Term:
        if kind == "double" and isinstance(op, ast.FloorDiv):
            return Term(f"floor({binary(left, '/', right, kind, terms.PRODUCT).text})", kind)
        name = "real_mod" if kind == "double" else "floor_div" if isinstance(op, ast.FloorDiv) else "floor_mod"
        return self.helped(name, kind, left, right)

    def negative(self, term: Term) -> Term:
        """``-term``"""
        if term.number is not None:
            return literal(-term.number)
        inner = term.within(terms.ATOM) if term.text.startswith("-") else term.within(terms.UNARY)
        return Term(f"-{inner}", term.kind, terms.UNARY)

    def compared(self, op: ast.cmpop, left: Term, right: Term) -> Term:
        """A condition."""
        sign, binds = COMPARED[type(op)]
        return Term(f"{left.within(terms.SHIFT)} {sign} {right.within(terms.SHIFT)}", "bool", binds)

    def extreme(self, name: str, left: Term, right: Term) -> Term:
        """``min`` or ``max`` of two."""
        return self.helped(f"{name}_{'of' if left.kind == 'double' else 'whole'}", left.kind, left, right)

    def absolute(self, term: Term) -> Term:
        """``abs``"""
        if term.kind == "double":
            return Term(f"fabs({term.text})", "double")
        return self.helped("max_whole", "int64_t", term, Term(f"-{term.within(terms.ATOM)}", "int64_t"))

    def nearest(self, term: Term) -> Term | None:
        """``round``"""
        return self.helped("to_whole", "int64_t", Term(f"rint({term.text})", "double"))

    def function(self, name: str, given: Sequence[Term]) -> Term | None:
        """One of `math`; None if C has none. Operands are of any kind."""
        texts = ", ".join(cast(one, "double").text for one in given)
        if name in MATH:
            return Term(f"{MATH[name]}({texts})", "double")
        if name in TESTS:
            return Term(f"{TESTS[name]}({texts}) != 0", "bool", terms.EQUALITY)
        if name in WHOLE:
            return self.helped("to_whole", "int64_t", Term(f"{WHOLE[name]}({texts})", "double"))
        return None

    def single(self, term: Term) -> Term:
        """``np.float32``"""
        return Term(f"(double)(float){term.within(terms.UNARY)}", "double", terms.UNARY)

    def helped(self, name: str, kind: Kind, *operands: Term) -> Term:
        """A call of a helper."""
        self.helpers.add(name)
        return Term(f"{name}({', '.join(one.text for one in operands)})", kind)


def bits(op: ast.operator, left: Term, right: Term) -> Term | None:
    """Whole numbers, bit by bit."""
    if type(op) not in BITWISE:
        return None
    text = f"{left.within(terms.UNARY)} {BITWISE[type(op)]} {right.within(terms.UNARY)}"
    return Term(text, "int64_t", terms.BITS)
