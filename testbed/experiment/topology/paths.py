"""Path delays: propagation, serialisation, base RTT. All nominal.

A shaper with a full bucket lets a packet start at once, so in the physical rack a packet waits only for others. The
packet's own serialisation at every hop is a constant, and it is emulated together with propagation: by netem, or by
the delay line, which delays feedback by the whole base RTT of its path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.routes import Routes
from testbed.experiment.topology.shape import Link, Shape

PRECISION = 12  # decimals of a second: paths of the same links must have the same base RTT


@dataclass(frozen=True)
class PathTimes:
    """Times of one round trip over the same links each way."""

    links: Sequence[Link]
    framing: Framing

    @property
    def hops(self) -> int:
        """Switches on the way."""
        return len(self.links) - 1

    @property
    def propagation(self) -> float:
        """Both ways, all links."""
        return 2 * sum(link.delay for link in self.links)

    @property
    def serialisation(self) -> float:
        """Of a full packet there and its ACK back, at every link."""
        bits = (self.framing.wire_size + self.framing.ack_size) * 8
        return sum(bits / link.rate for link in self.links)

    @property
    def base_rtt(self) -> float:
        """Round trip of a full packet through empty queues."""
        return round(self.propagation + self.serialisation, PRECISION)

    @property
    def one_way(self) -> float:
        """Of a full packet through empty queues. More than half of the base RTT: its ACK is shorter."""
        return sum(link.delay + self.framing.wire_size * 8 / link.rate for link in self.links)

    @property
    def src_rtt(self) -> float:
        """Of a full packet through empty queues to the last switch, and of an SRC from there."""
        bits = (self.framing.wire_size + self.framing.src_size) * 8
        return round(sum(2 * link.delay + bits / link.rate for link in self.links[:-1]), PRECISION)


def netem_delay(link: Link, framing: Framing) -> float:
    """How long netem delays what enters a link, so that a round trip takes the base RTT.

    At a host's link only the host's end has netem, and a round trip passes it once, as data or as ACK; a link between
    switches has it at both ends.
    """
    serialisation = (framing.wire_size + framing.ack_size) * 8 / link.rate
    return link.delay + serialisation / 2 if link.low.port else 2 * link.delay + serialisation


@dataclass(frozen=True)
class FlowPaths:
    """Columns of shape (n,): one entry per flow."""

    line_rate: Floats  # bit/s, of the sender's NIC
    base_rtt: Floats  # s
    one_way: Floats  # s, to the receiver
    src_rtt: Floats  # s, to the last switch and, as an SRC, back
    hops: Ints  # switches
    path_rate: Floats  # bit/s, of the slowest link
    slowness: Floats  # s per bit through all switch ports on the way

    def full_buffers(self, size: float) -> Floats:
        """Seconds that packets wait if all buffers on their way, of ``size`` bytes, are full."""
        return self.slowness * size * 8

    @classmethod
    def of(cls, routes: Routes, src: Sequence[str], dst: Sequence[str], framing: Framing) -> FlowPaths:
        """The paths between hosts."""
        pairs, of_flow = alike(routes.shape, src, dst)
        size = framing.wire_size * 8
        there_and_back, notified = size + framing.ack_size * 8, size + framing.src_size * 8
        delay, serialisation, one_way, src_rtt, slowness = np.zeros((5, len(pairs)))
        links, path_rate, line_rate = np.zeros(len(pairs), np.int64), np.full(len(pairs), np.inf), np.zeros(0)
        last = np.zeros(len(pairs))  # of the times until an SRC
        for which, through in routes.paths(pairs):  # term by term, as `PathTimes` adds them
            own, rate = np.array([link.delay for link in through]), np.array([link.rate for link in through])
            delay[which] += own
            serialisation[which] += there_and_back / rate
            one_way[which] += own + size / rate
            src_rtt[which] += last[which]
            last[which] = 2 * own + notified / rate
            if len(line_rate):
                slowness[which] += 1 / rate
            else:
                line_rate = rate
            path_rate[which] = np.minimum(path_rate[which], rate)
            links[which] += 1
        return cls(
            line_rate=line_rate[of_flow],
            base_rtt=_rounded(2 * delay + serialisation)[of_flow],
            one_way=one_way[of_flow],
            src_rtt=_rounded(src_rtt)[of_flow],
            hops=links[of_flow] - 1,
            path_rate=path_rate[of_flow],
            slowness=slowness[of_flow],
        )


def _rounded(times: Floats) -> Floats:
    """As Python rounds each of them, which is not always as numpy does."""
    found, which = np.unique(times, return_inverse=True)
    return np.array([round(time, PRECISION) for time in found.tolist()])[which]


def alike(shape: Shape, src: Sequence[str], dst: Sequence[str]) -> tuple[list[tuple[str, str]], Ints]:
    """Flows between the same two switches over links that are alike have paths that are: one pair of hosts for each
    such class, and the class of each flow.
    """
    places: dict[tuple[str, float, float], int] = {}
    place_of = {
        host: places.setdefault((link.high.node, link.rate, link.delay), len(places))
        for host, link in shape.link_of.items()
    }
    number = np.array([place_of[host] for host in src]) * len(places) + [place_of[host] for host in dst]
    _, first, of_flow = np.unique(number, return_index=True, return_inverse=True)
    return [(src[at], dst[at]) for at in first.tolist()], of_flow
