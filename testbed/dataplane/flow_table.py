"""The flow table of the port programs (monitor.bpf.h), read and cleaned in a few system calls."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane import libbpf, wire


class Table(Protocol):
    """A flow table, wherever its programs run."""

    size: int

    def read(self) -> tuple[NDArray[np.void], NDArray[np.void]]:
        """All flows, as `FLOW_KEY` and `FLOW_SEEN`; valid until the next call."""
        ...

    def remove(self, keys: NDArray[np.void]) -> None:
        """Forget these flows; they must be in the table."""
        ...


class FlowTable:
    """At most ``size`` flows, of all ports together."""

    def __init__(self, fd: int, size: int) -> None:
        self.fd = fd
        self.size = size
        self._keys = np.zeros(size, wire.FLOW_KEY)
        self._seen = np.zeros(size, wire.FLOW_SEEN)

    def read(self) -> tuple[NDArray[np.void], NDArray[np.void]]:
        """All flows, as `FLOW_KEY` and `FLOW_SEEN`; valid until the next call."""
        count = libbpf.lookup_batch(self.fd, self._keys, self._seen)
        return self._keys[:count], self._seen[:count]

    def remove(self, keys: NDArray[np.void]) -> None:
        """Forget these flows; they must be in the table."""
        libbpf.delete_batch(self.fd, np.ascontiguousarray(keys))
