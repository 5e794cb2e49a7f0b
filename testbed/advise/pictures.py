"""What an operator would show: queue, completion and pauses before and after, the search, each knob."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from testbed.advise.advice import Advice
from testbed.advise.budget import in_time
from testbed.advise.evidence import Settings, run
from testbed.advise.knob import Knob
from testbed.advise.objective import share
from testbed.results.record import RunRecord
from testbed.results.report.plot import (
    MOST_POINTS,
    Axis,
    Dash,
    Line,
    Panel,
    Plot,
    Symbol,
    from_start,
    growth_rate,
    ms,
    over_time,
    spread,
)
from testbed.results.report.sizes import by_size, over_size
from testbed.results.summary import Summary

Seen = tuple[RunRecord, Summary]
LOOKS = (("now", "muted"), ("put forward", "accent"))
WORST = -1.0  # a gain that is drawn at the edge


def before_and_after(advice: Advice) -> list[Plot]:
    """Of the first draw of the check: runs it again, now and advised, for each workload that there is time for.
    Raises TestbedError.
    """
    advised = advice.checked.advised
    if advised is None or advised.why:
        return []
    found: list[Plot] = []
    sides: tuple[Settings, Settings] = ((), advised.candidate)
    for one in advice.task.workloads:
        draw = advice.task.check_draws[0]
        pair = [run(one.resolved(draw, settings)) for settings in in_time(sides, advice.until)]
        if len(pair) < len(sides):
            break
        several = f", {one.name}" if len(advice.task.workloads) > 1 else ""
        found += [plot for plot in (_queue(pair, several), _slowdown(pair, several), _pauses(pair, several)) if plot]
    return found


def _queue(pair: Sequence[Seen], several: str) -> Plot:
    lines = []
    for (name, colour), (record, _) in zip(LOOKS, pair, strict=True):
        ports, port = record.port_series, record.bottleneck
        kept = spread(ports.time, MOST_POINTS // 2)
        time, queue = growth_rate(*from_start(ports.time[kept], ports.queue_area[kept, port : port + 1]))
        lines.append(Line(ms(time), queue[:, 0] / 1e3, name, colour, width=1.2))
    record = pair[0][0]
    note = f"kB, mean between samples, at {record.ports[record.bottleneck]}; one draw of the check"
    return Plot(f"Queue before and after{several}", note, [Panel(lines)], over_time(record.duration, record.warmup))


def _slowdown(pair: Sequence[Seen], several: str) -> Plot | None:
    if not all(summary.slowdown_by_share for _, summary in pair):
        return None
    lines = []
    for (name, colour), (_, summary) in zip(LOOKS, pair, strict=True):
        shapes: tuple[tuple[str, Symbol, Dash], ...] = (("p50", "", "dot"), ("p99", "circle", "solid"))
        for figure, symbol, dash in shapes:
            values = over_size(summary.slowdown_by_share, figure)
            lines.append(Line(*values, f"{figure} {name}", colour, dash=dash, symbol=symbol, size=5))
    note = "completion time / ideal, in bins with equally many flows; one draw of the check"
    return by_size(f"Slowdown before and after{several}", note, lines)


def _pauses(pair: Sequence[Seen], several: str) -> Plot | None:
    counts = [record.port_series.pause_frames.sum(axis=1) for record, _ in pair]
    if not any(count.any() for count in counts):
        return None
    lines = [Line(ms(record.port_series.time), count.astype(float), name, colour, step=True)
             for (name, colour), (record, _), count in zip(LOOKS, pair, counts, strict=True)]  # fmt: skip
    record = pair[0][0]
    note = "PFC frames of all ports so far; one draw of the check"
    return Plot(f"Pauses before and after{several}", note, [Panel(lines)], over_time(record.duration, record.warmup))


def history(advice: Advice) -> Plot:
    """Every candidate in the order of the search, and the best so far."""
    tried = advice.history.tried
    number = np.arange(1.0, len(tried) + 1)
    gain = np.array([_drawn(one.standing.gain) for one in tried])
    whole = np.array([one.draws == advice.history.draws for one in tried])
    held = np.array([one.standing.allowed for one in tried])
    groups = (("all draws", whole & held, "accent", 0.8), ("breaks a constraint", whole & ~held, "limit", 0.8),
              ("stopped after one draw", ~whole, "faint", 0.8))  # fmt: skip
    lines = [
        Line(number[chosen], gain[chosen], name, colour, width=0, symbol="circle", size=5, opacity=opacity)
        for name, chosen, colour, opacity in groups
        if chosen.any()
    ]
    best = np.array([100 * share(one) for one in advice.history.best()])
    lines.append(Line(number, best, "best so far", "good", width=2, step=True))
    note = "gain over what is there now, %, on the search's draws, by candidate"
    return Plot("The search", note, [Panel(lines, Axis(from_zero=True))], Axis("candidate"))


def knobs(advice: Advice) -> list[Plot]:
    """How the gain depends on each: every candidate is a point."""
    return [_knob(advice, one) for one in advice.space.knobs]


def _knob(advice: Advice, knob: Knob) -> Plot:
    places, gains, held = [], [], []
    for one in advice.history.tried:
        text = dict(setting.split("=", 1) for setting in one.standing.candidate).get(knob.key, "")
        place = knob.position(text)
        if place is not None and one.standing.gains:
            places.append(place)
            gains.append(_drawn(one.standing.gain))
            held.append(one.standing.allowed)
    scale, unit = _unit(knob)
    x, y, ok = np.array(places) * scale, np.array(gains), np.array(held, dtype=bool)
    lines = [
        Line(x[chosen], y[chosen], name, colour, width=0, symbol="circle", size=5, opacity=0.75)
        for name, chosen, colour in (("holds the constraints", ok, "accent"), ("breaks one", ~ok, "limit"))
        if chosen.any()
    ]
    marks = {name: place * scale for name, place in _marks(advice, knob).items() if math.isfinite(place)}
    ticks = {text: float(number) for number, text in enumerate(knob.choices)}
    axis = Axis(unit, log=knob.log, marks=marks, ticks=ticks)
    return Plot(f"Sensitivity: {knob.name}", f"gain, %, by {knob.key}", [Panel(lines)], axis)


def _marks(advice: Advice, knob: Knob) -> dict[str, float]:
    texts = {"now": advice.space.now[knob.key]}
    if advice.checked.advised:
        texts["put forward"] = dict(one.split("=", 1) for one in advice.checked.advised.candidate).get(knob.key, "")
    return {name: math.nan if (at := knob.position(text)) is None else at for name, text in texts.items()}


def _unit(knob: Knob) -> tuple[float, str]:
    return {"size": (1e-3, "kB"), "time": (1e6, "us"), "rate": (1e-9, "Gbit/s"), "ratio": (100.0, "%")}.get(
        knob.kind, (1.0, "")
    )


def _drawn(gain: float) -> float:
    return 100 * max(share(gain), WORST) if math.isfinite(gain) else 100 * WORST
