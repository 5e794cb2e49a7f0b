"""Apps of a run in wall time: a process that runs them, and the links by which their packets come into the world."""

from __future__ import annotations

import time

from testbed.base.pages import LargePages
from testbed.clock import Clock
from testbed.engines.apps.apart import AppsApart
from testbed.engines.virtual.app_links import AppLinks
from testbed.engines.virtual.wires import Wires
from testbed.experiment.apps import instances
from testbed.experiment.resolved import Resolved
from testbed.live.snapshots import Follower
from testbed.results.record import RunRecord

TELL = 20.0  # wall seconds after which whoever watches the run must hear of it


class LiveApps:
    """Make it while the process is small, and in no hurry: another one is forked from it."""

    def __init__(self, resolved: Resolved, dilation: float, name: str) -> None:
        layout, self.clock = resolved.layout, Clock(dilation)
        hosts = dict.fromkeys(one.host for one in instances(resolved.experiment.apps))
        self.links = AppLinks(layout, Wires(layout.shape, self.clock, LargePages()), list(hosts), self.clock)
        self.running = AppsApart(resolved, self.links.nodes, name)

    def wait_ready(self, connection: Follower) -> None:
        """Until those are ready that must be. Raises TestbedError if one is not in time."""
        told = -TELL
        while not self.running.ready():
            if time.monotonic() > told + TELL:
                told = time.monotonic()
                connection.send(("stage", "waiting until apps are ready"))
            self.links.relay(self.running.connection.fileno())

    def begin(self, epoch_ns: int) -> None:
        """Nominal time has begun then."""
        self.links.begin()
        self.running.begin(Clock(self.clock.dilation, epoch_ns))

    def failure(self) -> str:
        """Of the first that ended as it must not; empty if none did."""
        self.running.look()
        return self.running.failure

    @property
    def going_on(self) -> bool:
        """Whether something is to be waited for."""
        return self.running.going_on

    def end(self, record: RunRecord) -> None:
        """End all, and record what became of them."""
        record.late.app_lag = self.links.lag  # without what is due later than the world ends
        self.links.end()
        self.running.end(record.duration, self.links.rtt)
        while (ended := self.running.ended()) is None:
            self.links.relay(self.running.connection.fileno())
        record.apps, record.tcp = ended
