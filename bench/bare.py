"""What the data plane does with no controller: the bound that the closed loop is compared with.

The same rack, programs, sockets and cores as a run, but instead of agents one C loop per core that keeps a window of
packets in flight per flow. It learns of acknowledgements from the kernel's counters, decides nothing, and never sends
what the switch would drop: open-loop senders would waste time on drops, a constant rate on a timer per packet.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import numpy as np

from bench import racks
from bench.blaster import library
from testbed.agent.pool import FIFO_PRIORITY
from testbed.agent.sockets import Route, Sockets
from testbed.base.arrays import Ints
from testbed.dataplane.programs import RING_SIZE, NicPrograms
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import frame
from testbed.engines.kernel.rack.net import Rack
from testbed.experiment.topology.framing import Framing

SENDERS = 64
BATCH = 16  # packets per system call
INTERVAL = 0.5  # s between start and the first count


def packets_per_second(dilation: float, seconds: float, hops: int) -> float:
    """Data packets delivered and acknowledged per wall second, ``SENDERS`` hosts to one."""
    library()
    return racks.in_sandbox(partial(_measure, dilation, seconds, hops))


@dataclass(frozen=True)
class Bare:
    """A rack and the senders in it."""

    rack: Rack
    nic: NicPrograms
    framing: Framing
    seconds: float

    def start(self, number: int, core: int, spec: Ints) -> int:
        """Fork the sender of the flows ``spec``; returns its process."""
        child = os.fork()
        if child:
            return child
        try:
            os.sched_setaffinity(0, {core})
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))  # as agents do
            self._send(number, spec)
            os._exit(0)
        finally:
            os._exit(1)

    def _send(self, number: int, spec: Ints) -> None:
        far = self.rack[f"h{SENDERS + 1}"].IP()
        hosts = [(int(flow), self.rack[f"h{flow + 1}"]) for flow in spec]
        routes = [Route(flow, host.netns, host.IP(), far, np.inf) for flow, host in hosts]
        segment = not racks.has_netem()
        sockets = Sockets(routes, self.framing, segment)
        packets = np.array(
            [np.frombuffer(frame(self.framing, route.flow, self.framing.payload), np.uint8) for route in routes]
        )
        ring = Ring(self.nic.ring_fds[number], RING_SIZE)  # unmapped when it goes
        consumer, producer, _data = ring.addresses()
        window = racks.BUFFER // self.framing.wire_size // SENDERS
        acks = self.nic.flows_tx["acks"][spec[0] :]
        library().keep_full(
            sockets.fds.ctypes.data, packets.ctypes.data, packets.shape[1], len(spec),
            acks.ctypes.data, acks.strides[0], consumer, producer, window, BATCH if segment else 1, self.seconds,
        )  # fmt: skip


def _measure(dilation: float, seconds: float, hops: int, _connection: Connection) -> float:
    cores = sorted(os.sched_getaffinity(0))
    framing = Framing(1000, hops)
    rack, nic = racks.build(SENDERS + 1, SENDERS, len(cores), dilation, framing)
    senders = Bare(rack, nic, framing, seconds + 2 * INTERVAL)
    children = []
    for number, spec in enumerate(np.array_split(np.arange(SENDERS), len(cores))):
        nic.flows_tx["ring"][spec] = number
        children.append(senders.start(number, cores[number], spec))
    time.sleep(INTERVAL)
    began, before = time.perf_counter(), int(nic.flows_tx["acks"].sum())
    time.sleep(seconds)
    took, acked = time.perf_counter() - began, int(nic.flows_tx["acks"].sum()) - before
    ended = [os.waitpid(child, 0)[1] for child in children]
    assert not any(ended), f"a sender ended with {ended}"
    return acked / took
