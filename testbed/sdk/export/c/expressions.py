"""Operators and conditions as C, by Python's rules."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from testbed.sdk.export.c import terms
from testbed.sdk.export.c.arithmetic import COMPARED
from testbed.sdk.export.c.names import Names, either, same
from testbed.sdk.export.c.terms import Kind, Term, common
from testbed.sdk.export.c.whole import Thing, Value


class Expressions(Names):
    """Those of one function."""

    def test(self, node: ast.expr) -> Term:
        """A condition."""
        return self.term(node, "bool")

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.term(node.left), self.term(node.right)
        return self.combined(node, left, node.op, right)

    def combined(self, node: ast.AST, left: Term, op: ast.operator, right: Term) -> Term:
        """``left op right`` by Python's rules."""
        both = common([left.kind, right.kind]) or "int64_t"
        kind: Kind = "double" if both == "double" else "int64_t"
        folded = _folded(op, left, right)
        if folded is not None:
            return self.arithmetic.literal(folded)
        found = self.arithmetic.combined(op, left, right, kind)
        if found is None:
            raise self.refused(node, self._why_not(op, kind))
        return found

    @staticmethod
    def _why_not(op: ast.operator, kind: Kind) -> str:
        if isinstance(op, ast.Pow):
            return "this power has no form in C" if kind == "double" else "a power of whole numbers; write float(...)"
        return "this operator has no form in C"

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Term(f"!{self.test(node.operand).within(terms.UNARY)}", "bool", terms.UNARY)
        term = self.term(node.operand)
        if term.kind == "bool":
            term = self.arithmetic.cast(term, "int64_t")
        if isinstance(node.op, ast.USub):
            return self.arithmetic.negative(term)
        return Term(f"~{term.within(terms.UNARY)}", term.kind, terms.UNARY) if isinstance(node.op, ast.Invert) else term

    def _boolop(self, node: ast.BoolOp) -> Value:
        given = [self.term(one) for one in node.values]
        kind, cast = same(given), self.arithmetic.cast
        if kind == "bool":
            return self.all_or_any(node.op, given)
        last, assumed = cast(given[-1], kind), isinstance(node.op, ast.Or)
        for one in reversed(given[:-1]):
            value, condition = cast(one, kind), cast(one, "bool")
            yes, no = (value, last) if assumed else (last, value)
            last = self._choice(condition, yes, no)
        return last

    def all_or_any(self, op: ast.boolop, given: Sequence[Term]) -> Term:
        """Conditions as one."""
        sign, binds = ("&&", terms.AND) if isinstance(op, ast.And) else ("||", terms.OR)
        parts = [f"({one.text})" if one.binds in (terms.AND, terms.OR) and one.binds != binds else one.within(binds)
                 for one in given]  # fmt: skip
        return Term(f" {sign} ".join(parts), "bool", binds)

    def _compare(self, node: ast.Compare) -> Value:
        if text := self._chosen_text(node):
            return text
        given, parts = [self.term(one) for one in (node.left, *node.comparators)], []
        for left, op, right in zip(given[:-1], node.ops, given[1:], strict=True):
            if type(op) not in COMPARED:
                raise self.refused(node, f"{ast.unparse(node)} has no form in C")
            sides = [self.arithmetic.cast(one, same([left, right])) for one in (left, right)]
            parts.append(self.arithmetic.compared(op, *sides))
        return parts[0] if len(parts) == 1 else self.all_or_any(ast.And(), parts)

    def _chosen_text(self, node: ast.Compare) -> Term | None:
        """A choice among texts that is compared with some of them."""
        left, right = node.left, node.comparators[0]
        option, texts = (left, right) if isinstance(left, ast.Attribute) else (right, left)
        if not isinstance(option, ast.Attribute) or option.attr not in self.whole.choices or len(node.ops) > 1:
            return None
        if self.value(option.value) != Thing("config", self.value(option.value).text):
            return None
        term = self.term(option)
        each = texts.elts if isinstance(texts, ast.Tuple) else [texts]
        is_not = isinstance(node.ops[0], ast.NotEq | ast.NotIn)
        names = [self.whole.choice(option.attr, getattr(one, "value", None)) for one in each]
        sign = "!=" if is_not else "=="
        parts = [Term(f"{term.text} {sign} {name}", "bool", terms.EQUALITY) for name in names]
        return parts[0] if len(parts) == 1 else self.all_or_any(ast.And() if is_not else ast.Or(), parts)

    def _ifexp(self, node: ast.IfExp) -> Value:
        yes, no = self.term(node.body), self.term(node.orelse)
        sides = [self.arithmetic.cast(one, same([yes, no])) for one in (yes, no)]
        return self._choice(self.test(node.test), *sides)

    @staticmethod
    def _choice(condition: Term, yes: Term, no: Term) -> Term:
        parts = [one.within(terms.OR) for one in (condition, yes, no)]
        return Term("{} ? {} : {}".format(*parts), yes.kind, terms.CHOICE, origin=either(yes, no))


def _folded(op: ast.operator, left: Term, right: Term) -> float | int | None:
    """Of two literals, where C would reckon otherwise: whole numbers beyond an int, and powers."""
    if left.number is None or right.number is None:
        return None
    if isinstance(op, ast.Pow):
        return left.number**right.number
    reckon = {ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__}.get(type(op))
    both_whole = isinstance(left.number, int) and isinstance(right.number, int)
    if not reckon or not both_whole or abs(reckon(float(left.number), float(right.number))) < terms.LEAST_WIDE:
        return None
    return int(reckon(float(left.number), float(right.number)))
