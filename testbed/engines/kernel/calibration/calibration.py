"""Calibration, before the first packet of an experiment: is the rack as configured?

Rate, base RTT, buffer depth and marking are measured in place, with packets like the experiment's. A deviation
stops the run: a result from another rack than the one in the file would be worse than none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import numpy as np

from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.calibration.injection import Injection
from testbed.engines.kernel.calibration.measured import Measured
from testbed.engines.kernel.calibration.probe import Probe
from testbed.engines.kernel.calibration.queues import port_queue, trunk_queue
from testbed.engines.kernel.calibration.rates import steady_rate
from testbed.errors import Uncalibrated
from testbed.experiment.topology.paths import PathTimes
from testbed.experiment.topology.shape import SwitchPort
from testbed.units import show_rate, show_time

TOLERANCE = 0.02  # of rate and RTT
ATTEMPTS = 8  # a busy machine may spoil some
PAUSE = 0.1  # s of wall time, longer with each attempt: what keeps the machine busy may be over then
RTT_PROBES = 5
RATE_PACKETS = 150
TRUNK_SECONDS = 0.03  # wall, for which a link between switches is kept busy
SKIPPED = 10  # packets at the start that a full bucket sends at once
FILLERS = 4  # hosts that fill a buffer together: what more of them send is dropped, and takes the cores of who looks


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
        results += _retried(partial(port_queue, rack, _fillers(rack, others, port)[:FILLERS], port))
    else:
        results += _retried(partial(trunk_queue, rack, port))
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
