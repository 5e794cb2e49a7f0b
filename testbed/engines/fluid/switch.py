"""The fluid model's queues as a switch, for a tuner."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.fluid.fluid import Fluid
from testbed.tuner import ELEPHANT


class ModelSwitch:
    """See `testbed.tuning.loop.Switch`. Ports with data (``port_of`` each queue) are queues, others are idle.

    With ``monitor`` flows are told: those that were sending at some time since the sample before.
    """

    def __init__(self, fluid: Fluid, ports: int, port_of: Ints, *, monitor: bool) -> None:
        self.fluid, self.n, self.port_of, self.monitor = fluid, ports, port_of, monitor
        self.thresholds: Floats = np.zeros((3, ports))
        self._pair = np.unique(np.stack((fluid.layout.host, fluid.layout.queue)), axis=1, return_inverse=True)
        self._since = -1.0  # s

    def set_thresholds(self, kmin: Floats, kmax: Floats, pmax: Floats) -> None:
        self.thresholds = np.array((kmin, kmax, pmax))
        self.fluid.queues.set_thresholds(*self.thresholds[:, self.port_of])

    def sample(self, _now_ns: int) -> dict[str, Floats]:
        flows = self._flows() if self.monitor else {}
        return self.counters() | {name: self.spread(column) for name, column in flows.items()}

    def counters(self) -> dict[str, Floats]:
        """Of the ports, with the thresholds."""
        queues = self.fluid.queues
        columns = {
            "tx_bytes": queues.left,
            "queue": queues.now,
            "queue_area": queues.area * self.fluid.options.step,
            "marked_bytes": queues.marked,
            "dropped_packets": queues.dropped / self.fluid.layout.wire_size,
        }
        spread = {name: self.spread(column) for name, column in columns.items()}
        return spread | dict(zip(("kmin", "kmax", "pmax"), self.thresholds, strict=True))

    def _flows(self) -> dict[str, Floats]:
        fluid = self.fluid
        seen = fluid.sending | (fluid.finished > self._since)
        self._since = fluid.now
        (_, receiver), pair = self._pair
        senders = receiver[np.unique(pair[seen])]
        m = fluid.layout.queues
        elephants = np.bincount(fluid.layout.queue[seen & (fluid.sent > ELEPHANT)], minlength=m)
        flows = np.bincount(fluid.layout.queue[seen], minlength=m)
        mice_share = np.divide(flows - elephants, flows, out=np.full(m, np.nan), where=flows > 0)
        return {"incast_degree": np.bincount(senders, minlength=m).astype(float), "mice_share": mice_share}

    def spread(self, column: Floats) -> Floats:
        """A row per queue to a row per port; 0 for idle ones."""
        out = np.zeros((self.n, *column.shape[1:]))
        out[self.port_of] = column
        return out
