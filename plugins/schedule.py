"""Thresholds by rules on what a switch sees of its ports and flows: PET's inputs, without a network.

A port takes the thresholds of the first step that holds of it. Written in kB at 25 Gbit/s and %, from left to right:
``incast 1280/2560/5, calm 20/320/50, else 20/40/100`` (Kmin/Kmax/Pmax).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from testbed.plugin import PluginConfig
from testbed.tuner import Need, Ports, PortSample, Thresholds, Tuner

Bools = NDArray[np.bool_]
SLOT_RTTS = 10  # as PET
RATE = 25e9  # bit/s of a port for which thresholds are written; others scale them
SENDERS = 10  # of mice: an incast, as `pet` with preset `fct` sees it
MEMORY = 3  # slots for which an incast counts as there
RECENT = 32  # slots for which a switch counts as one with incasts, and over which its load is averaged
LOADED = 0.65  # share of the lines of a switch that is used
ELSE = "else"
STEP = re.compile(r"(\w+) (\d+)/(\d+)/(\d+)")


@dataclass(frozen=True)
class Seen:
    """What a switch showed in the slot that ended, and before."""

    incast: NDArray[np.int64]  # slots since a port had one
    load: float  # share of its lines that was used of late


CONDITIONS: dict[str, Callable[[Seen], Bools | bool]] = {
    "incast": lambda seen: seen.incast < MEMORY,
    "calm": lambda seen: bool(seen.incast.min() >= RECENT),
    "loaded": lambda seen: seen.load > LOADED,
    ELSE: lambda _seen: True,
}


class ScheduleConfig(PluginConfig):
    """Options of `Schedule`."""

    steps: str = Field(
        default="incast 1280/2560/5, calm 20/320/50, loaded 20/160/100, else 20/40/100",
        description="[CONDITION KMIN/KMAX/PMAX, ...](tuners.md#schedules-by-rules) in kB at 25 Gbit/s and %; the last "
        "is `else`.",
    )

    @field_validator("steps")
    @classmethod
    def _readable(cls, steps: str) -> str:
        read(steps)
        return steps


class Schedule(Tuner):
    """The first step that holds of a port says its thresholds."""

    name = "schedule"
    needs = Need.FLOWS
    Config = ScheduleConfig
    config: ScheduleConfig

    def __init__(self, config: ScheduleConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.slot = SLOT_RTTS * ports.base_rtt
        self.steps = read(config.steps)
        self.seen = Seen(np.full(len(ports), RECENT), 0.0)

    def initial(self) -> Thresholds:
        return self._thresholds()

    def _thresholds(self) -> Thresholds:
        chosen = np.empty((len(self.ports), 3))
        for name, action in reversed(self.steps):
            chosen[CONDITIONS[name](self.seen)] = action
        scale = 1e3 * self.ports.rate / RATE
        kmax = np.minimum(chosen[:, 1] * scale, self.ports.buffer)
        return Thresholds(np.minimum(chosen[:, 0] * scale, kmax), kmax, chosen[:, 2] / 100)

    def on_slot(self, now: float, sample: PortSample) -> Thresholds:  # noqa: ARG002 - part of the interface
        mice = np.nan_to_num(sample.incast_degree * sample.mice_share)  # senders
        used = float(sample.tx_rate.sum() / self.ports.rate.sum())
        self.seen = Seen(
            np.where(mice >= SENDERS, 0, self.seen.incast + 1), self.seen.load + (used - self.seen.load) / RECENT
        )
        return self._thresholds()


def read(steps: str) -> list[tuple[str, tuple[float, float, float]]]:
    """Condition and Kmin, Kmax, Pmax of every step. Raises ValueError."""
    found = []
    for step in steps.split(", "):
        match = STEP.fullmatch(step)
        if match is None or match[1] not in CONDITIONS:
            raise ValueError(f"'{step}' is no step; expected one of {', '.join(CONDITIONS)}, then '20/320/50', say")
        kmin, kmax, pmax = map(float, match.groups()[1:])
        if kmin > kmax or not 0 <= pmax <= 100:
            raise ValueError(f"'{step}': Kmin must not be above Kmax, and Pmax is 0 to 100 %")
        found.append((match[1], (kmin, kmax, pmax)))
    names = [name for name, _ in found]
    if names[-1] != ELSE or ELSE in names[:-1]:
        raise ValueError(f"'{steps}' must end with 'else KMIN/KMAX/PMAX', for ports of which nothing else holds")
    return found
