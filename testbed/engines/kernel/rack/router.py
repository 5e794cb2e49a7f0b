"""A switch of a rack with several: a namespace that routes IPv4, with ECMP by a flow's addresses and ports.

Nothing is learnt or resolved: every neighbour is permanent. The gateway address is the same at both ends of all links;
which neighbour it is depends on the interface alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testbed.base import linux
from testbed.engines.kernel.rack.host import GATEWAY, RTNH_F_ONLINK
from testbed.engines.kernel.rack.switch import RackSwitch
from testbed.experiment.topology.shape import Shape, SwitchPort

IPV4 = Path("/proc/sys/net/ipv4")
SETTINGS = {
    "ip_forward": 1,
    "ip_early_demux": 0,  # no packet is addressed to the switch
    "fib_multipath_hash_policy": 1,  # addresses and ports
    "conf/all/rp_filter": 0,
    "conf/default/rp_filter": 0,
    "conf/all/send_redirects": 0,
    "conf/default/send_redirects": 0,
}
LOOPBACK = 1  # ifindex of lo
HASH_SEED = "fib_multipath_hash_seed"  # Linux 6.11


class RouterSwitch(RackSwitch):
    """Routes between its ports. ``number`` is its place in the rack, from 1."""

    def start(self, _controllers: Any) -> None:
        """Switch forwarding on, with a neighbour entry for the other end of every link."""
        with linux.inside(self.netns):
            for name, value in SETTINGS.items():
                (IPV4 / name).write_text(f"{value}\n")
        self.netlink.link("set", index=LOOPBACK, state="up")  # without an address there are no gateways either
        for intf, mac in self.linked():
            self.netlink.neigh("replace", dst=GATEWAY, lladdr=mac, ifindex=intf.index, state="permanent")

    def route(self, shape: Shape, seed: int) -> None:
        """One route per host of its own; those to other switches follow by `set_next_hops`."""
        with linux.inside(self.netns):
            if (IPV4 / HASH_SEED).exists():
                (IPV4 / HASH_SEED).write_text(f"{(seed * 2654435761 + self.params['number']) % (2**32 - 1) + 1}\n")
        index = {intf.name: intf.index for intf in self.intfList()}
        for host, link in shape.link_of.items():
            if link.high.node == self.name:
                self._set(f"{shape.address(host)}/32", [index[link.high.interface]])

    def set_next_hops(self, prefix: str, ports: Sequence[SwitchPort]) -> None:
        """Packets for a prefix take one of these ports, by their hash."""
        self._set(f"{prefix}/16", [self.nameToIntf[port.name].index for port in ports])

    def _set(self, dst: str, indexes: list[int]) -> None:
        if len(indexes) == 1:
            self.netlink.route("replace", dst=dst, gateway=GATEWAY, oif=indexes[0], flags=RTNH_F_ONLINK)
            return
        hops = [{"gateway": GATEWAY, "oif": index, "flags": RTNH_F_ONLINK} for index in indexes]
        self.netlink.route("replace", dst=dst, multipath=hops)
