"""What a path takes: propagation, serialisation, base RTT. All nominal.

A shaper with a full bucket lets a packet start at once, so the physical rack holds a packet only behind others. The
packet's own serialisation at every hop is a constant, and it is emulated together with propagation: by netem, or by
the delay line. `Path.held` is that whole constant; the unloaded RTT of the rack is `held` plus the kernel's own
forwarding time.
"""

from __future__ import annotations

from dataclasses import dataclass

from testbed.dataplane.wire import Framing

LINKS_OF_A_STAR = 2  # host to switch, switch to host


@dataclass(frozen=True)
class PathTimes:
    """Times of one round trip over ``links`` equal links each way."""

    links: int
    rate: float  # bit/s
    delay: float  # s, one way, per link
    framing: Framing

    @property
    def propagation(self) -> float:
        """Both ways, all links."""
        return 2 * self.links * self.delay

    @property
    def serialisation(self) -> float:
        """Of a full packet there and its ACK back, at every link."""
        return self.links * (self.framing.wire_size + self.framing.ack_size) * 8 / self.rate

    @property
    def base_rtt(self) -> float:
        """Round trip of a full packet through empty queues."""
        return self.propagation + self.serialisation
