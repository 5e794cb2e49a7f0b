"""Apps in a process of their own, for a run whose own process must not wait for them: starting one takes milliseconds.

It is the first of a PID namespace: when it ends, and with its parent it does, the kernel ends all that apps have begun.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Any, NoReturn

from testbed.base import linux
from testbed.clock import Clock
from testbed.engines.apps.inside import hosts_file
from testbed.engines.apps.running import RunningApps
from testbed.engines.messages import send_failure
from testbed.engines.nodes import RackNode, publish
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.results.apps import AppRecord
from testbed.results.tcp_timers import TcpTimers

LOOK = 0.01  # wall seconds after which it is seen at the latest that an app has ended


class AppsApart:
    """``nodes`` are the hosts; by the run's ``name`` others find them. The run has a core of its own."""

    def __init__(self, resolved: Resolved, nodes: Sequence[RackNode], name: str) -> None:
        self.connection, theirs = Pipe()
        self.failure, self.going_on = "", True  # as of the last look
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        linux.unshare(linux.CLONE_NEWPID)  # of children
        lifeline = linux.Lifeline()
        if os.fork() == 0:
            self.connection.close()
            _keep(resolved, nodes, name, theirs, lifeline)
        theirs.close()
        linux.setns(own, linux.CLONE_NEWPID)  # with children elsewhere it could have no threads
        os.close(own)

    def ready(self) -> bool:
        """Whether those that must be ready before the run begins are. Raises TestbedError if one will not be."""
        return self.connection.poll() and bool(self._receive())

    def begin(self, clock: Clock) -> None:
        """Nominal time begins: apps start and stop as planned."""
        self.connection.send((clock.dilation, clock.epoch_ns))

    def look(self) -> None:
        """See ``failure``, of the first that has ended as it must not, and ``going_on``, as in `RunningApps`."""
        while self.connection.poll():
            self.failure, self.going_on = self._receive()

    def end(self, now: float, rtt: float) -> None:
        """Ask all to end. What they answer is `ended`; ``rtt`` is a base RTT as TCP sees it."""
        self.look()
        self.connection.send((now, rtt))

    def ended(self) -> tuple[list[AppRecord], TcpTimers | None] | None:
        """How they did; None as long as they have not."""
        found: tuple[list[AppRecord], TcpTimers | None] | None = self._receive() if self.connection.poll() else None
        return found

    def _receive(self) -> Any:
        try:
            found = self.connection.recv()
        except EOFError:
            raise TestbedError("the process of the apps has died; nothing of the run is left") from None
        if isinstance(found, tuple) and found[0] == "failed":
            raise found[1]
        return found


def _keep(
    resolved: Resolved, nodes: Sequence[RackNode], name: str, connection: Connection, lifeline: linux.Lifeline
) -> NoReturn:
    """What the process does."""
    try:
        lifeline.die_with_parent()
        linux.unshare(linux.CLONE_NEWNS)
        linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
        linux.mount("proc", "/proc", "proc")  # of this PID namespace
        os.sched_setaffinity(0, linux.own_core()[1])
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.stdout = sys.stderr
        if name:
            publish(name, iter(nodes))
        _run(resolved, nodes, connection)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must get it
        send_failure(connection, error)
    finally:
        os._exit(0)


def _run(resolved: Resolved, nodes: Sequence[RackNode], connection: Connection) -> None:
    experiment, netns = resolved.experiment, {one.name: one.netns for one in nodes}
    shape = resolved.layout.shape
    hosts = hosts_file([(host, shape.address(host)) for host in shape.hosts])
    apps = RunningApps(experiment, Clock(experiment.time.factor), netns.__getitem__, hosts)
    apps.begin()
    connection.send(True)
    apps.clock = clock = Clock(*connection.recv())
    told = ("", True)
    while not connection.poll(max(0.0, min(LOOK, clock.wall_seconds(apps.next - clock.now())))):
        apps.step(clock.now())
        if (news := (apps.failure(), apps.going_on)) != told:
            connection.send(news)
            told = news
    now, rtt = connection.recv()
    connection.send((apps.end(now), apps.tcp(rtt, now)))
