"""The faults that `testbed selftest` injects, each for real, and the words with which the verdict must name them."""

from __future__ import annotations

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from testbed.agent.pool import AgentConfig, AgentPool, AgentSpec
from testbed.base import linux
from testbed.base.arrays import Ints
from testbed.controller import Feedback, Paths, RateController
from testbed.dataplane import libbpf
from testbed.dataplane.build import compiled
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.faults.fault import CALIBRATED, Fault
from testbed.experiment.topology.shape import SwitchPort
from testbed.plugin import PluginConfig

if TYPE_CHECKING:
    from testbed.engines.kernel.rack.link import RackIntf

CLONE_NEWTIME = 0x00000080
STOP_SECONDS = 0.05
JUMP_NS = 20_000_000


class Midway(Fault, ABC):
    """Does its harm once, when a part of the run is over."""

    after = 1 / 3  # of the run
    _done = False

    def on_sample(self, rack: Assembly, pool: AgentPool, now: float) -> None:
        if not self._done and now > self.after * rack.experiment.time.duration:
            self._done = True
            self.harm(rack, pool)

    @abstractmethod
    def harm(self, rack: Assembly, pool: AgentPool) -> None:
        """The fault."""


class BusyCores(Midway):
    """Another program takes all the time that the cores have left, but for `LEFT`, whatever else runs there.

    As a real-time process: the scheduler's groups (autogroup) would give each other session, niced or not, as much.
    """

    after = 0.0  # where the recorder is kept from its core, its windows are long: none should have begun before
    LEFT = 0.05  # of a core: less than a clean run needs, and enough for this one to see its own end
    TURN = 0.05  # s
    LONGER = 1.5  # than the run: as it may end late

    def harm(self, rack: Assembly, pool: AgentPool) -> None:  # noqa: ARG002 - part of the interface
        parent = os.getpid()
        until = time.monotonic() + self.LONGER * rack.clock.wall_seconds(rack.experiment.time.duration)
        for core in sorted(os.sched_getaffinity(0)):
            if os.fork() == 0:
                linux.die_with_parent(parent)
                os.sched_setaffinity(0, {core})
                with suppress(PermissionError):  # root of a container
                    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
                self._hog(until)
                os._exit(0)

    def _hog(self, until: float) -> None:
        while (began := time.monotonic()) < until:
            while time.monotonic() < began + (1 - self.LEFT) * self.TURN:
                pass
            time.sleep(self.LEFT * self.TURN)


class WrongRate(Fault):
    """The bottleneck's rate is a tenth below what was configured."""

    settings = CALIBRATED

    def on_built(self, rack: Assembly) -> None:
        intf = rack.net.ends[rack.layout.port_names[rack.layout.bottleneck]]
        rate = round(0.9 * rack.net.ports[rack.layout.bottleneck].rate / 8)
        limit = 2 * rack.net.link_layer.buffer + (1 << 20)
        intf.node.netlink.tc("change", "tbf", intf.index, rate=rate, burst=3000, limit=limit)


class WrongDelay(Fault):
    """Feedback is delayed a tenth longer than the links' delay."""

    def on_spec(self, spec: AgentSpec) -> AgentSpec:
        return replace(spec, rings=[(fd, 1.1 * delay) for fd, delay in spec.rings])


