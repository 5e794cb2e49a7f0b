"""Static ECN thresholds: the same RED curve on every port, for the whole run or from given times on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from testbed.base.arrays import Floats
from testbed.errors import BadInput
from testbed.plugin import PluginConfig
from testbed.tuner import Ports, PortSample, Thresholds, Tuner
from testbed.units import Rate, Ratio, Size, Time, show_rate, show_size


def _ordered(kmin: float, kmax: float) -> None:
    if kmin > kmax:
        raise ValueError(
            f"kmin ({show_size(kmin)}) must not be above kmax ({show_size(kmax)}); equal values mark as a step"
        )


class Change(BaseModel):
    """Thresholds from a time on; what is not given stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time: Time = Field(gt=0)
    kmin: Size | None = Field(default=None, ge=0)
    kmax: Size | None = Field(default=None, ge=0)
    pmax: Ratio | None = Field(default=None, ge=0, le=1)


class StaticConfig(PluginConfig):
    """Options of `Static`; the defaults are those of the preset `secn2`."""

    kmin: Size = Field(default=100e3, ge=0, description="No packet is marked up to this queue.")
    kmax: Size = Field(default=400e3, ge=0, description="Every packet is marked above this queue.")
    pmax: Ratio = Field(default=0.2, ge=0, le=1, description="Share of the packets that are marked at Kmax.")
    reference_rate: Rate = Field(
        default=25e9,
        ge=0,
        description="Port rate for which kmin and kmax are given; other ports scale them. 0: the same on every port.",
    )
    at: tuple[Change, ...] = Field(default=(), description="Changes: a list of {time, kmin, kmax, pmax}, in order.")

    @model_validator(mode="after")
    def _checked(self) -> Self:
        for before, after in pairwise(self.at):
            if after.time <= before.time:
                raise ValueError("the times of 'at' must rise from one entry to the next")
        for kmin, kmax, _ in self.steps():
            _ordered(kmin, kmax)
        return self

    def steps(self) -> list[tuple[float, float, float]]:
        """Kmin, Kmax, Pmax at the start and after each change."""
        found = [(self.kmin, self.kmax, self.pmax)]
        for one in self.at:
            given = (one.kmin, one.kmax, one.pmax)
            found.append(tuple(old if new is None else new for new, old in zip(given, found[-1], strict=True)))  # type: ignore[arg-type]
        return found


class Static(Tuner):
    """Fixed thresholds, in proportion to the port's rate."""

    name = "static"
    Config = StaticConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        # HPCC's repository, for DCQCN at 25 Gbit/s.
        "secn2": {"kmin": "100 kB", "kmax": "400 kB", "pmax": "20 %", "reference_rate": "25 Gbit/s"},
        # The DCQCN paper, at 40 Gbit/s.
        "secn1": {"kmin": "5 kB", "kmax": "200 kB", "pmax": "1 %", "reference_rate": "40 Gbit/s"},
        # A step above BDP / 7, the least that DCTCP's paper allows: 14.6 kB at 8.2 us.
        "dctcp": {"kmin": "20 kB", "kmax": "20 kB", "pmax": "100 %", "reference_rate": "100 Gbit/s"},
        # 0.2 and 0.8 BDP, as the Ultra Ethernet Consortium's simulator marks for NSCC, at 8.2 us.
        "nscc": {"kmin": "20.5 kB", "kmax": "81.9 kB", "pmax": "100 %", "reference_rate": "100 Gbit/s"},
    }

    config: StaticConfig

    def __init__(self, config: StaticConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        scale = ports.rate / config.reference_rate if config.reference_rate else np.ones(len(ports))
        uniform = [Thresholds.uniform(len(ports), *step) for step in config.steps()]
        self.steps = [Thresholds(one.kmin * scale, one.kmax * scale, one.pmax) for one in uniform]
        self.times = np.array([one.time for one in config.at])
        for step in self.steps:
            self._check(step.kmax)
        if len(self.times):
            self.slot = ports.base_rtt

    def _check(self, wanted: Floats) -> None:
        ports = self.ports
        for name, rate, buffer, kmax in zip(ports.name, ports.rate, ports.buffer, wanted, strict=True):
            if kmax > buffer:
                raise BadInput(
                    f"tuner 'static', port {name} at {show_rate(rate)}: Kmax would be {show_size(kmax)}, above the "
                    f"buffer of {show_size(buffer)}, so that the port drops before it marks; lower kmax, or raise the "
                    "switch's buffer"
                )

    def initial(self) -> Thresholds:
        return self.steps[0]

    def on_slot(self, now: float, sample: PortSample) -> Thresholds | None:
        wanted = self.steps[int(np.searchsorted(self.times, now, side="right"))]
        changes = not (np.allclose(wanted.kmin, sample.kmin, atol=1) and np.allclose(wanted.kmax, sample.kmax, atol=1))
        return wanted if changes or not np.allclose(wanted.pmax, sample.pmax) else None
