"""How evenly those who share a link are served."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.results.figures.spans import Window
from testbed.results.figures.throughput import flow_goodput
from testbed.results.figures.unknown import NAN, ratio
from testbed.results.record import RunRecord

ENOUGH_OF_WINDOW = 0.9  # see `steady_flows`


def steady_flows(record: RunRecord, span: Window) -> NDArray[np.bool_]:
    """The flows that fairness is about: active for at least 90 % of the window.

    A flow that started late or was done early moved fewer bytes without being treated unfairly; it is left out, and
    the summary says how many were. The tenth of slack lets in flows whose starts are spread over a few RTTs when
    there is no warm-up.
    """
    return np.asarray((_active(record, span) >= ENOUGH_OF_WINDOW * span.length) & (span.length > 0))


def can_be_told(steady: NDArray[np.bool_], goodput: Floats) -> bool:
    """Whether the steady flows moved at least half of the bytes, and are several if there were others.

    Of thousands of short flows one that was there all the time is fair to itself, and that says nothing.
    """
    moved = np.nan_to_num(goodput)
    alone = steady.sum() == 1 and (moved > 0).sum() > 1
    return bool(not alone and moved[steady].sum() >= moved.sum() / 2)


def steady_rates(record: RunRecord, span: Window) -> Floats:
    """Goodput of every flow over the part of the window in which it was active, bit/s; what fairness compares."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return flow_goodput(record, span) * span.length / _active(record, span)


def _active(record: RunRecord, span: Window) -> Floats:
    flows = record.flows
    until = np.where(np.isnan(flows.finished), span.end, np.minimum(flows.finished, span.end))
    return np.asarray(np.maximum(until - np.maximum(flows.start, span.start), 0.0))


def per_host(rates: Floats, hosts: Sequence[str]) -> Floats:
    """Sum of the rates of each sending host's flows, in order of first appearance.

    Trap: ADPG's text and code differ in what they compare, flows or hosts (RLCC: hosts), and DECC compares compute
    nodes; with several flows per host the figures differ, so both are reported.
    """
    index = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
    totals = np.zeros(len(index))
    np.add.at(totals, [index[host] for host in hosts], rates)
    return totals


def fairness_ratio(rates: Floats) -> float:
    """FR, %: 100 * min(rate) / max(rate) (ADPG; sheet 8). Trap: ADPG's Table 6 prints it from 0 to 1."""
    return ratio(100 * float(rates.min()), float(rates.max())) if len(rates) else NAN


def jain(rates: Floats) -> float:
    """Jain's index, (sum x)^2 / (n sum x^2): 1 is fair, 1/n is one flow that has everything (sheet 8)."""
    return ratio(float(rates.sum()) ** 2, len(rates) * float((rates**2).sum()))
