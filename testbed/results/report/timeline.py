"""Why did the rate change? For some telling flows: the feedback that came and the decisions that followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput, nearest
from testbed.results.decisions import Recorded
from testbed.results.record import Measured
from testbed.results.report.callbacks import Calls, biggest, calls_of, steps
from testbed.results.report.decided import is_wide, varies
from testbed.results.report.narrative import MINUS, Words
from testbed.results.report.plot import Axis, Line, Panel, Plot, Span, Symbol, ms, over_time
from testbed.results.tables import flow_names

MOST_FLOWS = 16
MOST_CHANGES = 8  # in each direction
SMALL = 0.45  # height of the panels below the first, in relation to it
_EVENTS: tuple[tuple[str, str, str, Symbol, int], ...] = (
    ("CE", "ce_packets", "c4", "circle", 4),
    ("CNP", "cnps", "c1", "triangle", 8),
    ("loss", "lost_packets", "c6", "cross", 8),
    ("timeout", "timeouts", "c3", "star", 11),
)


@dataclass(frozen=True)
class Change:
    """One decision: when, what it changed, what had come, and which of the timeline's steps it is."""

    time: float  # nominal s
    percent: str
    decided: str
    told: str
    step: int


@dataclass(frozen=True)
class Timeline:
    """One flow: why it was chosen, its plot, every step as text, and the biggest changes."""

    flow: str
    chosen: str  # "slowest", ...
    note: str
    plot: Plot
    steps: list[tuple[float, str, str, str]]  # nominal ms; what came; what was decided; by how much
    changes: list[Change]


def timelines(measured: Measured, agents: list[Recorded], asked: Sequence[str] = ()) -> list[Timeline]:
    """Of the flows in ``asked``, by name, and up to `MOST_FLOWS` telling ones. Raises BadInput for an unknown name."""
    names = flow_names(measured.flows)
    chosen = {_number(name, names): "asked for" for name in asked}
    for flow, why in choose(measured).items():
        chosen[flow] = ", ".join(filter(None, (chosen.get(flow, ""), why)))
    found = []
    for flow, why in chosen.items():
        own = calls_of(agents, flow)
        if own is not None and len(own):
            found.append(tell(own, names[flow], why, measured.duration, measured.warmup))
    return found


def _number(name: str, names: list[str]) -> int:
    if name not in names:
        shown = names if len(names) <= 10 else []
        raise BadInput(f"--flow {name}: no such flow in this run; {nearest(name, shown or names[:3])}")
    return names.index(name)


