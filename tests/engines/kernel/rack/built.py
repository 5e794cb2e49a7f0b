"""A small rack that is ready for flows, and packets on their way."""

from __future__ import annotations

import socket
import time
from typing import Any

from testbed.base import linux
from testbed.clock import Clock
from testbed.dataplane import wire
from testbed.dataplane.programs import NicPrograms, PortPrograms
from testbed.engines.kernel.rack.net import LinkLayer, Rack
from testbed.engines.kernel.rack.wall import wall_links
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.shape import LinkKind, star
from tests.support.waiting import PATIENCE

HOSTS = 4
FRAMING = Framing(payload=1000, int_hops=1)
RATE = 100e6
LINK_LAYER = LinkLayer(frame=FRAMING.wire_size, buffer=200_000)
PAIRS = {("h1", "h2"), ("h2", "h1"), ("h3", "h2"), ("h2", "h3")}


def built(
    settings: LinkLayer = LINK_LAYER, rate: float = RATE, hosts: int = HOSTS
) -> tuple[Rack, NicPrograms, PortPrograms]:
    """A rack that is ready for flows 0 .. 7."""
    shape = star(hosts, LinkKind("link", rate, 0.0, buffer=settings.buffer))
    rack = Rack(shape, wall_links(shape, Clock(1.0)), settings)
    nic = NicPrograms(rack.largest_ifindex, flows=8, rings=1, cnp_interval_ns=1_000_000, wake_agents=False)
    ports = rack.attach(nic, seed=1)
    for port in rack.ports:
        ports.set_red(port.ifindex, 1 << 30, 1 << 30, 0.0)
    rack.connect(PAIRS)
    rack.wait_until_active()
    return rack, nic, ports


def sender(rack: Rack, src: str, dst: str, port: int = 0) -> socket.socket:
    """A socket in the namespace of ``src``, at ``port`` or any, connected to the RoCE port of ``dst``."""
    with linux.inside(rack[src].netns):
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
    opened.bind((rack[src].IP(), port))
    opened.connect((rack[dst].IP(), wire.ROCE_PORT))
    return opened


def wait_for(condition: Any) -> None:
    """Until it is true, or the test fails."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in 5 s"
        time.sleep(0.005)
