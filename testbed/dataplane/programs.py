"""The loaded data plane of one rack: NIC programs with their flows and rings, port programs with their ports.

Counters are numpy views of the kernel's memory: reading them costs no system call. Values in here are wall-clock
values, as the kernel needs them; `testbed.clock` converts.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane import class_rows, libbpf, wire
from testbed.dataplane.build import compiled
from testbed.dataplane.flow_table import FlowTable
from testbed.dataplane.pool_rows import PoolRows
from testbed.dataplane.port_maps import MAPS, OWN_MAPS, KernelMaps, Port, view
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.dscp import USUAL_ACK, USUAL_CNP
from testbed.experiment.topology.pool import Memory

FLOW_TABLE = 1 << 15  # flows of all ports together that the network condition monitor can know at a time: 4 MB
RING_NO_WAKEUP = 1
PROBE_FLOWS = 8  # for calibration, numbered after those of the experiment
RING_SIZE = 1 << 22  # 14,000 records; an agent reads thousands of times per second


class Thresholds(NamedTuple):
    """Of priority flow control: bytes per ingress port; ``xoff`` is 0 without it."""

    xoff: int = 0
    xon: int = 0
    limit: int = 0  # what would exceed it is dropped


class Answers(NamedTuple):
    """DSCPs of what NICs answer."""

    ack: int = USUAL_ACK
    cnp: int = USUAL_CNP

    @property
    def tos(self) -> tuple[int, int]:
        """As an IP header's second byte."""
        return self.ack << 2, self.cnp << 2


class Notices(NamedTuple):
    """Of Bolt: bytes in a port's queue from which on it sends SRCs, 0 for never; bytes of a full packet."""

    threshold: int = 0
    packet: int = 0

    @property
    def variant(self) -> str:
        """What the names of programs end with that can send them."""
        return "-bolt" if self.threshold else ""


CLASSES = "-classes"  # with several queues per port
POOL = "-pool"  # and where these share memory
OF_QUEUES = ("departures", "port_counters", "port_red", "port_queue")  # NICs count, and mark, what leaves the last one
MOST_SWITCHES = 1 << 12
MANY_PATHS = "-many-paths"  # the same of programs for flows that take several
NO_PFC = Thresholds()
NO_SRC = Notices()
USUAL_ANSWERS = Answers()


