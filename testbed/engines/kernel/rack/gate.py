"""The gate of a switch port that can be paused: a queue for data in front of the shaper that is shut and opened.

Below the port's token bucket sits an HTB with two classes, which here only classifies: ACKs and CNPs leave first and
are never held, data waits in a second token bucket. (A port with several queues has such a bucket for each of them that
can be paused: `testbed.engines.kernel.rack.queues`.) Open, that one is faster than anything here; shut,
it is so slow that only its bucket gets through, one frame: the one that a MAC would have begun. All kernels have these.

A token bucket that is opened does not look at its queue until a packet comes or its timer ends, which would be in half
an hour. So a pause frame that means no priority is sent through the port: it wakes the shaper up, and the peer
ignores it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from testbed.dataplane.wire import FIRST_QUEUE, LOSSLESS_CLASS
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.link import RackIntf
from testbed.engines.kernel.rack.netlink import TRAFFIC, Netlink, attribute, number, text

ROOT, CLASSIFIER, GATE, BYPASS = 1 << 16, 2 << 16, 3 << 16, 4 << 16  # handles of the qdiscs
FEEDBACK = CLASSIFIER | 2
HANDLES = 16 << 16  # of what queues packets below a class, in ports of several: one for each queue from here on
FREE = 4_000_000_000  # bytes/s: no limit
FREE_BURST = 1 << 16
SHUT = 1  # bytes/s
ETHERNET = 14

RTM_NEWQDISC = 36
TCA_KIND, TCA_OPTIONS, TCA_TBF_PARMS, TCA_TBF_BURST = 1, 2, 1, 6
RATE_SPEC = struct.Struct("=BBHhHI")  # cell log, link layer, overhead, alignment, smallest unit, bytes/s
LINK_ETHERNET = 1


def in_flight(frame: int, mtu: int = 1500) -> int:
    """Bytes that leave a port after its gate was shut: one frame that the shaper has dequeued, and one bucket."""
    return frame + _largest(max(frame, mtu))


def _largest(mtu: int) -> int:
    return mtu + ETHERNET


def place_of(queue: int | None) -> tuple[int, int]:
    """Handle of what holds the packets of a queue, or the data of a port that has one; and its class."""
    return (GATE, LOSSLESS_CLASS) if queue is None else (HANDLES + (queue << 16), FIRST_QUEUE + queue)


def two_classes(port: RackIntf, limit: int) -> None:
    """Below a port's shaper: answers, which go first, and data. ``limit`` is how many bytes of either may wait."""
    netlink = port.node.netlink
    netlink.tc("add", "htb", port.index, handle=CLASSIFIER, parent=ROOT | 1, default=FEEDBACK & 0xFFFF)
    for priority, (which, bucket) in enumerate(((FEEDBACK, BYPASS), (LOSSLESS_CLASS, GATE))):
        netlink.tc(
            "add-class", "htb", port.index, handle=which, parent=CLASSIFIER, rate=FREE, ceil=FREE, burst=FREE_BURST,
            cburst=FREE_BURST, prio=priority, quantum=FREE_BURST,
        )  # fmt: skip
        open_bucket(port, bucket, which, limit)


def open_bucket(port: RackIntf, handle: int, parent: int, limit: int) -> None:
    """What waits below a class, up to ``limit`` bytes, and can be held."""
    port.node.netlink.tc(
        "add", "tbf", port.index, handle=handle, parent=parent, rate=FREE, burst=FREE_BURST, limit=limit
    )


class PortGate:
    """The gate of one shaped port, or of a queue. Made before the pause generator is forked, whose gate controller
    moves it.
    """

    def __init__(self, port: RackIntf, limit: int, rows: Sequence[int], queue: int | None = None) -> None:
        """Of the bucket that has been opened there with that limit. ``rows``: of the pauses that shut it."""
        self.port, self.peer, self.queue = port.index, port.peer.index, queue
        self.rows = list(rows)
        self.name = port.name
        self.netns = port.node.netns
        self.wake = pause_frames.wake(bytes.fromhex(port.MAC().replace(":", "")))  # to be sent when it was opened
        place = TRAFFIC.pack(0, 0, port.index, *place_of(queue), 0)
        self._to_open = place + _change(FREE, FREE_BURST, limit)
        self._to_shut = place + _change(SHUT, _largest(port.link.mtu), limit)

    def shut(self, kernel: Netlink) -> None:
        """Hold data from now on. ``kernel`` is that of the port's namespace. Raises OSError."""
        _move(kernel, self._to_shut)

    def open(self, kernel: Netlink) -> None:
        """Release it, as soon as the shaper is woken up. Raises OSError."""
        _move(kernel, self._to_open)


def _move(kernel: Netlink, change: bytes) -> None:
    try:
        kernel.ask(RTM_NEWQDISC, change)
    except OSError as error:
        raise OSError(error.errno, f"cannot move the gate of a port: {error.strerror}") from error


def _change(rate: int, burst: int, limit: int) -> bytes:
    """What gives the gate another rate (bytes/s) and bucket (bytes, full from then on)."""
    spec, none = RATE_SPEC.pack(0, LINK_ETHERNET, 0, 0, 0, rate), RATE_SPEC.pack(0, 0, 0, 0, 0, 0)
    parameters = spec + none + struct.pack("=III", limit, 0, 0)
    options = attribute(TCA_TBF_PARMS, parameters) + number(TCA_TBF_BURST, burst)
    return text(TCA_KIND, "tbf") + attribute(TCA_OPTIONS, options)
