"""An Open vSwitch datapath with static flows, made by generic netlink: the kernel's part alone, without daemons.

A datapath lives in the network namespace it was made in and goes with it. Packets that no flow matches would be
handed to a daemon; there is none, so they are dropped.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

NETLINK_GENERIC = 16
NLMSG_ERROR = 2
NLM_F_REQUEST_ACK = 1 | 4
HEADER = struct.Struct("=IHHII")  # netlink: length, type, flags, sequence number, port
GENERIC = struct.Struct("=BBxx")  # command, version
ATTRIBUTE = struct.Struct("=HH")  # length, type
CONTROL, GET_FAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2

# linux/openvswitch.h
NEW = 1  # the command, in each of the families
VERSIONS = {"ovs_datapath": 2, "ovs_vport": 1, "ovs_flow": 1}
DP_NAME, DP_UPCALL_PID = 1, 2
PORT_NUMBER, PORT_TYPE, PORT_NAME, PORT_UPCALL_PID = 1, 2, 3, 5
NETDEV = 1  # port type: an existing interface
FLOW_KEY, FLOW_ACTIONS, FLOW_MASK = 1, 2, 7
KEY_ETHERNET, OUTPUT = 4, 1
NOBODY = struct.pack("=I", 0)  # who gets packets without a flow
ANY_SOURCE = bytes(6)


class Datapath:
    """A switch in the namespace that the caller is in. Raises OSError where the kernel has no Open vSwitch."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_GENERIC)
        self._socket.settimeout(5.0)
        self._families = {family: self._family(family) for family in VERSIONS}
        self._index = 0
        self._new("ovs_datapath", (DP_NAME, _text(name)), (DP_UPCALL_PID, NOBODY))
        self._index = socket.if_nametoindex(name)

    def add_port(self, number: int, interface: str) -> None:
        """An interface of this namespace becomes a port."""
        numbers = ((PORT_NUMBER, struct.pack("=I", number)), (PORT_TYPE, struct.pack("=I", NETDEV)))
        self._new("ovs_vport", *numbers, (PORT_NAME, _text(interface)), (PORT_UPCALL_PID, NOBODY))

    def forward(self, mac: str, number: int) -> None:
        """What is addressed to ``mac`` leaves at a port."""
        key = ANY_SOURCE + bytes.fromhex(mac.replace(":", ""))
        mask = ANY_SOURCE + b"\xff" * 6
        self._new(
            "ovs_flow",
            (FLOW_KEY, _attributes((KEY_ETHERNET, key))),
            (FLOW_MASK, _attributes((KEY_ETHERNET, mask))),
            (FLOW_ACTIONS, _attributes((OUTPUT, struct.pack("=I", number)))),
        )

    def close(self) -> None:
        """Close the socket; the datapath stays as long as its namespace."""
        self._socket.close()

    def _family(self, name: str) -> int:
        try:
            answer = self._ask(CONTROL, GENERIC.pack(GET_FAMILY, 1) + _attributes((FAMILY_NAME, _text(name))))
        except FileNotFoundError:
            raise OSError(errno.ENOENT, "this kernel has none") from None
        offset = HEADER.size + GENERIC.size
        while offset < len(answer):
            length, kind = ATTRIBUTE.unpack_from(answer, offset)
            if kind == FAMILY_ID:
                return int(struct.unpack_from("=H", answer, offset + ATTRIBUTE.size)[0])
            offset += (length + 3) & ~3
        raise OSError(errno.EPROTO, f"the kernel did not say the number of {name}")

    def _new(self, family: str, *attributes: tuple[int, bytes]) -> None:
        head = GENERIC.pack(NEW, VERSIONS[family]) + struct.pack("=I", self._index)
        self._ask(self._families[family], head + _attributes(*attributes))

    def _ask(self, family: int, body: bytes) -> bytes:
        """The kernel's answer, if there is one besides its acknowledgement."""
        self._socket.send(HEADER.pack(HEADER.size + len(body), family, NLM_F_REQUEST_ACK, 1, 0) + body)
        answer = b""
        while True:
            message = self._socket.recv(1 << 16)
            if HEADER.unpack_from(message)[1] != NLMSG_ERROR:
                answer = message
                continue
            (error,) = struct.unpack_from("=i", message, HEADER.size)
            if error:
                raise OSError(-error, os.strerror(-error))
            return answer


def _text(name: str) -> bytes:
    return name.encode() + b"\0"


def _attributes(*attributes: tuple[int, bytes]) -> bytes:
    data = b""
    for kind, value in attributes:
        length = ATTRIBUTE.size + len(value)
        data += ATTRIBUTE.pack(length, kind) + value + bytes(-length % 4)
    return data
