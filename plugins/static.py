"""Static ECN thresholds: the same RED curve on every port, for the whole run."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from testbed.errors import BadInput
from testbed.plugin import PluginConfig
from testbed.tuner import Ports, Thresholds, Tuner
from testbed.units import Rate, Ratio, Size, show_rate, show_size


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

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.kmin > self.kmax:
            kmin, kmax = show_size(self.kmin), show_size(self.kmax)
            raise ValueError(f"kmin ({kmin}) must not be above kmax ({kmax}); equal values mark as a step")
        return self


class Static(Tuner):
    """Fixed thresholds, in proportion to the port's rate."""

    name = "static"
    Config = StaticConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        # HPCC's repository, for DCQCN at 25 Gbit/s.
        "secn2": {"kmin": "100 kB", "kmax": "400 kB", "pmax": "20 %", "reference_rate": "25 Gbit/s"},
        # The DCQCN paper, at 40 Gbit/s.
        "secn1": {"kmin": "5 kB", "kmax": "200 kB", "pmax": "1 %", "reference_rate": "40 Gbit/s"},
    }

    config: StaticConfig

    def __init__(self, config: StaticConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        scale = ports.rate / config.reference_rate if config.reference_rate else ports.rate * 0 + 1
        self.thresholds = Thresholds(config.kmin * scale, config.kmax * scale, config.pmax + 0 * scale)
        for name, rate, buffer, kmax in zip(ports.name, ports.rate, ports.buffer, self.thresholds.kmax, strict=True):
            if kmax > buffer:
                raise BadInput(
                    f"tuner 'static', port {name} at {show_rate(rate)}: Kmax would be {show_size(kmax)}, above the "
                    f"buffer of {show_size(buffer)}, so that the port drops before it marks; lower kmax, or raise the "
                    "switch's buffer"
                )

    def initial(self) -> Thresholds:
        return self.thresholds
