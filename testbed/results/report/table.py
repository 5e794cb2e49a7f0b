"""The result table: the figures of a run row by row, verdict on top; readable at 80 columns and as plain text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from testbed.results.figures.jobs import JobFigures
from testbed.results.figures.queues import QueueFigures
from testbed.results.figures.registry import UNKNOWN, Figure, shown_time
from testbed.results.fitted import Fitted, Prose
from testbed.results.record import SIMULATED
from testbed.results.summary import FIGURES, Summary
from testbed.results.table import Cell, Table
from testbed.units import counted, rounded, show_rate, show_size

if TYPE_CHECKING:
    from rich.console import RenderableType

ACROSS = 3  # figures in a line
SHARED = "by controller: its flows' share of all goodput; x fair: goodput per flow / that of all flows"
MESSAGES = "by message size: completion of a message, of all of a rank's, of the whole operation"
LATE_START = "loss and pauses in run are not given: they include the time before the window, see the verdict"
FLUID = "so no timeouts and no queue of ACKs; packets are as many bytes"


def _several_receivers(summary: Summary) -> bool:
    return summary.receivers > 1


def _two_classes(summary: Summary) -> bool:
    return bool(summary.mice and summary.elephants)  # else those are what is said about all


APPLIES: dict[str, Callable[[Summary], bool]] = {  # figures and rows that are not always of interest
    "su_receivers": _several_receivers,
    "ql_receivers": _several_receivers,
    "ql_busiest": _several_receivers,
    "pauses": lambda summary: summary.lossless,
    "pauses in run": lambda summary: summary.lossless,
    "mice": _two_classes,
    "elephants": _two_classes,
    "message": lambda summary: not math.isnan(summary.message_p50),
    "messages": lambda _summary: False,  # told by kind
    "iteration": lambda _summary: False,  # told by job
    "bus bandwidth": lambda _summary: False,
}


def title(summary: Summary) -> str:
    """What was run, in one line."""
    tuner = f" + {summary.tuner}" if summary.tuner else ""
    flows = f"{counted(summary.flows, 'flow')} from {counted(summary.hosts, 'host')}"
    return f"{summary.experiment} · {summary.controller}{tuner} · {flows}"


def scope(summary: Summary) -> str:
    """Where and when the figures were taken, in one line."""
    span = f"figures from {_milliseconds(summary.window_start)} to {_milliseconds(summary.window_end)} ms"
    if summary.window_end <= summary.window_start:
        span = "ended within the warm-up"
    rate, rtt = show_rate(summary.bottleneck_rate), shown_time(summary.base_rtt)
    return f"{summary.bottleneck} at {rate}, base RTT {rtt} (median flow), {span}"


def notes(summary: Summary) -> list[str]:
    """What a reader must know to take the figures for what they are."""
    s = summary
    completion = "FCT, slowdown, " if s.fct_finished else ""
    found = [f"in run, {completion}decision: with the warm-up; decision: wall time; DR: dropped traffic"]
    if s.engine in SIMULATED:
        found = [SIMULATED[s.engine] + (f", {FLUID}" if s.engine == "fluid" else ""), *found]
    if s.engine == "lab":
        found = [*_lab_notes(s), f"{completion}decision: with the warm-up; decision: wall time"]
    if marking := str(s.marking):
        found.append(f"ECN at {s.bottleneck}: {marking}")
    if s.lossless:
        found += _lossless_notes(s)
    if _several_receivers(s):
        found.append(f"receivers: mean over the ports towards {s.receivers} receiving hosts")
    if s.paused_port_in_run > 0:
        found.append(f"pauses, worst port: {s.paused_port}, share of the whole run")
    if s.drops_in_run > s.drops:
        found.append(f"{s.drops_in_run - s.drops:,.0f} more packets were dropped in the warm-up")
    if s.rtt_p50 < s.base_rtt:
        found.append("RTT is of all flows, and some have a shorter path than the median flow")
    if s.flows > s.fairness_flows and s.window_end > s.window_start:
        excluded = counted(s.flows - s.fairness_flows, "flow")
        found.append(
            f"FR and Jain leave out {excluded} active in less than 90 % of the window"
            if math.isfinite(s.jain_flows)
            else f"FR and Jain are not known: {excluded} were active in less than 90 % of the window"
        )
    if _two_classes(s):
        found.append("mice: finite flows of at most 1 MB")
    if s.queues:
        found += _queue_notes(s)
    found += [_unfinished(one) for one in s.jobs if one.unfinished]
    found += [s.tcp.said] if s.tcp else []
    found += [
        text for there, text in ((s.verdict.start, LATE_START), (s.shared, SHARED), (s.messages, MESSAGES)) if there
    ]
    if s.interruptions:
        back, slow = f"{s.recovered} of {s.interruptions}", f"{s.slowed} of {s.interruptions}"
        found.append(f"RT: the long flows were back after {back} interruptions, and slowed down in {slow}")
    return found


def _unfinished(job: JobFigures) -> str:
    return f"{job.job}: of the {job.iterations} of {job.iterations + job.unfinished} iterations that all ranks had done"


def _lossless_notes(summary: Summary) -> Iterator[str]:
    yield "lossless fabric (PFC): paused time is a sending host's mean"
    if lost := summary.counters.get("lost_on_links", 0):
        yield f"{lost:,} packets were lost on links that were down or have a loss rate"


def _lab_notes(summary: Summary) -> list[str]:
    missing = summary.counters.get("not_arrived", 0)
    return [
        "over real hosts: SU is what arrived at the receiving host, marks are those that hosts saw; queues, thresholds "
        "and drops of the switches are not known here",
        f"{missing:,} packets did not arrive, {100 * missing / max(summary.packets_sent, 1):.3g} % of sent",
        f"base RTTs are measured; hosts started at most {shown_time(summary.start_spread)} apart",
    ]


def window(summary: Summary) -> list[str]:
    """What must be known beside the verdict: how the algorithm, and not the emulation, left the window."""
    which = "the window" if summary.windows <= 1 else f"window {summary.windows}, its last"
    found = [f"not at rest in {which}: {summary.unrest}"] if summary.unrest else []
    if summary.windows and not summary.unrest:
        found.append(f"at rest in window {summary.windows}, its last")
    if summary.starved:
        found.append(
            f"{summary.starved} of {counted(summary.fairness_flows, 'flow')} got less than a tenth of an equal share"
        )
    if summary.fct_unfinished:
        finite, share = summary.fct_finished + summary.fct_unfinished, summary.unfinished_bytes
        found.append(
            f"{summary.fct_unfinished:,} of {finite:,} finite flows did not finish, with {share:.3g} % of the bytes: "
            "quantiles of FCT take them as longer, means leave them out"
        )
    return found


def render(summary: Summary) -> RenderableType:
    """The table for rich; without a terminal it prints as plain text, with no box characters."""
    from rich.console import Group
    from rich.text import Text

    colour = "green" if summary.verdict.word == "clean" else "bold yellow"
    return Group(
        Prose(title(summary), style="bold"),
        Prose(scope(summary), style="dim"),
        Text.assemble("verdict: ", (summary.verdict.word, colour)),
        *(Prose(line, hanging=" - ") for line in summary.verdict.lines),
        *(Prose(line, style="yellow") for line in window(summary)),
        Text(),
        Fitted(figures(summary)),
        Text(),
        *(Prose(note, style="dim") for note in notes(summary)),
    )


def figures(summary: Summary) -> Table:
    """The figures that apply to a run, `ACROSS` in a line: nothing is said about short flows where there are none."""
    found: dict[str, list[Cell]] = {}
    for one in FIGURES.values():
        if one.row and _applies(one, summary):
            found.setdefault(one.row, []).append(Cell(one.text(getattr(summary, one.name)), one.beside))
    if _two_classes(summary):
        for row, flows in (("mice", summary.mice), ("elephants", summary.elephants)):
            found[row].insert(ACROSS - 1, Cell(f"{flows:,}", "flows"))
    lines = [line for row, cells in found.items() for line in _lines(row, cells)]
    return Table([*lines, *_queues(summary), *_shared(summary), *_jobs(summary), *_messages(summary), *_apps(summary)])


def _lines(row: str, cells: list[Cell]) -> Iterator[list[Cell]]:
    for first in range(0, len(cells), ACROSS):
        yield [Cell("" if first else row), *cells[first : first + ACROSS]]


def _applies(one: Figure, summary: Summary) -> bool:
    if not all(APPLIES[key](summary) for key in (one.name, one.row) if key in APPLIES):
        return False
    unknown = one.text(getattr(summary, one.name)) == UNKNOWN
    return not (
        unknown and (one.seldom or summary.engine == "lab" or not summary.flows)
    )  # which only switches, or flows, know


def _queue_notes(summary: Summary) -> Iterator[str]:
    yield f"q0 to q7: the queues of {summary.bottleneck}, and the classes that wait there; peak: of the whole run"
    if idle := ", ".join(f"q{one.queue} {one.classes}" for one in summary.queues if _idle(one)):
        yield f"nothing came to {idle}"


def _idle(queue: QueueFigures) -> bool:
    return not (queue.peak or queue.packets or queue.dropped)


def _queues(summary: Summary) -> Iterator[list[Cell]]:
    for one in summary.queues:
        if _idle(one):
            continue
        told = (
            (f"{one.share:.4g} %", "of the line"),
            (show_size(rounded(one.mean)), "mean"),
            (show_size(rounded(one.peak)), "peak"),
            (f"{one.packets:,.0f}", "packets"),
            (f"{one.marked:,.0f}", "marked"),
            (f"{one.dropped:,.0f}", "dropped"),
        )
        yield from _lines(f"q{one.queue} {one.classes}", [Cell(*both) for both in told])


def _shared(summary: Summary) -> Iterator[list[Cell]]:
    for one in summary.shared:
        texts = (f"{one.share:.4g} %", f"{one.fair:.4g}", f"{one.jain:.4f}", shown_time(one.rtt), f"{one.marked:.3g} %")
        cells = [Cell(*both) for both in zip(texts, ("of goodput", "x fair", "Jain", "RTT", "marked"), strict=True)]
        yield from _lines(one.controller, cells)


def _jobs(summary: Summary) -> Iterator[list[Cell]]:
    for one in summary.jobs:
        told = [
            (shown_time(one.iteration), "iteration"),
            (shown_time(one.iteration_p99), "p99"),
            (f"{one.straggler:.4g} x", "straggler"),
            (shown_time(one.exposed), "exposed"),
            (f"{one.exposed_share:.3g} %", "of a rank's time"),
        ]
        told += [
            (show_rate(rounded(value)), word)
            for value, word in zip((one.algorithm_bandwidth, one.bus_bandwidth), ("algorithm", "bus"), strict=True)
            if math.isfinite(value)
        ]
        if math.isfinite(one.interference):
            told.append((f"{one.interference:.4g} x", "of alone"))
        yield from _lines(one.job, [Cell(*both) for both in told])


def _messages(summary: Summary) -> Iterator[list[Cell]]:
    for one in summary.messages:
        times = {"each": one.message, "per rank": one.rank, "all": one.operation}
        size = show_size(rounded(one.size))
        yield [Cell(size), *(Cell(shown_time(value), word) for word, value in times.items())]


def _apps(summary: Summary) -> Iterator[list[Cell]]:
    for one in summary.apps:
        cells = [Cell(_value(figure.value, figure.unit), figure.name) for figure in one.figures]
        yield from _lines(one.app, cells)


def _value(value: float, unit: str) -> str:
    shown = {"bit/s": show_rate, "s": shown_time, "B": show_size}.get(unit)
    return shown(rounded(value)) if shown else f"{value:,.4g} {unit}".rstrip()


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g}"
