"""Links: veth pairs, shaped to the wall-clock rate at both ends."""

from __future__ import annotations

from typing import Any

from mininet.link import Intf, Link

from testbed.base import linux
from testbed.clock import WallRate, WallSeconds
from testbed.dataplane import libbpf, shaper
from testbed.engines.kernel.rack.wall import WallLink
from testbed.errors import TestbedError


class RackIntf(Intf):
    """One end of a link. ``index`` is its ifindex in its node's namespace."""

    index: int

    def config(self, **_params: Any) -> dict[str, Any]:
        """Everything was set when the pair was created."""
        self.programs: dict[str, int | None] = {}  # by name: the descriptor of the attachment; None for a filter
        self.has_clsact = False
        return {}

    @property
    def peer(self) -> RackIntf:
        """The other end of its link."""
        ends: tuple[RackIntf, RackIntf] = (self.link.intf1, self.link.intf2)
        return ends[ends[0] is self]

    def shape(self, rate: WallRate, frame: int, limit: int) -> None:
        """Serialise at ``rate`` bit/s; queue up to ``limit`` bytes."""
        shaper.shape(self.node.netlink, self.index, rate, frame, limit)

    def reshape(self, rate: WallRate, frame: int, limit: int) -> None:
        """The same at another rate; what waits stays."""
        shaper.shape(self.node.netlink, self.index, rate, frame, limit, how="change")

    def delay_and_shape(self, rate: WallRate, frame: int, limit: int, delay: WallSeconds) -> None:
        """Delay packets by ``delay`` with netem, then serialise."""
        netlink = self.node.netlink
        shaper.shape(netlink, self.index, rate, frame, limit)
        packets = max(1000, limit // 64)
        netlink.tc("add", "netem", self.index, handle="2:", parent="1:1", delay=round(delay * 1e6), limit=packets)

    def attach(self, direction: str, program_fd: int, name: str, *, first: bool = False, tcx: bool = True) -> None:
        """Run a program on every packet that enters (``ingress``) or leaves (``egress``) here, behind those that do so
        already, or ``first``.

        By ``tcx``, if the kernel has it (6.6), a packet costs 0.07 us less than by a filter of clsact. But such an
        attachment waits for all that goes on on all cores, about 8 ms, and so does its end.
        """
        attachment = None
        if tcx:
            with linux.inside(self.node.netns):
                attachment = libbpf.attach_tcx(program_fd, self.index, direction, first)
        if attachment is None:
            self._attach_filter(direction, program_fd, name, first)
        self.programs[name] = attachment

    def _attach_filter(self, direction: str, program_fd: int, name: str, first: bool) -> None:
        netlink = self.node.netlink
        if not self.has_clsact:
            netlink.tc("add", "clsact", self.index)
            self.has_clsact = True
        parent = {"ingress": "ffff:fff2", "egress": "ffff:fff3"}[direction]
        order = 1 if first else 2 + len(self.programs)
        netlink.tc(
            "add-filter", "bpf", self.index, fd=program_fd, name=name, parent=parent, classid=1, direct_action=True,
            prio=order,
        )  # fmt: skip

    def detach(self, name: str) -> None:
        """Take a program away; with clsact, all that are here."""
        attachment = self.programs.pop(name)
        if attachment is None:
            self.node.netlink.tc("del", "clsact", self.index)
            self.has_clsact = False
        else:
            libbpf.detach(attachment)

    def qdisc_drops(self) -> int:
        """Packets dropped by the queues here since they were made; what the programs drop is counted at clsact."""
        return int(self.node.queues.read(self.index).dropped)  # the root's, with those of netem below it


class RackLink(Link):
    """A veth pair created directly in both namespaces, with its addresses, MTU and no segmentation offload.

    Its ends have the ifindexes ``index`` and ``index`` + 1, for the programs of all nodes share their maps.
    """

    def __init__(
        self,
        node1: Any,
        node2: Any,
        index: int,
        spec: WallLink,
        *,
        mtu: int = 1500,
        in_order: bool = False,
        **params: Any,
    ) -> None:
        self.index, self.spec, self.mtu = index, spec, mtu
        for node in (node1, node2) if in_order else ():
            node.keep_order()
        super().__init__(node1, node2, intf=RackIntf, **{k: v for k, v in params.items() if k != "intf"})
        for number, intf in enumerate((self.intf1, self.intf2)):
            intf.index = index + number
            intf.node.silence(intf.name)
            # single packets on the wire: the switch must see what a switch would see
            intf.node.netlink.link("set", index=intf.index, gso_max_segs=1, state="up")

    def makeIntfPair(  # noqa: N802, PLR0917 - overrides Mininet's
        self, name1: str, name2: str, mac1: str, mac2: str, node1: Any, node2: Any, deleteIntfs: bool = False  # noqa: N803, ARG002
    ) -> None:  # fmt: skip
        """Create the pair, each end where it belongs."""
        # pyroute2's own `peer` argument cannot say the peer's ifindex.
        peer = {
            "index": self.index + 1,
            "attrs": [
                ["IFLA_IFNAME", name2],
                ["IFLA_NET_NS_FD", node2.netns],
                ["IFLA_ADDRESS", mac2],
                ["IFLA_MTU", self.mtu],
            ],
        }
        data = ["IFLA_INFO_DATA", {"attrs": [["VETH_INFO_PEER", peer]]}]
        kind = {"attrs": [["IFLA_INFO_KIND", "veth"], data]}
        try:
            node1.netlink.link(
                "add", ifname=name1, index=self.index, address=mac1, mtu=self.mtu, IFLA_LINKINFO=kind
            )  # fmt: skip
        except Exception as error:
            raise TestbedError(f"link {name1} <-> {name2} cannot be created: {error}") from error
