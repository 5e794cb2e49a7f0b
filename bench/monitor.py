"""What the network condition monitor costs, as a share of all CPU time of a run in which PET asks for it.

Parts are measured by themselves, for the difference between two runs is smaller than their noise: a packet through the
port program with the monitor beside one without, in the kernel's test run; the end of a slot in user space, with as
many flows as the run has and with 10,000; and the CPU time that a run takes per nominal second.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from bench import command
from bench.measure import Row, spread
from testbed.dataplane.programs import FLOW_TABLE
from testbed.tuning.conditions import ConditionMonitor
from tests.support.packets import LOOPBACK, Bench, bench, data

MOST = 0.03  # of a run's CPU time
SCENARIO, SENDERS, MANY = "incast-64", 64, 10_000
SHORT, LONG = 1, 5  # nominal ms
DILATION = 1000
SLOT = 10  # base RTTs
TURNS, PACKETS = 15, 100_000
SRC_AT = 26  # in the frame


def of_monitor() -> Iterator[Row]:
    """Kernel and user space by themselves, then both as a share."""
    with bench() as off, bench(monitor=FLOW_TABLE) as on:
        without, noted = [], []
        for rig in (off, on):
            rig.port(rate=100e9, buffer=1 << 31)
        for _ in range(TURNS):
            without.append(_packet(off))
            noted.append(_packet(on))
        few, many = _slot_end(on, SENDERS), _slot_end(on, MANY)
    added = median(noted) - median(without)
    yield Row(
        "a packet through the port, monitor added", f"{added * 1e9:.0f} ns",
        note=f"{spread([one * 1e9 for one in noted])} ns with, {spread([one * 1e9 for one in without])} ns without",
        values={"with": noted, "without": without},
    )  # fmt: skip
    yield Row(
        f"end of a slot, {SENDERS} flows", f"{median(few) * 1e3:.2f} ms",
        note=f"{median(many) * 1e3:.2f} ms with {MANY:,} flows; read, analysed and cleaned once for all switches",
        values={"few": few, "many": many},
    )  # fmt: skip
    cpu, packets, slots = _run()
    share = (added * packets + median(few) * slots) / cpu
    yield Row(
        f"the monitor in {SCENARIO} with pet, of all CPU time", f"{share:.2%}", f"< {MOST:.0%}", share < MOST,
        f"{cpu:.2f} s for {packets:,.0f} packets and {slots:.0f} slots",
        {"cpu": cpu, "packets": packets, "slots": slots},
    )  # fmt: skip


def _packet(rig: Bench) -> float:
    began = time.perf_counter()
    rig.egress(data(), PACKETS)
    return (time.perf_counter() - began) / PACKETS


def _slot_end(rig: Bench, flows: int) -> list[float]:
    """Seconds, with so many flows that sent in every slot. The threshold clean-up is not reached."""
    assert rig.ports.flow_table is not None
    monitor = ConditionMonitor(rig.ports.flow_table, np.array([LOOPBACK]))
    frame, took = data(), []
    for _ in range(TURNS):
        for sender in range(flows):
            address = bytes([10, 1, sender >> 8, sender & 255])
            rig.egress(frame[:SRC_AT] + address + frame[SRC_AT + len(address) :])
        now_ns, began = time.monotonic_ns(), time.perf_counter()
        monitor.sample(now_ns)
        took.append(time.perf_counter() - began)
    return took


def _run() -> tuple[float, float, float]:
    """CPU seconds, data packets and slots of a run: of a long one what it has more than a short one."""
    long, short = _cost(LONG), _cost(SHORT)
    cpu, packets = (one - other for one, other in zip(long[:2], short[:2], strict=True))
    return cpu, packets, (LONG - SHORT) * 1e-3 / (SLOT * long[2])


def _cost(milliseconds: int) -> tuple[float, float, float]:
    """CPU seconds, data packets, base RTT."""
    with tempfile.TemporaryDirectory() as folder:
        spent = command.cost(
            "run", SCENARIO, "--tuner", "pet", "--duration", f"{milliseconds} ms", "--dilation", str(DILATION),
            "--out", f"{folder}/out", *command.UNCALIBRATED,
        )  # fmt: skip
        summary = json.loads((Path(folder) / "out" / "summary.json").read_text())
    return spent.cpu, summary["packets_delivered"], summary["base_rtt"]
