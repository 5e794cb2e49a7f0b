"""System calls that Python does not have, against the kernel."""

from __future__ import annotations

import ctypes
import socket

from testbed.base import linux


def test_many_packets_go_out_with_few_calls_and_nothing_else_is_touched() -> None:
    """The kernel notes in each message what it sent: with another layout than its own, in someone else's memory."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, receiver:
        receiver.settimeout(5)
        for count in (1, 2, 7):
            linux.send_many(sender.fileno(), b"x" * 100, count)
            assert [len(receiver.recv(200)) for _ in range(count)] == [100] * count
    assert ctypes.sizeof(linux._Message) == 64  # sys/socket.h on 64 bits
