"""The delay of links for the packets of apps, where the kernel has no netem: see delay.c."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
from collections.abc import Sequence
from ctypes import c_int64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base import linux
from testbed.base.arrays import Ints
from testbed.base.compiler import LIBRARY_FLAGS, Unit
from testbed.errors import TestbedError

SOURCE = Path(__file__).with_suffix(".c")
DELAY = Unit("delay", (SOURCE,), ".so", LIBRARY_FLAGS)
TUN, NAME = Path("/dev/net/tun"), "delayed"
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
QUEUE = 10_000  # frames that may wait until they are read
FIFO_PRIORITY = 1


@dataclass(frozen=True)
class Tap:
    """The way on into a host."""

    file: int
    index: int  # its ifindex there
    address: str  # of the host


def add_tap(netns: int, netlink: Any, mac: str, address: str, mtu: int) -> Tap:
    """In a host's namespace, for frames to ``mac``. Raises TestbedError if the kernel has no TAPs."""
    try:
        with linux.inside(netns):
            file = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", NAME.encode(), IFF_TAP | IFF_NO_PI))
            for interface in ("all", NAME):  # what comes back goes out by e0
                Path(f"/proc/sys/net/ipv4/conf/{interface}/rp_filter").write_text("0")
            ipv6 = Path(f"/proc/sys/net/ipv6/conf/{NAME}/disable_ipv6")
            if ipv6.exists():
                ipv6.write_text("1")
    except OSError as error:
        raise TestbedError(f"apps: links cannot delay their packets: {TUN}: {error.strerror}; load tun") from None
    index = netlink.link_lookup(ifname=NAME)[0]
    netlink.link("set", index=index, address=mac, mtu=mtu, txqlen=QUEUE, state="up")
    return Tap(file, index, address)


class Delaying:
    """A process that delays what comes from each host to each other, ``ns[to, from]`` of wall time. Raises OSError."""

    def __init__(self, taps: Sequence[Tap], ns: Ints) -> None:
        files = np.array([tap.file for tap in taps], np.int32)
        addresses = np.array([struct.unpack("=I", socket.inet_aton(tap.address))[0] for tap in taps], np.uint32)
        ns = np.ascontiguousarray(ns, np.int64)
        library = DELAY.library(delay_apps=(None, [c_int64, c_void_p, c_void_p, c_void_p]))
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                linux.die_with_parent(parent)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                linux.sharpen_timers()
                linux.real_time(FIFO_PRIORITY)
                library.delay_apps(len(taps), files.ctypes.data, addresses.ctypes.data, ns.ctypes.data)
            finally:
                os._exit(1)

    def failure(self) -> str:
        """Why it is gone; empty while it is there."""
        ended = os.waitpid(self.pid, os.WNOHANG)[0]
        return "the process that delays packets of apps has ended" if ended else ""
