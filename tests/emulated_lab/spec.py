"""What a lab consists of: hosts with their cards, switches with their operating systems, and their addresses."""

from __future__ import annotations

from dataclasses import dataclass

CARDS = ("bf3", "cx7", "bf2", "cx6dx")
DEFAULT = (*CARDS, "cx7")  # five hosts, as incast-4 needs
SWITCHES = ("sonic", "nvue", "testbed")
PHASES = ("canary", "wave1", "wave2")
DEVICE = "mlx5_0"
STOCK = "stock-pcc.service"
PORT_RATE = "20 Mbit/s"  # of the testbed's own switch: on a busy machine, too, one process makes a queue
MANAGEMENT = "eth0"
GATEWAY = "10.99.0.1"  # the controller's own address, where ansible-playbook runs
# Each generation sits in another slot, so that nothing can be right by a name that is the same everywhere.
SLOTS = {
    "bf3": ("0000:03:00.0", "enp3s0f0np0"),
    "cx7": ("0000:01:00.0", "enp1s0f0np0"),
    "bf2": ("0000:04:00.0", "enp4s0f0np0"),
    "cx6dx": ("0000:81:00.0", "ens2f0np0"),
}


@dataclass(frozen=True)
class HostSpec:
    """One host: the card's generation, and whose driver it runs.

    ``driver``: ``ofed`` has ecn/ in sysfs and cc_params in debugfs, ``inbox`` (mainline) has the latter only, and the
    tools of a distribution: `dcb` and not `mlnx_qos`, `mstreg` and not `mlxreg`.
    ``vf``: the interface is a virtual function, which its PF governs: it has no settings.
    ``stock``: a program known to be good controls the card, under a unit that is enabled (`STOCK`).
    """

    card: str
    driver: str = "ofed"
    vf: bool = False
    stock: bool = False

    def __post_init__(self) -> None:
        if self.card not in CARDS:
            raise ValueError(f"card '{self.card}': allowed: {', '.join(CARDS)}")
        if self.driver not in ("ofed", "inbox"):
            raise ValueError(f"driver '{self.driver}': allowed: ofed, inbox")


@dataclass(frozen=True)
class NodeSpec:
    """One network namespace with an sshd: a host, or a switch."""

    name: str
    number: int  # its last byte in both networks
    kind: str  # a card's generation or a switch's operating system
    interface: str = ""  # of a host: the one for RoCE
    pci: str = ""
    driver: str = ""
    vf: bool = False
    stock: bool = False
    phase: str = ""

    @property
    def is_switch(self) -> bool:
        return self.kind in SWITCHES

    @property
    def address(self) -> str:
        """In the management network."""
        return f"10.99.0.{self.number}"

    @property
    def roce_address(self) -> str:
        return f"10.98.0.{self.number}"

    def port(self, peer: NodeSpec) -> str:
        """What this switch calls its port towards a host."""
        index = peer.number - 11
        return f"Ethernet{4 * index}" if self.kind == "sonic" else f"swp{index + 1}"


def nodes(cards: list[str | HostSpec], switches: list[str]) -> list[NodeSpec]:
    """The first host is the canary, the second is wave 1, the others are wave 2."""
    made = []
    for index, card in enumerate(cards):
        host = card if isinstance(card, HostSpec) else HostSpec(card)
        pci, interface = SLOTS[host.card]
        phase = PHASES[min(index, 2)]
        made.append(
            NodeSpec(
                f"lab{index + 1}", 11 + index, host.card, interface, pci, host.driver, host.vf, host.stock, phase
            )
        )  # fmt: skip
    for index, switch in enumerate(switches):
        if switch not in SWITCHES:
            raise ValueError(f"switch '{switch}': allowed: {', '.join(SWITCHES)}")
        made.append(NodeSpec(f"switch{index + 1}", 201 + index, switch))
    return made
