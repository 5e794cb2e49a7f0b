"""Why did the rate change? For some telling flows: the feedback that came and the decisions that followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.errors import BadInput, nearest
from testbed.results.decisions import Recorded
from testbed.results.record import Measured
from testbed.results.report.callbacks import CHANGED, Calls, biggest, calls_of, steps
from testbed.results.report.narrative import MINUS, Words
from testbed.results.report.plot import Plot, Trace, line, marks, ms, over_time
from testbed.results.tables import flow_names

MOST_FLOWS = 16
MOST_CHANGES = 8  # in each direction
GAP = 0.05  # between panels, as a share of the height
LOG_FROM = 10  # a range as wide as this is drawn on a logarithmic axis
QUIET = {"showlegend": False}  # the axis says what it is
DOTS = {"mode": "lines+markers", "marker": {"color": "@c2", "size": 3}}  # single ones would have no line
_EVENTS = (
    ("CE", "ce_packets", "@c4", "circle", 4),
    ("CNP", "cnps", "@c1", "triangle-down", 8),
    ("loss", "lost_packets", "@c6", "x", 8),
    ("timeout", "timeouts", "@c3", "star", 11),
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
    panels = _panels(steps)
    rtt_axis = len(panels)
    layout = over_time(duration, warmup) | {"showlegend": True}
    data: list[Trace] = []
    for number, (title, values) in enumerate(panels):
        time, held = ms(np.append(steps["time"], until)), np.append(values, values[-1])
        data.append(line(time, held, title.partition(",")[0], "@accent", step=True) | _on(number) | QUIET)
        layout[_key(number)] = {"title": {"text": title}, "domain": _domain(number, rtt_axis + 1), **_scale(values)}
    for name, column, colour, symbol, size in _EVENTS if panels else ():
        happened = steps[column] > 0
        if happened.any():
            at, height = ms(steps["time"][happened]), panels[0][1][happened]
            data.append(marks(at, height, name, colour, symbol, size=size) | _on(0))
    rtt, base = 1e6 * steps["most_rtt"], 1e6 * calls.base_rtt
    data.append(
        line(*_with_gaps(steps["time"], rtt, duration / 50), "RTT", "@c2", width=1) | _on(rtt_axis) | QUIET | DOTS
    )
    ends = np.array([0, 1e3 * duration])
    data.append(line(ends, np.full(2, base), "base RTT", "@limit", width=1, dash="dot") | _on(rtt_axis))
    layout[_key(rtt_axis)] = {
        "title": {"text": "RTT, us"}, "domain": _domain(rtt_axis, rtt_axis + 1), "rangemode": "tozero"
    }  # fmt: skip
    layout["xaxis"] |= {"anchor": _on(rtt_axis)["yaxis"]}
    if calls.cut:
        layout["shapes"] = [*layout["shapes"], _not_recorded(until, duration)]
    note = "what the controller had set, the news that came, and the highest RTT of each step"
    return Plot(f"Decisions for {flow}", note, data, layout, f"decisions-{flow.replace('#', '-')}")


def _with_gaps(time: Floats, values: Floats, longest: float) -> tuple[Floats, Floats]:
    """What is known, in ms, without a line over a time in which nothing came."""
    known = np.isfinite(values)
    time, values = time[known], values[known]
    silent = np.flatnonzero(np.diff(time) > longest) + 1
    return ms(np.insert(time, silent, time[silent - 1])), np.insert(values, silent, np.nan)


def _panels(steps: dict[str, Any]) -> list[tuple[str, Floats]]:
    """Rate and window as far as they vary; one that does not if that is all there is."""
    columns = [("rate, Gbit/s", steps["after_rate"] / 1e9), ("window, kB", steps["after_window"] / 1e3)]
    finite = [(title, np.where(np.isfinite(values), values, np.nan)) for title, values in columns]
    return [one for one in finite if _varies(one[1])] or [one for one in finite if np.isfinite(one[1]).any()][:1]


def _varies(values: Floats) -> bool:
    known = values[np.isfinite(values)]
    return len(known) > 0 and float(np.ptp(known)) > CHANGED * float(np.abs(known).max())


def _scale(values: Floats) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    if not len(known) or known.min() <= 0 or known.max() / known.min() <= LOG_FROM:
        return {"rangemode": "tozero"}
    decades = np.arange(np.floor(np.log10(known.min())), np.ceil(np.log10(known.max())) + 1)
    ticks = [float(f"{digit}e{decade:.0f}") for decade in decades for digit in ((1, 3) if len(decades) < 4 else (1,))]
    return {"type": "log", "tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def _domain(panel: int, panels: int) -> list[float]:
    """The first one is on top and takes the height that the others leave."""
    small = 0.3 if panels == 2 else 0.26
    top = 1.0 if panel == 0 else small * (panels - panel) - GAP
    bottom = small * (panels - 1 - panel)
    return [round(bottom, 3), round(top, 3)]


def _key(panel: int) -> str:
    return "yaxis" if panel == 0 else f"yaxis{panel + 1}"


def _on(panel: int) -> dict[str, str]:
    return {"yaxis": "y" if panel == 0 else f"y{panel + 1}"}


def _not_recorded(since: float, duration: float) -> dict[str, Any]:
    return {
        "type": "rect", "x0": 1e3 * since, "x1": 1e3 * duration, "y0": 0, "y1": 1, "yref": "paper", "layer": "below",
        "fillcolor": "@hatch", "line": {"width": 0}, "label": {"text": "not recorded", "font": {"color": "@muted"}},
    }  # fmt: skip
