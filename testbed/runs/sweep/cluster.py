"""Cells as tasks of a Ray cluster: Ray places them, and runs those of a lost node elsewhere.

A cell of the virtual or the fluid engine takes one CPU. One of the kernel engine takes the resource ``kernel`` and all
CPUs of a node: whoever starts Ray on a node says, by that resource, that runs may be root there.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from testbed.base import extras
from testbed.errors import BadInput, TestbedError
from testbed.results import folder as results
from testbed.results.sweep_plan import Plan
from testbed.runs.sweep import node
from testbed.runs.sweep.workers import Ended, Job
from testbed.units import counted

HERE, CLIENT = "ray", "ray://"
KERNEL = "kernel"
START = "ray start --resources='{\"kernel\": 1}'"
Node = Mapping[str, Any]  # as `ray.nodes()` has it


class Cluster:
    """The nodes of one; every cell is handed over at once."""

    def __init__(self, address: str, plan: Plan) -> None:
        """Connect, and compare what all nodes run before the first cell.

        ``address``: ``ray`` for the cluster that Ray finds by itself ($RAY_ADDRESS, then one that was started on this
        machine, then one of this machine's cores), or ``ray://HOST:PORT``. Raises BadInput, TestbedError.
        """
        self._jobs: dict[Any, Job] = {}
        self._interrupts = 0
        with redirect_stdout(sys.stderr):  # what Ray has to say is no result
            self._ray = _connected(address)
            nodes = self._nodes()
            _compare(self._ray, nodes, plan)
        self._whole = _cores_of_kernel_nodes(nodes) if plan.in_kernel else 0
        self._task = self._ray.remote(max_retries=-1)(node.run)  # again elsewhere, however many nodes are lost

    @property
    def at_once(self) -> int:
        return max(1, sum(int(one["Resources"].get("CPU", 0)) for one in self._nodes()))

    @property
    def free(self) -> bool:
        return True  # Ray has the queue

    @property
    def busy(self) -> bool:
        return bool(self._jobs)

    @property
    def doing(self) -> str:
        return f"on {counted(len(self._nodes()), 'node')}"

    def start(self, job: Job) -> None:
        wants = {"num_cpus": self._whole, "resources": {KERNEL: 1}} if job.cell.in_kernel else {"num_cpus": 1}
        task = self._task.options(name=job.cell.name, **wants)
        self._jobs[task.remote(job.cell.name, job.cell.arguments, job.directory)] = job

    def ended(self) -> list[Ended]:
        if not self._jobs:
            return []
        over, _ = self._ray.wait(list(self._jobs), num_returns=len(self._jobs), timeout=0)
        return [self._ended(one) for one in over]

    def _ended(self, reference: Any) -> Ended:
        job = self._jobs.pop(reference)
        try:
            returned: node.Returned = self._ray.get(reference)
        except (self._ray.exceptions.RayError, KeyboardInterrupt) as error:
            _write_log(job.log, f"testbed: Ray: {error}".encode())
            return Ended(job, 1, 0.0)
        _write_log(job.log, returned.log)
        if returned.files:
            node.write(returned.files, job.path)
            results.give_to_caller([job.path, *job.path.rglob("*")])
        return Ended(job, returned.status, returned.seconds)

    def interrupt(self) -> None:
        self._interrupts += 1
        for reference in self._jobs:
            self._ray.cancel(reference, force=self._interrupts > 1)

    def close(self) -> None:
        for reference in self._jobs:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _nodes(self) -> list[Node]:
        return [one for one in self._ray.nodes() if one["Alive"]]


def _connected(address: str) -> Any:
    if address != HERE and not address.startswith(CLIENT):
        raise BadInput(f"--on {address}: expected 'ray', or 'ray://HOST:PORT' of a cluster's head")
    extras.need("ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a run tells nobody anything
    import ray

    try:
        where = address if address.startswith(CLIENT) else None
        ray.init(where, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise TestbedError(f"--on {address}: no Ray cluster there: {error}") from None
    return ray


def _compare(ray: Any, nodes: Sequence[Node], plan: Plan) -> None:
    """Raises BadInput that names the first node that would not run what this machine would."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    asked = [
        ray.remote(node.about)
        .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(one["NodeID"], soft=False))
        .remote(plan.directory)
        for one in nodes
    ]  # all at once: each starts a Python first
    here = node.about(plan.directory)
    for one, answer in zip(nodes, asked, strict=True):
        name = f"Ray's node {one['NodeManagerHostname']} ({one['NodeManagerAddress']})"
        try:
            about = ray.get(answer)
        except (ray.exceptions.TaskUnschedulableError, ray.exceptions.NodeDiedError):
            continue  # it was lost meanwhile
        except ray.exceptions.RayError as error:
            raise BadInput(
                f"{name} cannot import testbed {here['testbed']} as it is on {socket.gethostname()}; install the same "
                f"there, in the environment that 'ray start' runs in: {error}"
            ) from None
        other = [
            f"{what} is {about.get(what, 'not there')}, on {socket.gethostname()} it is {expected}"
            for what, expected in here.items()
            if about.get(what) != expected
        ]
        if other:
            raise BadInput(
                f"{name}: {'; '.join(other)}. Cells of one sweep must come from the same code: make both equal"
            )


def _cores_of_kernel_nodes(nodes: Sequence[Node]) -> int:
    cores = {int(one["Resources"].get("CPU", 0)) for one in nodes if one["Resources"].get(KERNEL)}
    if not cores:
        raise BadInput(
            "cells of the kernel engine run on nodes with the resource 'kernel', and no node has it; start Ray as root "
            f"where they may: {START}"
        )
    if len(cores) > 1:
        raise BadInput(
            "a cell of the kernel engine takes a whole node, and the nodes with the resource 'kernel' have "
            f"{', '.join(map(str, sorted(cores)))} CPUs; start Ray there with the same --num-cpus"
        )
    return cores.pop()


def _write_log(path: Path, said: bytes) -> None:
    results.make_folder(path.parent)
    path.write_bytes(said)
    results.give_to_caller([path])
