"""An export in the rack, again in Python: the arithmetic's model in the loop of program.c, on the events of rack.c."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.results.trace import FEEDBACK, START, TIMEOUT
from testbed.sdk.export.numbers import LINE_RATE, limited
from testbed.sdk.export.program import Model, Program

WORD = 1 << 32
JUST_BEFORE, MOST_DOUBLINGS = 1 << 26, 5
UNKNOWN = -1
LEAST_STEP, MOST_STEP = 1 << 15, 1 << 17


def stepped(rate: int, wanted: int, least_step: int, most_step: int) -> int:
    """The rate one decision on, towards the one that is wanted: `stepped` of program.c. Steps have 16 bits."""
    within = limited(wanted, rate * least_step >> 16, (rate * most_step >> 16) + 1)
    return limited(within, 1, LINE_RATE)


def ns(seconds: float) -> int:
    return int(seconds * 1e9 + 0.5) % WORD


@dataclass
class Flow:
    """One flow on the card."""

    program: Program
    model: Model
    rate: int = 0
    asked_at: int = 0
    patience: int = 0
    losses: int = 0
    gap: bool = False
    probes: list[tuple[float, int]] = field(default_factory=list)
    decisions: int = 0
    lost_probes: int = 0

    def start(self, now: float) -> None:
        self.rate = int(self.model.start()[0])
        self.patience = self.program.patience
        self.ask(now, 0)

    def ask(self, now: float, packet: int) -> None:
        self.asked_at = ns(now)
        if self.program.probes:
            self.probes = [*self.probes, (now, packet)][-4:]

    def decide(self, rtt: int) -> None:
        wanted = int(self.model.decide(np.array([rtt]), np.array([self.losses]))[0])
        self.rate, self.losses = stepped(self.rate, wanted, LEAST_STEP, MOST_STEP), 0
        self.decisions += 1

    def wait(self, now: float) -> None:
        if (ns(now) - self.asked_at + JUST_BEFORE) % WORD <= self.patience + JUST_BEFORE:
            return
        if not self.program.probes:
            self.decide(0)
        elif self.patience < self.program.patience << MOST_DOUBLINGS:
            self.patience *= 2
        self.ask(now, UNKNOWN)

    def lose(self, now: float) -> None:
        self.losses, self.gap = self.losses + 1, True
        self.wait(now)

    def acknowledge(self, now: float, rtt: float, seq: int, next_seq: int) -> None:
        while self.probes:
            asked, packet = self.probes[0]
            if now - rtt < asked if packet == UNKNOWN else seq < packet:
                break
            del self.probes[0]
            if self.gap and packet != UNKNOWN and seq > packet:
                self.lost_probes += 1
                continue
            sent = ns(now - rtt)
            if (self.asked_at - sent - 1) % WORD < JUST_BEFORE:
                continue  # asked for before the last decision
            self.decide((ns(now) - sent) % WORD or 1)
            self.patience = self.program.patience
            self.ask(now, next_seq)
        self.gap = False


def modelled(program: Program, decided: Mapping[str, NDArray[Any]], flows: int) -> Iterator[tuple[Flow, float]]:
    """Of every call in a trial's decisions: the flow, and its rate as a share of the line's."""
    made = [Flow(program, program.model(1)) for _ in range(flows)]
    names = ("kind", "time", "flow", "rtt", "acked_seq", "next_seq", "lost_packets")
    for kind, now, number, rtt, seq, next_seq, lost in zip(*(decided[name].tolist() for name in names), strict=True):
        flow = made[number]
        if kind == START:
            flow.start(now)
        elif kind == FEEDBACK:
            if lost:
                flow.lose(now)
            if math.isfinite(rtt):
                flow.acknowledge(now, rtt, int(seq), int(next_seq))
            elif not lost:  # a CNP
                flow.wait(now)
        elif kind != TIMEOUT:
            flow.wait(now)
        yield flow, flow.rate / LINE_RATE
