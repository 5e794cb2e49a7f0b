"""`ib_write_bw` of perftest: a probe between two hosts, over a TCP connection through their RoCE interfaces.

No packets are measured. What comes out is what a card in this state would do about CE marks: nothing where no rate
control is active, although the counters of handled CNPs rise there as well.
"""

from __future__ import annotations

import argparse
import json
import socket
import time
from pathlib import Path
from typing import Any

from tests.emulated_lab import counters
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.fakes import device, doca_pcc
from tests.emulated_lab.store import State, Store

GOODPUT = 0.96  # of line rate, alone
CUT = 0.7  # of it, when every packet is marked and the sender's control works
MARKS = 1000  # packets per second that are marked at most
PRIORITY = 3
PATIENCE = 10.0  # s for the server to be there


def main(arguments: list[str], store: Store) -> int:
    options, _ = _parser().parse_known_args(arguments)
    if not device.is_this(options.device, store.read()):
        print(f" IB device {options.device} not found\n Unable to find the Infiniband/RoCE device")
        return 1
    report = _client(options, store) if options.server else _serve(options, store)
    _print(report, options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ib_write_bw", allow_abbrev=False)
    parser.add_argument("server", nargs="?")
    parser.add_argument("-d", "--ib-dev", dest="device", default="mlx5_0")
    parser.add_argument("-p", "--port", type=int, default=18515)
    parser.add_argument("-D", "--duration", type=float, default=0.2)
    parser.add_argument("-s", "--size", type=int, default=65536)
    parser.add_argument("--report_gbits", action="store_true")
    parser.add_argument("--out_json", action="store_true")
    parser.add_argument("--out_json_file", type=Path)
    for valued in ("-q", "--qp", "-x", "--gid-index", "--tclass", "-T", "--tos", "-S", "--sl", "-m", "--mtu"):
        parser.add_argument(valued)
    for switch in ("-R", "--rdma_cm", "-F", "--CPU-freq"):
        parser.add_argument(switch, action="store_true")
    return parser


def controlled(state: State) -> bool:
    """Whether anything on this sender reacts to congestion."""
    config = state["nvconfig"]
    if config.get("USER_PROGRAMMABLE_CC", {}).get("current"):
        return state["pcc"]["owner"] is not None and not doca_pcc.ghost(state)
    return bool(config["ROCE_CC_LEGACY_DCQCN"]["current"] and state["roce_rp_enable"][PRIORITY])


def _serve(options: argparse.Namespace, store: Store) -> dict[str, float]:
    """Wait for one client, tell it how much is marked here, and count what it sends."""
    with socket.create_server(("", options.port)) as listening:
        connection, _ = listening.accept()
    with connection, connection.makefile("rw") as lines:
        notices = store.read()["roce_np_enable"][PRIORITY]
        lines.write(json.dumps({"marking": store.read().get("marking", 0.0), "notices": notices}) + "\n")
        lines.flush()
        report: dict[str, float] = json.loads(lines.readline())
    marks = int(MARKS * report["marking"] * report["seconds"])
    with store.edit() as state:
        counters.tell(state, "port_rcv_data", add=int(report["bytes"] / 4))
        counters.tell(state, f"rx_prio{PRIORITY}_bytes", add=int(report["bytes"]))
        counters.tell(state, "np_ecn_marked_roce_packets", add=marks)
        counters.tell(state, "np_cnp_sent", add=marks if notices else 0)
    return report


def _client(options: argparse.Namespace, store: Store) -> dict[str, float]:
    state = store.read()
    with _connect(options.server, options.port) as connection, connection.makefile("rw") as lines:
        there = json.loads(lines.readline())
        time.sleep(options.duration)
        cut = CUT * there["marking"] if there["notices"] and controlled(state) else 0.0
        rate = CARDS[state["card"]].line * 1e6 * GOODPUT * (1 - cut)
        total = rate / 8 * options.duration
        report = {"bits": rate, "bytes": total, "seconds": options.duration, "marking": there["marking"]}
        lines.write(json.dumps(report) + "\n")
        lines.flush()
    marks = int(MARKS * there["marking"] * options.duration) if there["notices"] else 0
    with store.edit() as state:
        counters.tell(state, "port_xmit_data", add=int(total / 4))
        counters.tell(state, f"tx_prio{PRIORITY}_bytes", add=int(total))
        counters.tell(state, "rp_cnp_handled", add=marks)
    return report


def _connect(server: str, port: int) -> socket.socket:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((server, port), timeout=PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _print(report: dict[str, float], options: argparse.Namespace) -> None:
    bandwidth = report["bits"] / 1e9 if options.report_gbits else report["bits"] / 8 / 1e6
    count = int(report["bytes"] / options.size)
    results = {
        "MsgSize": options.size, "n_iterations": count, "BW_peak": 0.0, "BW_average": round(bandwidth, 2),
        "MsgRate": round(count / report["seconds"] / 1e6, 6),
    }  # fmt: skip
    about: dict[str, Any] = {"test": "RDMA_Write BW", "device": options.device, "Link_type": "Ethernet"}
    if options.out_json:
        text = json.dumps({"test_info": about, "results": results}, indent=1)
        (options.out_json_file or Path("perftest_out.json")).write_text(text + "\n")
    unit = "Gb/sec" if options.report_gbits else "MiB/sec"
    print(f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]")
    print(" " + "    ".join(str(value) for value in results.values()))
