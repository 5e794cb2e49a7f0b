"""The rows of the result table: the figures as text, in the order in which a reader asks for them.

A row is there only if it applies: nothing is said about short flows where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from testbed.results.summary import Summary
from testbed.units import show_rate, show_size, show_time

UNKNOWN = "-"


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure's name and its values, each with a word on what it is."""

    name: str
    values: tuple[tuple[str, str], ...]  # (value, word)


def rows(summary: Summary) -> list[Row]:
    """All rows that apply to a run."""
    s = summary
    cost = (shown_time(s.decision_per_row), "per flow"), (shown_time(s.decision_per_call), "per call")
    found = [*_network(s), *_finite(s), *_messages(s), *_long_short(s), Row("decision", cost)]
    if s.engine == "lab":  # what only switches know
        found = [row for row in found if any(value != UNKNOWN for value, _ in row.values)]
    return found


def _network(s: Summary) -> Iterator[Row]:
    many = s.receivers > 1
    receivers = f"mean of {s.receivers} receivers"
    if many:
        yield Row("SU", ((_number(s.su, " %"), "bottleneck"), (_number(s.su_receivers, " %"), receivers)))
    else:
        yield Row("SU", ((_number(s.su, " %"), ""),))
    yield Row("FR", ((_number(s.fr_flows, " %"), "per flow"), (_number(s.fr_hosts, " %"), "per host")))
    yield Row("Jain", ((_number(s.jain_flows), "per flow"), (_number(s.jain_hosts), "per host")))
    yield Row("QL", ((_us(s.ql_mean), "mean"), (_us(s.ql_p99), "p99"), (_us(s.ql_max), "max")))
    if many:
        yield Row("", ((_us(s.ql_busiest), "busiest port"), (_us(s.ql_receivers), receivers)))
    yield Row("queue", ((_size(s.queue_mean), "mean"), (_size(s.queue_std), "std")))
    yield Row("RTT", ((_us(s.rtt_p50), "p50"), (_us(s.rtt_p99), "p99"), (_us(s.delay_p99), "one way p99")))
    yield Row("goodput", ((_rate(s.goodput), "in all"), (_rate(s.goodput / max(s.flows, 1)), "per flow")))
    yield Row("drops", ((_integer(s.drops), "packets"), (_number(s.loss, " %"), "of sent"), (_rate(s.drop_rate), "DR")))
    yield Row("marks", ((_integer(s.marks), "packets"), (_number(s.marked, " %"), "of passed")))
    if s.lossless:
        shares = (_number(s.paused, " %"), "of the time"), (_number(s.paused_in_run, " %"), "with warm-up")
        yield Row("pauses", ((_integer(s.pause_frames), "frames"), *shares))
        if s.paused_port_in_run > 0:
            yield Row("", ((_number(s.paused_port_in_run, " %"), f"{s.paused_port}, in run"),))


def _finite(s: Summary) -> Iterator[Row]:
    """Mice and elephants only where there are both: else they are what is said about all."""
    if not s.fct_finished and not s.fct_unfinished:
        return
    yield Row("FCT", ((shown_time(s.fct_mean), "mean"), (shown_time(s.fct_p50), "p50"), (shown_time(s.fct_p99), "p99")))
    slowdown = (s.slowdown_mean, "mean"), (s.slowdown_p50, "p50"), (s.slowdown_p99, "p99")
    yield Row("slowdown", tuple((_number(value), word) for value, word in slowdown))
    if s.mice and s.elephants:
        for name, flows, mean, p99 in (
            ("mice", s.mice, s.slowdown_mice_mean, s.slowdown_mice_p99),
            ("elephants", s.elephants, s.slowdown_elephants_mean, s.slowdown_elephants_p99),
        ):
            yield Row(f" {name}", ((_number(mean), "mean"), (_number(p99), "p99"), (f"{flows:,}", "flows")))


def _messages(s: Summary) -> Iterator[Row]:
    for one in s.messages:
        times = (one.message, "each"), (one.rank, "per rank"), (one.operation, "all")
        yield Row(_size(one.size), tuple((shown_time(value), word) for value, word in times))


def _long_short(s: Summary) -> Iterator[Row]:
    if math.isfinite(s.long_bandwidth):
        yield Row("LBW", ((_number(s.long_bandwidth, " %"), "long flows"),))
    if s.interruptions:
        yield Row("RT", ((shown_time(s.recovery), "recovery"), (_number(s.reaction, " RTT"), "reaction")))


def _number(value: float, unit: str = "") -> str:
    """Four digits, but never an exponent: small shares are what loss is about."""
    if not math.isfinite(value):
        return UNKNOWN
    digits = 0 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}{unit}"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us" if math.isfinite(seconds) else UNKNOWN


def shown_time(seconds: float) -> str:
    """Four digits and a unit."""
    return show_time(float(f"{seconds:.4g}")) if math.isfinite(seconds) else UNKNOWN


def _rate(rate: float) -> str:
    return show_rate(float(f"{rate:.4g}")) if math.isfinite(rate) else UNKNOWN


def _size(size: float) -> str:
    return show_size(float(f"{size:.4g}")) if math.isfinite(size) else UNKNOWN


def _integer(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else UNKNOWN
