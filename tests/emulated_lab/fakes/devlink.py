"""`devlink`: what a card is, and what runs on it; `devlink dev reload` has the driver begin anew."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

from tests.emulated_lab import control, machine
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.store import State, Store
from tests.emulated_lab.systemd import udev

BETWEEN = 0.3  # s from the interface to the RDMA device, which is another driver's
UNNAMED = "eth1"  # what the kernel calls an interface until udev has renamed it


def main(arguments: list[str], store: Store) -> int:
    state = store.read()
    as_json = any("j" in word for word in arguments if word.startswith("-"))
    words = [word for word in arguments if not word.startswith("-")]
    handle = f"pci/{state['pci']}"
    if words[2:] and not words[2].startswith(handle):
        print("kernel answers: No such device", file=sys.stderr)
        return 1
    known: dict[tuple[str, str], dict[str, dict[str, Any]]] = {
        ("dev", "info"): {"info": {handle: _info(state)}},
        ("dev", "show"): {"dev": {handle: {}}},
        ("port", "show"): {"port": {f"{handle}/65535": _port(state)}},
    }
    object_, verb = [*words, "show", "show"][:2]
    if (object_, verb) == ("dev", "reload"):
        return _reload(store)
    if (answer := known.get((object_, verb))) is None:
        print(f'Command "{" ".join(words)}" not found', file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(answer, separators=(",", ":")))
    else:
        _print(next(iter(answer.values())))
    return 0


def _reload(store: Store) -> int:
    """The driver's part, not the firmware's; the interface itself, which is a veth, stays."""
    with store.edit() as state:
        state.update(machine.unload(state))
    net, rdma = udev.found(state, "add", UNNAMED)
    for event in (net, rdma):
        if event is rdma:
            time.sleep(BETWEEN)
            with store.edit() as state:
                state["rdma"] = True
        if "error" in (answer := control.ask({"do": "uevent", "event": asdict(event)})):
            print(f"udev: {answer['error']}", file=sys.stderr)
            return 1
    return 0


def _info(state: State) -> dict[str, Any]:
    card = CARDS[state["card"]]
    running = {"fw.version": card.firmware, "fw": card.firmware}
    return {
        "driver": "mlx5_core",
        "serial_number": f"MT2400X{state['name'].removeprefix('lab'):>05}",
        "versions": {
            "fixed": {"fw.psid": card.psid, "board.id": card.board},
            "running": running,
            "stored": running,
        },
    }


def _port(state: State) -> dict[str, Any]:
    flavour = "virtual" if state["vf"] else "physical"
    return {"type": "eth", "netdev": state["interface"], "flavour": flavour, "port": 0, "splittable": False}


def _print(tree: dict[str, Any], depth: int = 0) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            print(f"{'  ' * depth}{key}:")
            _print(value, depth + 1)
        else:
            print(f"{'  ' * depth}{key} {value}")
