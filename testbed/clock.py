"""Nominal time and wall time: the only place where the dilation is applied (DESIGN section 3).

A nominal second takes ``dilation`` wall seconds. Rates shrink by the same factor, bytes never change. Everything
outside the data plane speaks nominal units.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NewType, TypeVar

import numpy as np

Number = TypeVar("Number", float, np.ndarray)
WallRate = NewType("WallRate", float)  # bit/s on the wall clock: what the kernel shapes to
WallSeconds = NewType("WallSeconds", float)

NS = 1e9
SHORTEST_SLEEP = 100e-6  # wall seconds, of an agent: waking up takes a virtual machine 20 us of CPU


@dataclass(frozen=True)
class Clock:
    """Converts between nominal units and the wall clock of this machine.

    ``epoch_ns`` is the CLOCK_MONOTONIC reading (ns) at nominal time 0; the kernel's ``bpf_ktime_get_ns`` reads the
    same clock.
    """

    dilation: float
    epoch_ns: int = 0
    read_ns: Callable[[], int] = time.monotonic_ns  # another clock than this machine's, where time is virtual

    def started(self) -> Clock:
        """The same clock with nominal time 0 at this moment."""
        return replace(self, epoch_ns=self.read_ns())

    def now(self) -> float:
        """Nominal seconds since the epoch, to the bit as the agents' C and `seconds_per_ns` have them."""
        return (self.read_ns() - self.epoch_ns) * self.seconds_per_ns

    def nominal_seconds(self, wall_seconds: Number) -> Number:
        """Duration: wall to nominal."""
        return wall_seconds / self.dilation

    def wall_seconds(self, nominal_seconds: float) -> WallSeconds:
        """Duration: nominal to wall."""
        return WallSeconds(nominal_seconds * self.dilation)

    def wall_ns(self, nominal_seconds: float) -> int:
        """Duration: nominal seconds to wall nanoseconds, as the kernel wants it."""
        return round(nominal_seconds * self.dilation * NS)

    def nominal_from_stamps(self, stamps_ns: np.ndarray) -> np.ndarray:
        """Kernel timestamps (u64 ns) to nominal seconds since the epoch."""
        return (stamps_ns.astype(np.int64) - self.epoch_ns) * self.seconds_per_ns

    @property
    def seconds_per_ns(self) -> float:
        """Nominal seconds per wall nanosecond."""
        return 1 / (NS * self.dilation)

    def wall_rate(self, nominal_rate: float) -> WallRate:
        """Rate (bit/s): nominal to wall."""
        return WallRate(nominal_rate / self.dilation)

    def nominal_rate(self, wall_rate: Number) -> Number:
        """Rate (bit/s): wall to nominal."""
        return wall_rate * self.dilation
