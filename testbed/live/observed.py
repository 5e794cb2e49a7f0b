"""What is known of a run while it goes on, whichever engine carries its packets.

Columns of ports have shape (p,) in the order of the shape's; what cannot be known is nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.agent.tasks import TaskGraph
from testbed.base.arrays import Floats, Ints
from testbed.clock import Clock
from testbed.experiment.layout import Layout
from testbed.experiment.resolved import Resolved
from testbed.live.snapshot import Counted
from testbed.results.tuner_log import TunerNow


class Network(Protocol):
    """The part between the hosts: switches and links."""

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """The columns of `testbed.results.record.PortSeries`."""
        ...

    def sample_queues(self, now_ns: int) -> dict[str, Floats]:
        """The same columns of all queues, shape (q,), where ports have several; else nothing."""
        ...

    def queue_counts(self) -> Ints:
        """Of the bottleneck, found by arriving packets; bins of the port program."""
        ...

    def queues_found(self) -> Counted:
        """The same of all ports, bins of `Snapshot.queue_found`."""
        ...

    def delivered(self) -> Ints:
        """Packets per flow, counted by the receivers' NICs."""
        ...

    def drops(self) -> int:
        """Packets that were dropped where the experiment has no queue."""
        ...

    def events(self) -> dict[str, int]:
        """Counters of what the experiment did not configure."""
        ...

    def shaped(self) -> Floats:
        """Bytes that the bottleneck's shaper was given, and those that it did not send in time; nan without one."""
        ...

    def tuners(self) -> tuple[TunerNow, ...]:
        """One per switch that has one."""
        ...

    def described(self) -> dict[str, Any]:
        """More fields of the record."""
        ...


class Observed(Protocol):
    """A run, as recorder and live view see it."""

    resolved: Resolved
    layout: Layout
    flows: Flows

    @property
    def clock(self) -> Clock:
        """Nominal time."""
        ...

    @property
    def tasks(self) -> TaskGraph | None:
        """Which flows wait for others; None if none does."""
        ...

    @property
    def network(self) -> Network:
        """The part between the hosts."""
        ...

    @property
    def meters(self) -> Sequence[Meter]:
        """One per agent."""
        ...
