"""Flows that send what is lost again under its number (recovery.h)."""

from __future__ import annotations

from typing import Self

import numpy as np

from testbed.agent.memory import Memory
from testbed.agent.structs import CTransport
from testbed.base.arrays import Floats
from testbed.dataplane import wire
from testbed.experiment.transport import Transport

QUEUE_PAIR = np.dtype(
    [
        ("sendings", "<u8"),
        *((name, "<i8") for name in ("lost", "first_lost", "highest", "tries")),
        ("longest", "<f8"),
    ]
)
FOREVER = -1  # retries


class TransportState:
    """Of the flows of an agent."""

    def __init__(self, transport: Transport, timeout: float, base_rtt: Floats) -> None:
        self._transport, self._timeout = transport, timeout
        self._pairs = np.zeros(len(base_rtt), QUEUE_PAIR)
        self._pairs["longest"] = base_rtt

    @classmethod
    def of(cls, transport: Transport, timeout: float, base_rtt: Floats) -> Self | None:
        """None where a lost packet goes on as another one."""
        return cls(transport, timeout, base_rtt) if transport.numbered else None

    def describe(self, c: CTransport, memory: Memory) -> None:
        """For C."""
        retries = self._transport.retries
        c.recovery, _ = wire.recovery(self._transport)
        c.bitmap, c.retries = self._transport.bitmap, FOREVER if retries is None else retries
        c.timeout, c.pairs = self._timeout, memory.keep(self._pairs)
