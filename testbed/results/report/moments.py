"""What happened while traffic went on, for all plots over time: links that failed, phases of traffic and of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from testbed.base.arrays import Floats
from testbed.experiment.events import Event
from testbed.results.record import FlowTable, Measured
from testbed.results.report.plot import Plot, Span
from testbed.units import TIME_UNITS, parse

MOST = 12  # iterations whose ends are marked: more would hide the curves
FINEST = 1 / 300  # of the run: pauses between messages that are shorter are not seen
LONGEST = 28  # letters


@dataclass(frozen=True)
class Moments:
    """Marks by their names, and shaded spans, ms."""

    marks: Mapping[str, float]
    spans: tuple[Span, ...] = ()
    note: str = ""

    @classmethod
    def of(cls, measured: Measured, traffic: Mapping[str, Any], steps: dict[str, Any] | None = None) -> Self:
        """Events of the rack, phases of the experiment's traffic, and with the table of steps those of jobs."""
        failed = {**links(measured.events), **phases(traffic)}
        if steps is None:
            return cls(failed)
        quiet = _quiet(measured.flows, set(steps["job"].tolist()), measured.duration)
        note = "blue: all ranks compute" if quiet else ""
        return cls({**failed, **_iterations(steps)}, quiet, note)

    def on(self, plot: Plot) -> Plot:
        """The plot with them, if it is over time."""
        if not plot.x.is_time or not (self.marks or self.spans):
            return plot
        x = replace(plot.x, marks={**plot.x.marks, **self.marks}, spans=(*plot.x.spans, *self.spans))
        return replace(plot, x=x, note="; ".join(filter(None, (plot.note, self.note))))


def links(events: Sequence[Event]) -> dict[str, float]:
    """When links failed, came back, and were routed around; of what is done at once, the cause alone."""
    marks: dict[str, float] = {}
    for number, event in enumerate(events):
        if "reroute" in event.what and any(other.time == event.time for other in events[:number]):
            continue
        if event.what.startswith("watchdog "):
            marks[event.what] = 1e3 * event.time
            continue
        verb, _, which = event.what.removeprefix("link ").partition(";")[0].partition(" ")
        which = which if len(which) <= LONGEST else f"{which.partition(',')[0]} and {which.count(',')} more"
        said = f"{which} {verb}"
        while said in marks:
            said += " "  # again: the name of a mark is its own
        marks[said] = 1e3 * event.time
    return marks


def phases(traffic: Mapping[str, Any]) -> dict[str, float]:
    """When the next pattern of traffic took its turn."""
    marks: dict[str, float] = {}
    for number, part in enumerate(traffic.get("parts", []) if traffic.get("pattern") == "phases" else [], start=1):
        at = parse(part["start"], TIME_UNITS, "a time")
        if at > 0:
            marks[f"phase {number}: {part['traffic']['pattern']}"] = 1e3 * at
    return marks


def _iterations(steps: dict[str, Any]) -> dict[str, float]:
    """When the last rank had done its part of each iteration; nothing where they are many."""
    ends: dict[str, float] = {}
    done = (steps["kind"] == "done") & np.isfinite(steps["begin"])
    for job, iteration, at in zip(*(steps[name][done].tolist() for name in ("job", "iteration", "begin")), strict=True):
        name = f"{job} {iteration + 1} done"
        ends[name] = max(ends.get(name, 0.0), 1e3 * at)
    return ends if len(ends) <= MOST else {}


def _quiet(flows: FlowTable, jobs: set[str], duration: float) -> tuple[Span, ...]:
    """Between the first message and the last, whenever no message of a job is on its way."""
    own = np.isin(flows.label, sorted(jobs)) & (flows.start < duration)
    if not own.any():
        return ()
    order = np.argsort(flows.start[own], kind="stable")
    begin: Floats = flows.start[own][order]
    end = np.where(np.isnan(flows.finished), duration, flows.finished)[own][order]
    until = np.maximum.accumulate(end)
    gaps = np.flatnonzero(begin[1:] > until[:-1] + FINEST * duration)
    return tuple(Span(1e3 * float(until[at]), 1e3 * float(begin[at + 1]), "band1") for at in gaps)
