"""One host's real interface: whether a run may use it, the NIC programs on it, and whether they left it as it was.

The programs look at every packet and touch only those with the run's UDP port and partition (`nic.bpf.c`). Nothing else
of the interface is changed: no address, queue, offload or route.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from testbed.dataplane import libbpf
from testbed.dataplane.programs import NicPrograms
from testbed.engines.lab.host import clsact
from testbed.errors import BadInput, nearest
from testbed.units import show_rate

ETHERNET = 14
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_BPF": 39}
CAP_SYS_ADMIN = 21  # stands for CAP_BPF
DIRECTIONS = ("ingress", "egress")
DROPS = ("rx_errors", "tx_errors", "tx_dropped", "rx_missed_errors")
"""Of the interface's counters. Not rx_dropped: it counts frames of protocols that the host does not speak, too."""


@dataclass(frozen=True)
class InterfaceState:
    """What a run could change."""

    programs: tuple[tuple[int, ...], ...]  # ids, per direction
    filters: tuple[str, ...]
    qdiscs: tuple[str, ...]
    xdp: bool


class Interface:
    """An interface of this network namespace. Raises BadInput if there is none of this name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._netlink = IPRoute()
        found = self._netlink.link_lookup(ifname=name)
        if not found:
            there = [str(link.get("ifname")) for link in self._netlink.get_links()]
            raise BadInput(f"there is no interface {name}; {nearest(name, [one for one in there if one != 'lo'])}")
        self.index: int = found[0]
        self._held: dict[str, int] = {}  # direction: what holds the attachment
        self._filters: clsact.ClsactFilters | None = None
        self._lock: socket.socket | None = None

    def _link(self) -> Any:
        return self._netlink.get_links(self.index)[0]

    def inspect(self, frame: int, rate: float) -> None:
        """Whether a run may use it, with frames of ``frame`` bytes at ``rate`` bit/s. Raises BadInput: all reasons."""
        link = self._link()
        reasons = []
        if lacking := _lacking_capabilities():
            needed = " and ".join(lacking)
            reasons.append(f"the agent lacks {needed}; let it be root: ansible_become: true, or ansible_user: root")
        if not link.get_attr("IFLA_CARRIER"):
            reasons.append("it has no carrier; is it up, and is its link plugged in at both ends?")
        mtu = link.get_attr("IFLA_MTU")
        if mtu < frame - ETHERNET:
            reasons.append(f"its MTU is {mtu}, packets need {frame - ETHERNET}; raise it, or lower traffic.payload")
        speed = self.speed()
        if speed and speed < rate:
            reasons.append(f"it runs at {show_rate(speed)}, rack.link.rate is {show_rate(rate)}; lower testbed_rate")
        state = self.state()
        if state.xdp:
            reasons.append(f"an XDP program is on it, which is not ours; see: ip link show {self.name}")
        foreign = [str(number) for ids in state.programs for number in ids]
        if foreign or state.filters:
            what = ", ".join([*(f"program {number}" for number in foreign), *state.filters])
            reasons.append(f"{what} on it is not ours; see: bpftool net show dev {self.name}")
        if reasons:
            raise BadInput("; ".join(f"{self.name}: {reason}" for reason in reasons))

    def speed(self) -> float:
        """bit/s; 0 if it is unknown."""
        try:
            megabits = int(Path(f"/sys/class/net/{self.name}/speed").read_text())
        except (OSError, ValueError):
            return 0.0
        return max(0, megabits) * 1e6

    def address(self, wanted: str) -> str:
        """The IPv4 address to send from: ``wanted``, or if that is empty the only one. Raises BadInput."""
        found = [one.get_attr("IFA_ADDRESS") for one in self._netlink.get_addr(index=self.index, family=socket.AF_INET)]
        listed = ", ".join(found) or "none"
        if wanted and wanted not in found:
            raise BadInput(f"{self.name} does not have the address {wanted} (it has: {listed}); see roce_address")
        if not wanted and len(found) != 1:
            raise BadInput(f"{self.name} should have one IPv4 address (it has: {listed}); say which: roce_address")
        return str(wanted or found[0])

    def state(self) -> InterfaceState:
        """As it is now."""
        xdp = self._link().get_attr("IFLA_XDP")
        qdiscs = self._netlink.get_qdiscs(self.index)
        return InterfaceState(
            programs=tuple(tuple(libbpf.attached_tcx(self.index, direction)) for direction in DIRECTIONS),
            filters=tuple(clsact.filter_names(self._netlink, self.index)),
            qdiscs=tuple(f"{one.get_attr('TCA_KIND')} {one['handle']:x} at {one['parent']:x}" for one in qdiscs),
            xdp=bool(xdp and xdp.get_attr("IFLA_XDP_ATTACHED")),
        )

    def reserve(self) -> None:
        """No other agent may use it until this process has ended. Raises BadInput."""
        self._lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._lock.bind(f"\0testbed-agent-{self.index}")  # in this network namespace, and gone with the process
        except OSError:
            raise BadInput(f"{self.name}: another run's agent is using it; wait for it to end") from None

    def attach(self, nic: NicPrograms) -> None:
        """Put the NIC programs on it: by tcx, whose attachments end with this process whatever ends it, or by filters.

        Raises TestbedError.
        """
        self._before = self.state()
        programs = {"ingress": nic.rx_fd, "egress": nic.tx_fd}
        for direction, program in programs.items():
            held = libbpf.attach_tcx(program, self.index, direction)
            if held is None:
                self.detach()
                self._filters = clsact.ClsactFilters(self._netlink, self.index, programs)
                return
            self._held[direction] = held

    def detach(self) -> list[str]:
        """Take them away. Returns what is not as it was before; later calls do nothing."""
        held, self._held = self._held, {}
        for link in held.values():
            libbpf.detach(link)
        if self._filters:
            self._filters.remove()
            self._filters = None
        elif not held:
            return []
        now = self.state()
        return [
            f"{self.name}: {name} were {getattr(self._before, name)}, now {getattr(now, name)}"
            for name in vars(now)
            if getattr(now, name) != getattr(self._before, name)
        ]

    def drops(self) -> int:
        """Packets that the interface has lost or damaged since it is there."""
        counted = self._link().get_attr("IFLA_STATS64")
        return sum(int(counted[name]) for name in DROPS)


def _effective() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff")), 16)


def _lacking_capabilities() -> list[str]:
    effective = _effective()
    if effective >> CAP_SYS_ADMIN & 1:
        effective |= 1 << CAPABILITIES["CAP_BPF"]
    return [name for name, bit in CAPABILITIES.items() if not effective >> bit & 1]
