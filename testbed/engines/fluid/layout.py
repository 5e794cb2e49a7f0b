"""Who sends to whom in the fluid model: columns per flow, and one queue per destination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.controller import Paths
from testbed.errors import BadInput
from testbed.experiment.layout import Layout
from testbed.experiment.topology.settings import Star


@dataclass(frozen=True)
class FluidLayout:
    """Flows in columns of shape (n,), queues in columns of shape (m,). SI units."""

    host: Ints  # number of the sending host, 0 .. hosts - 1
    queue: Ints  # number of the queue, 0 .. m - 1
    start: Floats  # s
    size: Floats  # wire bytes; inf for an endless flow
    base_rtt: Floats  # s
    line_rate: float  # bit/s, of hosts and queues
    buffer: float  # bytes per queue
    payload: int = 1000
    wire_size: int = 1122

    @property
    def queues(self) -> int:
        """Number of queues."""
        return int(self.queue.max()) + 1

    @property
    def paths(self) -> Paths:
        """What a controller is told of the flows."""
        n = len(self.host)
        return Paths(
            line_rate=np.full(n, self.line_rate),
            base_rtt=self.base_rtt,
            hops=np.ones(n, np.int64),
            payload=self.payload,
            wire_size=self.wire_size,
        )


def incast(
    senders: int, *, copies: int = 1, line_rate: float = 100e9, base_rtt: float = 8.192e-6, buffer: float = 5e6
) -> FluidLayout:
    """``copies`` separate incasts side by side; each sender has one flow, all start at 0."""
    n = senders * copies
    return FluidLayout(
        host=np.arange(n),
        queue=np.repeat(np.arange(copies), senders),
        start=np.zeros(n),
        size=np.full(n, np.inf),
        base_rtt=np.full(n, base_rtt),
        line_rate=line_rate,
        buffer=buffer,
    )


def of_experiment(layout: Layout) -> FluidLayout:
    """The rack and the traffic of an experiment. Raises BadInput for what the model does not have."""
    experiment, plan, framing = layout.experiment, layout.plan, layout.framing
    if not isinstance(experiment.rack, Star):
        raise BadInput(
            f"rack.kind: the fluid model knows 'star' only, got '{experiment.rack.kind}'; use engine 'virtual'"
        )
    if experiment.rack.switch.pfc:
        raise BadInput("rack.switch.pfc: the fluid model has no pause frames; turn it off, or use engine 'virtual'")
    if any(link.loss for link in layout.shape.links):
        raise BadInput("rack.link.loss: the fluid model loses nothing at random; set it to 0, or use engine 'virtual'")
    if len({(link.rate, link.buffer) for link in layout.shape.links}) > 1:
        raise BadInput("rack.links: the fluid model's links have one rate and one buffer; use engine 'virtual'")
    if plan.waits.any():
        raise BadInput(
            f"the fluid model has no flows that wait for others to finish, as those of '{experiment.traffic.pattern}' "
            f"do; use engine 'virtual'"
        )
    return FluidLayout(
        host=np.unique(plan.src_number, return_inverse=True)[1].astype(np.int64),
        queue=np.unique(plan.dst_number, return_inverse=True)[1].astype(np.int64),
        start=layout.start,
        size=np.ceil(plan.size / framing.payload) * framing.wire_size,
        base_rtt=layout.paths.base_rtt,
        line_rate=layout.shape.links[0].rate,
        buffer=float(round(layout.shape.links[0].buffer)),
        payload=framing.payload,
        wire_size=framing.wire_size,
    )
