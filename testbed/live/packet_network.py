"""What the counters of port and NIC programs say of a network (`testbed.live.observed.Network`), wherever they run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.clock import NS, Clock, WallSeconds
from testbed.dataplane.port_reader import PortReader
from testbed.experiment.events import Event
from testbed.experiment.layout import Layout
from testbed.experiment.topology.groups import Watchdog
from testbed.live.snapshot import Counted, coarse_queue
from testbed.results.record import Groups, PortSeries, Queues

OF_HOSTS = ("lost", "answers_lost")  # by the links of hosts, on the way up


class PacketNetwork:
    """``flows_tx`` and ``flows_rx`` are the NICs' counters; ``bottleneck`` is an ifindex; ``queues`` are all rows of
    queues, where ports have several, and else the ports.
    """

    def __init__(
        self,
        ports: PortReader,
        queues: PortReader,
        flows_tx: NDArray[np.void],
        flows_rx: NDArray[np.void],
        bottleneck: int,
    ) -> None:
        self.ports, self.queues, self.flows_tx, self.flows_rx = ports, queues, flows_tx, flows_rx
        self._bottleneck = bottleneck

    @property
    def bottleneck(self) -> np.void:
        """Its counters, `testbed.dataplane.wire.PORT_COUNTERS`."""
        counted: np.void = self.ports.programs.counters[self._bottleneck]
        return counted

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """The port columns at this moment."""
        return self.ports.sample(now_ns)

    def sample_queues(self, now_ns: int) -> dict[str, Floats]:
        """The same of all queues, where ports have several."""
        return {} if self.queues is self.ports else self.queues.sample(now_ns)

    def queue_counts(self) -> Ints:
        """From the port program's histogram."""
        return np.asarray(self.bottleneck["histogram"], np.int64)

    def queues_found(self) -> Counted:
        """The same of all ports."""
        ports, index = self.ports.programs.counters, self.ports.index  # a column first: a port has hundreds of bytes
        return Counted(coarse_queue(ports["histogram"])[index], ports["found"][index].astype(float))

    def delivered(self) -> Ints:
        """All receivers share one map."""
        return np.asarray(self.flows_rx["packets"], np.int64)

    def events(self) -> dict[str, int]:
        """Feedback lost to a full ring, reordering; and losses on links, not in buffers."""
        ports, index = self.ports.programs.counters, self.ports.index
        return {
            "lost_on_links": int(
                ports["lost_packets"][index].sum() + sum(self.flows_tx[name].sum() for name in OF_HOSTS)
            ),
            "trims": int(ports["trimmed_packets"][index].sum()),
            "ring_overflow": int(self.flows_tx["ring_full"].sum()),
            "reordered_packets": int(self.flows_rx["reorders"].sum()),
        }


def storms_of(settings: Watchdog, done: Ints, names: dict[int, str], clock: Clock) -> list[Event]:
    """What a watchdog of pauses did: when, to which row of a queue, and whether it began, line by line."""
    verb = "forwards" if settings.action == "forward" else "drops"
    times = clock.nominal_from_stamps(done[:, 0]).tolist()
    return [
        Event(time, f"watchdog {verb if begins else 'restores'} {names[row]}")
        for time, row, begins in zip(times, *done[:, 1:].T.tolist(), strict=True)
    ]


def queues_of(layout: Layout, each: PortReader) -> Queues | None:
    """The queues of all ports without their series, where ports have several; ``each``: the rows of queues."""
    classes = layout.experiment.rack.switch.tables
    if not classes:
        return None
    numbers, ports = list(classes.queues), len(layout.port_names)
    return Queues(
        name=layout.queue_names,
        port=np.repeat(np.arange(ports), len(numbers)),
        number=np.tile(np.array(numbers), ports),
        classes=[classes.names_in(queue) for queue in numbers] * ports,
        found=each.programs.counters["histogram"][each.index].astype(np.int64),
        series=PortSeries.empty(len(layout.queue_names)),
    )


def groups_of(
    layout: Layout, ports: PortReader, groups: NDArray[np.void], *, interfaces: int, now_ns: int, clock: Clock
) -> Groups | None:
    """The priority groups of all ports, where these share memory; ``groups`` by row, as the programs have them."""
    memory = layout.experiment.rack.switch.memory
    if not memory:
        return None
    numbers, names = np.array(list(memory.groups)), layout.port_names
    rows = (ports.index[:, None] + (1 + numbers) * interfaces).reshape(-1)
    counted, ingresses = groups[rows], ports.programs.ingresses[rows]
    waiting = np.where(ingresses["paused"] > 0, now_ns - ingresses["paused_at"].astype(np.int64), 0)
    paused = (ingresses["paused_ns"].astype(np.int64) + waiting).tolist()
    return Groups(
        name=[f"{port} g{number}" for port in names for number in numbers],
        port=np.repeat(np.arange(len(names)), len(numbers)),
        number=np.tile(numbers, len(names)),
        lossless=np.tile([one.lossless for one in memory.groups.values()], len(names)),
        peak=counted["peak"].astype(np.int64),
        peak_headroom=counted["peak_above"].astype(np.int64),
        dropped_packets=counted["dropped_packets"].astype(np.int64),
        pauses=ingresses["pauses"].astype(np.int64),
        paused=np.array([clock.nominal_seconds(WallSeconds(one / NS)) for one in paused]),
    )
