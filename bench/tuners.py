"""What one decision of a tuner costs for all ports of a switch: alone, with cold caches, and in a run.

Between two decisions of a run lie many milliseconds of other work, and agents interrupt the process that decides; the
same code costs several times what it does in a loop. CPU time of the thread, without what others take of the core.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

from bench import command
from bench.measure import Row, spread
from testbed.registry import find
from testbed.tuner import Ports, PortSample

TUNERS = ("pet", "acc")
MOST = 200e-6  # s, issue 7
PORTS, DECISIONS, TURNS = 17, 200, 5
CACHES = 64 << 20  # bytes: more than this machine's caches hold
RUN = (
    "leaf-spine", "--controller", "dcqcn", "--set", "controller.window=bdp", "--duration", "3 ms",
    *command.UNCALIBRATED,
)  # fmt: skip


def of_tuners() -> Iterator[Row]:
    """Both learned tuners, three ways."""
    other = np.zeros(CACHES, np.uint8)

    def forget() -> None:
        other[:] += 1

    for name in TUNERS:
        warm, cold = _alone(name, lambda: None), _alone(name, forget)
        yield Row(
            f"{name}, a decision for {PORTS} ports in a loop", f"{spread([one * 1e6 for one in warm], '.0f')} us",
            f"< {MOST * 1e6:.0f} us", median(warm) < MOST,
            f"{spread([one * 1e6 for one in cold], '.0f')} us with nothing of it in the processor's caches",
            {"warm": warm, "cold": cold},
        )  # fmt: skip
        switches = _in_run(name)
        yield Row(
            f"{name}, a decision in a leaf-spine run", f"{spread([one * 1e6 for one in switches], '.0f')} us",
            f"< {MOST * 1e6:.0f} us", median(switches) < MOST,
            "medians of the four switches, which decide one after the other; the first one finds cold caches",
            {"switches": switches},
        )  # fmt: skip


def _alone(name: str, between: Callable[[], None]) -> list[float]:
    """Medians of seconds, one per turn."""
    form = find("tuner", name).form
    ports = Ports(tuple(f"s1-eth{k}" for k in range(1, PORTS + 1)), np.full(PORTS, 25e9), np.full(PORTS, 5e6), 8e-6)
    tuner = form(form.Config(), ports)
    sample = PortSample.idle(tuner.initial())
    found = []
    for _ in range(TURNS):
        took = []
        for _ in range(DECISIONS):
            between()
            sample.queue[:] += 1e3  # another reward: ACC must not take the queues for idle
            sample.mean_queue[:] = sample.queue
            began = time.thread_time()
            tuner.on_slot(0.0, sample)
            took.append(time.thread_time() - began)
        found.append(median(took))
    return found


def _in_run(name: str) -> list[float]:
    """Median seconds of a decision at each switch."""
    with tempfile.TemporaryDirectory() as folder:
        command.cost("run", *RUN, "--tuner", name, "--out", f"{folder}/out")
        manifest = json.loads((Path(folder) / "out" / "manifest.json").read_text())
    return [one["decision_seconds"]["p50"] for one in manifest["tuners"]]
