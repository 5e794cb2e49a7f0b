"""The switch: a Linux bridge that forwards by a static table. Names: s1; its port towards hN is s1-ethN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mininet.node import Switch

from testbed.rack.host import ShellFree

NEVER_AGE = 0
NETFILTER = Path("/proc/sys/net/bridge")  # exists where br_netfilter is loaded; it would see every packet twice


class BridgeSwitch(ShellFree, Switch):
    """A bridge with one port per link. No spanning tree, no learning, no multicast: only what the flows need."""

    def start(self, _controllers: Any) -> None:
        """Create the bridge and put the interfaces into it; their far ends' addresses become static entries."""
        self.netlink.link(
            "add", ifname=self.name, kind="bridge", br_stp_state=0, br_forward_delay=0, br_ageing_time=NEVER_AGE,
            br_mcast_snooping=0,
        )  # fmt: skip
        self.bridge = self.netlink.link_lookup(ifname=self.name)[0]
        self.silence(self.name)
        self.netlink.link("set", index=self.bridge, state="up")
        for switch in NETFILTER.glob("bridge-nf-call-*"):
            switch.write_text("0")  # this namespace only
        for intf in self.intfList():
            if intf.link is None:
                continue
            self.netlink.link("set", index=intf.index, master=self.bridge)
            far = intf.link.intf1 if intf.link.intf2 is intf else intf.link.intf2
            self.netlink.fdb("append", ifindex=intf.index, lladdr=far.MAC(), state=0x02 | 0x40)  # permanent, no ARP

    def defaultIntf(self) -> Any:  # noqa: N802 - Mininet's name
        """Switches have no address of their own."""
        return

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803, ARG002 - Mininet's name
        """The bridge goes with its namespace."""
        self.terminate()
