"""A port's queue, filled on purpose: how much fits, and what is marked meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.base.red import mark_share
from testbed.dataplane import wire
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.calibration.injection import Injection
from testbed.engines.kernel.calibration.measured import Measured
from testbed.engines.kernel.calibration.probe import Probe
from testbed.engines.kernel.pfc.lossless import headroom_needed
from testbed.experiment.topology.dscp import USUAL
from testbed.experiment.topology.shape import SwitchPort
from testbed.units import show_size

FULL = 20  # looks at a full buffer that find no more than before, while it is kept full
EASY = 10_000  # packets/s of wall time: any machine sends twice as many, and so fills a buffer
LONGEST_FILL = 1.5  # wall seconds that a full buffer may take to drain; slower racks are read back, not filled
TOP_UPS, TOP_UP = 20, 50  # looks at a full buffer, and packets sent before each
SIGMAS = 5  # of the binomial spread of marks


def port_queue(rack: Assembly, senders: list[str], place: SwitchPort) -> list[Measured]:
    """Fill the buffer from many hosts: how much fits, in the model and in the shaper, and what is marked meanwhile."""
    capacity = _capacity(rack, place, len(senders))
    if len(senders) < 2 or _drain(rack, capacity, place.link.rate) > LONGEST_FILL:
        return []
    thresholds, position = _thresholds(rack, place), rack.layout.shape.position[place.name]
    with closing(Probe(rack, senders, place.neighbour)) as probe:
        size = probe.framing.wire_size
        with _slowed(rack, place, capacity, size) as rate:
            port, drain = rack.net.ports[position], _drain(rack, capacity, rate)
            # a packet less per ingress that is full
            loose = size * len(senders) if rack.probes_pause else port.scarce_room(size)
            rack.programs.counters["peak"][port.ifindex] = 0
            with probe.sending(capacity / len(senders)):
                backlog = _highest_backlog(rack, place, capacity - loose - 2 * port.slack, 0.5 + 4 * drain)
            acks = _all_acks(probe, rack, drain)
    # The port is the last hop of all packets.
    last = acks["hop"][np.arange(len(acks)), np.maximum(acks["hops"], 1) - 1]
    here = last["node"] == port.node
    depth, marked = last["queue"][here].astype(float), (acks["flags"][here] & wire.SHIM_CE) > 0
    if _at_dequeue(rack):
        depth, left = _left_behind(depth, last["tx_bytes"][here].astype(float), size)
        marked = marked[left]
    return [*_depth(rack, place, capacity, loose, backlog), *_marking(place.name, depth, marked, thresholds)]


def _drain(rack: Assembly, waiting: float, rate: float) -> float:
    """Wall seconds until so many bytes have left at a nominal rate (bit/s)."""
    return rack.clock.wall_seconds(waiting * 8 / rate)


@contextmanager
def _slowed(rack: Assembly, place: SwitchPort, capacity: float, size: int) -> Iterator[float]:
    """Meanwhile the port is so slow (bit/s) that this machine fills it; it drains within `LONGEST_FILL`.

    A dilation at which more packets leave than the machine sends says nothing of the buffer. Pauses and queues of
    classes are for a rate.
    """
    rate = place.link.rate
    least = rack.clock.dilation * max(EASY * size * 8, capacity * 8 / LONGEST_FILL)
    if rack.lossless or rack.experiment.rack.switch.tables or least >= rate:
        yield rate
        return
    rack.net.set_port_rate(place.name, least)
    try:
        yield least
    finally:
        rack.net.set_port_rate(place.name, rate)


def trunk_queue(rack: Assembly, place: SwitchPort) -> list[Measured]:
    """Fill the buffer of a port between switches from inside its switch, and see at its peer what was marked.

    Where a port pauses as a whole such a port has no buffer of its own: then only until all is marked. Memory that
    ports share is not accounted to what has not come in at any.
    """
    thresholds = _thresholds(rack, place)
    unbounded = rack.lossless is not None and not rack.lossless.groups
    capacity = thresholds[1] if unbounded else float(round(place.link.buffer))
    drain = _drain(rack, capacity, place.link.rate)
    if drain > LONGEST_FILL:
        return []
    with Injection(rack, place) as injection:
        rack.programs.counters["peak"][injection.port.ifindex] = 0
        before = injection.passed
        packets = math.ceil(capacity / injection.size * 1.3) + 20
        injection.listen(packets + TOP_UPS * TOP_UP)
        injection.send(packets)
        backlog = 0.0 if unbounded else _backlog_kept_full(rack, place, injection)
        injection.wait_until_quiet(drain)
        came = injection.passed - before
        queue, marked = injection.received()
        loose = injection.port.scarce_room(injection.size)
        depth = [] if unbounded else _depth(rack, place, capacity, loose, backlog)
    received = Measured(place.name, "packets received at the peer", came, len(queue), 0.5, _count("packets"))
    # where packets are marked as they leave, whoever listens at the peer has seen them before
    marking = [] if _at_dequeue(rack) else _marking(place.name, queue, marked, thresholds)
    return [*depth, received, *marking]


def _thresholds(rack: Assembly, place: SwitchPort) -> list[float]:
    """The active Kmin, Kmax and Pmax of a port."""
    now, row = rack.queues.sample(time.monotonic_ns()), rack.layout.shape.position[place.name]
    if classes := rack.experiment.rack.switch.tables:  # of the queue that probes wait in
        row = row * len(classes.queues) + list(classes.queues).index(classes.queue_of[USUAL])
    return [float(now[name][row]) for name in ("kmin", "kmax", "pmax")]


def _capacity(rack: Assembly, place: SwitchPort, senders: int) -> float:
    """Bytes that a port takes: its buffer, or with priority flow control what so many ingress ports have."""
    switch = rack.experiment.rack.switch
    if rack.lossless and not rack.lossless.groups:
        return float(senders * rack.lossless.thresholds.limit)
    if switch.memory and switch.tables:
        queue, group = switch.tables.queue_of[USUAL], switch.tables.group_of[USUAL]
        needed = headroom_needed(rack.layout, rack.clock)
        return float(round(switch.memory.alone(queue, group, senders, place.link.buffer, needed)))
    return float(round(place.link.buffer))


def _depth(rack: Assembly, place: SwitchPort, buffer: float, loose: int, backlog: float) -> list[Measured]:
    port = rack.net.ports[rack.layout.shape.position[place.name]]
    peak = float(rack.programs.counters["peak"][port.ifindex])
    return [
        Measured(place.name, "buffer", buffer, peak, loose, show_size),
        Measured(place.name, "buffer as queued by the shaper", buffer, backlog, loose + 2 * port.slack, show_size),
    ]


def _highest_backlog(rack: Assembly, place: SwitchPort, full: float, longest: float) -> float:
    """Once it is full and grows no more, or after ``longest`` s, if it never is."""
    reader, ifindex = rack.net[place.switch].queues, rack.net.ends[place.name].index
    highest = looks = 0
    deadline = time.monotonic() + longest
    while looks < FULL and time.monotonic() < deadline:
        backlog = reader.read(ifindex).backlog
        looks = looks + 1 if highest >= max(full, backlog) else 0
        highest = max(highest, backlog)
        time.sleep(0.0005)
    return float(highest)


def _backlog_kept_full(rack: Assembly, place: SwitchPort, injection: Injection) -> float:
    """The highest of a few looks, each right after what has drained was filled up again."""
    reader, ifindex = rack.net[place.switch].queues, rack.net.ends[place.name].index
    highest = 0
    for _ in range(TOP_UPS):
        injection.send(TOP_UP)
        highest = max(highest, reader.read(ifindex).backlog)
    return float(highest)


def _all_acks(probe: Probe, rack: Assembly, drain: float) -> NDArray[np.void]:
    """Everything that comes back until the queue is empty."""
    parts, deadline = [], time.monotonic() + 2 * drain + 0.5
    quiet = 0.02 + 2 * rack.clock.wall_seconds(rack.layout.longest_rtt if rack.use_netem else 0.0)
    last = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - last < quiet:
        part = probe.take()
        if len(part):
            parts.append(part)
            last = time.monotonic()
        time.sleep(0.002)
    return np.concatenate(parts) if parts else probe.take()


def _at_dequeue(rack: Assembly) -> bool:
    classes = rack.experiment.rack.switch.tables
    return classes is not None and classes.at_dequeue


def _left_behind(found: Floats, passed: Floats, size: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Bytes that waited behind packets as they left, and which these are: all that left after the last one had come.

    By INT: ``found`` is the queue before each packet, ``passed`` what had left until then.
    """
    came = passed + found
    left = came > passed[came.argmax()] + size
    return came.max() - came[left], left


def _marking(link: str, queue: Floats, marked: NDArray[np.bool_], thresholds: Sequence[float]) -> Iterator[Measured]:
    """Marks below Kmin (none), above Kmax (all), and between (Pmax/2 on average over the slope).

    ``queue`` is what each packet found by INT or left behind, ``marked`` whether it was; shape (n,).
    """
    kmin, kmax, pmax = thresholds
    below, above = queue <= kmin, queue > kmax
    slope = ~below & ~above
    counted = _count("marks")
    yield Measured(link, f"marking up to Kmin {show_size(kmin)}", 0.0, float(marked[below].sum()), 0.5, counted)
    yield Measured(
        link, f"marking above Kmax {show_size(kmax)}", float(above.sum()), float(marked[above].sum()), 0.5, counted
    )
    chance = mark_share(queue[slope], kmin, kmax, pmax)
    spread = float(np.sqrt((chance * (1 - chance)).sum()))
    yield Measured(
        link, "marking between Kmin and Kmax", float(chance.sum()), float(marked[slope].sum()),
        SIGMAS * spread + 1, counted,
    )  # fmt: skip


def _count(what: str) -> Callable[[float], str]:
    return lambda value: f"{value:.0f} {what}"
