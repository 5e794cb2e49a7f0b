"""What each of several controllers got of what they shared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.figures.fairness import jain
from testbed.results.figures.unknown import NULL_IF_UNKNOWN, Number, ratio
from testbed.results.record import FlowTable


@dataclass(frozen=True)
class Shared:
    """One controller of several."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    controller: str
    flows: int
    goodput: Number  # bit/s, all of its flows, in the window
    share: Number  # %, of the goodput of all flows
    fair: Number  # its goodput per flow / that of all flows: 1 is an equal share
    jain: Number  # over its own flows
    rtt: Number  # s, mean over acknowledgements, whole run
    marked: Number  # %, of acknowledgements, whole run


def by_controller(flows: FlowTable, goodput: Floats) -> list[Shared]:
    """In the order of the experiment; nothing for a single one. ``goodput`` per flow, bit/s, in the window."""
    names = np.array(flows.controller)
    several = list(dict.fromkeys(flows.controller))
    if len(several) < 2:
        return []
    found = []
    for name in several:
        own = names == name
        acked = float(flows.acked_packets[own].sum())
        found.append(
            Shared(
                controller=name,
                flows=int(own.sum()),
                goodput=float(goodput[own].sum()),
                share=100 * ratio(float(goodput[own].sum()), float(goodput.sum())),
                fair=ratio(float(goodput[own].mean()), float(goodput.mean())),
                jain=jain(goodput[own]),
                rtt=ratio(float(np.nansum(flows.rtt_mean[own] * flows.acked_packets[own])), acked),
                marked=100 * ratio(float(flows.ce_packets[own].sum()), acked),
            )
        )
    return found


def between(shared: list[Shared]) -> float:
    """Jain's index over the controllers' goodput per flow; nan for a single one."""
    return jain(np.array([one.goodput / one.flows for one in shared]))
