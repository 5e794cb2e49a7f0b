"""``--fail-if 'su < 0.9*baseline'``: a condition under which a comparison fails, for use in CI.

Names are those of the summary (`testbed.results.summary`), values SI; ``us``, ``ms``, ``Gbit`` and the like
stand for their numbers, so that ``ql_p99 > 20*us`` reads as it is meant. ``baseline`` is the baseline's value of the
metric that the same comparison names. Python parses the text and nothing of it is run: what is not on the list here is
refused.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass

from testbed.errors import BadInput, nearest
from testbed.results.summary import COMPARED

LONGEST = 500  # characters
BASELINE = "baseline"
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9}

ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}

Lookup = Callable[[str], float]  # a metric's name to its value, nan if unknown


@dataclass(frozen=True)
class Scope:
    """The values of one variant and of its baseline."""

    own: Lookup
    baseline: Lookup


@dataclass(frozen=True)
class Held:
    """Whether a condition holds, and by how much of the larger side; below 0 it does not. None, nan: not known."""

    truth: bool | None
    margin: float


Number = Callable[[Scope], float]
Truth = Callable[[Scope], Held]


@dataclass(frozen=True)
class FailCondition:
    """A parsed condition; ``metrics`` are the names in it, in the order of the text."""

    text: str
    metrics: tuple[str, ...]
    uses_baseline: bool
    held: Truth

    def holds(self, scope: Scope) -> bool | None:
        """None: cannot be known."""
        return self.held(scope).truth


def parse(text: str, option: str = "--fail-if", figures: Collection[str] = COMPARED) -> FailCondition:
    """Raises BadInput for anything but comparisons of numbers, ``figures`` and ``baseline``, with and, or, not."""
    if len(text) > LONGEST:
        raise BadInput(f"{option}: longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        raise BadInput(f"{option} '{text}': {reason}; expected for example 'su < 0.9*baseline'") from None
    reader = _Reader(text, option, figures)
    held = reader.truth(tree)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return FailCondition(text, tuple(dict.fromkeys(name for name in names if name in figures)), BASELINE in names, held)


@dataclass(frozen=True)
class _Reader:
    """From the syntax tree to closures; what it does not know is refused."""

    text: str
    option: str
    figures: Collection[str]

    def truth(self, node: ast.expr) -> Truth:
        if isinstance(node, ast.BoolOp):
            # Three-valued: an unknown part leaves the whole unknown unless the others decide it alone.
            decisive = isinstance(node.op, ast.Or)
            parts = [self.truth(value) for value in node.values]
            return lambda scope: _combine([part(scope) for part in parts], decisive)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand)
            return lambda scope: _denied(inner(scope))
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        raise self._refusal(node, "is not a comparison, such as 'su < 90'")

    def _comparison(self, node: ast.Compare) -> Truth:
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        metrics = sorted(names & set(self.figures))
        if BASELINE in names and len(metrics) != 1:
            raise self._refusal(node, "uses 'baseline', so it must name exactly one metric, whose baseline is meant")
        sides = [self.number(side, metrics[0] if metrics else "") for side in (node.left, *node.comparators)]
        if not metrics:
            raise self._refusal(node, f"compares no metric; there are {', '.join(self.figures)}")
        for sign in node.ops:
            if type(sign) not in COMPARISONS:
                raise self._refusal(node, "compares by something else than <, <=, >, >=")
        signs = [COMPARISONS[type(sign)] for sign in node.ops]

        def held(scope: Scope) -> Held:
            values = [side(scope) for side in sides]
            if not all(math.isfinite(value) for value in values):
                return Held(None, math.nan)
            pairs = [*zip(signs, itertools.pairwise(values), strict=True)]
            return Held(all(sign(*pair) for sign, pair in pairs), min(_margin(sign, *pair) for sign, pair in pairs))

        return held

    def number(self, node: ast.expr, metric: str) -> Number:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            apply = ARITHMETIC[type(node.op)]
            left, right = self.number(node.left, metric), self.number(node.right, metric)
            return lambda scope: _guarded(apply, left(scope), right(scope))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign, inner = (-1.0 if isinstance(node.op, ast.USub) else 1.0), self.number(node.operand, metric)
            return lambda scope: sign * inner(scope)
        if isinstance(node, ast.Constant):
            value = self._constant(node)
            return lambda _scope: value
        if isinstance(node, ast.Name):
            return self._name(node.id, metric)
        raise self._refusal(node, "is not allowed: only numbers, metrics, baseline, + - * / and parentheses are")

    def _name(self, name: str, metric: str) -> Number:
        if name == BASELINE:
            return lambda scope: scope.baseline(metric)
        if name in UNITS:
            return lambda _scope: UNITS[name]
        if name not in self.figures:
            hint = nearest(name, [*self.figures])
            raise BadInput(f"{self.option} '{self.text}': no metric is named '{name}'; {hint}")
        return lambda scope: scope.own(name)

    def _constant(self, node: ast.Constant) -> float:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise self._refusal(node, "is not a number")
        try:
            value = float(node.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self._refusal(node, "is too large")
        return value

    def _refusal(self, node: ast.expr, problem: str) -> BadInput:
        part = ast.get_source_segment(self.text.strip(), node) or self.text
        return BadInput(f"{self.option} '{self.text}': '{part}' {problem}")


def _margin(sign: Callable[[float, float], bool], left: float, right: float) -> float:
    """Of one comparison, by the larger of both sides."""
    by = max(abs(left), abs(right))
    less = (right - left) / by if by else 0.0
    return less if sign in {operator.lt, operator.le} else -less


def _denied(one: Held) -> Held:
    return Held(None if one.truth is None else not one.truth, -one.margin)


def _combine(parts: list[Held], decisive: bool) -> Held:
    """The furthest on the side that decides."""
    known = [one for one in parts if one.truth is decisive] or parts
    if decisive is not known[0].truth and any(one.truth is None for one in parts):
        return Held(None, math.nan)
    return (max if decisive else min)(known, key=lambda one: one.margin)


def _guarded(apply: Callable[[float, float], float], left: float, right: float) -> float:
    try:
        return apply(left, right)
    except ZeroDivisionError:
        return math.nan
