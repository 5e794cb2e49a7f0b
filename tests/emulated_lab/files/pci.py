"""A card in sysfs: its PCI function with the network interface and the RDMA device below."""

from __future__ import annotations

import errno

from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.files import ecn, infiniband
from tests.emulated_lab.files.entry import File, Link, Tree, constant, under
from tests.emulated_lab.files.interfaces import REAL
from tests.emulated_lab.store import State


def function(state: State) -> Tree:
    """What is below /sys/devices/pci0000:00/."""
    card, interface = CARDS[state["card"]], state["interface"]
    tree: Tree = {
        "vendor": constant("0x15b3"),
        "device": constant(f"0x{card.device_id}"),
        "class": constant("0x020000"),
        "numa_node": constant("0"),
        "uevent": constant(f"DRIVER=mlx5_core\nPCI_SLOT_NAME={state['pci']}"),
        **under(f"infiniband/{state['device']}", infiniband.device(state)),
        **under(f"net/{interface}", _interface(state)),
    }
    if state["vf"]:
        tree["physfn"] = Link(f"../{state['pci'][:-1]}7")  # its PF is not shown to this host
    else:
        tree["sriov_numvfs"] = constant("0")
        tree["sriov_totalvfs"] = constant("16")
    return under(state["pci"], tree)


def _interface(state: State) -> Tree:
    """The real interface's attributes, with what the card's driver has beyond them."""
    interface = state["interface"]
    real = sorted(path.name for path in (REAL / interface).iterdir()) if (REAL / interface).is_dir() else []
    tree: Tree = {
        name: Link(f"../../../../../.real/class/net/{interface}/{name}")
        for name in real
        if name not in ("device", "subsystem")
    }
    tree["device"] = Link("../..")
    tree["speed"] = constant(str(CARDS[state["card"]].line))
    if state["driver"] == "ofed" and not state["vf"]:
        tree |= under("ecn", ecn.sysfs())
        tree["qos/trust"] = File(lambda now: f"{now['qos']['trust']}\n", _write_trust)
    return tree


def _write_trust(state: State, text: str) -> None:
    if text.strip() not in ("pcp", "dscp"):
        raise OSError(errno.EINVAL, "trust")
    state["qos"]["trust"] = text.strip()
