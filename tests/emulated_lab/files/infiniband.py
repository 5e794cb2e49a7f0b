"""An RDMA device in sysfs: identity, port, counters, and the traffic class that MLNX_OFED adds."""

from __future__ import annotations

import errno
from functools import partial

from tests.emulated_lab import counters
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.files.entry import File, Link, Tree, constant
from tests.emulated_lab.store import State

RATES = {200_000: "200 Gb/sec (4X HDR)", 100_000: "100 Gb/sec (4X EDR)"}
GUID = "5c25:7303:00a1:b2c{index}"


def device(state: State) -> Tree:
    """What is below infiniband/DEVICE."""
    card = CARDS[state["card"]]
    guid = GUID.format(index=int(state["name"].removeprefix("lab")) % 10)
    port: Tree = {
        "state": constant("4: ACTIVE"),
        "phys_state": constant("5: LinkUp"),
        "rate": constant(RATES[card.line]),
        "link_layer": constant("Ethernet"),
        "lid": constant("0x0"),
        "sm_lid": constant("0x0"),
        "cap_mask": constant("0x04010000"),
        "gid_attrs/ndevs/0": constant(state["interface"]),
        "gid_attrs/types/0": constant("RoCE v2"),
        **{f"counters/{name}": _counter(name) for name in counters.PORT},
        **{f"hw_counters/{name}": _counter(name) for name in counters.HARDWARE if name != "lifespan"},
        "hw_counters/lifespan": constant("10"),
    }
    tree: Tree = {
        "board_id": constant(card.psid),
        "fw_ver": constant(card.firmware),
        "hca_type": constant(f"MT{int(card.device_id, 16)}"),
        "hw_rev": constant("0"),
        "node_type": constant("1: CA"),
        "node_desc": constant(f"{state['name']} {state['device']}"),
        "node_guid": constant(guid),
        "sys_image_guid": constant(guid),
        "device": Link("../.."),
        **{f"ports/1/{path}": entry for path, entry in port.items()},
    }
    if state["driver"] == "ofed" and not state["vf"]:
        tree["tc/1/traffic_class"] = File(lambda now: f"Global tclass={now['traffic_class']}\n", _write_traffic_class)
    return tree


def _counter(name: str) -> File:
    return File(partial(_read_counter, name))


def _read_counter(name: str, state: State) -> str:
    return f"{counters.value(state, name)}\n"


def _write_traffic_class(state: State, text: str) -> None:
    """A bare number sets it for all; -1 lets it be again what each connection asks for."""
    try:
        value = int(text)
    except ValueError:
        raise OSError(errno.EINVAL, "traffic_class") from None
    if not -1 <= value <= 255:
        raise OSError(errno.EINVAL, "traffic_class")
    state["traffic_class"] = max(0, value)
