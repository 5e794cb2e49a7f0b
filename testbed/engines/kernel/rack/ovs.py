"""An Open vSwitch datapath with static flows, made by generic netlink: the kernel's part alone, without daemons.

A datapath lives in the network namespace it was made in and goes with it. Packets that no flow matches would be
handed to a daemon; there is none, so they are dropped.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys

from testbed.engines.kernel.rack import netlink
from testbed.engines.kernel.rack.netlink import Netlink, attribute, number, text

COMMAND = struct.Struct("=BBxx")  # command, version
CONTROL, GET_FAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2

# linux/openvswitch.h
NEW = 1  # the command, in each of the families
VERSIONS = {"ovs_datapath": 2, "ovs_vport": 1, "ovs_flow": 1}
DP_NAME, DP_UPCALL_PID = 1, 2
PORT_NUMBER, PORT_TYPE, PORT_NAME, PORT_UPCALL_PID = 1, 2, 3, 5
NETDEV = 1  # port type: an existing interface
FLOW_KEY, FLOW_ACTIONS, FLOW_MASK = 1, 2, 7
KEY_ETHERNET, OUTPUT = 4, 1
NO_LISTENER = 0  # who gets packets without a flow
ANY_SOURCE = bytes(6)


class Datapath:
    """A switch in the namespace that the caller is in. Raises OSError where the kernel has no Open vSwitch."""

    def __init__(self, name: str) -> None:
        self._netlink = Netlink(netlink.GENERIC, patience=5.0)
        self._families = {family: self._family(family) for family in VERSIONS}
        self._index = 0
        self._new("ovs_datapath", text(DP_NAME, name) + number(DP_UPCALL_PID, NO_LISTENER))
        self._index = socket.if_nametoindex(name)

    def add_port(self, position: int, interface: str) -> None:
        """An interface of this namespace becomes a port."""
        numbers = number(PORT_NUMBER, position) + number(PORT_TYPE, NETDEV) + number(PORT_UPCALL_PID, NO_LISTENER)
        self._new("ovs_vport", numbers + text(PORT_NAME, interface))

    def forward(self, mac: str, position: int) -> None:
        """What is addressed to ``mac`` leaves at a port."""
        key = ANY_SOURCE + bytes.fromhex(mac.replace(":", ""))
        mask = ANY_SOURCE + b"\xff" * 6
        self._new(
            "ovs_flow",
            attribute(FLOW_KEY, attribute(KEY_ETHERNET, key))
            + attribute(FLOW_MASK, attribute(KEY_ETHERNET, mask))
            + attribute(FLOW_ACTIONS, number(OUTPUT, position)),
        )

    def close(self) -> None:
        """Close the socket; the datapath stays as long as its namespace."""
        self._netlink.close()

    def _family(self, name: str) -> int:
        try:
            answer = self._netlink.ask(CONTROL, COMMAND.pack(GET_FAMILY, 1) + text(FAMILY_NAME, name))
        except FileNotFoundError:
            raise OSError(errno.ENOENT, "this kernel has none") from None
        return int.from_bytes(netlink.attributes(answer[COMMAND.size :])[FAMILY_ID], sys.byteorder)

    def _new(self, family: str, attributes: bytes) -> None:
        head = COMMAND.pack(NEW, VERSIONS[family]) + struct.pack("=I", self._index)
        self._netlink.ask(self._families[family], head + attributes)
