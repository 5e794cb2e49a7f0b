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
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import command
from bench.measure import Row, table
from testbed.errors import TestbedError

Part = Callable[[], Iterator[Row]]
MODULES = {  # of `of_NAME`, where that is not bench/NAME.py
    "closed-loop": "closed_loop",
    "clean-loop": "closed_loop",
    **dict.fromkeys(("switch", "goodput", "help", "memory", "start", "lines"), "items"),
}
COMPARED = ("closed-loop", "clean-loop", "agents", "disturbed")  # with another checkout, if there is one
NAMES = (
    *COMPARED, "controllers", "decisions", "flows", "live", "switch", "packet", "monitor", "tuners", "goodput", "help",
    "memory", "start", "lines", "adpg", "gym", "virtual", "scale", "threads", "cores", "peers", "queues", "first",
    "workers", "score", "reproduce", "rank", "wall",
)  # fmt: skip
ROOTLESS = {"gym", "virtual", "scale", "threads", "cores", "peers", "queues", "first", "workers", "score", "reproduce"}
LONG = {"disturbed", "rank", "reproduce", "peers", "wall"}  # only if named
ROOT = Path(__file__).resolve().parent.parent
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
    given = {**dict.fromkeys(COMPARED, (trees,)), "rank": (chosen.kept,)}
    machine, began = _machine(), time.monotonic()
    if machine["load"] > BUSY:
        print(f"bench: the load average is {machine['load']:.1f}: this machine is not quiet", file=sys.stderr)
    rows: list[Row] = []
    for name in chosen.only or [one for one in NAMES if one not in LONG]:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        rows += _rows(name, partial(_part(name), *given.get(name, ())))
    print(f"{machine['kernel']}, {machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}\n")
    print(table(rows))
    print(f"\n{time.monotonic() - began:.0f} s")
    if chosen.json:
        content = {"machine": machine, "rows": [row.as_dict() for row in rows]}
        chosen.json.write_text(json.dumps(content, indent=2) + "\n")
    return int(any(row.passed is False for row in rows))


def _part(name: str) -> Callable[..., Iterator[Row]]:
    """Loaded when its turn comes: some need packages that others do without."""
    module = import_module(f"bench.{MODULES.get(name, name)}")
    part: Callable[..., Iterator[Row]] = getattr(module, f"of_{name.replace('-', '_')}")
    return part


def _rows(name: str, part: Part) -> list[Row]:
    """One part's rows. A run that fails is a target that was missed; the others are still measured."""
    rows: list[Row] = []
    try:
        rows.extend(part())
    except (TestbedError, command.CommandFailed, AssertionError) as error:
        rows.append(Row(name, "failed", passed=False, note=str(error).replace("\n", " ")))
    return rows


def _machine() -> dict[str, Any]:
    describe = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "describe", "--always", "--dirty"]
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
