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
from pathlib import Path
from typing import Any

from bench import adpg, closed_loop, command, decisions, flows, items, live, monitor, tuners
from bench.measure import Row, table
from testbed.errors import TestbedError

ITEMS: dict[str, Callable[[], Iterator[Row]]] = {
    "closed-loop": closed_loop.of_closed_loop,
    "clean-loop": closed_loop.of_clean_loop,
    "decisions": decisions.of_decisions,
    "flows": flows.of_flows,
    "live": live.of_live,
    "switch": items.of_switch,
    "monitor": monitor.of_monitor,
    "tuners": tuners.of_tuners,
    "goodput": items.of_goodput,
    "help": items.of_help,
    "memory": items.of_memory,
    "start": items.of_start,
    "lines": items.of_lines,
    "adpg": adpg.of_adpg,
}
BUSY = 0.5  # load average above which figures should not be trusted


def main() -> int:
    """Exit code 0 if every target was reached, 1 if one was missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=ITEMS, default=[], metavar="NAME", help=", ".join(ITEMS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all values there")
    chosen = parser.parse_args()
    if os.geteuid() != 0:
        print("bench: needs root to build racks; run: sudo make bench", file=sys.stderr)
        return 2
    machine, began = _machine(), time.monotonic()
    if machine["load"] > BUSY:
        print(f"bench: the load average is {machine['load']:.1f}: this machine is not quiet", file=sys.stderr)
    rows: list[Row] = []
    for name in chosen.only or ITEMS:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        rows += _rows(name)
    print(f"{machine['kernel']}, {machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}\n")
    print(table(rows))
    print(f"\n{time.monotonic() - began:.0f} s")
    if chosen.json:
        content = {"machine": machine, "rows": [row.as_dict() for row in rows]}
        chosen.json.write_text(json.dumps(content, indent=2) + "\n")
    return int(any(row.passed is False for row in rows))


def _rows(name: str) -> list[Row]:
    """One item's rows. A run that fails is a target that was missed; the others are still measured."""
    rows: list[Row] = []
    try:
        rows.extend(ITEMS[name]())
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
