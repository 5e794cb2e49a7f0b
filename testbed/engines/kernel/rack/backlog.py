"""The physical queue of one interface, and whether it works, each read with a single netlink request.

pyroute2 asks for all queues of a namespace and picks one, which takes 5 ms in a rack; this takes 20 us, so that it can
be compared with the virtual queue at the same moment.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from testbed.engines.kernel.rack.netlink import ECHO, TRAFFIC, Netlink, attributes

RTM_GETLINK, RTM_GETQDISC = 18, 38
TC_H_ROOT = 0xFFFFFFFF
TCA_STATS2, TCA_STATS_BASIC, TCA_STATS_QUEUE = 7, 1, 3
INTERFACE = struct.Struct("=BxHiII")  # head of a message about interfaces: family, type, index, flags, change
IFLA_OPERSTATE, IF_OPER_UP = 16, 6


@dataclass(frozen=True)
class QueueState:
    """What a qdisc has sent and dropped so far, and its backlog."""

    sent_bytes: int
    backlog: int  # bytes
    dropped: int  # packets


class QueueReader(Netlink):
    """Reads the root qdiscs of the namespace that the caller is in when it is made."""

    def read(self, ifindex: int) -> QueueState:
        """The state of an interface's root qdisc now. Raises OSError if there is none."""
        try:  # without echo the kernel answers only to those who listen for changes
            answer = self.ask(RTM_GETQDISC, TRAFFIC.pack(0, 0, ifindex, 0, TC_H_ROOT, 0), ECHO)
        except OSError as error:
            raise OSError(error.errno, f"no qdisc at interface {ifindex}") from error
        stats = attributes(attributes(answer[TRAFFIC.size :])[TCA_STATS2])
        (sent,) = struct.unpack_from("=Q", stats[TCA_STATS_BASIC])
        _, backlog, dropped = struct.unpack_from("=III", stats[TCA_STATS_QUEUE])
        return QueueState(sent, backlog, dropped)

    def is_running(self, ifindex: int) -> bool:
        """Whether the kernel has activated the interface's queue; before that it drops everything."""
        answer = self.ask(RTM_GETLINK, INTERFACE.pack(0, 0, ifindex, 0, 0), 0)
        return attributes(answer[INTERFACE.size :])[IFLA_OPERSTATE] == bytes([IF_OPER_UP])