class SmallBuffer(Fault):
    """The bottleneck's buffer is half of what was configured."""

    settings = CALIBRATED

    def on_built(self, rack: Assembly) -> None:
        port = rack.net.ports[rack.layout.bottleneck]
        rack.programs.configure([port._replace(buffer=port.buffer // 2)], rack.experiment.seed)


class OtherThresholds(Fault):
    """The active Kmin and Kmax are twice what the tuner set."""

    settings = CALIBRATED

    def on_built(self, rack: Assembly) -> None:
        kmin, kmax, pmax = (float(column[rack.layout.bottleneck]) for column in rack.ports.thresholds)
        rack.programs.set_red(rack.net.ports[rack.layout.bottleneck].ifindex, 2 * kmin, 2 * kmax, pmax)


class Tampered(Midway):
    """A program of faults.bpf.c comes before the one that is there."""

    program: ClassVar[str]
    direction: ClassVar[str] = "ingress"

    def harm(self, rack: Assembly, pool: AgentPool) -> None:  # noqa: ARG002 - part of the interface
        self.object = libbpf.Object(compiled("faults"))
        rack.programs.share_counters(self.object)
        self.object.load()
        self.where(rack).attach(self.direction, self.object.program_fd(self.program), self.program, first=True)

    def where(self, rack: Assembly) -> RackIntf:
        """The NIC of h1."""
        nic: RackIntf = rack.net.links[0].intf1
        return nic


class LostFeedback(Tampered):
    """One in sixteen ACKs to h1 is lost before its NIC."""

    program = "drop"


class OneInputFirst(Tampered):
    """The last room in the bottleneck's buffer goes to h1 alone, as if its packets came first in every cycle."""

    program, direction, after = "give_way", "egress", 0.1
    experiment = "incast-2"
    settings = (
        "controller={name: fixed}", "traffic.payload=4096 B", "rack.switch.buffer=1 MB", "tuner.preset=secn1",
        "time.duration=1 ms", "time.dilation=2000", "rack.calibrate=off",
    )  # fmt: skip

    def where(self, rack: Assembly) -> RackIntf:
        return rack.net.ends[rack.layout.port_names[rack.layout.bottleneck]]


class Sprayed(Fault):
    """Six hosts of three leaves, whose packets two spines share at random."""

    experiment = "permutation-64"
    settings: ClassVar[tuple[str, ...]] = (
        "rack.leaves=3", "rack.spines=2", "rack.hosts_per_leaf=2", "traffic.hosts=6", "traffic.stride=2",
        "time.duration=500 us", "time.warmup=100 us", "time.dilation=4000", "rack.calibrate=off",
    )  # fmt: skip


class LostOnOnePath(Sprayed, Tampered):
    """One in sixteen packets from leaf1 is lost before spine1 counts it: those on the other path are not."""

    program = "drop_data"

    def where(self, rack: Assembly) -> RackIntf:
        return rack.net.ends[_port(rack, "leaf1", "spine1").name].peer


class DeliveredTwice(Sprayed, Tampered):
    """One in sixteen packets for h1 comes twice, as if both paths had carried it."""

    program = "twice"


class Detour(Sprayed):
    """spine1 sends what is for leaf2 to leaf3, from where it goes by spine2: no packet is lost, and none takes long."""

    settings = (*Sprayed.settings, "controller.name=hpcc")  # INT tells the path

    def on_built(self, rack: Assembly) -> None:
        for switch, other in (("spine1", "leaf3"), ("leaf3", "spine2")):
            rack.net[switch].set_next_hops(rack.layout.shape.prefix("leaf2"), [_port(rack, switch, other)])


def _port(rack: Assembly, switch: str, other: str) -> SwitchPort:
    return next(port for port in rack.layout.shape.ports if (port.switch, port.peer.node) == (switch, other))


class StoppedAgent(Midway):
    """An agent is stopped for 50 ms."""

    def harm(self, rack: Assembly, pool: AgentPool) -> None:  # noqa: ARG002 - part of the interface
        pid = pool.members[0].pid
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STOP_SECONDS)
        os.kill(pid, signal.SIGCONT)


class DetachedProgram(Midway):
    """The NIC program of h1 is detached: its feedback is lost."""

    def harm(self, rack: Assembly, pool: AgentPool) -> None:  # noqa: ARG002 - part of the interface
        rack.net.links[0].intf1.detach("nic_rx")


class Impostor(RateController):
    """Pretends to be another controller."""

    name = "impostor"

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:  # noqa: ARG002 - the interface
        self.rate[flows] = self.paths.line_rate[flows] / 8


class ReplacedPlugin(Fault):
    """Agents run another class than the one that was loaded."""

    def on_config(self, config: AgentConfig) -> AgentConfig:
        def build(paths: Paths, _first: int) -> RateController:
            controller = Impostor(PluginConfig(), paths)
            controller.name = config.plugin.name  # type: ignore[misc] # it lies about it
            return controller

        return replace(config, controller=build)


class FullRing(Fault):
    """The ring buffer is too small for the feedback that waits in it."""

    ring_size = 4096


class JumpingClock(Midway):
    """An agent enters a time namespace whose clock is 20 ms ahead."""

    def on_config(self, config: AgentConfig) -> AgentConfig:
        def build(paths: Paths, first: int) -> RateController:
            signal.signal(signal.SIGUSR2, lambda _number, _frame: _jump())
            return config.controller(paths, first)

        return replace(config, controller=build)

    def harm(self, rack: Assembly, pool: AgentPool) -> None:  # noqa: ARG002 - part of the interface
        os.kill(pool.members[0].pid, signal.SIGUSR2)


def _jump() -> None:
    linux.unshare(CLONE_NEWTIME)
    Path("/proc/self/timens_offsets").write_text(f"monotonic 0 {JUMP_NS}\n")
    namespace = os.open("/proc/self/ns/time_for_children", os.O_RDONLY)
    linux.setns(namespace, CLONE_NEWTIME)
    os.close(namespace)


FAULTS: dict[str, tuple[Callable[[], Fault], str]] = {
    "a CPU hog on both cores": (BusyCores, "CPU overload"),
    "a link at the wrong rate": (WrongRate, "rate expected"),
    "a link with the wrong delay": (WrongDelay, "base RTT mismatch"),
    "a smaller buffer": (SmallBuffer, "buffer expected"),
    "one input always first": (OneInputFirst, "flows that are alike lost unequally"),
    "thresholds not applied": (OtherThresholds, "marking"),
    "feedback dropped": (LostFeedback, "packets are not conserved at s1-eth1"),
    "an agent stopped for 50 ms": (StoppedAgent, "agent stall"),
    "a NIC program detached on one host": (DetachedProgram, "packets are not conserved at s1-eth1"),
    "a plugin silently replaced by another": (ReplacedPlugin, "wrong controller"),
    "a full ring": (FullRing, "ring buffer overflow"),
    "a clock that jumps": (JumpingClock, "clock step"),
    "packets lost on one of many paths": (LostOnOnePath, "packets lost on the link of leaf1"),
    "packets delivered twice": (DeliveredTwice, "packets are not conserved in the rack"),
    "a path that is no shortest one": (Detour, "INT records are out of order"),
}
"""What goes wrong: the fault, and what the verdict must contain."""
