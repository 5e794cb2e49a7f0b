"""Ours beside the paper's: one `Pair` per row, column and metric, and the difference of the two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from testbed.results.compare.median import Estimate, estimate
from testbed.results.papers.cells import Measured, implemented
from testbed.results.papers.comparison import Comparison, Equal, Metric

Word = Literal["equal", "miss", ""]  # ours against the paper's; empty: one of them is not a number


@dataclass(frozen=True)
class Pair:
    """One figure, in the printed unit."""

    ours: Estimate | None  # None: not run
    printed: float | str | None  # a number, a word that stands for one, or nothing
    word: Word = ""
    degraded: bool = False  # at least one of the runs is

    @property
    def difference(self) -> float:
        """Ours less the paper's; nan if one is missing."""
        if self.ours is None or not isinstance(self.printed, float | int):
            return math.nan
        return self.ours.median - self.printed


@dataclass(frozen=True)
class Figures:
    """All figures of a comparison."""

    comparison: Comparison
    measured: Measured

    @cached_property
    def implemented(self) -> frozenset[str]:
        """The rows that can be run here."""
        return frozenset(implemented(self.comparison))

    def pair(self, row: str, column: str, metric: str) -> Pair:
        """One figure; for a column that sums up others the best of theirs."""
        ours = self.ours(row, column, metric)
        printed = self.comparison.printed(row, column, metric)
        about = self.comparison.metrics[metric]
        word = _word(ours, printed, about.equal or self.comparison.equal)
        behind = [row, about.relative_to] if about.relative_to else [row]
        degraded = ours is not None and any(self._degraded(one, column) for one in behind)
        return Pair(ours, printed, word, degraded)

    def ours(self, row: str, column: str, metric: str) -> Estimate | None:
        """The median of the runs and its interval, or None if there are no runs."""
        over = self.comparison.columns[column].best_of
        if over:
            found = [one for one in (self.ours(row, other, metric) for other in over) if one is not None]
            known = [one for one in found if not math.isnan(one.median)]
            best = max if self.comparison.metrics[metric].better == "higher" else min
            return best(known, key=lambda one: one.median) if known else None
        values = self._values(row, column, metric)
        return estimate(values) if values else None

    def _values(self, row: str, column: str, metric: str) -> list[float]:
        about = self.comparison.metrics[metric]
        own = self._by_seed(row, column, about)
        if not about.relative_to:
            return list(own.values())
        if row == about.relative_to:
            return []
        others = self._by_seed(about.relative_to, column, about)
        pairs = [(one, others[seed]) for seed, one in own.items() if seed in others]
        return [100 * (other / one - 1) if one else math.nan for one, other in pairs]

    def _by_seed(self, row: str, column: str, metric: Metric) -> dict[int, float]:
        return {seed: _value(metric, summary) for seed, summary in self.measured.of(row, column).items()}

    def _degraded(self, row: str, column: str) -> bool:
        over = self.comparison.columns[column].best_of or [column]
        return any(self.measured.degraded(row, one) for one in over)


def _value(metric: Metric, summary: object) -> float:
    value = float(getattr(summary, metric.field))
    if metric.per:
        by = float(getattr(summary, metric.per))
        value = value / by if by else math.nan
    return value * metric.scale


def _word(ours: Estimate | None, printed: float | str | None, equal: Equal) -> Word:
    """A figure that is better than the printed one was not reproduced either."""
    if ours is None or not isinstance(printed, float | int) or math.isnan(ours.median):
        return ""
    return "equal" if within(ours.median - printed, printed, equal) else "miss"


def within(difference: float, printed: float, equal: Equal) -> bool:
    """Whether two figures count as equal. Rounded, for 13.0 - 8.0 must be within 5."""
    limit = equal.within if equal.of == "points" else equal.within / 100 * abs(printed)
    return round(abs(difference) - limit, 9) <= 0
