"""Racks without agents, built inside a sandbox as a run does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection

from bench.apart import Found, apart
from testbed.agent.build import compile_all
from testbed.clock import Clock
from testbed.dataplane.programs import NicPrograms, PortPrograms
from testbed.engines.kernel import features
from testbed.engines.kernel.rack.net import LinkLayer, Rack
from testbed.engines.kernel.rack.wall import wall_links
from testbed.engines.kernel.sandbox import Sandbox
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.shape import LinkKind, star

LINE = 100e9  # bit/s, nominal
BUFFER = 5_000_000
BASE_RTT = 8e-6  # s, nominal
CNP_INTERVAL = 50e-6  # s, nominal
NEVER_MARK = 1 << 31  # bytes: no queue is that long


def in_sandbox(work: Callable[[Connection], Found]) -> Found:
    """What ``work`` returns, done in namespaces that vanish afterwards. Raises what a run would raise."""
    compile_all()
    features.ask()  # remembered, so that the inside need not
    return apart(work, Sandbox)


def build(hosts: int, flows: int, agents: int, dilation: float, framing: Framing) -> tuple[Rack, NicPrograms]:
    """A star with all links shaped and all programs attached, every host connected to the last, active."""
    clock = Clock(dilation)
    shape, netem = (
        star(hosts, LinkKind("link", LINE, 0.0, buffer=BUFFER)),
        clock.wall_seconds(BASE_RTT / 2) if has_netem() else None,
    )
    links = [replace(link, netem=netem) for link in wall_links(shape, clock)]
    rack = Rack(shape, links, LinkLayer(framing.wire_size, BUFFER))
    nic = NicPrograms(rack.largest_ifindex, flows, agents, clock.wall_ns(CNP_INTERVAL), wake_agents=False)
    ports = rack.attach(nic, seed=1)
    never_mark(rack, ports)
    rack.connect({(f"h{number}", f"h{hosts}") for number in range(1, hosts)})
    rack.wait_until_active()
    return rack, nic


def has_netem() -> bool:
    """Whether netem delays packets here; then several packets per system call are not possible."""
    return not features.ask()["netem"]


def never_mark(rack: Rack, ports: PortPrograms) -> None:
    """No RED thresholds: without a controller they have no effect."""
    for port in rack.ports:
        ports.set_red(port.ifindex, NEVER_MARK, NEVER_MARK, 1.0)
