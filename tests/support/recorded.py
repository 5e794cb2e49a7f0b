"""Results of a run in which one agent served a controller whose calls were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from testbed.dataplane import wire
from testbed.fidelity.verdict import judge
from testbed.registry import find
from testbed.results import decisions, folder, manifest
from testbed.results.decisions import Served
from testbed.results.report import build
from testbed.results.summary import summarise
from testbed.results.trace import DecisionTrace
from tests.support.agents import SLOT, Bench
from tests.support.serving import TIMEOUT, serving, turn
from tests.support.synthetic_runs import run as synthetic_run

MINE = """
import random
from testbed.controller import RateController, Signal

class Mine(RateController):
    name = "mine"
    signals = Signal.RTT | Signal.TX

    def on_feedback(self, now, flows, feedback):
        self.rate[flows] = RATE
        self.timer[flows] = now + 1e-6

    def on_timer(self, now, flows):
        self.window[flows] = 1000 + now
        self.timer[flows] = float("inf")

    def on_sent(self, now, flows, sent_bytes):
        self.window[flows] = 100 * sent_bytes
"""
STEADY = "1e8 + feedback.acked_seq / 3"


def mine(folder: Path, rate: str = STEADY) -> str:
    """The path of a controller file."""
    file = folder / "mine.py"
    file.write_text(MINE.replace("RATE", rate))
    return str(file)


def drive(agent: Any, bench: Bench) -> None:
    """Feedback for one flow and for several, timers, silence."""
    turn(agent, 0.0)
    for number in range(8):
        for flow in range(number % 3 + 1):
            bench.ack(number, flow=flow, rx=number + 1.0, hops=bench.int_hops, hop=_hop(bench, number))
        turn(agent, number + 1.25)
    turn(agent, 2 * TIMEOUT)


def _hop(bench: Bench, number: int) -> Any:
    hop = np.zeros(wire.MAX_HOPS, wire.RECORD_HOP)
    hop["node"], hop["rate"], hop["queue"] = 7, 100_000, 500
    hop["ts_ns"], hop["tx_bytes"] = bench.stamp(number * SLOT), number * 1000
    return hop


def written(path: Path, spec: str, rows: int = 10_000, report: bool = False) -> Path:
    """A results folder of a run in which one agent served four flows, the rack's 2 to 5."""
    plugin, hops = find("controller", spec), int(spec == "hpcc")
    trace = DecisionTrace(rows, hops)
    starts = (0.0, 0.0, 0.0, 5.0)
    with serving(plugin.form, hosts=(0, 0, 1, 1), int_hops=hops, start=starts, trace=trace) as (agent, bench):
        drive(agent, bench)
        served = [Served(2, agent.controller.paths, trace)]
    record = synthetic_run((0.1,) * 6)
    record.decisions_file, record.decisions_kept = decisions.encode(served), decisions.kept(served)
    rack = {"link": {"rate": "100 Gbit/s"}, "switch": {"buffer": "5 MB"}}
    experiment = {"rack": rack, "time": {"warmup": "2 ms"}, "controller": {"name": spec}}
    about = manifest.describe(
        engine="kernel", experiment=experiment, command_line=[], seed=1, controller=plugin, kernel_features={}
    )
    summary = summarise(record, judge(record), experiment="made", controller=plugin.name, tuner="static")
    return folder.write(path, about, record, summary, last=build.add_report if report else None)
