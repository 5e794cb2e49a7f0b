"""Path choosers: which entropy each packet has, and so which path. Round robin, random, and REPS.

All that they know of the network is what comes back. How many entropies there are should be many times the number of
paths: the switches' hash gives each path a share of them that is only about equal.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from testbed.base.fields import Length
from testbed.chooser import ENTROPIES, PathChooser
from testbed.controller import Path
from testbed.plugin import PluginConfig
from testbed.units import Time

CACHED = 8  # entropies that REPS remembers


class EntropiesConfig(PluginConfig):
    """How many entropies there are to choose from."""

    entropies: int = Field(default=ENTROPIES, ge=1, le=ENTROPIES, description="Entropies that a flow chooses from.")


class RoundRobin(PathChooser):
    """One entropy after the other, from a random one on."""

    name = "round-robin"
    Config = EntropiesConfig

    config: EntropiesConfig
    entropy: int

    def on_start(self, now: float) -> None:  # noqa: ARG002 - the interface
        self.entropy = self.draw(self.config.entropies)

    def on_send(self, now: float) -> None:  # noqa: ARG002 - the interface
        self.entropy = (self.entropy + 1) % self.config.entropies


class Random(PathChooser):
    """A random entropy for every packet: oblivious packet spraying."""

    name = "random"
    Config = EntropiesConfig

    config: EntropiesConfig

    def on_send(self, now: float) -> None:  # noqa: ARG002 - the interface
        self.entropy = self.draw(self.config.entropies)


class RepsConfig(EntropiesConfig):
    """Options of `Reps`."""

    explore: float = Field(
        default=1, ge=0, description="BDPs that a flow sends at random entropies before it reuses any."
    )
    freeze: Time = Field(
        default=100e-6, ge=0, description="How long after a timeout only entropies that came back are used."
    )


class Reps(PathChooser):
    """REPS: reuse of entropies that came back unmarked, each for one more packet onto a path that was not congested.

    Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation", arXiv
    2407.21625, algorithms 1 to 3. The entropy of an acknowledgement without a mark goes into a ring of 8. A packet
    takes the oldest of them that has not been used again; where there is none, a random one: the flow explores. After
    a timeout, which a path that has failed leaves behind, it does not explore for a while but goes through what is in
    the ring, used or not. A gap in the packets of one entropy is a full buffer, which marks will tell, and no failure.
    """

    name = "reps"
    Config = RepsConfig

    config: RepsConfig
    cache: Annotated[list[int], Length(CACHED)]
    fresh: int  # of those in the cache, that have not been used again
    cached: int  # ever
    head: int  # where the next goes
    to_explore: int  # packets
    frozen_until: float = -math.inf

    def __init__(self, config: RepsConfig, path: Path) -> None:
        super().__init__(config, path)
        self.to_explore = math.ceil(config.explore * path.bdp / path.wire_size)

    def on_send(self, now: float) -> None:
        frozen = now < self.frozen_until and self.cached > 0
        if self.to_explore > 0 or (self.fresh == 0 and not frozen):
            self.entropy = self.draw(self.config.entropies)
            self.to_explore = max(self.to_explore - 1, 0)
        elif self.fresh > 0:
            self.entropy = self.cache[(self.head - self.fresh) % CACHED]
            self.fresh -= 1
        else:
            self.entropy = self.cache[self.head % min(self.cached, CACHED)]
            self.head = (self.head + 1) % CACHED

    def on_ack(self, now: float, entropy: int, marked: bool, rtt: float) -> None:  # noqa: ARG002
        if marked:
            return
        self.cache[self.head] = entropy
        self.head = (self.head + 1) % CACHED
        self.fresh = min(self.fresh + 1, CACHED)
        self.cached += 1

    def on_timeout(self, now: float, entropy: int) -> None:  # noqa: ARG002
        if now >= self.frozen_until and self.to_explore == 0:
            self.frozen_until = now + self.config.freeze
