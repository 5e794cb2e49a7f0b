"""Calibration, before the first packet of an experiment: is the rack as configured?

Rate, base RTT, buffer depth and marking are measured in place, with packets like the experiment's. A deviation
stops the run: a result from another rack than the one in the file would be worse than none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.base.red import mark_share
from testbed.dataplane import wire
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.calibration.injection import Injection
from testbed.engines.kernel.calibration.probe import Probe
from testbed.engines.kernel.calibration.rates import steady_rate
from testbed.engines.kernel.pfc.lossless import headroom_needed
from testbed.engines.kernel.rack.backlog import QueueReader
from testbed.errors import Uncalibrated
from testbed.experiment.topology.dscp import USUAL
from testbed.experiment.topology.paths import PathTimes
from testbed.experiment.topology.shape import SwitchPort
from testbed.units import show_rate, show_size, show_time

TOLERANCE = 0.02  # of rate and RTT
ATTEMPTS = 8  # a busy machine may spoil some
PAUSE = 0.1  # s of wall time, longer with each attempt: what keeps the machine busy may be over then
RTT_PROBES = 5
RATE_PACKETS = 150
TRUNK_SECONDS = 0.03  # wall, for which a link between switches is kept busy
SKIPPED = 10  # packets at the start that a full bucket sends at once
FULL = 20  # looks at a full buffer that find no more than before, while it is kept full
FILLERS = 8  # hosts that fill a buffer together
EASY = 10_000  # packets/s of wall time: twice as many any machine sends, so that they fill a buffer
LONGEST_FILL = 1.5  # wall seconds that a full buffer may take to drain; slower racks are read back, not filled
TOP_UPS, TOP_UP = 20, 50  # looks at a full buffer, and packets sent before each
SIGMAS = 5  # of the binomial spread of marks


@dataclass(frozen=True)
class Measured:
    """One property of one link."""

    link: str
    what: str
    expected: float
    measured: float
    tolerance: float  # in the unit of both
    shown: Callable[[float], str]

    @property
    def good(self) -> bool:
        """Whether it is as expected, within the tolerance."""
        return abs(self.measured - self.expected) <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; SI units."""
        return {name: value for name, value in asdict(self).items() if name != "shown"} | {"good": self.good}

    def __str__(self) -> str:
        return f"{self.link}: {self.what} expected {self.shown(self.expected)}, measured {self.shown(self.measured)}"


def calibrate(rack: Assembly) -> list[Measured]:
    """`measure` the rack. Raises Uncalibrated, which names each link that is not as configured."""
    results = measure(rack)
    wrong = [str(one) for one in results if not one.good]
    if wrong:
        raise Uncalibrated(
            "calibration failed, the rack is not as configured; nothing was run\n  " + "\n  ".join(wrong)
        )
    return results


def measure(rack: Assembly) -> list[Measured]:
    """Measure one path of each length, one link of each kind and direction, and the bottleneck's queue.

    Every host's links, and every link between switches, if the experiment asks for it.
    """
    results: list[Measured] = []
    every = rack.experiment.rack.calibrate == "all"
    port = rack.layout.shape.ports[rack.layout.bottleneck]
    receiver = port.neighbour if port.to_host else rack.layout.plan.dst[_through(rack, port.name)]
    others = _nearest_first(rack, receiver)
    for sender in others if every else _one_per_path(rack, others, receiver):
        results += _retried(partial(_sender, rack, sender, receiver))
    for target in [receiver, *others] if every else [receiver]:
        pair = [name for name in [*others, receiver] if name != target][:2]
        results += _retried(partial(_downlink, rack, pair, target))
    for trunk in _trunks(rack, every):
        results += _retried(partial(_trunk, rack, trunk))
    if port.to_host:
        results += _retried(partial(_queue, rack, _fillers(rack, others, port)[:FILLERS], port))
    else:
        results += _retried(partial(_trunk_queue, rack, port))
    return results


def _through(rack: Assembly, port: str) -> int:
    """The first flow that may take a port."""
    pairs = zip(rack.layout.plan.src, rack.layout.plan.dst, strict=True)
    return next(flow for flow, pair in enumerate(pairs) if port in rack.layout.routes.spread(*pair))


def _nearest_first(rack: Assembly, receiver: str) -> list[str]:
    """All other hosts: those that share only the last port with others come first."""
    others = [host for host in rack.layout.shape.hosts if host != receiver]
    return sorted(others, key=lambda host: len(rack.layout.routes.path(host, receiver)))


def _one_per_path(rack: Assembly, others: list[str], receiver: str) -> Iterator[str]:
    """A sender for each base RTT and rate that paths to the receiver have."""
    seen = set()
    for host in others:
        path = rack.layout.routes.path(host, receiver)
        kind = (PathTimes(path, rack.layout.framing).base_rtt, path[0].rate)
        if kind not in seen:
            seen.add(kind)
            yield host


