"""Feedback that comes late, or twice. Our networks do neither on demand: it happens between the NICs and the agent.

What the NICs record goes into a ring of its own. Every few microseconds it is passed on to the agent's: some of it
later, some of it twice. Packets, marks, losses and INT are those of the rack.
"""

from __future__ import annotations

import heapq
import random

import numpy as np

from testbed.engines.virtual.maps import VirtualRing
from testbed.engines.virtual.sender import Sender
from testbed.engines.virtual.world import World

POLL = 2e-6  # s
SHARE = 0.1  # of the feedback that is late, and of the feedback that comes twice


class Disorder:
    """Stands in front of the agent of a world, and for it."""

    def __init__(self, world: World, agent: Sender, latest: float) -> None:
        """What is late is up to ``latest`` seconds late."""
        self.world, self.agent = world, agent
        self.latest_ns = world.clock.wall_ns(latest)
        self.rng = random.Random(1)
        self.nics = VirtualRing()
        self.on_the_way: list[tuple[int, int, np.void]] = []  # when it comes, a number, and the record
        self.number = self.polls = 0
        world.divert(self.nics)

    def step(self, now: float) -> None:
        """With what has come by now."""
        if now >= self.polls * POLL:
            self.polls += 1
            self._pass_on()
        self.agent.step(now)

    def _pass_on(self) -> None:
        for record in self.nics.take():
            for _ in range(2 if self.rng.random() < SHARE else 1):
                late = self.rng.random() * self.latest_ns if self.rng.random() < SHARE else 0
                self.number += 1
                heapq.heappush(self.on_the_way, (int(record["rx_ns"]) + int(late), self.number, record.copy()))
        while self.on_the_way and self.on_the_way[0][0] <= self.world.ticks():
            came, _, record = heapq.heappop(self.on_the_way)
            record["rx_ns"] = came
            self.world.ring.put(record)

    def wait(self, now: float, until: float) -> None:
        """Not longer than to the next poll."""
        self.agent.wait(now, until)

    @property
    def next_step(self) -> float:
        """The agent's, or the next poll."""
        return min(self.agent.next_step, self.polls * POLL)

    def close(self) -> None:
        """The run is over."""
        self.agent.close()

    def restart(self, now: float) -> None:
        """All flows start now, once more."""
        self.agent.restart(now)
