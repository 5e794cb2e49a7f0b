"""The probes of the fluid model: each is to be sent, on its way to the queue, or on its way back (model.c)."""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.fluid.core import Core
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.queues import COUNTS

TO_SEND = 0  # as in model.h


class Probes:
    """``each`` probes of every flow, in columns of shape (n * each,), a flow's next to each other."""

    def __init__(self, layout: FluidLayout, each: int, core: Core) -> None:
        count = len(layout.host) * each
        self._core, self._each = core, each
        self._due: Floats = np.full(count, np.inf)
        self._first_due: Floats = np.full(len(layout.host), np.inf)  # of each flow's
        self._phase = np.zeros(count, np.int8)
        self._base_rtt = np.repeat(layout.base_rtt, each)
        core.each, core.next_probe = each, np.inf
        core.point(due=self._due, first_due=self._first_due, phase=self._phase, base_rtt=self._base_rtt)
        core.point(covers=np.zeros(count), rtt=np.zeros(count), seen_at=np.zeros(count), seen=np.zeros((COUNTS, count)))

    def start(self, flows: Ints, at: Floats) -> None:
        """The first ones leave at ``at`` (s), the others evenly spread over a base RTT."""
        mine = self._of(flows)
        self._due[mine] = at[:, None] + self._base_rtt[mine] / self._each * np.arange(self._each)
        self._phase[mine] = TO_SEND
        self._first_due[flows] = at
        self._core.next_probe = float(self._first_due.min())

    def stop(self, flows: Ints) -> None:
        """These flows have no probes any more."""
        self._due[self._of(flows)] = np.inf
        self._first_due[flows] = np.inf

    def _of(self, flows: Ints) -> Ints:
        """Their probes, shape (k, each)."""
        return np.asarray(flows[:, None] * self._each + np.arange(self._each))