def choose(measured: Measured) -> dict[int, str]:
    """Number and reason of the flows that tell the most: the extremes, and an even choice of the others."""
    flows = measured.flows
    began = np.flatnonzero(flows.start < measured.duration)  # of the others there is nothing to tell
    count = len(began)
    if not count:
        return {}
    end = np.where(np.isnan(flows.finished), measured.duration, flows.finished)
    speed = flows.acked_packets[began] / np.maximum(end - flows.start, 1e-9)[began]
    order = began[np.argsort(speed, kind="stable")].tolist()
    best = [(int(began[0]), "first"), (order[0], "slowest"), (order[-1], "fastest"), (order[count // 2], "median")]
    for word, column in (
        ("most timeouts", flows.timeouts),
        ("most losses", flows.lost_packets),
        ("most CNPs", flows.cnps),
        ("most CE", flows.ce_packets),
    ):
        if column.any():
            best.append((int(np.argmax(column)), word))
    reasons: dict[int, str] = {}
    for flow, word in best if count > 1 else best[:1]:
        reasons[flow] = ", ".join(filter(None, (reasons.get(flow, ""), word)))
    for flow in began[np.linspace(0, count - 1, min(count, MOST_FLOWS)).astype(int)].tolist():
        if len(reasons) < MOST_FLOWS:
            reasons.setdefault(flow, "")
    return dict(sorted(reasons.items())) if count <= MOST_FLOWS else reasons


def tell(calls: Calls, flow: str, chosen: str, duration: float, warmup: float) -> Timeline:
    """The timeline of one flow."""
    rows = biggest(calls, MOST_CHANGES)
    words = Words(calls, steps(calls, rows))
    at = (1e3 * words.arrays["time"]).round(6).tolist()
    texts = [(at[i], words.told(i), words.decided(i), words.percent(i)) for i in range(len(words))]
    changes = [_change(words, step) for step in np.searchsorted(words.begin, rows).tolist()]
    end = float(calls["time"][-1])
    note = f"recorded until {1e3 * end:.4g} ms, then the record was full: raise record.decisions" if calls.cut else ""
    return Timeline(flow, chosen, note, _plot(words, flow, duration, warmup), texts, changes)


def _change(words: Words, step: int) -> Change:
    percent, came = words.percent(step), words.told(step)
    if not percent.startswith(MINUS):
        came = "; ".join(filter(None, (came, words.quiet(step))))
    return Change(float(words.arrays["time"][step]), percent, words.decided(step, timer=False), came, step)


# The plot


def _plot(words: Words, flow: str, duration: float, warmup: float) -> Plot:
    """Panels above each other on one time axis: rate, window, RTT; the events are on the first one."""
    calls, steps = words.calls, words.arrays
    until = float(calls["time"][-1]) if calls.cut else max(duration, float(calls["time"][-1]))
    panels: list[Panel] = []
    time = ms(np.append(steps["time"], until))
    decided = _decided(steps)
    for title, values in decided:
        held = Line(time, np.append(values, values[-1]), title.partition(",")[0], "accent", step=True, listed=False)
        panels.append(Panel([held], Axis(title, log=is_wide(values)), SMALL if panels else 1.0))
    for name, column, colour, symbol, size in _EVENTS if panels else ():
        happened = steps[column] > 0
        if happened.any():
            at, height = ms(steps["time"][happened]), decided[0][1][happened]
            panels[0].lines.append(Line(at, height, name, colour, width=0, symbol=symbol, size=size))
    at, rtt = _with_gaps(steps["time"], 1e6 * steps["most_rtt"], duration / 50)
    base = np.full(2, 1e6 * calls.base_rtt)
    lines = [  # single ones would have no line: each has its dot
        Line(at, rtt, "RTT", "c2", width=1, symbol="circle", size=3, listed=False),
        Line(np.array([0, 1e3 * duration]), base, "base RTT", "limit", width=1, dash="dot"),
    ]
    panels.append(Panel(lines, Axis("RTT, us"), SMALL))
    x = over_time(duration, warmup)
    if calls.cut:
        x = replace(x, spans=(*x.spans, Span(1e3 * until, 1e3 * duration, "hatch", "not recorded")))
    note = "what the controller had set, the news that came, and the highest RTT of each step"
    return Plot(f"Decisions for {flow}", note, panels, x, f"decisions-{flow}")


def _with_gaps(time: Floats, values: Floats, longest: float) -> tuple[Floats, Floats]:
    """What is known, in ms, without a line over a time in which nothing came."""
    known = np.isfinite(values)
    time, values = time[known], values[known]
    silent = np.flatnonzero(np.diff(time) > longest) + 1
    return ms(np.insert(time, silent, time[silent - 1])), np.insert(values, silent, np.nan)


def _decided(steps: dict[str, Any]) -> list[tuple[str, Floats]]:
    """Rate and window as far as they vary; one that does not if that is all there is."""
    columns = [("rate, Gbit/s", steps["after_rate"] / 1e9), ("window, kB", steps["after_window"] / 1e3)]
    finite = [(title, np.where(np.isfinite(values), values, np.nan)) for title, values in columns]
    return [one for one in finite if varies(one[1])] or [one for one in finite if np.isfinite(one[1]).any()][:1]
