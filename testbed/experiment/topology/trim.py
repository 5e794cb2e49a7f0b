"""The `rack.switch.trim:` block of an experiment file: what SONiC has as SWITCH_TRIMMING."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer

from testbed.experiment.block import Part
from testbed.experiment.topology.dscp import Dscp
from testbed.experiment.topology.queues import SWITCHED, QueueNumber
from testbed.units import Size

LEAST_SIZE = 80  # bytes: all headers, up to the shim
WITH_RETH = 96  # bytes; with that of an RDMA WRITE
MOST_SIZE = 512  # bytes; less than any packet that is worth it


class Trim(Part):
    """[Packet trimming](transport.md); `on` is the block with its defaults. With recovery `selective-repeat`."""

    size: Annotated[Size, Field(ge=LEAST_SIZE, le=MOST_SIZE)] = Field(
        default=128.0, description="What is left of a packet: 80 B (all headers) to 512 B. Shorter ones are dropped."
    )
    dscp: Dscp = Field(
        default=5,
        description="Their DSCP. Where no class has it there is one more, `trimmed`; its queue has weight 1 and marks "
        "nothing.",
    )
    queue: QueueNumber = Field(default=7, description="Where they wait: the queue of that DSCP.")


def _switched(value: object) -> object:
    """``on`` means the defaults."""
    if isinstance(value, str | bool) and value in SWITCHED:
        return {} if SWITCHED[value] else None
    if value is None or isinstance(value, dict | Trim):
        return value
    raise ValueError(f"expected 'on', 'off', or a block with size, dscp and queue, got {value!r}")


OnOrTrim = Annotated[Trim | None, BeforeValidator(_switched), PlainSerializer(lambda value: value or "off")]
