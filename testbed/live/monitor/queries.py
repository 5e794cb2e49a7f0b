"""PromQL, put together from the names of our metrics.

A run is slower than what it emulates, so Prometheus sees a counter grow by ``1 / dilation`` of its nominal rate. That
factor is undone here and nowhere else: every `rate` is nominal, and only `growth` is of wall time.
"""

from __future__ import annotations

from typing import NamedTuple


class Scope(NamedTuple):
    """What a panel is about: which series, what they are summed over, and how each sum is called."""

    select: tuple[str, ...]  # label matchers, the instance's first
    by: tuple[str, ...]  # labels that are kept
    legend: str = ""

    def of(self, metric: str) -> str:
        """The chosen series of a metric."""
        return f"{metric}{{{','.join(self.select)}}}"

    def of_run(self, metric: str) -> str:
        """The series of a metric that has one value per run."""
        return f"{metric}{{{self.select[0]}}}"

    def called(self, what: str) -> str:
        """Legend of one of several curves of a label set."""
        return f"{self.legend} {what}".strip()

    def or_called(self, what: str) -> str:
        """Legend of a label set's only curve."""
        return self.legend or what

    def total(self, expression: str, function: str = "sum") -> str:
        """One series per kept label set."""
        return f"{function} by ({', '.join(self.by)}) ({expression})"

    def growth(self, counter: str) -> str:
        """How fast a counter grows per wall second: for ratios, where the dilation cancels."""
        return f"rate({self.of(counter)}[$__rate_interval])"

    def rate(self, counter: str) -> str:
        """How fast a counter grows per nominal second, summed."""
        return self.total(f"{self.growth(counter)} * on (instance) group_left () testbed_dilation_ratio")

    def share(self, part: str, whole: str) -> str:
        """Growth of one counter over the growth of another; no value while the other stands still."""
        return f"{self.total(self.growth(part))} / ({self.total(self.growth(whole))} > 0)"

    def quantile(self, q: float, histogram: str) -> str:
        """Quantile of what a histogram counted lately."""
        buckets = self._replace(by=("le", *self.by)).total(self.growth(f"{histogram}_bucket"))
        return f"histogram_quantile({q:g}, {buckets})"

    def counts(self, histogram: str) -> str:
        """How many samples every bucket got lately: for heat maps."""
        return f"sum by (le) (increase({self.of(f'{histogram}_bucket')}[$__rate_interval]))"


def finite(expression: str) -> str:
    """Without the series that are infinite, which is how "none" is exported."""
    return f"({expression} < Inf)"


def jain(scope: Scope, counter: str, started: str) -> str:
    """Jain's index of a counter's rate over the series whose ``started`` is above 0."""
    rates = _started(scope, counter, started)
    squares = scope.total(f"({rates}) ^ 2")
    return f"{scope.total(rates)} ^ 2 / ({scope.total(rates, 'count')} * {squares} > 0)"


def evenness(scope: Scope, counter: str, started: str) -> str:
    """Smallest rate over largest, of the same."""
    rates = _started(scope, counter, started)
    return f"{scope.total(rates, 'min')} / ({scope.total(rates, 'max')} > 0)"


def _started(scope: Scope, counter: str, started: str) -> str:
    return f"{scope.growth(counter)} and {scope.of(started)} > 0"
