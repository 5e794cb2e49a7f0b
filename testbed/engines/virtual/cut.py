"""Where a rack is cut: at links, between neighbours in the order of the shape, so that each part has as much to do.

Any cut gives the same figures. Hosts stay with their switch, unless there are fewer switches of hosts than parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.virtual.wires import Wires
from testbed.experiment.traffic.plan import Plan

ENDLESS = 1e9  # bytes: what an endless flow counts
AT_A_HOST, AT_A_SWITCH = 2.0, 1.0  # what a packet and its acknowledgement cost there


@dataclass(frozen=True)
class Cut:
    """By number, in which of ``count`` parts they are."""

    count: int
    line: Ints  # where it ends
    host: Ints  # of the rack

    @classmethod
    def of(cls, wires: Wires, plan: Plan, count: int) -> Self:
        """Into so many parts; fewer, if there are not so many hosts."""
        _, _, edge = wires.hosts()
        hosts, switches = len(edge), len(wires.switch)
        sizes = np.minimum(plan.size, ENDLESS)
        load = np.bincount(plan.src_number - 1, sizes, hosts) + np.bincount(plan.dst_number - 1, sizes, hosts)
        above = np.setdiff1d(np.arange(switches), edge)
        below = np.unique(edge)
        part = np.zeros(switches, np.int64)  # of each switch
        part[above] = _shared(np.ones(len(above)), count)
        each = AT_A_SWITCH * np.bincount(edge, load, switches)
        if len(below) >= count:
            part[below] = _shared((each + AT_A_HOST * np.bincount(edge, load, switches))[below], count)
            host = part[edge]
        else:
            both = _shared(np.concatenate((each[below], AT_A_HOST * load)), count)
            part[below], host = both[: len(below)], both[len(below) :]
        nodes = np.concatenate((part, host[::-1]))  # hosts count from the end, as lines number them
        return cls(count, nodes[wires.lines["receiver"]], host)


def _shared(load: Floats, count: int) -> Ints:
    """Neighbours, in parts of about the same load."""
    if not len(load):
        return np.zeros(0, np.int64)
    load = load + max(load.max(), 1.0) * 1e-6  # those without any are shared, too
    middle = np.cumsum(load) - load / 2
    part: Ints = np.minimum(count * middle / load.sum(), count - 1).astype(np.int64)
    return part
