"""An agent that serves a controller, turn by turn."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from testbed.agent.agent import Timing
from testbed.agent.batch_agent import BatchAgent
from testbed.agent.flow_agent import FlowAgent
from testbed.agent.meter import Meter
from testbed.base.arrays import Ints
from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import Feedback, Paths, RateController, Signal
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.results.trace import DecisionTrace
from tests.support.agents import SLOT, Bench

TIMEOUT = 1000.0  # slots


class Scripted(RateController):
    """Remembers what it was told, and decides what the test has prepared."""

    name = "scripted"
    signals = Signal.RTT

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.told: list[tuple[Any, ...]] = []
        self.feedback: list[Feedback] = []

    def on_start(self, now: float, flows: Ints) -> None:
        self.told.append(("start", round(now / SLOT, 3), flows.tolist()))

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self.told.append(("feedback", round(now / SLOT, 3), flows.tolist()))
        self.feedback.append(feedback)

    def on_timer(self, now: float, flows: Ints) -> None:
        self.told.append(("timer", round(now / SLOT, 3), flows.tolist()))
        self.timer[flows] = np.inf

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:  # noqa: ARG002 - part of the interface
        self.told.append(("sent", flows.tolist(), sent_bytes.tolist()))


class Counting(Scripted):
    signals = Signal.RTT | Signal.TX


class Telemetry(Scripted):
    signals = Signal.INT


@contextmanager
def serving(
    form: Any = Scripted,
    hosts: tuple[int, ...] = (0,),
    start: tuple[float, ...] | None = None,
    *,
    compiled: bool = True,
    trace: DecisionTrace | None = None,
    **settings: Any,
) -> Iterator[tuple[Any, Bench]]:
    """An agent whose flows start at ``start`` (slots)."""
    with Bench(hosts=hosts, **settings) as bench:
        n = len(hosts)
        paths = Paths(
            np.full(n, bench.line_rate), np.full(n, 8 * SLOT), np.full(n, 1), bench.payload, bench.wire_size
        )  # fmt: skip
        controller = build(form, form.Config(), paths, compiled)
        plugin = Plugin("controller", form.name, form, "here", Path(inspect.getfile(form)))
        timing = Timing(
            start=np.array(start or (0.0,) * n) * SLOT,
            end=1.0,
            timeout=TIMEOUT * SLOT,
            longest_sleep=2 * SLOT,
            credit=2 * SLOT,
            gather=0.25 * SLOT,
            quantum=0.0,
        )
        kind: Any = FlowAgent if isinstance(controller, CompiledFlows) else BatchAgent
        yield (
            kind(plugin, bench.clock, controller, bench.datapath, timing=timing, meter=Meter(16, trace)),
            bench,
        )


def turn(agent: Any, slots: float) -> None:
    agent.step(slots * SLOT)
    agent.datapath.send_due(slots * SLOT)


def everything_happens(agent: Any, bench: Bench) -> None:
    """A start, a timer, packets sent, a CNP, a loss, an acknowledgement, a timeout."""
    for now in (0.0, 1.0):
        turn(agent, now)
    bench.cnp()
    bench.ack(1)
    for now in range(5, 4000, 50):
        turn(agent, now)
