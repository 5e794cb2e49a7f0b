"""The `rack.nic.receive:` block of an experiment file: hosts that are slower than their lines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from testbed.experiment.block import HostName
from testbed.experiment.topology.links import PositiveRate
from testbed.experiment.topology.pfc import Hysteresis
from testbed.units import Size


class Receive(Hysteresis):
    """NICs of [slow hosts](../howto/switch.md#slow-hosts); by default a host takes all that comes."""

    rate: PositiveRate = Field(description="Rate at which a host takes lossless packets out of the buffer.")
    hosts: list[HostName] = Field(default=[], description="Which hosts; by default all.")
    xoff: Annotated[Size, Field(gt=0)] = Field(
        default=200e3, description="Bytes in it above which the NIC pauses the switch, in the packet's priority."
    )
    xon: Annotated[Size, Field(ge=0)] = Field(
        default_factory=lambda data: 0.5 * data.get("xoff", 0.0),
        description="Bytes down to which the buffer falls during a pause; by default half of `xoff`.",
    )

    def of(self, host: str) -> bool:
        """Whether it is about this host."""
        return not self.hosts or host in self.hosts
