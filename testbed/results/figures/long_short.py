"""Long flows that short ones interrupt: how soon they make room, and how soon they are back.

RT means opposite ends of the event in the papers (sheet 9, row 47): in ADPG the time until the long flow is back at
full rate after the short ones ended, in DECC the time until it slowed down after they arrived, over the RTT. Neither
paper gives thresholds; ours are parameters. Both figures come from samples and are no finer than their distance
(``record.interval``): for DECC's values, below one RTT, it must be a fraction of the base RTT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.results.figures.spans import Window
from testbed.results.figures.unknown import NAN, mean, ratio
from testbed.results.record import RunRecord

FULL = 0.9  # of the rate before the first interruption: "back at full rate"
SLOWED = 0.9  # of the rate at the interruption's start: "slowed down"
APART = 10.0  # base RTTs: short flows that follow each other more closely are one interruption


@dataclass(frozen=True)
class Recovery:
    """Means over the interruptions that began in the window; nan if there is none that counts."""

    interruptions: int
    recovered: int  # after which the long flows came back to full rate before the next one, or the end
    slowed: int  # in which they slowed down
    recovery: float  # s: ADPG's RT, over those that recovered
    reaction: float  # base RTTs: DECC's relative reaction time, over those that slowed down


def recovery(record: RunRecord, span: Window, *, full: float = FULL, slowed: float = SLOWED) -> Recovery:
    """Recovery and reaction of the flows labelled long, taken together, to those labelled short.

    * Full rate is the goodput of the long flows from the window's start to the first interruption. They are back at
      the beginning of the first stretch, of one base RTT or two samples, over which both their mean goodput and what
      they send are at least ``full`` of it: a backlog of theirs that drains from a queue is no recovery. ADPG's text
      says the full line rate, which an algorithm that aims at 95 % would never reach.
    * They have slowed down at the first sample at which the rate that their controller allows, the lower of rate and
      window / base RTT, is at most ``slowed`` of what it was when the interruption began. Goodput would not do: it
      falls as soon as others share the link, whatever the long flow decides.
    """
    series, labels = record.flow_series, np.array(record.flows.label)
    columns = np.flatnonzero(labels[record.series_flows] == "long")
    rtt = float(record.flows.base_rtt[labels == "long"].mean()) if (labels == "long").any() else NAN
    begin, end = interruptions(record, span, APART * rtt)
    if not len(begin) or not len(columns) or len(series.time) < 2:
        return Recovery(len(begin), 0, 0, NAN, NAN)
    limit = np.append(begin[1:], span.end)
    acked, wire, inflight = (
        one[:, columns].sum(axis=1) for one in (series.acked_bytes, series.wire_bytes, series.inflight)
    )
    stretch = max(rtt, 2 * float(np.median(np.diff(series.time))))
    since = series.time - stretch
    there = np.ones(len(since), np.bool_)
    for grown in (acked, wire + inflight):  # what came back, and what was sent
        rate = (grown - np.interp(since, series.time, grown)) / stretch
        there &= rate >= full * _mean_rate(series.time, grown, span.start, begin[0], stretch)
    back = [_first(since, there & (series.time <= until), at_least) for at_least, until in zip(end, limit, strict=True)]

    allowed = _allowed(record, columns)
    before = allowed[np.maximum(np.searchsorted(series.time, begin, side="right") - 1, 0)]
    slow = [
        _first(series.time, (allowed <= slowed * rate) & (series.time <= until), at_least)
        for rate, at_least, until in zip(before, begin, limit, strict=True)
    ]
    recovered, reacted = np.array(back) - end, (np.array(slow) - begin) / rtt
    recovered, reacted = recovered[np.isfinite(recovered)], reacted[np.isfinite(reacted)]
    return Recovery(len(begin), len(recovered), len(reacted), mean(recovered), mean(reacted))


def interruptions(record: RunRecord, span: Window, apart: float) -> tuple[Floats, Floats]:
    """Start and end, s, of the spans in which flows labelled short are active, as far as they start in the window.

    Spans less than ``apart`` seconds from each other are one. The end is inf while one of its flows has not finished.
    """
    flows = record.flows
    kept = (np.array(flows.label) == "short") & (flows.start <= span.end)
    order = np.argsort(flows.start[kept], kind="stable")
    start, end = flows.start[kept][order], flows.finished[kept][order]
    if not len(start):
        return np.empty(0), np.empty(0)
    until = np.maximum.accumulate(np.where(np.isnan(end), np.inf, end))
    first = np.flatnonzero(np.append(True, start[1:] > until[:-1] + apart))
    begin, last = start[first], until[np.append(first[1:], len(start)) - 1]
    inside = begin >= span.start
    return begin[inside], last[inside]


def _allowed(record: RunRecord, columns: Ints) -> Floats:
    """What the controllers allow these flows together, bit/s, shape (t,)."""
    series, flows = record.flow_series, record.flows
    numbers = record.series_flows[columns]
    rate = np.minimum(series.rate[:, columns], flows.line_rate[numbers])
    return np.asarray(np.minimum(rate, 8 * series.window[:, columns] / flows.base_rtt[numbers]).sum(axis=1))


def _mean_rate(time: Floats, acked: Floats, begin: float, end: float, shortest: float) -> float:
    """Bytes/s over a span; nan if it is too short to tell."""
    grown = float(np.interp(end, time, acked) - np.interp(begin, time, acked))
    return ratio(grown, end - begin) if end - begin >= shortest else NAN


def _first(time: Floats, so: NDArray[np.bool_], at_least: float) -> float:
    """The first of the times from ``at_least`` on at which something is so; nan if it never is."""
    found = np.flatnonzero(so & (time >= at_least))
    return float(time[found[0]]) if len(found) else NAN
