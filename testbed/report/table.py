"""The result table: one row per figure, verdict on top; readable at 80 columns and as plain text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.report.summary import Summary
from testbed.units import show_rate, show_time

if TYPE_CHECKING:
    from rich.console import RenderableType

UNKNOWN = "-"


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure's name and its values, each with a word on what it is."""

    name: str
    values: tuple[tuple[str, str], ...]  # (value, word)


def title(summary: Summary) -> str:
    """What was run, in one line."""
    tuner = f" + {summary.tuner}" if summary.tuner else ""
    flows = f"{_count(summary.flows, 'flow')} from {_count(summary.hosts, 'host')}"
    return f"{summary.experiment} · {summary.controller}{tuner} · {flows}"


def scope(summary: Summary) -> str:
    """Where and when the figures were taken, in one line."""
    span = f"figures from {_milliseconds(summary.window_start)} to {_milliseconds(summary.window_end)} ms"
    if summary.window_end <= summary.window_start:
        span = "ended within the warm-up"
    return f"{summary.bottleneck} at {show_rate(summary.bottleneck_rate)}, base RTT {_time(summary.base_rtt)}, {span}"


def rows(summary: Summary) -> list[Row]:
    """The figures as text, in the order in which a reader asks for them."""
    s = summary
    table = [
        Row("SU", ((_number(s.su, " %"), ""),)),
        Row("FR", ((_number(s.fr_flows, " %"), "per flow"), (_number(s.fr_hosts, " %"), "per host"))),
        Row("Jain", ((_number(s.jain_flows), "per flow"), (_number(s.jain_hosts), "per host"))),
        Row("QL", ((_us(s.ql_mean), "mean"), (_us(s.ql_p99), "p99"), (_us(s.ql_max), "max"))),
        Row("RTT", ((_us(s.rtt_p50), "p50"), (_us(s.rtt_p99), "p99"))),
        Row("goodput", ((_rate(s.goodput), "in all"), (_rate(s.goodput / max(s.flows, 1)), "per flow"))),
        Row("drops", ((_integer(s.drops), "packets"), (_number(s.loss, " %"), "of sent"))),
        Row("marks", ((_integer(s.marks), "packets"), (_number(s.marked, " %"), "of passed"))),
    ]
    if s.lossless:
        shares = (_number(s.paused, " %"), "of the time"), (_number(s.paused_in_run, " %"), "with the warm-up")
        table.append(Row("pauses", ((_integer(s.pause_frames), "frames"), *shares)))
    if s.fct_finished or s.fct_unfinished:
        slowdown = (s.slowdown_mean, "mean"), (s.slowdown_p50, "p50"), (s.slowdown_p99, "p99")
        table.append(Row("FCT", ((_time(s.fct_mean), "mean"), (_time(s.fct_p50), "p50"), (_time(s.fct_p99), "p99"))))
        table.append(Row("slowdown", tuple((_number(value), word) for value, word in slowdown)))
    cost = (_time(s.decision_per_row), "per flow"), (_time(s.decision_per_call), "per call")
    return [*table, Row("decision", cost)]


def notes(summary: Summary) -> list[str]:
    """What a reader must know to take the figures for what they are."""
    s = summary
    found = ["drops of sent: over the whole run; decision time: wall time"]
    if s.lossless:
        found.append("lossless fabric (PFC): pause frames are of the whole run, paused time is a sending host's mean")
    if s.drops_in_run > s.drops:
        found.append(f"{s.drops_in_run - s.drops:,.0f} more packets were dropped in the warm-up")
    if s.flows > s.fairness_flows and s.window_end > s.window_start:
        excluded = _count(s.flows - s.fairness_flows, "flow")
        found.append(f"FR and Jain leave out {excluded} active in less than 90 % of the window")
    if s.fct_unfinished:
        finite = s.fct_finished + s.fct_unfinished
        found.append(f"FCT is of the {s.fct_finished} of {finite} finite flows that finished")
    return found


def render(summary: Summary) -> RenderableType:
    """The table for rich; without a terminal it prints as plain text, with no box characters."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    colour = "green" if summary.verdict.word == "clean" else "bold yellow"
    lines: list[RenderableType] = [
        Text(title(summary), style="bold"),
        Text(scope(summary), style="dim"),
        Text.assemble("verdict: ", (summary.verdict.word, colour)),
    ]
    if summary.verdict.reasons:
        reasons = Table.grid(padding=(0, 1))
        for reason in summary.verdict.reasons:
            reasons.add_row(" -", Text(str(reason)))  # in a grid, a long one wraps under itself
        lines.append(reasons)

    figures = Table.grid(padding=(0, 1))
    figures.add_column(style="bold", no_wrap=True)
    for _ in range(3):
        figures.add_column(justify="right", no_wrap=True)
        figures.add_column(style="dim", no_wrap=True)
    for row in rows(summary):
        figures.add_row(row.name, *(Text(cell) for value in row.values for cell in value))
    return Group(*lines, Text(), figures, Text(), *(Text(note, style="dim") for note in notes(summary)))


def _number(value: float, unit: str = "") -> str:
    """Four digits, but never an exponent: small shares are what loss is about."""
    if not math.isfinite(value):
        return UNKNOWN
    digits = 0 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}{unit}"


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us" if math.isfinite(seconds) else UNKNOWN


def _time(seconds: float) -> str:
    return show_time(float(f"{seconds:.4g}")) if math.isfinite(seconds) else UNKNOWN


def _rate(rate: float) -> str:
    return show_rate(float(f"{rate:.4g}")) if math.isfinite(rate) else UNKNOWN


def _integer(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else UNKNOWN


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
