"""The switch's queue model, ECN and INT against the bare Linux bridge: one flow of full packets, as fast as it goes.

Two hosts at a bridge, no shapers, no segmentation offload. The receiver drops at its ingress, the same way in both
variants; packets are counted there. With the program the port's queue is never empty and longer than Kmax, so every
packet is counted, queued, marked and stamped: the program's whole work. The buffer is so large that it drops none.
Sender, bridge and receiver share one core, and a packet goes its whole way before the next begins: 1 / rate is a
packet's cost.
"""

from __future__ import annotations

import os
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from bench import racks
from bench.blaster import dropper, library
from testbed.agent.sockets import Route, Sockets
from testbed.clock import Clock, WallRate
from testbed.dataplane import libbpf
from testbed.dataplane.port_maps import Port
from testbed.dataplane.programs import NicPrograms, PortPrograms
from testbed.engines.kernel.rack.net import LinkLayer, Rack
from testbed.engines.kernel.rack.wall import wall_links
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.shape import LinkKind, star

BATCH = 1
SLOW = 1e9  # bit/s: slower than the sender, so that the queue grows
HUGE = (1 << 32) - 1  # bytes: the largest buffer that the program knows; a second of the sender fills a quarter
KMIN, KMAX = 1, 2  # bytes
FRAMING = Framing(1000, int_hops=1)


class Unshaped(Rack):
    """A rack whose links are as fast as this machine."""

    def _shape(self) -> None:
        """Nothing."""


def compare(repeats: int, seconds: float) -> tuple[list[float], list[float]]:
    """Packets per second through the bare bridge and through ours, alternating."""
    library()
    dropper()
    return racks.in_sandbox(partial(_compare, repeats, seconds))


def _compare(repeats: int, seconds: float, _connection: Connection) -> tuple[list[float], list[float]]:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    shape = star(2, LinkKind("link", SLOW, 0.0, buffer=HUGE))
    rack = Unshaped(shape, wall_links(shape, Clock(1.0)), LinkLayer(FRAMING.wire_size, HUGE))
    nic = NicPrograms(rack.largest_ifindex, flows=1, rings=1, cnp_interval_ns=1, wake_agents=False)
    rack.connect({("h1", "h2")})
    drop = libbpf.Object(dropper())
    drop.share_map("arrivals", nic.arrivals_fd)
    drop.load()
    receiver = rack.links[1].intf1
    receiver.attach("ingress", drop.program_fd("drop"), "drop")
    rack.wait_until_active()
    route = Route(0, rack["h1"].netns, rack["h1"].IP(), rack["h2"].IP(), np.inf)
    sockets = Sockets([route], FRAMING, segment=True)
    bare, ours = [], []
    _blast(receiver, sockets, seconds / 4)
    for _ in range(repeats):
        bare.append(_blast(receiver, sockets, seconds))
        programs = _attach(rack, nic)
        ours.append(_blast(receiver, sockets, seconds))
        _check(rack, programs)
        _detach(rack)
    return bare, ours


def _attach(rack: Rack, nic: NicPrograms) -> PortPrograms:
    port = rack.links[1].intf2
    far = rack.links[1].intf1.index
    nic.arrivals[far] = 0
    programs = PortPrograms(nic)
    slow = Port(ifindex=port.index, node=1, rate=WallRate(SLOW), buffer=HUGE, slack=HUGE, peer=far)
    programs.configure([slow], seed=1)
    programs.set_red(port.index, KMIN, KMAX, 1.0)
    port.attach("egress", programs.fd, "port_egress")
    return programs


def _detach(rack: Rack) -> None:
    port = rack.links[1].intf2
    port.detach("port_egress")


def _check(rack: Rack, programs: PortPrograms) -> None:
    """A figure counts only if the program did all of its work."""
    count = programs.counters[rack.links[1].intf2.index]
    assert not count["dropped_packets"], f"the switch dropped {count['dropped_packets']} packets"
    assert count["marked_packets"] > 0.99 * count["packets"] > 0, f"the switch marked {count['marked_packets']} packets"


def _blast(receiver: Any, sockets: Sockets, seconds: float) -> float:
    before = _received(receiver)
    library().blast(int(sockets.fds[0]), sockets.packet.ctypes.data, len(sockets.packet), BATCH, seconds)
    return (_received(receiver) - before) / seconds


def _received(intf: Any) -> int:
    stats = intf.node.netlink.get_links(intf.index)[0].get_attr("IFLA_STATS64")
    return int(stats["rx_packets"])
