"""The figures that are compared: name, unit, which direction is better, and within what two of them count as equal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from testbed.results.summary import Summary

Direction = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """One figure of a summary. Values are SI as in ``summary.json``; ``scale`` and ``unit`` are for the reader."""

    name: str  # the summary's field, and the name in --fail-if
    label: str
    better: Direction
    scale: float = 1.0
    unit: str = ""
    equal_within: float | None = (
        None  # in ``unit``; given for the metrics of the Pareto rule, see `testbed.results.compare.pareto`
    )
    same_as: str = ""  # left out of the table where it equals this metric everywhere
    seldom: bool = False  # of some scenarios only; shown where it is known

    def of(self, summary: Summary) -> float:
        """The figure of one run; nan if it cannot be known."""
        return float(getattr(summary, self.name))

    @property
    def title(self) -> str:
        """Label and unit: ``QL p99, us``."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def show(self, value: float) -> str:
        """In the reader's unit, four digits and never an exponent: small shares are what loss is about."""
        if not math.isfinite(value):
            return "-"
        scaled = value * self.scale
        digits = 0 if scaled == 0 else max(0, 3 - math.floor(math.log10(abs(scaled))))
        return f"{scaled:,.{min(digits, 6)}f}"


# ADPG compares SU and FR in % and QL in us; its FR is of flows, see `testbed.results.figures.fairness_ratio`.
METRICS: tuple[Metric, ...] = (
    Metric("su", "SU", "higher", 1, "%", equal_within=5),
    Metric("su_receivers", "SU of receivers", "higher", 1, "%", same_as="su"),
    Metric("fr_flows", "FR per flow", "higher", 1, "%", equal_within=5),
    Metric("fr_hosts", "FR per host", "higher", 1, "%", same_as="fr_flows"),
    Metric("jain_flows", "Jain per flow", "higher"),
    Metric("jain_hosts", "Jain per host", "higher", same_as="jain_flows"),
    Metric("ql_mean", "QL mean", "lower", 1e6, "us", equal_within=5),
    Metric("ql_p99", "QL p99", "lower", 1e6, "us"),
    Metric("ql_max", "QL max", "lower", 1e6, "us"),
    Metric("ql_receivers", "QL of receivers", "lower", 1e6, "us", same_as="ql_mean"),
    Metric("ql_busiest", "QL of busiest port", "lower", 1e6, "us", same_as="ql_mean"),
    Metric("queue_mean", "queue mean", "lower", 1e-3, "kB"),
    Metric("queue_std", "queue std", "lower", 1e-3, "kB"),
    Metric("queue_ports_mean", "queue mean, all ports", "lower", 1e-3, "kB"),
    Metric("queue_ports_std", "queue std, all ports", "lower", 1e-3, "kB"),
    Metric("rtt_p50", "RTT p50", "lower", 1e6, "us"),
    Metric("rtt_p99", "RTT p99", "lower", 1e6, "us"),
    Metric("delay_p99", "delay p99", "lower", 1e6, "us"),
    Metric("goodput", "goodput", "higher", 1e-9, "Gbit/s"),
    Metric("loss", "loss", "lower", 1, "%"),
    Metric("loss_flows", "loss per flow", "lower", 1, "%"),
    Metric("drop_rate", "DR", "lower", 1e-9, "Gbit/s"),
    Metric("drops", "drops", "lower", 1, "packets"),
    Metric("marks", "marks", "lower", 1, "packets"),
    Metric("marked", "marked", "lower", 1, "%"),
    Metric("fct_mean", "FCT mean", "lower", 1e6, "us", seldom=True),
    Metric("fct_p99", "FCT p99", "lower", 1e6, "us", seldom=True),
    Metric("slowdown_mean", "slowdown mean", "lower", seldom=True),
    Metric("slowdown_p99", "slowdown p99", "lower", seldom=True),
    Metric("fct_mice_mean", "FCT mice mean", "lower", 1e6, "us", seldom=True),
    Metric("fct_mice_p99", "FCT mice p99", "lower", 1e6, "us", seldom=True),
    Metric("slowdown_mice_mean", "slowdown mice mean", "lower", seldom=True),
    Metric("slowdown_mice_p99", "slowdown mice p99", "lower", seldom=True),
    Metric("fct_elephants_mean", "FCT elephants mean", "lower", 1e6, "us", seldom=True),
    Metric("fct_elephants_p99", "FCT elephants p99", "lower", 1e6, "us", seldom=True),
    Metric("slowdown_elephants_mean", "slowdown elephants mean", "lower", seldom=True),
    Metric("slowdown_elephants_p99", "slowdown elephants p99", "lower", seldom=True),
    Metric("message_mean", "message", "lower", 1e6, "us", seldom=True),
    Metric("message_rank_mean", "messages of a rank", "lower", 1e6, "us", seldom=True),
    Metric("recovery", "RT, recovery", "lower", 1e6, "us", seldom=True),
    Metric("reaction", "RT, reaction", "lower", 1, "RTT", seldom=True),
    Metric("long_bandwidth", "LBW", "higher", 1, "%", seldom=True),
    Metric("decision_per_row", "decision", "lower", 1e6, "us"),
)
BY_NAME = {metric.name: metric for metric in METRICS}
