"""Which switch port has the highest expected load: the one that a summary shows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from testbed.experiment.topology.routes import Routes
from testbed.experiment.traffic.plan import Plan


def busiest_port(routes: Routes, plan: Plan, duration: float) -> int:
    """Position of the port with the most expected load, as a share of its rate, if ECMP spreads flows evenly.

    A host's flows demand its line rate together; one with a size at most that size over ``duration``. In a star
    it is the port towards the host that most flows go to.
    """
    shape = routes.shape
    if len(shape.switches) == 1:
        return shape.position[shape.port_of(plan.busiest_receiver).name]
    demand: defaultdict[tuple[str, str], float] = defaultdict(float)
    flows_of = Counter(plan.src)
    for src, dst, size in zip(plan.src, plan.dst, plan.size.tolist(), strict=True):
        share = shape.line_rate(src) / flows_of[src]
        demand[src, dst] += min(share, size * 8 / duration) if math.isfinite(size) else share
    load = [0.0] * len(shape.ports)
    for (src, dst), rate in demand.items():
        for name, part in routes.spread(src, dst).items():
            port = shape.position[name]
            load[port] += rate * part / shape.ports[port].link.rate
    return load.index(max(load))