class NicPrograms:
    """``nic_tx`` and ``nic_rx``, shared by all hosts of a rack. Flows are numbered 0 .. flows - 1 in the whole rack.

    ``arrivals`` is indexed by ifindex, which no two interfaces of the rack may share. ``at_far_end``: ``nic_tx`` is
    where the hosts' links end, and counts in ``arrivals`` what comes out of them. ``routing`` is a number of `wire`,
    ``recovery`` one as well, with the packets that receivers keep behind a missing one. ``slow``: whether hosts can be.
    """

    def __init__(
        self,
        largest_ifindex: int,
        flows: int,
        rings: int,
        cnp_interval_ns: int,
        *,
        wake_agents: bool,
        at_far_end: bool = False,
        ring_size: int = RING_SIZE,
        pfc: Thresholds = NO_PFC,
        src: Notices = NO_SRC,
        tag: wire.Tag = wire.RACK,
        routing: int = wire.BY_HASH,
        flowlet_gap_ns: int = 0,
        seed: int = 1,
        answers: Answers = USUAL_ANSWERS,
        recovery: tuple[int, int] = (wire.PER_PACKET, 0),
        credits: bool = False,
        classes: Classes | None = None,
        memory: Memory | None = None,
        slow: bool = False,
    ) -> None:
        many_paths = MANY_PATHS if routing != wire.BY_HASH else ""
        variant = f"{POOL if memory else CLASSES}{many_paths}" if classes else src.variant or many_paths
        self._object = libbpf.Object(compiled(f"nic{variant}"))
        self.classes = classes
        self.rows = class_rows.rows(largest_ifindex + 1) if classes else largest_ifindex + 1  # of maps of ports
        for name in OF_QUEUES if classes else ():
            self._object.size_map(name, self.rows)
        self.memory = memory
        of_memory = {"shares": self.rows, "groups": self.rows, "pools": MOST_SWITCHES, "intakes": largest_ifindex + 1}
        for name, entries in of_memory.items() if memory else ():
            self._object.size_map(name, entries)
        self._object.size_map("arrivals", largest_ifindex + 1)
        all_flows = flows + PROBE_FLOWS
        self._object.size_map("flows_tx", all_flows)
        self._object.size_map("flows_rx", all_flows)
        self._object.size_map("rings", rings + 1)
        if many_paths:
            self._object.size_map("flowlets", all_flows)
        self._receivers = flows if recovery[0] else 0
        self._object.size_map("receivers", all_flows if recovery[0] else 1)
        for name in ("ingresses", "pauses"):
            self._object.size_map(name, self.rows)
        self.pfc, self.src, self.routing, self.variant = pfc, src, routing, variant
        self.seed = seed & 0xFFFFFFFF
        wakeup = 0 if wake_agents else RING_NO_WAKEUP
        own = (socket.htons(tag.port), socket.htons(tag.p_key))
        lossless, paths = (pfc.xoff > 0, pfc.xon), (routing, self.seed)
        self._object.set_constants(
            wire.NIC_SETTINGS.pack(
                cnp_interval_ns,
                wakeup,
                flowlet_gap_ns,
                *lossless,
                *own,
                at_far_end,
                *paths,
                *answers.tos,
                self._receivers,
                recovery[1],
                credits,
                classes.trim_tos if classes else 0,
                slow,
                0,
            )
        )
        self._object.load()
        self.tx_fd = self._object.program_fd("nic_tx")
        self.rx_fd = self._object.program_fd("nic_rx")
        self.largest_ifindex = largest_ifindex
        self.arrivals_fd = self._object.map_fd("arrivals")
        self.arrivals = view(self.arrivals_fd, wire.ARRIVALS, largest_ifindex + 1)
        self.pause_events_fd = self._object.map_fd("pause_events")
        self.ingresses = view(self._object.map_fd("ingresses"), wire.INGRESS, self.rows)
        self.pauses = view(self._object.map_fd("pauses"), wire.PAUSE, self.rows)
        self.departures = None
        if classes:
            self.departures = view(self._object.map_fd("departures"), wire.DEPARTURES, self.rows)
            self._class_table = class_rows.table(classes, largest_ifindex + 1, memory)
            self.trim(on=False)
        flows_tx = view(self._object.map_fd("flows_tx"), wire.FLOW_TX, all_flows)
        flows_tx["ring"][flows:] = rings
        self.flows_tx = flows_tx[:flows]
        flows_rx = view(self._object.map_fd("flows_rx"), wire.FLOW_RX, all_flows)
        flows_rx["ring"] = rings + 1  # there is none: nobody is told of arrivals
        self.flows_rx = flows_rx[:flows]
        self.ring_size = ring_size
        fds = [libbpf.create_ring(f"ring{number}", ring_size) for number in range(rings)]
        fds.append(libbpf.create_ring("probe", RING_SIZE))
        for number, fd in enumerate(fds):
            libbpf.update(self._object.map_fd("rings"), number, struct.pack("=I", fd))
        *self.ring_fds, self.probe_ring_fd = fds

    def trim(self, *, on: bool) -> None:
        """Whether ports trim packets, if the experiment asks for it: not those that fill buffers to measure them."""
        if self.departures is not None:
            table = self._class_table.copy()
            table["trim_size"] *= on
            libbpf.update(self._object.map_fd("class_table"), 0, table.tobytes())

    def receivers(self) -> NDArray[np.void]:
        """What receivers have of each flow, as `wire.RECEIVER`; none where a lost packet goes on as another one."""
        fd, size = self._object.map_fd("receivers"), wire.RECEIVER.itemsize
        return np.frombuffer(b"".join(libbpf.lookup(fd, flow, size) for flow in range(self._receivers)), wire.RECEIVER)

    def share_memory(self, rows: PoolRows) -> None:
        """What queues and priority groups may have of their switches' memory; before ports are switched on."""
        self.shares = view(self._object.map_fd("shares"), wire.SHARE, self.rows)
        self.groups = view(self._object.map_fd("groups"), wire.GROUP, self.rows)
        self.shares[:], self.groups[:] = rows.shares, rows.groups
        for switch, pool in enumerate(rows.pools):
            libbpf.update(self._object.map_fd("pools"), switch, pool.tobytes())

    def slow_down(self, interface: int, intake: NDArray[np.void]) -> None:
        """From now on a host takes no more than that; ``intake``: as `wire.INTAKE`."""
        libbpf.update(self._object.map_fd("intakes"), interface, intake.tobytes())

    def forget_peaks(self) -> None:
        """Of priority groups, and what they have dropped; where there are any."""
        for column in ("peak", "peak_above", "dropped_packets") if self.memory else ():
            self.groups[column] = 0

    def share(self, other: libbpf.Object) -> None:
        """Let another object's programs use the maps of priority flow control, and of Bolt; before it is loaded."""
        of_queues = (*OF_QUEUES, "class_table") if self.classes else ()
        if self.memory:
            of_queues = (*of_queues, "shares", "groups", "pools")
        for name in ("ingresses", "pauses", "pause_events", *of_queues, *(["flows_tx"] if self.src.threshold else [])):
            other.share_map(name, self._object.map_fd(name))


