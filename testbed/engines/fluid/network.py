"""What is known of the fluid model's queues, for those who record and show a run (`testbed.live.observed.Network`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.agent.histogram import bins
from testbed.base.arrays import Floats, Ints
from testbed.dataplane import histogram
from testbed.dataplane.wire import QUEUE_BINS
from testbed.engines.fluid.metered import MeteredFluid
from testbed.engines.fluid.queues import ARRIVED, DROPPED, QUEUE
from testbed.engines.fluid.switch import ModelSwitch
from testbed.live.snapshot import Counted, coarse_queue
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.tuner_log import TunerNow
from testbed.tuning.loop import Tunings

STEPS_AT_ONCE = 256  # that are counted: numpy's calls cost more than what they do


class FluidNetwork:
    """Packets are as many bytes. Idle ports, and what a fluid has not, such as pauses, are 0."""

    def __init__(self, fluid: MeteredFluid, switch: ModelSwitch, tuning: Tunings, bottleneck: int) -> None:
        m = fluid.layout.queues
        self.fluid, self.switch, self.tuning, self.bottleneck = fluid, switch, tuning, bottleneck
        self.wire_size = fluid.layout.wire_size
        self.peak = np.zeros(m)
        self._packets = np.zeros((m, QUEUE_BINS))
        self._found = np.zeros(m)  # bytes, summed over the packets
        self._rtts = np.zeros(len(fluid.meter.rtt.counts))  # packets
        self._base_rtt = np.array([np.median(fluid.layout.base_rtt[fluid.layout.queue == one]) for one in range(m)])
        self._log = np.zeros((STEPS_AT_ONCE + 1, *fluid.queues.counts.shape))  # the first is that of the step before
        self._noted = 0
        self._uppers = histogram.edges()[1:-1]

    def note(self) -> None:
        """To be called after every step."""
        self._noted += 1
        self._log[self._noted] = self.fluid.queues.counts
        if self._noted == STEPS_AT_ONCE:
            self._count()

    def _count(self) -> None:
        """What arrived in a step found the queue in the middle of it; an RTT is what a packet had that arrived then."""
        if not self._noted:
            return
        log = self._log[: self._noted + 1]
        queue, m = log[:, QUEUE], log.shape[2]
        found = (queue[1:] + queue[:-1]) / 2
        arrived, dropped = (np.diff(log[:, row], axis=0) / self.wire_size for row in (ARRIVED, DROPPED))
        into = np.arange(m) * QUEUE_BINS + self._uppers.searchsorted(found, "right")
        self._packets += np.bincount(into.ravel(), arrived.ravel(), m * QUEUE_BINS).reshape(m, QUEUE_BINS)
        self._found += (found * arrived).sum(axis=0)
        np.maximum(self.peak, queue.max(axis=0), out=self.peak)
        into = bins(self._base_rtt + found * (8 / self.fluid.layout.line_rate), RTT_BINS_PER_OCTAVE)
        self._rtts += np.bincount(into.ravel(), (arrived - dropped).ravel(), len(self._rtts))
        self.fluid.meter.rtt.counts[:] = np.rint(self._rtts)
        log[0] = log[-1]
        self._noted = 0

    def sample(self, now_ns: int = 0) -> dict[str, Floats]:  # noqa: ARG002 - the model knows the time
        """As of now."""
        self._count()
        counters, none = self.switch.counters(), np.zeros(self.switch.n)
        return counters | {
            "tx_packets": counters["tx_bytes"] / self.wire_size,
            "marked_packets": counters["marked_bytes"] / self.wire_size,
            "peak_queue": self.switch.spread(self.peak),
            **dict.fromkeys(("ingress", "pause_frames", "paused"), none),
        }

    def sample_queues(self, now_ns: int) -> dict[str, Floats]:  # noqa: ARG002 - part of the interface
        """Ports have one."""
        return {}

    def queue_counts(self) -> Ints:
        """Of the bottleneck."""
        return np.asarray(self._counts()[self.bottleneck])

    def queues_found(self) -> Counted:
        """Of all ports."""
        return Counted(coarse_queue(self._counts()), self.switch.spread(self._found))

    def _counts(self) -> Ints:
        self._count()
        return np.rint(self.switch.spread(self._packets)).astype(np.int64)

    def delivered(self) -> Ints:
        """What is not acknowledged yet is left out."""
        return np.rint(self.fluid.acked / self.wire_size).astype(np.int64)

    def drops(self) -> int:
        """There is nothing outside the model."""
        return 0

    def events(self) -> dict[str, int]:
        """There is nothing outside the model."""
        return {}

    def shaped(self) -> Floats:
        """There is no shaper."""
        return np.full(2, np.nan)

    def tuners(self) -> tuple[TunerNow, ...]:
        """The one switch's."""
        return tuple(one.log.now for one in self.tuning.all)

    def described(self) -> dict[str, Any]:
        """Which engine it was."""
        return {"engine": "fluid"}
