"""The same cells in the field's packet simulators and here: the same tree and the same flows, from the same two files.

Theirs is all CPU that the program takes. Ours is CPU from the experiment's file to its record;
Python's start is apart, for it is the same whatever is run. What differs beside that is in docs/findings/simulators.md.
"""

from __future__ import annotations

import gc
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

import numpy as np

from bench.apart import apart
from bench.measure import Row, spread
from bench.peers_built import CSG, UET, Peer
from testbed.cli.main import SELDOM
from testbed.engines.virtual.whole import LARGE
from testbed.errors import TestbedError
from testbed.results import arrow
from testbed.runs.overrides import from_user, overridden

REPEATS = 3
PACKET = 4000  # bytes of theirs; 4,086 of data in uet-htsim
FINISHED = re.compile(r"\bfinished at\b")
NSCC_MARKS = ("tuner.kmin=37.35 kB", "tuner.kmax=145.25 kB", "tuner.pmax=100 %")  # of uet-htsim


@dataclass(frozen=True)
class Tree:
    """Two tiers, not oversubscribed: 100 Gbit/s, 1 us."""

    leaves: int
    per_leaf: int

    @property
    def hosts(self) -> int:
        return self.leaves * self.per_leaf

    def text(self) -> str:
        """A `.topo`."""
        alike = "Downlink_speed_Gbps 100\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n"
        return (
            f"Nodes {self.hosts}\nTiers 2\nPodsize {self.hosts}\n\n"
            f"Tier 0\n{alike}Radix_Down {self.per_leaf}\nRadix_Up {self.per_leaf}\n\n"
            f"Tier 1\n{alike}Radix_Down {self.leaves}\n"
        )


@dataclass(frozen=True)
class Cell:
    """Flows in a tree."""

    name: str
    tree: Tree
    flows: tuple[str, ...]
    triggers: int
    microseconds: int  # until which all are done

    def text(self) -> str:
        """A `.cm`."""
        head = [f"Nodes {self.tree.hosts}", f"Connections {len(self.flows)}"]
        head += [f"Triggers {self.triggers}"] if self.triggers else []
        return "\n".join([*head, *self.flows, *(f"trigger id {i + 1} oneshot" for i in range(self.triggers))]) + "\n"


def permutation(tree: Tree) -> Cell:
    """Everybody sends 2 MB to its like at the next leaf."""
    hosts = tree.hosts
    flows = (f"{i}->{(i + tree.per_leaf) % hosts} id {i + 1} start 0 size 2000000" for i in range(hosts))
    return Cell(f"permutation of {hosts:,}", tree, tuple(flows), 0, 2000)


def incast(tree: Tree, megabytes: int) -> Cell:
    """64 hosts of other leaves send so much to the first."""
    first = tree.per_leaf
    flows = (f"{first + i}->0 id {i + 1} start 0 size {megabytes}000000" for i in range(64))
    return Cell(f"incast of 64, {megabytes} MB each", tree, tuple(flows), 0, 10_000 * megabytes)


def allreduce(tree: Tree, kilobytes: int) -> Cell:
    """A ring of all hosts, so much per step: a step begins when the one before has come."""
    ring, steps = tree.hosts, 2 * tree.hosts - 2
    flows: list[str] = []
    for first in range(ring):
        for step in range(steps):
            trigger = first * (steps - 1) + step  # which sets this step off
            begins = f"trigger {trigger}" if step else "start 0"
            ends = f" send_done_trigger {trigger + 1}" if step + 1 < steps else ""
            src = (first + step) % ring
            flows.append(f"{src}->{(src + 1) % ring} id {len(flows) + 1} {begins} size {kilobytes}000{ends}")
    return Cell(f"allreduce of {ring}, {kilobytes} kB a step", tree, tuple(flows), ring * (steps - 1), 80 * kilobytes)


# of 64 hosts a short one, of which our start is half and more, and one with as many packets as the permutation has
CELLS = (
    permutation(Tree(32, 32)),
    *(incast(Tree(16, 8), megabytes) for megabytes in (2, 30)),
    *(allreduce(Tree(8, 8), kilobytes) for kilobytes in (64, 256)),
)


@dataclass(frozen=True)
class Side:
    """A program of theirs, how it is called, and what is nearest to it here."""

    peer: Peer
    program: str
    arguments: tuple[str, ...]
    label: str
    controller: str
    settings: tuple[str, ...]
    target: float  # times as fast, on one core


