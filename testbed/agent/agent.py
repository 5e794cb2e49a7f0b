"""The loop of one agent: read the ring, let the controller decide, send what is due, sleep until the next thing is due.

It runs on nominal time and never waits busily, so it would be right on a virtual clock as well. What is here is the
same for all controllers, and rare: timeouts. What happens per packet is in pace.c, batch.c and
feedback.c; decisions are made in `batch_agent`, or per flow in C (`flow_agent`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from testbed.agent.datapath import Datapath
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats, Ints
from testbed.clock import SHORTEST_SLEEP, Clock
from testbed.registry import Plugin

QUANTA_PER_RTT = 64  # how finely packets are paced, but
BATCHES_PER_RTT = 32  # how finely feedback is delivered
USUAL_LATENESS = 2e-3  # wall seconds for which another process may hold a core: the rate must not suffer from it
CHECKS_PER_RTT = 4  # a delay line delays feedback by about an RTT: reading the ring this often loses nothing


@dataclass(frozen=True)
class Timing:
    """When flows start and what waits how long. Nominal seconds."""

    start: Floats  # inf for a flow that waits for others
    end: float
    timeout: float  # retransmission timeout
    longest_sleep: float  # the ring is read this often
    credit: float  # a sender that is later than this does not catch up
    gather: float  # feedback may wait this long for more of it
    quantum: float  # packets may wait this long for more of them
    decision_cost: Floats | None = None  # of each flow, on the core of a modelled NIC (core.h)

    @classmethod
    def of(cls, start: Floats, *, end: float, timeout: float, rtt: float, packet: float, clock: Clock) -> Timing:
        """By the shortest base RTT ``rtt`` of the agent's flows, the time that a full ``packet`` takes on their line,
        and what sleeping can do on this machine.

        No more packets of a host wait for each other than its shaper's bucket holds: as if that lagged, they would
        wait again.
        """
        finest, late = clock.nominal_seconds(SHORTEST_SLEEP), clock.nominal_seconds(USUAL_LATENESS)
        return cls(
            start=start,
            end=end,
            timeout=timeout,
            longest_sleep=max(rtt / CHECKS_PER_RTT, finest),
            credit=max(rtt / CHECKS_PER_RTT, late),
            gather=rtt / BATCHES_PER_RTT,
            quantum=max(min(rtt / QUANTA_PER_RTT, packet), finest),
        )


class Agent(ABC):
    """Serves flows 0 .. n - 1 (numbers within the agent) with one controller."""

    def __init__(self, plugin: Plugin, clock: Clock, datapath: Datapath, *, timing: Timing, meter: Meter) -> None:
        self.plugin = plugin  # of the controller, for messages
        self.clock = clock
        self.datapath = datapath
        self.flows = datapath.flows
        self.timing = timing
        self.meter = meter
        datapath.set_starts(timing.start)
        self._next_check, self._soonest = 0.0, datapath.shortest(timing.timeout)
        datapath.begin(clock)

    @abstractmethod
    def decide(self, now: float) -> None:
        """Start the flows and make the decisions that are due by now.

        Raises PluginFailed, as the others do, if the controller fails.
        """

    @abstractmethod
    def time_out(self, now: float, flows: Ints, packets: Ints) -> None:
        """All that was in flight of these flows, so many packets of each, has been declared lost."""

    @abstractmethod
    def wait(self, now: float, until: float) -> None:
        """Send until then, or until decisions are due."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """How often it was looked whether something is due."""

    def run(self) -> None:
        """Until the end of the run. Raises PluginFailed if the controller does."""
        offset = time.time_ns() - time.monotonic_ns()
        try:
            while (now := self.clock.now()) < self.timing.end:
                self.step(now)
                self.wait(now, self.next_step)
        finally:
            self.close()
            self.meter.clock_jump[0] = abs(time.time_ns() - time.monotonic_ns() - offset) / 1e9

    def restart(self, now: float) -> None:
        """All flows start now, once more."""
        self.datapath.set_starts(np.full(len(self.flows), now))
        self.decide(now)

    def step(self, now: float) -> None:
        """Everything that is due now."""
        self.decide(now)
        if now >= self._next_check:
            self._check_timeouts(now)

    @property
    def next_step(self) -> float:
        """When `step` is due at the latest."""
        return min(self._next_check, self.timing.end)

    def close(self) -> None:
        """Copy to the shared memory what was counted in objects, which are faster."""
        datapath = self.datapath
        self.meter.counters[:] = (
            datapath.refused, datapath.high_water, self.steps, datapath.swapped, datapath.int_faults,
            datapath.above_line, datapath.in_error,
        )  # fmt: skip

    def postpone_check(self, now: float) -> None:
        """Of timeouts: for whoever would come back for nothing else. Before then nobody's can be over."""
        heard = self.datapath.last_feedback[self.datapath.waiting].min(initial=now)
        self._next_check = max(self._next_check, heard + self._soonest)

    def _check_timeouts(self, now: float) -> None:
        self._next_check = now + self._soonest / 8
        silent = self.datapath.silent(now, self.timing.timeout)
        if not len(silent):
            return
        self.datapath.last_feedback[silent] = now
        lost = self.datapath.ask_again(silent, self.timing.timeout, now)
        if len(lost):
            self.time_out(now, lost, self.datapath.declare_lost(lost, now))
