"""`mlnx_qos`: trust, PFC, DSCP map and rate limits, as text."""

from __future__ import annotations

import argparse

from tests.emulated_lab import control, qos
from tests.emulated_lab.store import State, Store


def main(arguments: list[str], store: Store) -> int:
    options = _parser().parse_args(arguments)
    state = store.read()
    if options.interface != state["interface"] or state["vf"]:
        print(f"{options.interface}: no such interface, or it has no priorities to configure")
        return 1
    if control.ask({"do": "show", "unit": "lldpad.service"}).get("ActiveState") == "active":
        print("Warning: lldpad service is running, it may overwrite the configuration")
    try:
        with store.edit() as state:
            _apply(options, state["qos"])
    except ValueError as error:
        print(f"Bad argument: {error}")
        return 1
    _print(store.read())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mlnx_qos", allow_abbrev=False)
    parser.add_argument("-i", "--interface", required=True)
    parser.add_argument("--trust", choices=("pcp", "dscp"))
    parser.add_argument("-f", "--pfc")
    parser.add_argument("--dscp2prio", action="append", default=[])
    parser.add_argument("-p", "--prio_tc")
    parser.add_argument("-s", "--tsa")
    parser.add_argument("-t", "--tcbw")
    parser.add_argument("-r", "--ratelimit")
    parser.add_argument("--cable_len", type=int)
    parser.add_argument("-d", "--dcbx", choices=("os", "fw"))
    return parser


def _apply(options: argparse.Namespace, now: qos.Qos) -> None:
    """Raises ValueError; then nothing was stored."""
    if options.trust:
        qos.set_trust(now, options.trust)
    for change in options.dscp2prio:
        verb, dscp, priority = change.split(",")
        if verb not in ("set", "del") or not 0 <= int(dscp) < 64 or not 0 <= int(priority) < 8:
            raise ValueError(change)
        if now["trust"] != "dscp":
            raise ValueError("dscp2prio needs trust dscp")
        now["map"][int(dscp)] = now["dscp_prio"][str(int(dscp))] = int(priority) if verb == "set" else 0
    if options.pfc:
        now["pfc"] = _eight(options.pfc, 0, 1)
    if options.prio_tc:
        now["prio_tc"] = _eight(options.prio_tc, 0, 7)
    if options.tcbw:
        now["tcbw"] = _eight(options.tcbw, 0, 100)
    if options.tsa:
        now["tsa"] = options.tsa.split(",")
    if options.ratelimit:
        limits = [int(float(limit) * 1e6) for limit in options.ratelimit.split(",")]
        now["maxrate"][: len(limits)] = [qos.rounded(limit) for limit in limits]
    if options.cable_len is not None:
        now["cable_len"] = options.cable_len
    if options.dcbx:
        now["dcbx"] = options.dcbx


def _eight(text: str, low: int, high: int) -> list[int]:
    values = [int(part) for part in text.split(",")]
    if len(values) != qos.PRIORITIES or not all(low <= value <= high for value in values):
        raise ValueError(text)
    return values


def _print(state: State) -> None:
    now = state["qos"]
    print(f"DCBX mode: {'OS controlled' if now['dcbx'] == 'os' else 'Firmware controlled'}")
    print(f"Priority trust state: {now['trust']}")
    if now["trust"] == "dscp":
        print("dscp2prio mapping:")
        for priority in range(qos.PRIORITIES):
            mapped = [dscp for dscp in range(63, -1, -1) if now["dscp_prio"].get(str(dscp), 0) == priority]
            for at in range(0, len(mapped), 8):
                print(f"\tprio:{priority} dscp:{''.join(f'{dscp:02},' for dscp in mapped[at : at + 8])}")
    print("default priority:")
    print(f"Receive buffer size (bytes): {''.join(f'{size},' for size in now['buffer_size'])}total_size=222272")
    print(f"Cable len: {now['cable_len']}")
    print("PFC configuration:")
    for name, row in (("priority", range(8)), ("enabled", now["pfc"]), ("buffer", now["prio_buffer"])):
        print(f"\t{name:<12}" + "   ".join(str(value) for value in row) + "   ")
    for tc in range(qos.PRIORITIES):
        limit = now["maxrate"][tc]
        rate = f"{limit / 1e6:g} Gbps" if limit else "unlimited"
        share = f", bw: {now['tcbw'][tc]}%" if now["tsa"][tc] == "ets" else ""
        print(f"tc: {tc} ratelimit: {rate}, tsa: {now['tsa'][tc]}{share}")
        for priority in (p for p in range(8) if now["prio_tc"][p] == tc):
            print(f"\t priority:  {priority}")
