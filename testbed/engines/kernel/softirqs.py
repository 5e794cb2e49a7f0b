"""Have the kernel's own part of a run, softirqs, wait for none of its processes.

Packets between namespaces and the timers of shapers are softirqs. Where there are many, the kernel leaves them to a
thread per core, ksoftirqd, which is a usual one: it waits for every agent that has something to do, for agents are
real-time processes. Of incast-64 with HPCC at dilation 250 on two cores, as is and with this, five runs each in turn:
packets were late by at most 1.0 to 2.9 base RTTs, and by 0.6 to 1.7.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from testbed.base.guard import Guard

FIFO_PRIORITY = 3  # above agents and the pause generator
KTHREADD = 2  # parent of all threads of the kernel


def threads() -> list[int]:
    """Numbers of the ksoftirqd threads; none where the kernel's threads are not seen, as in a container."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
            if name.startswith("ksoftirqd/") and int(rest.split()[1]) == KTHREADD:
                found.append(int(stat.parent.name))
    return found


@contextmanager
def first() -> Iterator[None]:
    """They run before agents meanwhile, and as before afterwards, whatever ends this process.

    Nothing changes where they are real-time threads already: by another run, or because the machine is set up so.
    """
    usual = [thread for thread in threads() if os.sched_getscheduler(thread) == os.SCHED_OTHER]
    if not usual:
        yield
        return
    guard = Guard(partial(_schedule, usual, os.SCHED_OTHER, 0))
    try:
        _schedule(usual, os.SCHED_FIFO, FIFO_PRIORITY)
        yield
    finally:
        _schedule(usual, os.SCHED_OTHER, 0)
        guard.dismiss()


def _schedule(numbers: list[int], policy: int, priority: int) -> None:
    with suppress(PermissionError):  # no budget for real-time processes
        for number in numbers:
            os.sched_setscheduler(number, policy, os.sched_param(priority))
