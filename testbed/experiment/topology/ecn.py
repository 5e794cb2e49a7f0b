"""The ECN bits of packets as they leave their senders."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

ECT0, CE = 2, 3  # of an IP header's last two bits
ECN_BITS = {"off": 0, "on": ECT0, "ce": CE}


def _named(value: object) -> object:
    """YAML makes booleans of `on` and `off`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return value


Ecn = Annotated[
    Literal["on", "off", "ce"], BeforeValidator(_named), WithJsonSchema({"enum": ["on", "off", "ce", True, False]})
]