class PortPrograms(KernelMaps):
    """``port_egress`` and ``port_ingress`` for the ports of all switches, and their maps; with Bolt ``port_src``.

    With ``monitor`` they count up to so many flows in ``flow_table``. With adaptive routing there is ``port_route`` as
    well, for so many ``switches``; they have numbers from 1.
    """

    def __init__(self, nic: NicPrograms, monitor: int = 0, switches: int = 0) -> None:
        self._object = libbpf.Object(compiled(f"port{nic.variant}"))
        self._object.share_map("arrivals", nic.arrivals_fd)
        self.arrivals = nic.arrivals
        nic.share(self._object)
        entries = nic.rows
        own = [name for name in OWN_MAPS if not nic.classes or name not in OF_QUEUES]
        for name in (*own, *(["port_bolt"] if nic.src.threshold else [])):
            self._object.size_map(name, entries)
        self._object.size_map("flow_table", max(1, monitor))
        adaptive = nic.routing == wire.ADAPTIVE
        if adaptive:
            self._object.size_map("next_hops", (switches + 1) << 8)
        self._object.set_constants(wire.PORT_SETTINGS.pack(*nic.pfc, monitor > 0, *nic.src, nic.routing, nic.seed))
        self._object.load()
        super().__init__({name: self._object.map_fd(name) for name in MAPS}, entries)
        self.departures = nic.departures
        self.flow_table = FlowTable(self._object.map_fd("flow_table"), monitor) if monitor else None
        self.fd = self._object.program_fd("port_egress")
        self.ingress_fd = self._object.program_fd("port_ingress")
        self.route_fd = self._object.program_fd("port_route") if adaptive else None
        self.src_fd = self._object.program_fd("port_src") if nic.src.threshold else None
        if nic.src.threshold:
            self.bolt = view(self._object.map_fd("port_bolt"), wire.PORT_BOLT, entries)

    def share_counters(self, other: libbpf.Object) -> None:
        """Let another object's programs see and count what happens at ports; before it is loaded."""
        for name in ("port_config", "port_counters"):
            other.share_map(name, self._object.map_fd(name))

    def set_next_hops(self, switch: int, edge: int, ports: Sequence[int]) -> None:
        """Adaptive routing: where a switch may send to the hosts at another, interfaces in the order of its route."""
        hops = np.zeros((), wire.NEXT_HOPS)
        hops["count"], hops["port"][: len(ports)] = len(ports), ports
        libbpf.update(self._object.map_fd("next_hops"), switch << 8 | edge, hops.tobytes())

    def reset(self, port: Port, seed: int) -> None:
        """Set a port's counters back to 0 and its queue to empty: nothing may be on its way."""
        self.counters[port.ifindex] = 0
        if self.departures is not None:
            self.departures[port.peer] = 0
        if port.peer < len(self.arrivals):  # or it is a queue
            self.arrivals[port.peer] = 0
        if self.bolt is not None:
            self.bolt[port.ifindex] = 0
        self.configure([port], seed)
