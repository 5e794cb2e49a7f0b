"""``python -m bench``: measures everything, or what ``--only`` names, and prints one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench import (
    adpg,
    agents,
    closed_loop,
    command,
    controllers,
    cores,
    decisions,
    disturbed,
    first,
    flows,
    gym,
    items,
    live,
    monitor,
    packet,
    peers,
    queues,
    rank,
    reproduce,
    scale,
    score,
    threads,
    tuners,
    virtual,
    workers,
)
from bench.measure import Row, table
from testbed.errors import TestbedError

Part = Callable[[], Iterator[Row]]
ITEMS: dict[str, Part] = {
    "controllers": controllers.of_controllers,
    "decisions": decisions.of_decisions,
    "flows": flows.of_flows,
    "live": live.of_live,
    "switch": items.of_switch,
    "packet": packet.of_packet,
    "monitor": monitor.of_monitor,
    "tuners": tuners.of_tuners,
    "goodput": items.of_goodput,
    "help": items.of_help,
    "memory": items.of_memory,
    "start": items.of_start,
    "lines": items.of_lines,
    "adpg": adpg.of_adpg,
    "gym": gym.of_gym,
    "virtual": virtual.of_virtual,
    "scale": scale.of_scale,
    "threads": threads.of_threads,
    "cores": cores.of_cores,
    "peers": peers.of_peers,
    "queues": queues.of_queues,
    "first": first.of_first,
    "workers": workers.of_workers,
    "score": score.of_score,
    "reproduce": reproduce.of_reproduce,
}
COMPARED: dict[str, Callable[[tuple[command.Tree, ...]], Iterator[Row]]] = {  # with another checkout, if there is one
    "closed-loop": closed_loop.of_closed_loop,
    "clean-loop": closed_loop.of_clean_loop,
    "agents": agents.of_agents,
    "disturbed": disturbed.of_disturbed,
}
NAMES = (*COMPARED, *ITEMS, "rank")
ROOTLESS = {"gym", "virtual", "scale", "threads", "cores", "peers", "queues", "first", "workers", "score", "reproduce"}
LONG = {"disturbed", "rank", "reproduce", "peers"}  # only if named
BUSY = 0.5  # load average above which figures should not be trusted


def main() -> int:
    """Exit code 0 if every target was reached, 1 if one was missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="*",
        choices=NAMES,
        default=[],
        metavar="NAME",
        help=", ".join(NAMES),
    )
    parser.add_argument(
        "--other", type=Path, metavar="FOLDER", help=f"a checkout to compare with: {', '.join(COMPARED)}"
    )
    parser.add_argument(
        "--kept", type=Path, metavar="FILE", help="keep the runs of `rank` there, so that another call goes on"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all values there")
    chosen = parser.parse_args()
    if os.geteuid() != 0 and not (chosen.only and {*chosen.only} <= ROOTLESS):
        print("bench: needs root to build racks; run: sudo make bench", file=sys.stderr)
        return 2
    try:
        trees = command.trees(chosen.other)
    except command.CommandFailed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    parts: dict[str, Part] = {name: partial(part, trees) for name, part in COMPARED.items()}
    parts |= ITEMS | {"rank": partial(rank.of_rank, chosen.kept)}
    machine, began = _machine(), time.monotonic()
    if machine["load"] > BUSY:
        print(f"bench: the load average is {machine['load']:.1f}: this machine is not quiet", file=sys.stderr)
    rows: list[Row] = []
    for name in chosen.only or [one for one in parts if one not in LONG]:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        rows += _rows(name, parts[name])
    print(f"{machine['kernel']}, {machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}\n")
    print(table(rows))
    print(f"\n{time.monotonic() - began:.0f} s")
    if chosen.json:
        content = {"machine": machine, "rows": [row.as_dict() for row in rows]}
        chosen.json.write_text(json.dumps(content, indent=2) + "\n")
    return int(any(row.passed is False for row in rows))


def _rows(name: str, part: Part) -> list[Row]:
    """One part's rows. A run that fails is a target that was missed; the others are still measured."""
    rows: list[Row] = []
    try:
        rows.extend(part())
    except (TestbedError, command.CommandFailed, AssertionError) as error:
        rows.append(Row(name, "failed", passed=False, note=str(error).replace("\n", " ")))
    return rows


def _machine() -> dict[str, Any]:
    describe = ["git", "-c", f"safe.directory={items.ROOT}", "-C", str(items.ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, capture_output=True, text=True, check=False).stdout.strip()
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "kernel": f"Linux {platform.release()}",
        "cpu": models[0].partition(": ")[2] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "commit": commit or "unknown",
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())
