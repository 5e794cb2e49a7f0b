"""The base RTT from this host to others, measured with packets like the experiment's through queues that are empty.

Both times of a round trip are of this host's kernel, so no other clock is involved.
"""

from __future__ import annotations

import math
import socket
import time

from testbed.dataplane.programs import RING_SIZE, NicPrograms
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import ACK, DATA_TOS, Tag, frame
from testbed.experiment.topology.framing import Framing

PROBES = 32
PATIENCE = 0.1  # s for one answer: the first one waits for ARP
LOST = 4  # unanswered in a row: the host does not answer
POLL = 100e-6  # s


def measure_base_rtt(nic: NicPrograms, address: str, framing: Framing, tag: Tag, flow: int) -> float:
    """Shortest of `PROBES` round trips to ``address``, s; inf without an answer. ``flow``: a number for probes.

    Raises OSError if the kernel cannot send there, or an ICMP error came back.
    """
    packet = frame(framing, flow, framing.payload, tag)
    ring = Ring(nic.probe_ring_fd, RING_SIZE)
    ring.consume(len(ring.waiting()))
    best, lost = math.inf, 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DATA_TOS)
        opened.connect((address, tag.port))
        for _ in range(PROBES):
            opened.send(packet)
            measured = _round_trip(ring)
            best = min(best, measured)
            lost = lost + 1 if math.isinf(measured) else 0
            if lost == LOST:
                return math.inf
    return best


def _round_trip(ring: Ring) -> float:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        answers = ring.waiting()
        if len(answers):
            own = answers[answers["opcode"] == ACK]
            measured = float(own["rx_ns"][-1] - own["tx_ns"][-1]) / 1e9 if len(own) else math.inf
            ring.consume(len(answers))
            return measured
        time.sleep(POLL)
    return math.inf