SIDES = (
    Side(CSG, "htsim_eqds", ("-strat", "ecmp_host_random_ecn", "-paths", "128", "-mtu", "4000", "-cwnd", "100"),
         "EQDS", "fixed", ("receiver=rccc", "routing=spray"), 8.0),
    Side(CSG, "htsim_roce", ("-strat", "ecmp_host", "-paths", "128", "-mtu", "4000", "-linkspeed", "100000"),
         "RoCE", "fixed", ("rack.switch.pfc.xoff=100 kB",), 3.0),
    Side(UET, "htsim_uec", ("-sender_cc_only", "-sender_cc_algo", "nscc", "-paths", "128"),
         "NSCC", "nscc", (*NSCC_MARKS, "routing=spray"), 6.0),
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Of one run, in seconds."""

    cpu: float
    wall: float
    done: int  # flows


def theirs(side: Side, cell: Cell, folder: Path) -> Cost:
    """One run of their program."""
    command = [
        side.peer.program(side.program), "-topo", str(folder / "tree.topo"), "-tm", str(folder / "flows.cm"),
        "-nodes", str(cell.tree.hosts), "-end", str(cell.microseconds), *side.arguments, "-o", str(folder / "log"),
    ]  # fmt: skip
    said = folder / "said"
    began = time.perf_counter()
    with said.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
    wall, text = time.perf_counter() - began, said.read_text(errors="replace")
    if os.waitstatus_to_exitcode(status):
        raise TestbedError(f"{' '.join(command)}: {' '.join(text.splitlines()[-3:])}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, len(FINISHED.findall(text)))


def ours(side: Side, cell: Cell, folder: Path, threads: int) -> Cost:
    """The same here, in a process of its own."""
    settings = (
        f"rack={{kind: custom, file: {folder / 'tree.topo'}}}",
        f"traffic={{pattern: trace, file: {folder / 'flows.cm'}, payload: {PACKET} B}}",
        f"time.duration={cell.microseconds} us", "time.warmup=0", "record.interval=1 ms", "record.decisions=0",
        "engine=virtual", *side.settings,
    )  # fmt: skip

    def work(connection: Connection) -> Cost:
        from testbed.engines.virtual.run import VirtualRun

        arrow.load()  # start-up
        gc.set_threshold(SELDOM)  # as a command's is
        began, wall = time.process_time(), time.perf_counter()
        chosen = {"controller": side.controller, "tuner": ""}
        resolved = overridden(from_user("incast-2"), chosen, {}, list(settings))
        record = VirtualRun(resolved, [], connection, threads=threads).follow()
        done = int(np.isfinite(record.flows.finished).sum())
        return Cost(time.process_time() - began, time.perf_counter() - wall, done)

    return apart(work)


def of_peers() -> Iterator[Row]:
    """All that can be built."""
    for side in SIDES:
        try:
            side.peer.program(side.program)
        except TestbedError as error:
            yield Row(f"{side.peer.name}, {side.label}", "not built", note=f"{error}; left out")
            continue
        for cell in CELLS:
            yield from _rows(side, cell)


def _rows(side: Side, cell: Cell) -> Iterator[Row]:
    """In turns: theirs, ours on one thread and, where it helps, on two."""
    numbers = (1, 2) if cell.tree.hosts >= LARGE else (1,)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "tree.topo").write_text(cell.tree.text())
        (folder / "flows.cm").write_text(cell.text())
        turns = [
            (theirs(side, cell, folder), [ours(side, cell, folder, threads) for threads in numbers])
            for _ in range(REPEATS)
        ]
    cpu = spread([one.cpu for one, _ in turns], ".2f")
    for place, threads in enumerate(numbers):
        pairs = [(one, mine[place]) for one, mine in turns]
        # on several threads time passes for all of them at once
        ratios = [one.cpu / mine.cpu if threads == 1 else one.wall / mine.wall for one, mine in pairs]
        target = side.target * threads
        yield Row(
            f"{cell.name}, {side.label} of {side.peer.name} / ours, threads: {threads}", spread(ratios, ".2f"),
            f">= {target:g}", median(ratios) >= target,
            f"CPU {cpu} s / {spread([mine.cpu for _, mine in pairs], '.2f')} s; "
            f"done {pairs[0][0].done:,} / {pairs[0][1].done:,} of {len(cell.flows):,} flows",
            {"theirs": [vars(one) for one, _ in pairs], "ours": [vars(mine) for _, mine in pairs]},
        )  # fmt: skip
