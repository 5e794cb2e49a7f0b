"""How numbers are computed with on a card: the functions of real.c, and whole numbers of 32 bits without division."""

from __future__ import annotations

import ast
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from testbed.sdk.export.c import terms
from testbed.sdk.export.c.arithmetic import COMPARED, OPERATORS, Doubles, bits
from testbed.sdk.export.c.terms import Kind, Term, binary

COUNTERS = {"ts": "-9", "tx_bytes": "0"}  # what goes round at 32 bits: its unit as a power of ten
FUNCTIONS = {ast.Add: "real_add", ast.Sub: "real_sub", ast.Mult: "real_mul", ast.Div: "real_div"}
ORDER: dict[type[ast.cmpop], tuple[str, bool]] = {  # and whether the sides change places
    ast.Lt: ("real_less", False), ast.LtE: ("real_at_most", False), ast.Gt: ("real_less", True),
    ast.GtE: ("real_at_most", True),
}  # fmt: skip
MATH = {"sqrt": "real_sqrt", "fabs": "real_abs"}
WHOLE = {"floor": "real_floor", "ceil": "real_ceil", "trunc": "real_whole"}
ONE_PATH = {"MOST_PATHS": 1, "MOST_HOPS": 1}  # an answer has the INT of one hop
LEAST_NORMAL = 2.0**-126


def word(value: float) -> int:
    """A number as real.c has it."""
    if abs(value) < LEAST_NORMAL:
        return 0
    try:
        (found,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000
    return int(found)


class Reals(Doubles):
    """Numbers of real.c, and of 32 bits."""

    types: ClassVar[dict[Kind, str]] = {"double": "real", "int64_t": "int32_t", "bool": "bool"}
    zeros: ClassVar[dict[Kind, str]] = {"double": "0", "int64_t": "0", "bool": "false"}
    shared: ClassVar[dict[str, str]] = {
        "min_whole": "static int32_t min_whole(int32_t a, int32_t b)\n{\n\treturn b < a ? b : a;\n}",
        "max_whole": "static int32_t max_whole(int32_t a, int32_t b)\n{\n\treturn b > a ? b : a;\n}",
        "since": (
            "/* From one counter to another, in units of a number. */\n"
            "static real since(uint32_t now, uint32_t then, real unit)\n{\n"
            "\treturn real_mul(real_of((int32_t)(now - then)), unit);\n}"
        ),
    }

    def literal(self, value: float | int) -> Term:
        if isinstance(value, bool | int):
            return terms.literal(value)
        return Term(f"{word(value):#x}u /* {value!r} */", "double", number=value)

    def constant(self, name: str, value: float | int) -> Term | None:  # noqa: ARG002 - one hop, one path
        return self.literal(ONE_PATH[name]) if name in ONE_PATH else None

    def cast(self, term: Term, kind: Kind) -> Term:
        if term.kind == kind:
            return term
        if kind == "bool":
            return Term(f"{term.within(terms.SHIFT)} != 0", "bool", terms.EQUALITY)
        if kind == "int64_t":
            return self.called("real_whole", kind, term) if term.kind == "double" else _whole(term)
        return self.literal(float(term.number)) if term.number is not None else self.called("real_of", kind, term)

    def in_place(self, kind: Kind) -> bool:
        return kind == "int64_t"

    def combined(self, op: ast.operator, left: Term, right: Term, kind: Kind) -> Term | None:
        if left.origin in COUNTERS or right.origin in COUNTERS:
            return self._since(op, left, right)
        if isinstance(op, ast.Pow):
            return self.power(left, right)
        kind = "double" if isinstance(op, ast.Div) else kind
        one, other = self.cast(left, kind), self.cast(right, kind)
        # A sum counts from where one of both does, a difference from nowhere if both do.
        origin = {ast.Add: left.origin or right.origin, ast.Sub: "" if right.origin else left.origin}.get(type(op), "")
        if kind == "double":
            made = self.called(FUNCTIONS[type(op)], kind, one, other) if type(op) in FUNCTIONS else None
            return replace(made, origin=origin) if made else None
        if type(op) in OPERATORS:
            sign, binds = OPERATORS[type(op)]
            return replace(binary(one, sign, other, kind, binds), origin=origin)
        left, right = one, other
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._shifted(op, left, right)
        return bits(op, left, right)

    def _since(self, op: ast.operator, now: Term, then: Term) -> Term | None:
        """Counters go round: what can be computed with is the difference of two."""
        if not isinstance(op, ast.Sub):
            return None
        return self.helped(
            "since", "double", now, then, self.literal(float(f"1e{COUNTERS[now.origin or then.origin]}"))
        )

    @staticmethod
    def _shifted(op: ast.operator, left: Term, right: Term) -> Term | None:
        by = right.number
        if not isinstance(by, int) or by < 1 or by & (by - 1):
            return None
        if isinstance(op, ast.Mod):
            return Term(f"({left.text}) & {by - 1}", "int64_t", terms.BITS)
        return Term(f"({left.text}) >> {by.bit_length() - 1}", "int64_t", terms.SHIFT)

    def power(self, base: Term, exponent: Term) -> Term | None:
        """A power of a whole number's times."""
        number = exponent.number
        if isinstance(number, float) and number.is_integer():
            exponent = self.literal(int(number))
        if exponent.kind == "double":
            return None
        return self.called("real_power", "double", self.cast(base, "double"), _whole(exponent))

    def negative(self, term: Term) -> Term:
        if term.kind == "double":
            return self.literal(-term.number) if term.number is not None else self.called("real_neg", "double", term)
        return super().negative(term)

    def compared(self, op: ast.cmpop, left: Term, right: Term) -> Term:
        if left.kind == "double" and type(op) in ORDER:
            name, turned = ORDER[type(op)]
            sides = (right, left) if turned else (left, right)
            return Term(f"{name}({', '.join(one.text for one in sides)})", "bool")
        sign, binds = COMPARED[type(op)]
        return Term(f"{left.within(terms.SHIFT)} {sign} {right.within(terms.SHIFT)}", "bool", binds)

    def extreme(self, name: str, left: Term, right: Term) -> Term:
        if left.kind == "double":
            return self.called(f"real_{name}", "double", left, right)
        return self.helped(f"{name}_whole", "int64_t", left, right)

    def absolute(self, term: Term) -> Term:
        return self.called("real_abs", "double", term) if term.kind == "double" else super().absolute(term)

    def nearest(self, term: Term) -> Term | None:  # noqa: ARG002 - a card does without
        return None

    def function(self, name: str, given: Sequence[Term]) -> Term | None:
        if name == "pow":
            return self.power(*given)
        of = [self.cast(one, "double") for one in given]
        if name in MATH:
            return self.called(MATH[name], "double", *of)
        if name in WHOLE:
            return self.called(WHOLE[name], "int64_t", *of)
        if name in ("isinf", "isfinite"):
            found = self.called("real_is_infinite", "bool", *of)
            return found if name == "isinf" else Term(f"!{found.text}", "bool", terms.UNARY)
        return None

    def single(self, term: Term) -> Term:
        return term

    @staticmethod
    def called(name: str, kind: Kind, *given: Term) -> Term:
        """A function of real.h."""
        return Term(f"{name}({', '.join(one.text for one in given)})", kind)


def _whole(term: Term) -> Term:
    return Term(term.text, "int64_t", term.binds, term.number)
