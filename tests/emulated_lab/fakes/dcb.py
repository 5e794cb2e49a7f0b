"""`dcb` of iproute2, as far as RoCE needs it. Its exit code says nothing about an entry of the app table."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from tests.emulated_lab import faults, qos
from tests.emulated_lab.store import State, Store

RATES = {"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def main(arguments: list[str], store: Store) -> int:
    flags = [word for word in arguments if word.startswith("-")]
    words = [word for word in arguments if not word.startswith("-")]
    if len(words) < 4 or words[2] != "dev":
        return _fail("What is the object? try: dcb { app | pfc | maxrate | ets | dcbx } show dev DEV")
    thing, verb, _, interface, *rest = words
    if interface != store.read()["interface"]:
        return _fail(f'Cannot find device "{interface}"')
    if verb == "show":
        return _show(thing, store.read()["qos"], any("j" in flag for flag in flags))
    return _write(thing, verb, rest, store)


def _write(thing: str, verb: str, rest: list[str], store: Store) -> int:
    changes: dict[str, Callable[[str, list[str], State], int]] = {
        "app": _app, "pfc": _pfc, "maxrate": _maxrate, "dcbx": _dcbx,
    }  # fmt: skip
    if store.read()["vf"] or thing not in changes:  # there is no apptrust in mlx5 either
        return _fail("Attribute write: Operation not supported")
    try:
        with store.edit() as state:
            return changes[thing](verb, rest, state)
    except (ValueError, KeyError, IndexError) as error:
        return _fail(f"Error: argument {error} is wrong")


def _show(thing: str, now: qos.Qos, as_json: bool) -> int:
    entries = sorted((int(dscp), priority) for dscp, priority in now["dscp_prio"].items())
    tables: dict[str, dict[str, Any]] = {
        "app": {"dscp_prio": [list(entry) for entry in entries]},
        "pfc": {"pfc_cap": 8, "macsec_bypass": False, "delay": 0, "prio_pfc": [bool(on) for on in now["pfc"]]},
        "maxrate": {"tc_maxrate": [limit * 1000 for limit in now["maxrate"]]},
        "ets": {"willing": False, "ets_cap": 8, "tc_bw": now["tcbw"], "tc_tsa": now["tsa"], "prio_tc": now["prio_tc"]},
        "dcbx": {"host": now["dcbx"] == "os", "lld-managed": now["dcbx"] != "os", "ieee": True},
        "buffer": {"prio_buffer": now["prio_buffer"], "buffer_size": now["buffer_size"], "total_size": 222272},
    }
    if thing not in tables:
        return _fail("Attribute read: Operation not supported")
    if as_json:
        print(json.dumps(tables[thing], separators=(",", ":")))
        return 0
    for name, value in tables[thing].items():
        rows = value if isinstance(value, list) else [value]
        pairs = [f"{row[0]}:{row[1]}" if isinstance(row, list) else f"{at}:{row}" for at, row in enumerate(rows)]
        print(f"{name.replace('_', '-')} {' '.join(pairs) if isinstance(value, list) else value}")
    return 0


def _app(verb: str, rest: list[str], state: State) -> int:
    table = state["qos"]["dscp_prio"]
    if rest[:1] not in (["dscp-prio"], []) or (not rest and verb != "flush"):
        raise ValueError(rest[0])
    if verb == "flush":
        for dscp, priority in list(table.items()):
            _change("del", int(dscp), priority, state)
        return 0
    for pair in rest[1:]:
        dscp, priority = (int(number) for number in pair.split(":"))
        if not 0 <= dscp < 64 or not 0 <= priority < 8:
            raise ValueError(pair)
        _change(verb, dscp, priority, state)
    return 0


def _change(verb: str, dscp: int, priority: int, state: State) -> None:
    """`replace` adds and then deletes what was there before, which the driver has already dropped.

    The driver's errors are printed, and do not change the exit code.
    """
    now = state["qos"]
    try:
        faults.check_file(state, f"dscp {dscp}")
        if verb == "del":
            qos.delete_entry(now, dscp, priority)
            return
        before = now["dscp_prio"].get(str(dscp))
        qos.set_entry(now, dscp, priority)
        if verb == "replace" and before not in (None, priority):
            qos.delete_entry(now, dscp, before)
    except OSError as error:
        print(f"Attribute write: {os.strerror(error.errno or 0)}", file=sys.stderr)


def _pfc(_verb: str, rest: list[str], state: State) -> int:
    now = state["qos"]
    if rest[0] != "prio-pfc":
        raise ValueError(rest[0])
    for pair in rest[1:]:
        which, state = pair.split(":")
        on = {"on": 1, "off": 0}[state]
        if which == "all":
            now["pfc"] = [on] * 8
        else:
            now["pfc"][int(which)] = on
    return 0


def _maxrate(_verb: str, rest: list[str], state: State) -> int:
    now = state["qos"]
    if rest[0] != "tc-maxrate":
        raise ValueError(rest[0])
    for pair in rest[1:]:
        which, text = pair.split(":")
        unit = text.lstrip("0123456789.")
        limit = qos.rounded(int(float(text.removesuffix(unit)) * RATES[unit.lower() or "bit"] / 1000))
        for tc in range(8) if which == "all" else [int(which)]:
            now["maxrate"][tc] = limit
    return 0


def _dcbx(_verb: str, rest: list[str], state: State) -> int:
    if "lld-managed" in rest:
        return _fail("Attribute write: Operation not supported")
    state["qos"]["dcbx"] = "os"
    return 0


def _fail(what: str) -> int:
    print(what, file=sys.stderr)
    return 1
