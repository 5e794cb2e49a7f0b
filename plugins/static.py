"""Static ECN thresholds: a RED curve per port, for the whole run or from given times on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from testbed.errors import BadInput
from testbed.plugin import PluginConfig
from testbed.tuner import Ports, PortSample, Thresholds, Tuner
from testbed.units import Rate, Ratio, Time, show_rate, show_size

from .threshold import Threshold, Written


class Change(BaseModel):
    """Thresholds from a time on; what is not given stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time: Time = Field(gt=0)
    kmin: Written | None = None
    kmax: Written | None = None
    pmax: Ratio | None = Field(default=None, ge=0, le=1)


class StaticConfig(PluginConfig):
    """Options of `Static`; the defaults are those of the preset `secn2`."""

    kmin: Written = Field(
        default=Threshold(100e3, 25e9),
        description="No packet is marked up to this queue. `65 kB` holds on every port; `100 kB at 25 Gbit/s` scales "
        "with a port's rate.",
    )
    kmax: Written = Field(
        default=Threshold(400e3, 25e9), description="Every packet is marked above this queue; written as `kmin`."
    )
    pmax: Ratio = Field(default=0.2, ge=0, le=1, description="Share of the packets that are marked at Kmax.")
    reference_rate: Rate | None = Field(
        default=None,
        ge=0,
        description=("Port rate for which all thresholds are given: others scale them. 0: they hold on every port."),
    )
    at: tuple[Change, ...] = Field(default=(), description="Changes: a list of {time, kmin, kmax, pmax}, in order.")

    @model_validator(mode="after")
    def _checked(self) -> Self:
        for before, after in pairwise(self.at):
            if after.time <= before.time:
                raise ValueError("the times of 'at' must rise from one entry to the next")
        for kmin, kmax, _ in self.steps():
            if kmin.rate == kmax.rate and kmin.size > kmax.size:  # on other ports, too
                raise ValueError(f"kmin ({kmin}) must not be above kmax ({kmax}); equal values mark as a step")
        return self

    def steps(self) -> list[tuple[Threshold, Threshold, float]]:
        """Kmin, Kmax, Pmax at the start and after each change."""
        found = [(self._given(self.kmin), self._given(self.kmax), self.pmax)]
        for one in self.at:
            kmin, kmax, pmax = found[-1]
            found.append(
                (
                    kmin if one.kmin is None else self._given(one.kmin),
                    kmax if one.kmax is None else self._given(one.kmax),
                    pmax if one.pmax is None else one.pmax,
                )
            )
        return found

    def _given(self, written: Threshold) -> Threshold:
        return written if self.reference_rate is None else Threshold(written.size, self.reference_rate)


class Static(Tuner):
    """Fixed thresholds: a preset's scale with the port's rate, those that you write hold as written."""

    name = "static"
    Config = StaticConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        # HPCC's repository, for DCQCN at 25 Gbit/s.
        "secn2": {"kmin": "100 kB at 25 Gbit/s", "kmax": "400 kB at 25 Gbit/s", "pmax": "20 %"},
        # The DCQCN paper, at 40 Gbit/s.
        "secn1": {"kmin": "5 kB at 40 Gbit/s", "kmax": "200 kB at 40 Gbit/s", "pmax": "1 %"},
        # A step above BDP / 7, the least that DCTCP's paper allows: 14.6 kB at 8.2 us.
        "dctcp": {"kmin": "20 kB at 100 Gbit/s", "kmax": "20 kB at 100 Gbit/s", "pmax": "100 %"},
        # 0.2 and 0.8 BDP, as the Ultra Ethernet Consortium's simulator marks for NSCC, at 8.2 us.
        "nscc": {"kmin": "20.5 kB at 100 Gbit/s", "kmax": "81.9 kB at 100 Gbit/s", "pmax": "100 %"},
    }

    config: StaticConfig

    def __init__(self, config: StaticConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.steps = [self._on_ports(*step) for step in config.steps()]
        self.times = np.array([one.time for one in config.at])
        if len(self.times):
            self.slot = ports.base_rtt

    def _on_ports(self, kmin: Threshold, kmax: Threshold, pmax: float) -> Thresholds:
        ports = self.ports
        made = Thresholds(kmin.on(ports.rate), kmax.on(ports.rate), np.full(len(ports), pmax))
        for at in np.flatnonzero((made.kmin > made.kmax) | (made.kmax > ports.buffer)):  # the first one is told
            low, high, buffer = made.kmin[at], made.kmax[at], ports.buffer[at]
            where = f"tuner 'static', port {ports.name[at]} at {show_rate(ports.rate[at])}:"
            if low > high:
                raise BadInput(
                    f"{where} Kmin would be {show_size(low)} (kmin: {kmin}), above Kmax, {show_size(high)} "
                    f"(kmax: {kmax}); write both"
                )
            raise BadInput(
                f"{where} Kmax would be {show_size(high)} (kmax: {kmax}), above the buffer of "
                f"{show_size(buffer)}, so that the port drops before it marks; lower kmax, or raise the switch's "
                "buffer"
            )
        return made

    def initial(self) -> Thresholds:
        return self.steps[0]

    def on_slot(self, now: float, sample: PortSample) -> Thresholds | None:
        wanted = self.steps[int(np.searchsorted(self.times, now, side="right"))]
        changes = not (np.allclose(wanted.kmin, sample.kmin, atol=1) and np.allclose(wanted.kmax, sample.kmax, atol=1))
        return wanted if changes or not np.allclose(wanted.pmax, sample.pmax) else None
