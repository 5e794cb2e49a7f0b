"""The physical queue of one interface, read with a single netlink request.

pyroute2 asks for all queues of a namespace and picks one, which takes 5 ms in a rack; this takes 20 us, so that it can
be compared with the virtual queue at the same moment.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from testbed.base import linux
from testbed.engines.kernel.rack.netlink import ECHO, TRAFFIC, Netlink, attributes

RTM_GETQDISC = 38
TC_H_ROOT = 0xFFFFFFFF
TCA_STATS2, TCA_STATS_BASIC, TCA_STATS_QUEUE = 7, 1, 3


@dataclass(frozen=True)
class QueueState:
    """What a qdisc has sent and dropped so far, and its backlog."""

    sent_bytes: int
    backlog: int  # bytes
    dropped: int  # packets


class QueueReader:
    """Reads the root qdiscs of one namespace."""

    def __init__(self, netns: int) -> None:
        with linux.inside(netns):
            self._netlink = Netlink()

    def read(self, ifindex: int) -> QueueState:
        """The state of an interface's root qdisc now. Raises OSError if there is none."""
        try:  # without echo the kernel answers only to those who listen for changes
            answer = self._netlink.ask(RTM_GETQDISC, TRAFFIC.pack(0, 0, ifindex, 0, TC_H_ROOT, 0), ECHO)
        except OSError as error:
            raise OSError(error.errno, f"no qdisc at interface {ifindex}") from error
        stats = attributes(attributes(answer[TRAFFIC.size :])[TCA_STATS2])
        (sent,) = struct.unpack_from("=Q", stats[TCA_STATS_BASIC])
        _, backlog, dropped = struct.unpack_from("=III", stats[TCA_STATS_QUEUE])
        return QueueState(sent, backlog, dropped)
