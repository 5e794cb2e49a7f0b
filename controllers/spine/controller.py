"""SPINE's hierarchy: per interval a watcher says whether the generator gives the executor new parameters.

A reconstruction: the idea is the paper's, the executor the authors' (`executor`); inputs, networks, intervals and
weights are of this project (docs/explanation/spine.md). RTT and losses are all that it hears.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar

from pydantic import Field

from testbed.base.fields import Length
from testbed.controller import Ack, Path, Table
from testbed.plugin import PluginConfig

from ..decc.observation import decades, delay
from ..learned.policy import ByPolicy
from .executor import Executor, ExecutorConfig
from .observation import INTERVAL, MEASURED, PARAMETERS, SEEN, parameter, places
from .policy import CELL, WATCHER, Policy

POLICIES = FilePath(__file__).with_name("policies")
GATES = 3 * CELL


class SpineConfig(ExecutorConfig):
    """Options of `Spine`."""

    hierarchy: bool = Field(default=True, description="Off: the executor keeps its parameters.")
    policy: str = Field(default="", description="File with another policy.")


class Spine(ByPolicy, Executor):
    """SPINE, a reconstruction: AIMD per acknowledgement, whose parameters a network sets when another asks for it."""

    name = "spine"
    Config = SpineConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "policy": {},
        "default": {"hierarchy": False},
        "linear": {"hierarchy": False, "law": "linear"},
        "module": {
            "hierarchy": False, "slow_start": True, "initial_window": 10, "min_window": 10, "rtt_gain": 1 / 8,
        },
    }  # fmt: skip

    shipped = POLICIES / "policy.json"
    config: SpineConfig
    begun: float = -1.0  # s: when this interval began; -1 before the first acknowledgement
    packets: int  # acknowledged in it
    acked: float  # wire bytes
    rtts: float  # s, sum over the packets
    lost: int  # packets
    intervals: int
    triggers: int  # intervals after which the generator ran
    seen: Annotated[list[float], Length(SEEN)]  # of the last interval
    before: Annotated[list[float], Length(SEEN)]  # of the one that triggered last
    places: Annotated[list[float], Length(PARAMETERS)]  # of the parameters, in their ranges
    state: Annotated[list[float], Length(CELL)]  # of the generator
    given: Annotated[list[float], Length(GATES)]  # what the generator's layers pass on
    kept: Annotated[list[float], Length(GATES)]
    notice: Table
    trigger: Table
    input: Table
    recurrent: Table
    head: Table

    def __init__(self, config: SpineConfig, path: Path) -> None:
        super().__init__(config, path)
        weights = self.load(config).weights
        self.notice, self.trigger, self.head = weights["notice"], weights["trigger"], weights["head"]
        self.input, self.recurrent = weights["input"], weights["recurrent"]
        self.places = places(config)

    @classmethod
    def load(cls, config: SpineConfig) -> Policy:
        """Raises BadInput."""
        return Policy.load(cls.file(config))

    @classmethod
    def inputs(cls, config: PluginConfig) -> Mapping[str, FilePath]:
        assert isinstance(config, SpineConfig)
        return super().inputs(config) if config.hierarchy else {}

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        if ack.packets == 0 or not self.config.hierarchy:
            return
        if self.begun < 0:  # what came before it is no whole interval
            self.begin(ack.now)
            return
        self.packets += ack.packets
        self.acked += ack.bytes
        self.rtts += ack.packets * ack.rtt
        if ack.now - self.begun >= INTERVAL * self.path.base_rtt:
            self.observe(ack.now - self.begun)
            if self.triggers == 0 or self.watch() > 0.0:
                self.generate()
            self.begin(ack.now)

    def on_loss(self, now: float, packets: int) -> None:
        super().on_loss(now, packets)
        self.lost += packets

    def begin(self, now: float) -> None:
        """An interval."""
        self.begun = now
        self.packets = 0
        self.lost = 0
        self.acked, self.rtts = 0.0, 0.0

    def observe(self, length: float) -> None:
        """What the interval that is over was like."""
        path = self.path
        self.intervals += 1
        self.seen[0] = decades(8 * self.acked / length / path.line_rate)
        self.seen[1] = delay(self.rtts / self.packets / path.base_rtt)
        self.seen[2] = min(self.lost / self.packets, 1.0)
        self.seen[3] = decades(self.cwnd * path.wire_size / path.bdp)
        self.seen[MEASURED] = self.places[2]
        self.seen[MEASURED + 1] = self.places[0]

    def watch(self) -> float:
        """Above 0 the generator runs."""
        total: float = self.trigger[0, WATCHER]
        for one in range(WATCHER):
            hidden = self.notice[one, 2 * SEEN]
            for i in range(SEEN):
                hidden += self.notice[one, i] * self.seen[i] + self.notice[one, SEEN + i] * self.before[i]
            total += self.trigger[0, one] * math.tanh(hidden)
        return total

    def generate(self) -> None:
        """New parameters, from the interval and what the cell remembers of earlier triggers."""
        self.triggers += 1
        for one in range(SEEN):
            self.before[one] = self.seen[one]
        for gate in range(GATES):
            self.given[gate] = self.input[gate, SEEN]
            for i in range(SEEN):
                self.given[gate] += self.input[gate, i] * self.seen[i]
            self.kept[gate] = self.recurrent[gate, CELL]
            for i in range(CELL):
                self.kept[gate] += self.recurrent[gate, i] * self.state[i]
        for one in range(CELL):
            reset = sigmoid(self.given[one] + self.kept[one])
            update = sigmoid(self.given[CELL + one] + self.kept[CELL + one])
            candidate = math.tanh(self.given[2 * CELL + one] + reset * self.kept[2 * CELL + one])
            self.state[one] = candidate + update * (self.state[one] - candidate)
        for which in range(PARAMETERS):
            total = self.head[which, CELL]
            for i in range(CELL):
                total += self.head[which, i] * self.state[i]
            self.places[which] = sigmoid(total)
        self.alpha, self.beta = parameter(0, self.places[0]), parameter(1, self.places[1])
        self.gamma, self.delta = parameter(2, self.places[2]), parameter(3, self.places[3])


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))
