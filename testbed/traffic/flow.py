"""One flow, and the size of its packets."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from testbed.units import Size

PAYLOAD = (64, 8900)  # bytes: room for headers and INT above 64 B frames, and below a 9,000-byte jumbo frame


class Flow(NamedTuple):
    """One flow, as the traffic pattern makes it."""

    src: str
    dst: str
    size: float  # bytes of payload; inf for an endless flow
    start: float  # s


def _in_a_frame(value: float) -> float:
    if not PAYLOAD[0] <= value <= PAYLOAD[1] or value != int(value):
        raise ValueError(f"must be a whole number of bytes from {PAYLOAD[0]} B to {PAYLOAD[1]} B, got {value:g} B")
    return value


Payload = Annotated[Size, AfterValidator(_in_a_frame)]
