"""Closed loops in the fluid model, and what the controller was told in them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from testbed_controllers.adpg import POLICIES
from testbed_controllers.adpg.controller import AdpgController, Policy
from testbed_controllers.adpg.export.fixed import FixedFlows, FixedTrees, Parameters
from testbed_controllers.adpg.observation import AdpgConfig
from testbed_controllers.adpg.tree import Trees

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import incast
from tests.support.fluid_trace import run

BASE_RTT = 8.192e-6
TREES = Trees.load(POLICIES / "trees.json")
FIXED = FixedTrees.of(TREES)


@dataclass(frozen=True)
class Heard:
    """Round-trip times in the order of time, one per decision, and the rates that were decided (shares of line)."""

    flow: Ints
    rtt: Floats  # s
    rate: Floats


class Listening(AdpgController):
    """The reference in numpy, which writes down what it hears."""

    name: ClassVar[str] = "listening"

    def __init__(self, config: AdpgConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.rows: list[tuple[Ints, Floats, Floats]] = []

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:  # noqa: ARG003 - the shipped one
        return TREES

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        super().on_feedback(now, flows, feedback)
        self.rows.append((flows.copy(), feedback.rtt.copy(), self.share[flows]))


def heard_in_incast(flows: int, duration: float, start_rate: float, ramp: float = 0.0) -> Heard:
    """What flows hear that start within one RTT."""
    start = np.random.default_rng(flows).uniform(0, BASE_RTT, flows)
    layout = dataclasses.replace(incast(flows, base_rtt=BASE_RTT), start=start)
    made = Listening(AdpgConfig.model_validate({"start_rate": start_rate, "ramp": ramp}), layout.paths)
    run(Fluid(layout, made, Options(step=BASE_RTT / 16)), duration)
    return Heard(*(np.concatenate(column) for column in zip(*made.rows, strict=True)))


def rounds(flow: Ints) -> list[Ints]:
    """Rows of the first decision of each flow, of the second, and so on: flows of a round are distinct."""
    order = np.argsort(flow, kind="stable")
    first = np.searchsorted(flow[order], flow[order])
    number = np.empty_like(flow)
    number[order] = np.arange(len(flow)) - first
    by_round = np.argsort(number, kind="stable")
    return np.split(by_round, np.flatnonzero(np.diff(number[by_round])) + 1)


def model(flow: Ints, rtt: Ints, parameters: Parameters) -> Ints:
    """The rates (30 bits of fraction) that the model in whole numbers decides, for RTTs in ns in the order of time."""
    fixed = FixedFlows(FIXED, parameters, int(flow.max()) + 1)
    rate = np.empty(len(flow), np.int64)
    for rows in rounds(flow):
        fixed.decide(flow[rows], rtt[rows])
        rate[rows] = fixed.rate[flow[rows]]
    return rate
