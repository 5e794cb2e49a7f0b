"""The derived table: per column, are the contenders in the paper's order, and is one figure close to the paper's?"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from testbed.results.papers.comparison import Judged
from testbed.results.papers.figures import Figures, within


@dataclass(frozen=True)
class Pair:
    """Two contenders that the paper has in one order, and we in the other."""

    first: str  # in the paper
    second: str
    printed: tuple[float, float]
    ours: tuple[float, float]
    tie: bool  # by the equality rule they are equal, in the paper or here: no contradiction

    def __str__(self) -> str:
        numbers = f"{self.printed[0]:g} and {self.printed[1]:g} printed, {self.ours[0]:.3g} and {self.ours[1]:.3g} here"
        return f"{self.first} and {self.second} ({numbers}{'; equal by the rule' if self.tie else ''})"


@dataclass(frozen=True)
class Judgement:
    """One column. Only contenders with both a printed number and ours take part."""

    column: str
    printed_order: list[str]
    our_order: list[str]
    reversed: list[Pair]
    close: dict[str, float]  # row to ours less the paper's
    within: float

    @property
    def same_order(self) -> bool:
        """Exactly the paper's order."""
        return not self.reversed

    @property
    def same_by_rule(self) -> bool:
        """The paper's order but for pairs that count as equal."""
        return all(pair.tie for pair in self.reversed)

    @property
    def far(self) -> list[str]:
        """The contenders that are not close."""
        return [row for row, difference in self.close.items() if abs(round(difference, 9)) > self.within]


def judge(figures: Figures) -> list[Judgement]:
    """One judgement per column with contenders to put in order."""
    judged = figures.comparison.judged
    if judged is None:
        return []
    found = [_column(figures, judged, column) for column in figures.comparison.columns]
    return [one for one in found if len(one.printed_order) > 1]


def _column(figures: Figures, judged: Judged, column: str) -> Judgement:
    printed, ours = {}, {}
    for row in judged.rows:
        one = figures.pair(row, column, judged.order)
        if one.word and one.ours is not None and isinstance(one.printed, float | int):
            printed[row], ours[row] = float(one.printed), one.ours.median
    sign = -1 if figures.comparison.metrics[judged.order].better == "higher" else 1
    by_print, by_us = (sorted(values, key=lambda row, v=values: sign * v[row]) for values in (printed, ours))  # type: ignore[misc]
    pairs = [
        Pair(
            a,
            b,
            (printed[a], printed[b]),
            (ours[a], ours[b]),
            _tie(figures, printed, a, b) or _tie(figures, ours, a, b),
        )
        for a, b in itertools.combinations(by_print, 2)
        if printed[a] != printed[b] and sign * (ours[a] - ours[b]) > 0
    ]
    compared = {row: figures.pair(row, column, judged.close) for row in judged.rows}
    close = {row: one.difference for row, one in compared.items() if one.word}
    return Judgement(column, by_print, by_us, pairs, close, judged.within)


def _tie(figures: Figures, values: dict[str, float], a: str, b: str) -> bool:
    comparison = figures.comparison
    order = comparison.judged.order if comparison.judged else ""
    rule = comparison.metrics[order].equal or comparison.equal
    return within(values[a] - values[b], values[a], rule)
