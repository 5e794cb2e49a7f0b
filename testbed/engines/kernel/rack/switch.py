"""The switch: a Linux bridge or an Open vSwitch datapath, with a static table.

Names: s1; its port towards hN is s1-ethN.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mininet.node import Switch

from testbed.base import linux
from testbed.engines.kernel.rack.host import ShellFree
from testbed.engines.kernel.rack.ovs import Datapath
from testbed.errors import TestbedError

NEVER_AGE = 0
NETFILTER = Path("/proc/sys/net/bridge")  # exists where br_netfilter is loaded; it would see every packet twice


class RackSwitch(ShellFree, Switch):
    """Has one port per link. Subclasses forward."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802 - Mininet's name
        """As all nodes; Mininet would start ifconfig for a switch that it takes to be in no namespace."""
        super().startShell(mnopts)
        self.inNamespace = True

    def linked(self) -> Iterator[tuple[Any, str]]:
        """Every linked interface, and the address of its peer."""
        for intf in self.intfList():
            if intf.link is not None:
                yield intf, intf.peer.MAC()

    def defaultIntf(self) -> Any:  # noqa: N802 - Mininet's name
        """Switches have no address of their own."""
        return

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803, ARG002 - Mininet's name
        """What forwards goes with its namespace."""
        self.terminate()


class BridgeSwitch(RackSwitch):
    """A bridge. No spanning tree, no learning, no multicast: only what the flows need."""

    def start(self, _controllers: Any) -> None:
        """Create the bridge and put the interfaces into it; their peers' addresses become static entries."""
        self.netlink.link(
            "add", ifname=self.name, kind="bridge", br_stp_state=0, br_forward_delay=0, br_ageing_time=NEVER_AGE,
            br_mcast_snooping=0,
        )  # fmt: skip
        self.bridge = self.netlink.link_lookup(ifname=self.name)[0]
        self.silence(self.name)
        self.netlink.link("set", index=self.bridge, state="up")
        for switch in NETFILTER.glob("bridge-nf-call-*"):
            switch.write_text("0")  # this namespace only
        for intf, mac in self.linked():
            self.netlink.link("set", index=intf.index, master=self.bridge)
            self.netlink.fdb("append", ifindex=intf.index, lladdr=mac, state=0x02 | 0x40)  # permanent, no ARP


class OvsSwitch(RackSwitch):
    """Open vSwitch in the kernel, one flow per host. No broadcasts: hosts that talk know each other's addresses."""

    def start(self, _controllers: Any) -> None:
        """Create the datapath; port N of it is the N-th link."""
        try:
            with linux.inside(self.netns):
                self.datapath = Datapath(self.name)
            for number, (intf, mac) in enumerate(self.linked(), start=1):
                self.datapath.add_port(number, intf.name)
                self.datapath.forward(mac, number)
        except OSError as error:
            raise TestbedError(f"Open vSwitch does not forward for {self.name}: {error.strerror}") from error

    def terminate(self) -> None:
        """As all nodes."""
        self.datapath.close()
        super().terminate()


SWITCHES: dict[str, type[RackSwitch]] = {"bridge": BridgeSwitch, "ovs": OvsSwitch}
