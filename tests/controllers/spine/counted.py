"""SPINE that counts intervals and triggers from some time on, into a file: a run has a process of its own."""

from __future__ import annotations

from functools import cache

import numpy as np
from pydantic import Field
from testbed_controllers.spine import Spine
from testbed_controllers.spine.controller import SpineConfig

from testbed.controller import Ack
from testbed.units import Time


@cache
def memory(file: str) -> np.memmap:
    return np.memmap(file, np.int64, "r+", shape=2)


class CountedConfig(SpineConfig):
    """Options of `Counted`."""

    counts: str = Field(description="The file.")
    since: Time = Field(default=0.0, description="When to begin.")


class Counted(Spine):
    """To be run with ``controller.compiled=false``: Python may write files."""

    name = "counted"
    Config = CountedConfig

    def on_ack(self, ack: Ack) -> None:
        before = self.intervals, self.triggers
        super().on_ack(ack)
        if ack.now >= self.config.since:
            memory(self.config.counts)[:] += np.subtract((self.intervals, self.triggers), before)
