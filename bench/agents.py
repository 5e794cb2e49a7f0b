"""CPU time of the agents while an experiment runs, from the first sample after it has begun to the last of their lives.

It is what the scheduler counts for their processes: Python, C, their system calls, and what the kernel does for others
while it interrupts them. Agents are the real-time processes of a run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.closed_loop import DCQCN, HPCC
from bench.command import BEGINS, CommandFailed, Tree
from bench.measure import Row, spread
from bench.memory import family

DILATION, MILLISECONDS = 1000, 5  # a nominal ms takes a second
REPEATS = 3
INTERVAL = 0.1  # s
SHARE = 1 / 3  # of what the other tree takes


def of_agents(trees: Sequence[Tree]) -> Iterator[Row]:
    """DCQCN and HPCC, alternating."""
    for name, arguments in (("DCQCN", DCQCN), ("HPCC", HPCC)):
        costs: dict[Tree, list[float]] = {tree: [] for tree in trees}
        for _ in range(REPEATS):
            for tree in trees:
                costs[tree].append(_cpu_per_ms(tree, *arguments))
        for tree in trees:
            yield Row(
                f"CPU of the agents per nominal ms, incast-64, {name}{tree.suffix}", f"{spread(costs[tree], '.3f')} s",
                note=f"at dilation {DILATION}", values={"seconds": costs[tree]},
            )  # fmt: skip
        for other in trees[1:]:
            ratios = [one / their for one, their in zip(costs[trees[0]], costs[other], strict=True)]
            yield Row(
                f"the same, this checkout / {other.suffix.strip(', ')}", spread(ratios, ".2f"), f"<= {SHARE:.2f}",
                median(ratios) <= SHARE,
            )  # fmt: skip


def _cpu_per_ms(tree: Tree, *arguments: str) -> float:
    """CPU seconds per nominal ms."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        given = ("incast-64", "--dilation", str(DILATION), "--duration", f"{MILLISECONDS} ms", *arguments)
        with said.open("w") as stderr:
            process = subprocess.Popen(
                [tree.testbed, "run", *given, "--out", f"{folder}/out"],
                stdout=subprocess.DEVNULL, stderr=stderr, cwd=folder,
            )  # fmt: skip
        samples = []
        while process.poll() is None:
            if BEGINS in said.read_text():
                samples.append((time.monotonic(), _agents(process.pid)))
            time.sleep(INTERVAL)
        whole = [(at, times) for at, times in samples if times and times.keys() == samples[0][1].keys()]
        if process.returncode not in {0, 3} or len(whole) < 2:
            raise CommandFailed(f"{tree.testbed} run: its agents were not seen: {said.read_text().strip()[-500:]}")
    (began, before), (ended, after) = whole[0], whole[-1]
    return (sum(after.values()) - sum(before.values())) / (ended - began) * DILATION * 1e-3


def _agents(root: int) -> dict[int, float]:
    """CPU seconds so far of each agent among the descendants of ``root``."""
    found = {}
    for pid in family(root):
        try:
            if os.sched_getscheduler(pid) == os.SCHED_FIFO:
                found[pid] = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) * 1e-9
        except OSError:  # it ended meanwhile
            continue
    return found