def _fillers(rack: Assembly, others: list[str], port: SwitchPort) -> list[str]:
    """Hosts that fill a port's buffer; with priority flow control those that have a port each at the same switch."""
    return [host for host in others if rack.layout.shape.edge(host) == port.switch] if rack.probes_pause else others


def _trunks(rack: Assembly, every: bool) -> Iterator[SwitchPort]:
    """Ports between switches: one of each kind of link and direction, or all."""
    seen = set()
    for port in rack.layout.shape.ports:
        kind = (port.link.kind, port.link.rate, port.link.delay, port.link.low.interface == port.name)
        if not port.to_host and (every or kind not in seen):
            seen.add(kind)
            yield port


def _retried(measure: Callable[[], list[Measured]]) -> list[Measured]:
    """Each property from the first attempt that found it good, or else from the last one."""
    found: dict[str, Measured] = {}
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * attempt)
        found |= {one.what: one for one in measure() if one.what not in found or not found[one.what].good}
        if all(one.good for one in found.values()):
            break
    return list(found.values())


def _sender(rack: Assembly, sender: str, receiver: str) -> list[Measured]:
    """Base RTT, and the rate at which one host can send."""
    with closing(Probe(rack, [sender], receiver)) as probe:
        rtt = PathTimes(rack.layout.routes.path(sender, receiver), rack.layout.framing).base_rtt
        best = min(_round_trip(rack, probe, rtt) for _ in range(RTT_PROBES))
    with closing(Probe(rack, [sender], _no_slower(rack, sender, receiver))) as probe:
        rate = _arrival_rate(rack, probe, RATE_PACKETS)
    link = f"{sender}:e0"
    return [
        Measured(link, "base RTT", rtt, best, TOLERANCE * rtt, show_time),
        _rate(link, rack.layout.shape.line_rate(sender), rate),
    ]


def _no_slower(rack: Assembly, sender: str, receiver: str) -> str:
    """A host that can take all that the sender's link carries: the receiver, or another one nearer by."""
    for host in (receiver, *_nearest_first(rack, sender)):
        if min(link.rate for link in rack.layout.routes.path(sender, host)) >= rack.layout.shape.line_rate(sender):
            return host
    return receiver


def _downlink(rack: Assembly, senders: list[str], receiver: str) -> list[Measured]:
    """The rate at which a port serves a host when more arrives than it can send."""
    if len(senders) < 2:
        return []
    with closing(Probe(rack, senders, receiver)) as probe:
        rate = _arrival_rate(rack, probe, RATE_PACKETS // len(senders))
    return [_rate(rack.layout.shape.port_of(receiver).name, rack.layout.shape.line_rate(receiver), rate)]


def _trunk(rack: Assembly, port: SwitchPort) -> list[Measured]:
    """The rate at which a port serves a link between switches, whatever ECMP would send there."""
    with Injection(rack, port) as injection:
        rate = injection.rate(TRUNK_SECONDS, RATE_PACKETS, SKIPPED)
    return [_rate(port.name, port.link.rate, rate)]


def _rate(link: str, expected: float, measured: float) -> Measured:
    return Measured(link, "rate", expected, measured, TOLERANCE * expected, show_rate)


def _patience(rack: Assembly, packets: int, wire_size: int) -> float:
    slowest = min(link.rate for link in rack.layout.shape.links)
    serial = packets * wire_size * 8 / slowest
    return 0.2 + 3 * rack.clock.wall_seconds(serial + rack.layout.longest_rtt)


def _round_trip(rack: Assembly, probe: Probe, base_rtt: float) -> float:
    """Nominal RTT of one packet through empty queues; inf if it did not come back."""
    probe.send(1)
    acks = probe.acks(1, _patience(rack, 1, probe.framing.wire_size))
    if not len(acks):
        return math.inf
    wall = float(acks["rx_ns"][0] - acks["tx_ns"][0]) * rack.clock.seconds_per_ns
    return wall + (0.0 if rack.use_netem else base_rtt)


def _arrival_rate(rack: Assembly, probe: Probe, packets: int) -> float:
    """Nominal bit/s at which bursts of all senders arrive, by the times of their ACKs."""
    probe.send(packets)
    expected = packets * len(probe._frames)
    size = probe.framing.wire_size
    times = np.sort(probe.acks(expected, _patience(rack, expected, size))["rx_ns"])[SKIPPED:]
    if len(times) < expected // 2:
        return 0.0
    carried = np.arange(len(times), dtype=float) * size
    return steady_rate(times, carried) * 8 / rack.clock.seconds_per_ns


def _queue(rack: Assembly, senders: list[str], place: SwitchPort) -> list[Measured]:
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
    """Meanwhile the port is so slow (bit/s) that this machine fills it, and drains in `LONGEST_FILL`.

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


def _trunk_queue(rack: Assembly, place: SwitchPort) -> list[Measured]:
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
    reader, ifindex = QueueReader(rack.net[place.switch].netns), rack.net.ends[place.name].index
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
    reader, ifindex = QueueReader(rack.net[place.switch].netns), rack.net.ends[place.name].index
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
