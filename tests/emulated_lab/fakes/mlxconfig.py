"""`mlxconfig` and `mstconfig`: NVConfig with its three columns. A set changes what comes after the next power cycle."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tests.emulated_lab.cards import BOOLEANS, CARDS, ENUMS
from tests.emulated_lab.fakes import device
from tests.emulated_lab.store import State, Store

UNKNOWN = 3  # exit code


def main(arguments: list[str], store: Store) -> int:
    options = _parser().parse_intermixed_args(arguments)
    state = store.read()
    if options.device is not None and not device.is_this(options.device, state):
        return _fail(f"Failed to identify the device - Can not create SignatureManager! ({options.device})")
    keys = [word.split("=", 1)[0] for word in options.words]
    for key in keys:
        if key not in state["nvconfig"]:
            return _fail(f"The Device doesn't support {key} parameter")
    if options.command in ("q", "query"):
        _query(state, keys or list(state["nvconfig"]), options)
        return 0
    if options.command in ("s", "set"):
        return _set(store, options.words, options.yes)
    if options.command in ("r", "reset"):
        return _reset(store, options.yes)
    return _fail(f"Unknown command: {options.command}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mlxconfig", allow_abbrev=False)
    parser.add_argument("-d", "--dev", dest="device")
    parser.add_argument("-e", "--enable_verbosity", dest="all", action="store_true")
    parser.add_argument("-y", "--yes", action="store_true")
    parser.add_argument("-j", "--json_format", dest="json", type=Path)
    parser.add_argument("command")
    parser.add_argument("words", nargs="*")
    return parser


def shown(key: str, value: int) -> str:
    """As the tool prints a value: a bare number, or Name(number)."""
    if key in BOOLEANS:
        return f"{bool(value)}({value})"
    if key in ENUMS:
        return f"{ENUMS[key].get(value, 'UNKNOWN')}({value})"
    return str(value)


def parsed(key: str, text: str) -> int:
    """Raises ValueError for what the tool would not take."""
    names = {"FALSE": 0, "TRUE": 1} if key in BOOLEANS else {name: value for value, name in ENUMS.get(key, {}).items()}
    value = names[text.upper()] if text.upper() in names else int(text, 0)
    if not 0 <= value <= (max(names.values()) if names else 255):
        raise ValueError(text)
    return value


def _query(state: State, keys: list[str], options: argparse.Namespace) -> None:
    card, config = CARDS[state["card"]], state["nvconfig"]
    about = {
        "device_type": card.name, "name": card.board, "description": card.description, "device": device.mst(state)
    }  # fmt: skip
    if options.json is not None:
        table = {key: _json(key, config[key], options.all) for key in keys}
        options.json.write_text(json.dumps({"Device #1": about | {"tlv_configuration": table}}, indent=4) + "\n")
        return
    _print_head(about)
    columns = ("Default", "Current", "Next Boot") if options.all else ("Next Boot",)
    print(f"{'Configurations:':<60}" + "".join(f"{column:<20}" for column in columns))
    starred = False
    for key in keys:
        row = config[key]
        names = ("default", "current", "next") if options.all else ("next",)
        star = row["next"] != row["current"] or row["next"] != row["default"]
        starred |= star and options.all
        mark = "*" if star and options.all else " "
        print(f"{mark}{'':<7}{key:<52}" + "".join(f"{shown(key, row[name]):<20}" for name in names))
    if starred:
        print("The '*' shows parameters with next value different from default/current value.")


def _json(key: str, row: dict[str, int], everything: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"read_only": False, "next_value": shown(key, row["next"])}
    if everything:
        found |= {
            "default_value": shown(key, row["default"]),
            "current_value": shown(key, row["current"]),
            "modified": row["next"] != row["default"] or row["next"] != row["current"],
        }
    return found


def _set(store: Store, words: list[str], yes: bool) -> int:
    wanted = {}
    for word in words:
        key, _, text = word.partition("=")
        try:
            wanted[key] = parsed(key, text)
        except ValueError:
            return _fail(f"Failed to parse: {word}: Illegal value")
    state = store.read()
    card = CARDS[state["card"]]
    _print_head(
        {"device_type": card.name, "name": card.board, "description": card.description, "device": device.mst(state)}
    )
    print(f"{'Configurations:':<60}{'Next Boot':<20}{'New':<20}")
    for key, value in wanted.items():
        print(f"        {key:<52}{shown(key, state['nvconfig'][key]['next']):<20}{shown(key, value):<20}")
    if not _sure("Apply new Configuration?", yes):
        return 1
    with store.edit() as changed:
        for key, value in wanted.items():
            changed["nvconfig"][key]["next"] = value
    print("Applying... Done!\n-I- Please reboot machine to load new configurations.")
    return 0


def _reset(store: Store, yes: bool) -> int:
    """All keys to their defaults, the DPU's mode among them."""
    if not _sure("Reset configuration for device?", yes):
        return 1
    with store.edit() as state:
        for row in state["nvconfig"].values():
            row["next"] = row["default"]
    print("Applying... Done!\n-I- Please reboot machine to load new configurations.")
    return 0


def _print_head(about: dict[str, str]) -> None:
    print("\nDevice #1:\n----------\n")
    names = {"device_type": "Device type:", "name": "Name:", "description": "Description:", "device": "Device:"}
    for key, name in names.items():
        print(f"{name:<20}{about[key]}")
    print()


def _sure(question: str, yes: bool) -> bool:
    print(f"\n {question} (y/n) [n] : ", end="", flush=True)
    answer = "y" if yes else sys.stdin.readline().strip().lower()
    print(answer)
    if answer not in ("y", "yes"):
        print("-E- Aborted by user")
        return False
    return True


def _fail(what: str) -> int:
    print(f"-E- {what}")
    return UNKNOWN
