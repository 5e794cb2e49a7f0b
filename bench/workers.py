"""A sweep on one and on two workers: how much sooner it is done, as processes of this machine and as nodes of Ray."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.command import TESTBED, CommandFailed
from bench.measure import Row

CELLS = 12  # of 2 s each: Ray imports its modules once for each worker
SWEEP = ("sweep", "incast-64", "--engine", "virtual", "--set", "record.report=false", "--repeat", str(CELLS))
LEAST = 1.8  # issue 23


def of_workers() -> Iterator[Row]:
    """Both ways; that results are the same to the bit is tested."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = (_took(f"{folder}/jobs-{jobs}", "--jobs", str(jobs)) for jobs in (1, 2))
        yield _row("processes", one, two)
    with tempfile.TemporaryDirectory() as folder, _ray() as (address, grow):
        ray = ("--on", "ray")
        one = _took(f"{folder}/one", *ray, RAY_ADDRESS=address)
        grow()
        yield _row("nodes of Ray", one, _took(f"{folder}/two", *ray, RAY_ADDRESS=address))


def _row(what: str, one: float, two: float) -> Row:
    return Row(
        f"a sweep of {CELLS} cells on two {what} / on one", f"{one / two:.2f}", f">= {LEAST}", one / two >= LEAST,
        f"{one:.1f} s and {two:.1f} s from command to results", {"one": one, "two": two},
    )  # fmt: skip


def _took(out: str, *arguments: str, **environment: str) -> float:
    """Seconds of one sweep."""
    command = [TESTBED, *SWEEP, *arguments, "--out", out]
    began = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, cwd=Path(out).parent
    )
    if done.returncode:
        raise CommandFailed(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    return time.perf_counter() - began


@contextmanager
def _ray() -> Iterator[tuple[str, Callable[[], None]]]:
    """The address of a cluster whose head has one core, and what adds a second node with another."""
    from ray.cluster_utils import Cluster

    room = tempfile.mkdtemp(prefix="ray")  # its sockets need a short path
    head = {"num_cpus": 1, "object_store_memory": 100 << 20, "temp_dir": room, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)

    def grow() -> None:
        cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        cluster.wait_for_nodes()

    try:
        yield cluster.address, grow
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(room, ignore_errors=True)
