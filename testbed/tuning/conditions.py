"""The network condition monitor of PET (Cheng et al., section 4.5.1): monitoring, analysis, clean-up, once per slot.

A flow is one that sent in the slot that just ended. The table remembers its bytes longer, for `KEPT_SLOTS`, so that an
elephant which pauses is still one when it goes on.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.dataplane.flow_table import Table
from testbed.tuner import ELEPHANT

KEPT_SLOTS = 3  # the paper's k, which it does not give; ACC's history has three slots
FULL = 3 / 4  # of the table: beyond it the threshold clean-up makes room
ROOM = 1 / 2  # of the table: this much it leaves, the flows seen last


class ConditionMonitor:
    """Of all ports of a rack; ``ports`` are their numbers in the table, in the order of all port columns."""

    def __init__(self, table: Table, ports: Ints, slots: int = KEPT_SLOTS) -> None:
        self.table = table
        self._row = np.full(int(ports.max()) + 1, -1)
        self._row[ports] = np.arange(len(ports))
        self._rows = len(ports)
        self._ends: deque[int] = deque(maxlen=slots)  # of the last slots
        self._columns: dict[str, Floats] = {}

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """``incast_degree`` and ``mice_share`` of the slot that ends now, shape (p,); see `PortSample`.

        The switches of a rack end their slots together: the table is read once for the same ``now_ns``.
        """
        if not self._ends or now_ns != self._ends[-1]:
            keys, seen = self.table.read()
            self._columns = self._analysed(keys, seen)
            self._clean_up(keys, seen)
            self._ends.append(now_ns)
        return self._columns

    def _analysed(self, keys: NDArray[np.void], seen: NDArray[np.void]) -> dict[str, Floats]:
        since = self._ends[-1] if self._ends else 0
        current = seen["last_ns"] > since
        keys, sent = keys[current], seen["bytes"][current]
        row = self._row[keys["port"]]
        flows = np.bincount(row, minlength=self._rows)
        mice = np.bincount(row, sent <= ELEPHANT, minlength=self._rows)
        mice_share = np.divide(mice, flows, out=np.full(self._rows, np.nan), where=flows > 0)
        degree = incast_degree(row, keys["src"], keys["dst"], self._rows)
        return {"incast_degree": degree, "mice_share": mice_share}

    def _clean_up(self, keys: NDArray[np.void], seen: NDArray[np.void]) -> None:
        """Scheduled: flows last seen k slots ago. Beyond a threshold: the oldest of the others as well."""
        last = seen["last_ns"]
        expired = last <= self._ends[0] if len(self._ends) == self._ends.maxlen else np.zeros(len(last), bool)
        if len(last) - expired.sum() > FULL * self.table.size:
            surplus = len(last) - round(ROOM * self.table.size)
            expired[np.argpartition(last, surplus)[:surplus]] = True
        if expired.any():
            self.table.remove(keys[expired])


def incast_degree(port: Ints, src: Ints, dst: Ints, ports: int) -> Floats:
    """Most distinct senders to one receiver behind each port, shape (ports,), of one row per flow."""
    degree = np.zeros(ports)
    if not len(port):
        return degree
    sender, receiver = (np.unique(one, return_inverse=True)[1].astype(np.int64) for one in (src, dst))
    senders, receivers = int(sender.max()) + 1, int(receiver.max()) + 1
    triple = np.sort((port * receivers + receiver) * senders + sender)
    pair = triple[np.diff(triple, prepend=-1) > 0] // senders  # a sender may have several flows
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    np.maximum.at(degree, pair[first] // receivers, np.diff(first, append=len(pair)))
    return degree
