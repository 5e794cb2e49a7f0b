"""The maps of the programs, as plain memory."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Ints
from testbed.base.pages import LargePages
from testbed.dataplane import class_rows, wire
from testbed.dataplane.pool_rows import PoolRows
from testbed.dataplane.port_maps import ELEMENTS, PortMaps
from testbed.engines.virtual.structs import RECORD_BYTES, CRecords, CTable
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.pool import Memory

RING_SIZE = 1 << 26  # bytes of address space; memory is taken as it is used, which is little: it is read at once


class VirtualMaps(PortMaps):
    """Of all ports, flows and interfaces of a rack."""

    flow_table: VirtualFlowTable | None
    pool_rows: PoolRows | None = None  # where queues and groups share the memory of their switch

    def __init__(
        self,
        interfaces: int,
        flows: int,
        monitor: int,
        code: ctypes.CDLL,
        *,
        bolt: bool,
        classes: Classes | None,
        pool: Memory | None = None,
        memory: LargePages,
        receivers: bool = False,
    ) -> None:
        if classes:
            self.class_table = class_rows.table(classes, interfaces, pool)
            interfaces = class_rows.rows(interfaces)
            self.departures = memory.zeros(interfaces, wire.DEPARTURES)
        self.counters = memory.zeros(interfaces, wire.PORT_COUNTERS)
        self.ingresses = memory.zeros(interfaces, wire.INGRESS)
        self.pauses = memory.zeros(interfaces, wire.PAUSE)
        self.arrivals = memory.zeros(interfaces, wire.ARRIVALS)
        self.departed = memory.zeros(interfaces, np.uint64)  # bytes, where packets wait for their line
        self.flows_tx = memory.zeros(flows, wire.FLOW_TX)
        self.flows_rx = memory.zeros(flows, wire.FLOW_RX)
        self.flowlets = memory.zeros(flows, wire.FLOWLET)
        self.receivers = memory.zeros(flows if receivers else 0, wire.RECEIVER)
        self.elements = {name: memory.zeros(interfaces, kind) for name, kind in ELEMENTS.items()}
        self.intakes = memory.zeros(interfaces, wire.INTAKE)
        self.bolt = memory.zeros(interfaces, wire.PORT_BOLT) if bolt else None
        self.flow_table = VirtualFlowTable(monitor, code) if monitor else None

    def share_memory(self, rows: PoolRows) -> None:
        """Of switches; before the programs run."""
        self.pool_rows = rows

    def write(self, name: str, index: Ints, rows: NDArray[np.void]) -> None:
        self.elements[name][index] = rows

    def read(self, name: str, index: Ints) -> NDArray[np.void]:
        return self.elements[name][index]

    def addresses(self) -> dict[str, int]:
        """By the names of struct world."""
        arrays = {
            "departed": self.departed,
            "arrivals": self.arrivals, "flows_tx": self.flows_tx, "flows_rx": self.flows_rx, "flowlets": self.flowlets,
            "receivers": self.receivers,
            "ingresses": self.ingresses, "pauses": self.pauses, "port_counters": self.counters, **self.elements,
        }  # fmt: skip
        if self.departures is not None:
            arrays |= {"departures": self.departures, "class_table": self.class_table}
        if self.pool_rows:
            arrays |= {**vars(self.pool_rows), "intakes": self.intakes}
        if self.bolt is not None:
            arrays["port_bolt"] = self.bolt
        return {name: array.ctypes.data for name, array in arrays.items()}


class VirtualFlowTable:
    """At most ``size`` flows; see `testbed.dataplane.flow_table.FlowTable`."""

    def __init__(self, size: int, code: ctypes.CDLL) -> None:
        self.size, self._code = size, code
        self._keys, self._seen = np.zeros(size, wire.FLOW_KEY), np.zeros(size, wire.FLOW_SEEN)
        self._slots = np.full(2 * size, -1, np.int64)
        self.c = CTable(*(column.ctypes.data for column in (self._keys, self._seen, self._slots)), size, 0)

    def read(self) -> tuple[NDArray[np.void], NDArray[np.void]]:
        """All flows, as `FLOW_KEY` and `FLOW_SEEN`; valid until the next call."""
        return self._keys[: self.c.used], self._seen[: self.c.used]

    def remove(self, keys: NDArray[np.void]) -> None:
        """Forget these flows; they must be in the table."""
        kept = ~np.isin(self._keys[: self.c.used], keys)
        count = int(kept.sum())
        for column in (self._keys, self._seen):
            column[:count] = column[: self.c.used][kept]
        self.c.used = count
        self._code.flow_table_rebuild(ctypes.addressof(self.c))


class VirtualRing:
    """The ring of feedback: the consumer's side of `testbed.dataplane.ring.Ring`."""

    fd = -1

    def __init__(self, size: int = RING_SIZE) -> None:
        self.size = size
        self._positions = np.zeros(2, np.uint64)
        self._data = np.empty(size + RECORD_BYTES, np.uint8)  # zeros would write into all of it
        self.c = CRecords(*self.addresses(), size, 0)

    def addresses(self) -> tuple[int, int, int]:
        """Of the consumer's position, the producer's position, and the data."""
        at = self._positions.ctypes.data
        return at, at + 8, self._data.ctypes.data

    def waiting(self) -> NDArray[np.void]:
        """Copies of the records in the buffer, oldest first."""
        start, end = self._positions.tolist()
        found = np.empty((end - start) // RECORD_BYTES, wire.RECORD)
        known = 0
        while known < len(found):
            at = (start + known * RECORD_BYTES) % self.size
            ahead = -(-(self.size - at) // RECORD_BYTES)  # the last of them may go on behind the buffer's end
            some = found[known : known + ahead]
            some[:] = np.ndarray(len(some), wire.RECORD, self._data.data, at + 8, (RECORD_BYTES,))
            known += len(some)
        return found

    def take(self) -> NDArray[np.void]:
        """The same, and they are gone."""
        records = self.waiting()
        self._positions[0] = self._positions[1]
        return records

    def put(self, record: np.void) -> None:
        """As a NIC does."""
        at = int(self._positions[1]) % self.size
        self._data[at : at + 8] = 0  # the header: it is complete
        self._data[at + 8 : at + RECORD_BYTES] = np.frombuffer(record.tobytes(), np.uint8)
        self._positions[1] += np.uint64(RECORD_BYTES)
