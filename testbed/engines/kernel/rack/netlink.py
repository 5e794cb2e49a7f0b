"""Netlink messages, and a socket for one request at a time, which takes 20 us.

For what cannot wait for pyroute2, which takes milliseconds in a rack (a queue is compared with the model's at the
moment it is read; a gate moves in time), and for Open vSwitch's datapath.
"""

from __future__ import annotations

import os
import socket
import struct

ROUTE, GENERIC = 0, 16  # families: interfaces and queues; generic netlink
ERROR = 2  # type of an acknowledgement
REQUEST, ACK = 1, 4  # flags
ECHO = 8  # flag: answer the sender too, not only multicast listeners
HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence number, port
ATTRIBUTE = struct.Struct("=HH")  # length, type
TRAFFIC = struct.Struct("=BxHiIII")  # head of a message about queues: family, index, handle, parent, info
KIND = 0x3FFF  # bits of an attribute's type


class Netlink:
    """A socket in the network namespace that the caller is in; waits for an answer for ``patience`` s."""

    def __init__(self, family: int = ROUTE, patience: float = 1.0) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, family)
        self._socket.settimeout(patience)

    def ask(self, kind: int, body: bytes, flags: int = ACK) -> bytes:
        """The body of the kernel's answer, if there is one besides its acknowledgement. Raises OSError."""
        self._socket.send(HEADER.pack(HEADER.size + len(body), kind, REQUEST | flags, 1, 0) + body)
        answer = b""
        while True:
            message = self._socket.recv(1 << 16)
            if HEADER.unpack_from(message)[1] != ERROR:
                answer = message[HEADER.size :]
                if flags & ACK:
                    continue
                return answer
            (error,) = struct.unpack_from("=i", message, HEADER.size)
            if error:
                raise OSError(-error, os.strerror(-error))
            return answer

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def attribute(kind: int, value: bytes) -> bytes:
    """One attribute, padded."""
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(value), kind) + value + bytes(-len(value) % 4)


def number(kind: int, value: int) -> bytes:
    """An attribute of 32 bits."""
    return attribute(kind, struct.pack("=I", value))


def text(kind: int, value: str) -> bytes:
    """An attribute that is a name."""
    return attribute(kind, value.encode() + b"\0")


def attributes(data: bytes) -> dict[int, bytes]:
    """Values by type, of a message's attributes or of those in one of them."""
    found, offset = {}, 0
    while offset + ATTRIBUTE.size <= len(data):
        length, kind = ATTRIBUTE.unpack_from(data, offset)
        found[kind & KIND] = data[offset + ATTRIBUTE.size : offset + length]
        offset += (length + 3) & ~3
    return found
