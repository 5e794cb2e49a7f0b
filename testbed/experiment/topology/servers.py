"""Servers of several NICs: a host of a rack is a NIC with its GPU, and some share a server."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats


@dataclass(frozen=True)
class Servers:
    """``nics`` hosts at a time, in the order of their numbers, are one server."""

    nics: int
    rate: float  # bit/s from each of its GPUs to the others, by NVLink
    delay: float  # s

    def of(self, host: str) -> int:
        """Number of a host's server."""
        return (int(host[1:]) - 1) // self.nics

    def copying(self, size: Floats, share: int) -> Floats:
        """s that messages of ``size`` bytes take inside, if ``share`` of them are under way at once."""
        return np.asarray(self.delay + 8 * size * share / self.rate)
