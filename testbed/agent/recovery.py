"""Flows that send what is lost again under its number (recovery.h)."""

from __future__ import annotations

import ctypes
from typing import Self

import numpy as np

from testbed.agent.histogram import TimeHistogram
from testbed.agent.memory import Memory
from testbed.agent.structs import CDatapath, CMessages, CTransport
from testbed.base.arrays import Floats, Ints
from testbed.controller import Paths
from testbed.dataplane import wire
from testbed.experiment.transport import Transport

QUEUE_PAIR = np.dtype(
    [
        ("sendings", "<u8"),
        *((name, "<i8") for name in ("lost", "first_lost", "highest", "tries")),
        ("longest", "<f8"),
    ]
)
BEGUN = np.dtype([("at", "<u8"), *((name, "<i8") for name in ("room", "next", "packets"))])
FOREVER = -1  # retries


class TransportState:
    """Of the flows of an agent."""

    def __init__(self, transport: Transport, timeout: float, base_rtt: Floats, messages: Ints | None) -> None:
        """``messages``: packets of those of each flow; None where each packet is one."""
        self._transport, self._timeout = transport, timeout
        self._pairs = np.zeros(len(base_rtt), QUEUE_PAIR)
        self._pairs["longest"] = base_rtt
        self._begun = np.zeros(len(base_rtt), BEGUN)
        self._begun["packets"] = 0 if messages is None else messages

    @classmethod
    def of(cls, transport: Transport, timeout: float, paths: Paths, messages: Ints | None) -> Self | None:
        """None where a lost packet goes on as another one."""
        return cls(transport, timeout, paths.base_rtt, messages) if transport.numbered else None

    @property
    def shortest(self) -> float:
        """No timeout is shorter."""
        adaptive = self._transport.adaptive
        return min(adaptive.first, self._timeout) if adaptive else self._timeout

    @property
    def waits(self) -> Floats | float:
        """The present timeout of each flow."""
        adaptive = self._transport.adaptive
        return adaptive.waits(self._pairs["tries"], self._timeout) if adaptive else self._timeout

    def describe(self, c: CDatapath, memory: Memory, times: TimeHistogram) -> None:
        """For C, which counts in ``times`` how long messages take."""
        self._histogram = memory.histogram(times)
        every = self._transport.ack_every
        c.messages = CMessages(
            0 if isinstance(every, str) else every, memory.keep(self._begun),
            ctypes.addressof(self._histogram),
        )  # fmt: skip
        self._describe(c.transport, memory)

    def _describe(self, c: CTransport, memory: Memory) -> None:
        retries, adaptive = self._transport.retries, self._transport.adaptive
        if retries is not None and adaptive:
            retries = adaptive.retries(retries, self._timeout)
        c.recovery, _ = wire.recovery(self._transport)
        c.bitmap, c.retries = self._transport.bitmap, FOREVER if retries is None else retries
        c.timeout, c.pairs = self._timeout, memory.keep(self._pairs)
