"""Which switch port has the highest expected load: the one that a summary shows."""

from __future__ import annotations

import numpy as np

from testbed.experiment.topology.routes import Routes
from testbed.experiment.traffic.plan import Plan

ALIKE = 1e-9  # loads that differ by less are the same, and the first port counts


def busiest_port(routes: Routes, plan: Plan, duration: float) -> int:
    """Position of the port with the most expected load, as a share of its rate, if ECMP spreads flows evenly.

    A host's flows demand its line rate together; one with a size at most that size over ``duration``. In a star
    it is the port towards the host that most flows go to.
    """
    shape = routes.shape
    if len(shape.switches) == 1:
        return shape.towards[plan.busiest_receiver]
    src, dst, hosts = plan.src_number, plan.dst_number, shape.hosts
    line = np.array([shape.line_rate(host) for host in hosts])
    rate = np.minimum((line / np.bincount(src - 1, minlength=len(hosts)).clip(1))[src - 1], plan.size * 8 / duration)
    edges = routes.edges_of(np.arange(len(hosts)) + 1)
    demand = np.zeros((edges.max() + 1, edges.max() + 1))
    np.add.at(demand, (edges[src - 1], edges[dst - 1]), rate)
    load = routes.carried(demand)
    np.add.at(load, np.array([shape.towards[host] for host in hosts])[dst - 1], rate)
    load /= [port.link.rate for port in shape.ports]
    return int((load >= load.max() * (1 - ALIKE)).argmax())
