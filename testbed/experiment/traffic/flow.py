"""One flow, and the size of its packets."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from testbed.units import Size

PAYLOAD = (1, 8900)  # bytes: with headers and INT below a 9,000-byte jumbo frame
NO_GROUP = -1


class Flow(NamedTuple):
    """One flow, as the traffic pattern makes it."""

    src: str
    dst: str
    size: float  # bytes of payload; inf for an endless flow
    start: float  # s since the run began; with `after`, since the last flow of that group has finished
    label: str = ""  # what kind of flow it is, for the report: "long", "short", "incast", "background", ...
    group: int = NO_GROUP  # whom others can wait for
    after: int = NO_GROUP  # the group that must have finished before this flow starts


def _in_a_frame(value: float) -> float:
    if not PAYLOAD[0] <= value <= PAYLOAD[1] or value != int(value):
        raise ValueError(f"must be a whole number of bytes from {PAYLOAD[0]} B to {PAYLOAD[1]} B, got {value:g} B")
    return value


Payload = Annotated[Size, AfterValidator(_in_a_frame)]
