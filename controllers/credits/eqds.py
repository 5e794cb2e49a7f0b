"""EQDS: the receiver grants every packet but the first ones, at just less than its line rate, to its senders in turn.

Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022: queues move out of the network
into the senders; a sender begins with one bandwidth-delay product that nobody granted.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from testbed.controller import Path
from testbed.plugin import PluginConfig
from testbed.receiver import CreditController, Receiver
from testbed.units import Size


class EqdsConfig(PluginConfig):
    """Options of `Eqds`."""

    unasked: float = Field(
        default=1.0,
        ge=0,
        description="BDPs that a flow sends before it is granted anything; at least a packet.",
    )
    pace: float = Field(default=0.99, gt=0, le=1, description="Share of the receiver's line rate that is granted.")
    window: float = Field(
        default=1.25,
        gt=0,
        description="BDPs, and a credit, that may be on their way to a receiver; `inf` is as published, for switches "
        "that trim.",
    )
    credit: Size = Field(default=4096, gt=0, description="What a credit grants, but whole packets, at least one.")


class Eqds(CreditController):
    """EQDS: the receiver grants at just less than its line rate, to its senders in turn (NSDI 2022)."""

    name = "eqds"
    Config = EqdsConfig
    presets: ClassVar = {"buffers": {}, "trimming": {"window": float("inf")}, "requests": {"unasked": 0.0}}

    config: EqdsConfig

    @classmethod
    def unasked(cls, config: PluginConfig, path: Path) -> float:
        assert isinstance(config, EqdsConfig)
        return config.unasked * path.bdp

    def on_start(self, now: float, host: Receiver) -> None:  # noqa: ARG002 - the interface
        host.rate = self.config.pace * host.line_rate
        host.credit = self.config.credit
        host.window = self.config.window * host.bdp + max(self.config.credit, host.wire_size)
