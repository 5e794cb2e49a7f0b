"""The names that NVIDIA's tools know a card by."""

from __future__ import annotations

from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.store import State


def mst(state: State) -> str:
    return f"/dev/mst/mt{int(CARDS[state['card']].device_id, 16)}_pciconf0"


def is_this(name: str, state: State) -> bool:
    """Whether it is this host's card: by PCI address, mst device, RDMA device or interface."""
    pci = state["pci"]
    return name in (pci, pci.removeprefix("0000:"), mst(state), state["device"], state["interface"])
