"""A sweep on one and on two workers: how much sooner it is done, as processes of this machine and as nodes of Ray.

What a sweep does besides its cells is in both times: imports, the plan, and with Ray connecting, comparing nodes and a
worker's start on each. Without it two workers would take half the time of one: what it costs is twice what two take,
less what one takes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bench.command import cost
from bench.measure import Row

CELLS, RAY_CELLS = 12, 36  # of 2 s each; more with Ray, whose 6 to 7 s besides do not become fewer
TURNS = 2  # one worker and two alternate; the best of each counts, for others can only make it longer
KIND = ("sweep", "incast-64", "--engine", "virtual", "--set", "record.report=false")
SWEEP = (*KIND, "--duration", "60 ms", "--repeat")
FIRST = (*KIND, "--duration", "100 us", "--repeat", "2")  # not timed: a node that was just added is busy with itself
LEAST = 1.8  # issue 23


def of_workers() -> Iterator[Row]:
    """Both ways; that results are the same to the bit is tested."""
    cells = (*SWEEP, str(CELLS))
    yield _row("processes", CELLS, [tuple(_took(*cells, "--jobs", str(jobs)) for jobs in (1, 2)) for _ in range(TURNS)])
    with _ray() as (address, resize):

        def on(nodes: int) -> float:
            resize(nodes)
            for sweep in (FIRST, (*SWEEP, str(RAY_CELLS))):
                seconds = _took(*sweep, "--on", "ray", RAY_ADDRESS=address)
            return seconds

        yield _row("nodes of Ray", RAY_CELLS, [tuple(map(on, (1, 2))) for _ in range(TURNS)])


def _row(what: str, cells: int, turns: list[tuple[float, ...]]) -> Row:
    one, two = map(min, zip(*turns, strict=True))
    return Row(
        f"a sweep of {cells} cells on two {what} / on one", f"{one / two:.2f}", f">= {LEAST}", one / two >= LEAST,
        f"{one:.1f} s and {two:.1f} s from command to results, the best of {TURNS} in turns, of which "
        f"{2 * two - one:.1f} s do not become fewer", {"one": one, "two": two, "turns": turns},
    )  # fmt: skip


def _took(*arguments: str, **environment: str) -> float:
    """Seconds of one sweep."""
    with tempfile.TemporaryDirectory() as folder:
        return cost(*arguments, "--out", "out", cwd=folder, **environment).wall


@contextmanager
def _ray() -> Iterator[tuple[str, Callable[[int], None]]]:
    """The address of a cluster whose head has one core, and what gives it a second node with another, or takes it."""
    from ray.cluster_utils import Cluster

    room = tempfile.mkdtemp(prefix="ray")  # its sockets need a short path
    head = {"num_cpus": 1, "object_store_memory": 100 << 20, "temp_dir": room, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    more: list[Any] = []

    def resize(nodes: int) -> None:
        while len(more) + 1 > nodes:
            cluster.remove_node(more.pop())
        while len(more) + 1 < nodes:
            more.append(cluster.add_node(num_cpus=1, object_store_memory=100 << 20))
        cluster.wait_for_nodes()

    try:
        yield cluster.address, resize
    finally:
        cluster.shutdown()
        shutil.rmtree(room, ignore_errors=True)
