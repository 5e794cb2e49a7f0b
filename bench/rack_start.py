"""How long a rack takes to come up: ours with everything in place, and stock Mininet beside it."""

from __future__ import annotations

import shutil
import time
from multiprocessing.connection import Connection
from typing import Any

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Switch
from mininet.topo import Topo

from bench import racks
from testbed.experiment.topology.framing import Framing

HOSTS = 65
MININET_NEEDS = ("mnexec", "ifconfig")
OUR_DILATION = 1000.0  # 100 Mbit/s per link, as Mininet's below


def ours() -> float:
    """Seconds from the fork of the sandbox until 65 hosts are shaped, have their programs, and every link is active."""
    began = time.perf_counter()
    return racks.in_sandbox(_ours) - began


def _ours(_connection: Connection) -> float:
    racks.build(HOSTS, HOSTS - 1, 2, OUR_DILATION, Framing(1000))
    return time.perf_counter()  # CLOCK_MONOTONIC, the same in all processes


def mininet_missing() -> list[str]:
    """The commands that stock Mininet calls and that are not here."""
    return [command for command in MININET_NEEDS if shutil.which(command) is None]


def mininet() -> float:
    """Seconds that Mininet takes for 65 hosts with shaped links and static ARP."""
    return racks.in_sandbox(_mininet)


class IpBridge(Switch):  # type: ignore[misc]
    """Mininet's LinuxBridge with `ip` instead of `brctl`, which is not always there."""

    def start(self, _controllers: Any) -> None:
        """A bridge with all interfaces."""
        self.cmd(f"ip link add {self} type bridge && ip link set {self} up")
        for name in self.intfNames():
            if name != "lo":
                self.cmd(f"ip link set {name} master {self}")

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        """Remove it."""
        self.cmd(f"ip link del {self}")
        super().stop(deleteIntfs)


class Star(Topo):  # type: ignore[misc]
    """65 hosts at one switch, 100 Mbit/s each."""

    def build(self) -> None:
        """Called by Mininet's Topo."""
        self.addSwitch("s1")
        for number in range(1, HOSTS + 1):
            self.addLink(self.addHost(f"h{number}"), "s1", bw=100)


def _mininet(_connection: Connection) -> float:
    setLogLevel("critical")  # it calls tc's warnings errors
    Mininet.inited = True  # its preparation writes machine-wide sysctls, which takes no time worth counting
    began = time.perf_counter()
    net = Mininet(topo=Star(), link=TCLink, switch=IpBridge, controller=None, autoStaticArp=True)
    net.start()
    return time.perf_counter() - began
