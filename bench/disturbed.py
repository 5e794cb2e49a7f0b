"""How often a run is degraded on a machine that has other work: one busy loop per core, at nice 10."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench import command
from bench.command import Tree
from bench.measure import Row

RUNS = 20  # of each tree
NICE = 10
LONGEST = 300  # s that a loop lives, whatever happens to the bench
LOOP = """
import os, sys, time
os.nice(int(sys.argv[1]))
os.sched_setaffinity(0, {int(sys.argv[2])})
end = time.monotonic() + int(sys.argv[3])
while time.monotonic() < end:
    pass
"""
SHARE = 1 / 2  # of the other tree's


def of_disturbed(trees: Sequence[Tree]) -> Iterator[Row]:
    """Alternating."""
    words: dict[Tree, Counter[str]] = {tree: Counter() for tree in trees}
    for _ in range(RUNS):
        for tree in trees:
            words[tree][_word(tree)] += 1
    # a run that did not begin, since calibration found another rack than was configured, is no better
    bad = {tree: RUNS - words[tree]["clean"] for tree in trees}
    most = SHARE * bad[trees[1]] if len(trees) > 1 else None
    for tree in trees:
        judged = most is not None and tree.ours
        yield Row(
            f"degraded runs, incast-64, HPCC, beside a busy loop per core{tree.suffix}", f"{bad[tree]} of {RUNS}",
            f"<= {most:g}" if judged else "", bad[tree] <= most if most is not None and tree.ours else None,
            ", ".join(f"{count} {word}" for word, count in words[tree].items()), dict(words[tree]),
        )  # fmt: skip


def _word(tree: Tree) -> str:
    with _busy():
        try:
            summary = command.run("incast-64", "--controller", "hpcc", testbed=tree.testbed)
        except command.CommandFailed as error:
            return f"failed ({str(error).splitlines()[-1]})"
    return str(summary["verdict"]["word"])


@contextmanager
def _busy() -> Iterator[None]:
    """Loops on all cores, which end with the block."""
    loops = [
        subprocess.Popen([sys.executable, "-c", LOOP, str(NICE), str(core), str(LONGEST)])
        for core in os.sched_getaffinity(0)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.terminate()
            loop.wait()
