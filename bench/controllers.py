"""What one decision of each controller costs when C calls it: as machine code, and the same class as plain Python.

Both forms are told the same of many flows in random order, in turns. A figure is the median over batches of calls. It
has everything from the record of a flow to a decision that was checked (decide.h: `tell`): the call through a pointer,
the state from the cache or wherever it is, reading what is told, and a 64th of a reading of the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_int64, c_void_p
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.measure import Row, spread
from controllers.adpg import Adpg
from controllers.dcqcn import Dcqcn
from controllers.decc import Decc
from controllers.hpcc import Hpcc
from controllers.swift import Swift
from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.compiled.events import EVENTS
from testbed.compiled.flows import FOLDER, CompiledFlows
from testbed.compiled.layout import ACK
from testbed.controller import CompiledController, Paths
from testbed.errors import TestbedError

FLOWS, LINE, BASE_RTT, WIRE = 64, 100e9, 8e-6, 1122
BATCH, BATCHES, TURNS = 64, 256, 9
MOST_NS, AIM_NS = 60, 25
DECC_MOST_NS = 100
INCREASE_TIMER, SENT_EVERY = 55e-6, 5e-6  # DCQCN's timer; a flow's share of the line sends a packet in 5.7 us
CNP_AFTER, CNP_SPREAD = 50e-6, 150e-6  # least, and mean on top of it
CNPS = 128  # per flow, of which the first are used
LATE = 1e-9
TOLD = np.dtype([("flow", "i8"), ("event", "i8"), ("number", "i8"), ("now", "f8"), ("ack", ACK)])
SOURCE = Path(__file__).with_name("controllers.c")
LIBRARY = Unit("bench-controllers", (SOURCE,), ".so", (*LIBRARY_FLAGS, f"-I{FOLDER}"), headers=(FOLDER,))

Told = NDArray[np.void]


@dataclass(frozen=True)
class Load:
    """A controller and what it is told."""

    name: str
    form: type[CompiledController]
    told: Told
    most: int = MOST_NS


def of_controllers() -> Iterator[Row]:
    """One row per controller and load."""
    for load in loads():
        machine, python = made(load, compiled=True), made(load, compiled=False)
        if machine.runs_as == python.runs_as:
            raise TestbedError("numba is not installed, so controllers cannot be compiled")
        mine, theirs = [], []
        for _ in range(TURNS):
            mine.append(ns_per_call(machine, load.told))
            theirs.append(ns_per_call(python, load.told))
        yield Row(
            f"{load.name}, one call", f"{spread(mine, '.1f')} ns", f"<= {load.most} ns, aim {AIM_NS}",
            median(mine) <= load.most,
            f"{'reaches' if median(mine) <= AIM_NS else 'misses'} the aim; as plain Python {spread(theirs)} ns"
            f"{_parts(load.told)}",
            {"machine_code_ns": mine, "python_ns": theirs},
        )  # fmt: skip


def loads() -> tuple[Load, ...]:
    """What is measured."""
    acks = _acks(most_in_flight=3)
    return (
        Load("DCQCN: CNPs, timers, packets sent", Dcqcn, _cnps()),
        Load("DCQCN: CNPs and timers", Dcqcn, _cnps(with_sent=False)),
        Load("Swift: ACKs", Swift, acks),
        Load("HPCC: ACKs with INT of one hop", Hpcc, acks),
        Load("ADPG: ACKs, one to three per decision", Adpg, acks),
        Load("ADPG: ACKs that all decide", Adpg, _acks(most_in_flight=1)),
        Load("DECC: ACKs, one to three per decision", Decc, acks, DECC_MOST_NS),
        Load("DECC: ACKs that all decide", Decc, _acks(most_in_flight=1, apart=10), DECC_MOST_NS),
    )


def made(load: Load, compiled: bool) -> CompiledFlows:
    """The controller with its defaults, ready to be told."""
    paths = Paths(np.full(FLOWS, LINE), np.full(FLOWS, BASE_RTT), np.ones(FLOWS, np.int64), WIRE - 122, WIRE)
    return CompiledFlows(load.form, load.form.Config(), paths, compiled)


def ns_per_call(controller: CompiledFlows, told: Told) -> float:
    """The median over the batches, from the start of the flows on."""
    function = LIBRARY.library(time_calls=(c_int64, [c_void_p, c_void_p, c_int64, c_void_p])).time_calls
    ns = np.zeros(len(told) // BATCH)
    controller.on_start(0.0, np.arange(FLOWS))
    if not function(controller.address, told.ctypes.data, len(ns), ns.ctypes.data):
        controller.fail()
    return float(np.median(ns))


def _acks(most_in_flight: int, apart: int = 1) -> Told:
    """ACKs at the line's rate, in random order of flows: RTTs, utilisation and queue on both sides of what is aimed at.

    A flow has one to ``most_in_flight`` packets in flight: what controllers do once per RTT happens that often. With a
    line that many times as slow (``apart``) a controller that looks at the clock does it at nearly every ACK.
    """
    random = np.random.default_rng(1)
    told = np.zeros(BATCH * BATCHES, TOLD)
    n, flow = len(told), random.integers(FLOWS, size=len(told))
    told["flow"], told["event"] = flow, EVENTS.index("on_ack")
    told["now"] = BASE_RTT + np.arange(n) * apart * WIRE * 8 / LINE
    ack: Any = told["ack"]
    ack["now"], ack["packets"], ack["bytes"] = told["now"], 1, WIRE
    for one in range(FLOWS):
        mine = flow == one
        ack["seq"][mine] = np.arange(mine.sum())
    in_flight = random.integers(1, most_in_flight + 1, size=n)
    ack["next_seq"], ack["inflight"] = ack["seq"] + in_flight, (in_flight - 1) * WIRE
    ack["rtt"] = BASE_RTT * random.uniform(1.0, 5.0, n)
    ack["ce_packets"], ack["hop_count"] = random.random(n) < 0.1, 1
    hop = ack["hops"][:, 0]
    hop["node"], hop["rate"], hop["ts"] = 1, LINE, told["now"] - BASE_RTT / 2
    hop["tx_bytes"] = np.cumsum(WIRE * random.uniform(0.8, 1.0, n))
    hop["queue"] = random.uniform(0, 15_000, n) * (random.random(n) < 0.7)
    return told


def _cnps(with_sent: bool = True) -> Told:
    """CNPs at random times, increases of the timer until the next one, and reports of what was sent."""
    random = np.random.default_rng(1)
    cnp, timer, sent = (EVENTS.index(name) for name in ("on_cnp", "on_timer", "on_sent"))
    events: list[tuple[float, int, int]] = []
    for flow in range(FLOWS):
        cnps = np.cumsum(CNP_AFTER + random.exponential(CNP_SPREAD, CNPS)).tolist()
        events += [(now, flow, cnp) for now in cnps]
        for now, following in pairwise(cnps):
            events += [(at + LATE, flow, timer) for at in np.arange(now + INCREASE_TIMER, following, INCREASE_TIMER)]
        if with_sent:
            events += [(at, flow, sent) for at in np.arange(random.uniform(0, SENT_EVERY), cnps[-1], SENT_EVERY)]
    told = np.zeros(BATCH * BATCHES, TOLD)
    told["now"], told["flow"], told["event"] = zip(*sorted(events)[: len(told)], strict=True)
    told["number"] = WIRE  # of what was sent
    return told


def _parts(told: Told) -> str:
    """How much there is of what, if there is more than one thing."""
    numbers, counts = np.unique(told["event"], return_counts=True)
    parts = [f"{count / len(told):.0%} {EVENTS[number]}" for number, count in zip(numbers, counts, strict=True)]
    return "; " + ", ".join(parts) if len(parts) > 1 else ""
