"""Runs inside the guest, for `test_kernel.py`: tries what the testbed needs of a kernel, prints what it saw as JSON.

Two namespaces joined by a veth pair: ours with v0, the peer's with v1. The peer's kernel answers our pings, so that a
round trip contains no process's scheduling; eBPF at v0 takes the times, as the testbed does.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import socket
import statistics
import struct
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyroute2 import IPRoute

from testbed.dataplane.libbpf import Object
from testbed.engines.kernel import features

SLOTS = 4096  # as in STAMP_SOURCE
CLONE_NEWNET = 0x40000000
EGRESS, INGRESS = 0xFFFFFFF3, 0xFFFFFFF2
UDP, PAYLOAD = 17, 958  # with UDP, IP and Ethernet headers 1,000 bytes

# Stores when packet number n passed, in arrays that we map. Numbers: ICMP sequence, or first two bytes of UDP payload.
STAMP_SOURCE = """
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct times {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, __u32);
    __type(value, __u64);
};
struct times left SEC(".maps"), came SEC(".maps");
static int stamp(struct __sk_buff *skb, void *map)
{
    __u8 protocol;
    __u16 number;
    if (bpf_skb_load_bytes(skb, 23, &protocol, 1) || bpf_skb_load_bytes(skb, protocol == 17 ? 42 : 40, &number, 2))
        return 0;
    __u32 slot = __builtin_bswap16(number);
    __u64 *time = bpf_map_lookup_elem(map, &slot);
    if (time)
        *time = bpf_ktime_get_ns();
    return 0;
}
SEC("tc") int egress(struct __sk_buff *skb) { return stamp(skb, &left); }
SEC("tc") int ingress(struct __sk_buff *skb) { return stamp(skb, &came); }
char _license[] SEC("license") = "GPL";
"""


class Wire:
    """The veth pair and the programs on it."""

    def __init__(self, program: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(CLONE_NEWNET) == 0  # the peer's, for now
        peer_namespace = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.peer = IPRoute()
        self.sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        assert libc.unshare(CLONE_NEWNET) == 0  # ours
        self.ip = IPRoute()
        self.ip.link("add", ifname="v0", kind="veth", peer={"ifname": "v1", "net_ns_fd": peer_namespace})
        self.v0 = self._address(self.ip, "v0", "10.0.0.1")
        self.v1 = self._address(self.peer, "v1", "10.0.0.2")
        self.sink.bind(("10.0.0.2", 9))

        self.object = Object(program)
        self.object.load()
        self.left, self.came = (self._view(name) for name in ("left", "came"))
        for ip, link, name, hook in (
            (self.ip, self.v0, "egress", EGRESS),
            (self.ip, self.v0, "ingress", INGRESS),
            (self.peer, self.v1, "ingress", INGRESS),
        ):
            if hook == EGRESS or ip is self.peer:
                ip.tc("add", "clsact", link)
            fd = self.object.program_fd(name)
            ip.tc("add-filter", "bpf", link, fd=fd, name=name, parent=hook, direct_action=True)
        self.icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self.icmp.settimeout(1.0)

    @staticmethod
    def _address(ip: IPRoute, name: str, address: str) -> int:
        (index,) = ip.link_lookup(ifname=name)
        ip.link("set", index=index, state="up")
        ip.addr("add", index=index, address=address, prefixlen=24)
        return int(index)

    def _view(self, name: str) -> NDArray[np.uint64]:
        return np.frombuffer(mmap.mmap(self.object.map_fd(name), SLOTS * 8), np.uint64)

    def ping(self, number: int) -> None:
        """One echo, and its answer."""
        head = struct.pack("!BBHHH", 8, 0, 0, 1, number)
        total = sum(struct.unpack("!4H", head))
        self.icmp.sendto(head[:2] + struct.pack("!H", 0xFFFF - total % 0xFFFF) + head[4:], ("10.0.0.2", 0))
        while self.icmp.recv(2000)[20] != 0:  # not the answer's type: something else came in
            pass

    def round_trips(self, count: int) -> list[float]:
        """Seconds from v0's egress hook, above the qdisc, to its ingress hook."""
        self.ping(0)  # address resolution
        for number in range(1, count + 1):
            self.ping(number)
        return [float(self.came[n] - self.left[n]) / 1e9 for n in range(1, count + 1)]

    def arrivals(self, count: int) -> NDArray[np.uint64]:
        """When each packet of a burst came to v1 (ns); 0 for those that did not."""
        self.came[:] = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for number in range(count):
                sock.sendto(struct.pack("!H", number).ljust(PAYLOAD), ("10.0.0.2", 9))
            deadline = time.monotonic() + 5
            while not self.came[:count].all() and time.monotonic() < deadline:
                time.sleep(0.02)
        return self.came[:count].copy()


def main(program: Path) -> dict[str, Any]:
    seen: dict[str, Any] = {"release": os.uname().release, "features": features.ask()}
    wire = Wire(program)

    before = time.monotonic_ns()
    wire.ping(1)
    seen["clock"] = [before, int(wire.left[1]), int(wire.came[1]), time.monotonic_ns()]

    seen["plain"] = wire.round_trips(50)
    wire.ip.tc("add", "netem", wire.v0, handle="1:", delay=8000)  # us
    seen["netem"] = wire.round_trips(50)
    wire.ip.tc("replace", "netem", wire.v0, handle="1:", delay=4000)
    wire.peer.tc("add", "netem", wire.v1, handle="1:", delay=4000)
    seen["netem both ways"] = wire.round_trips(50)
    wire.ip.tc("del", index=wire.v0, handle="1:", root=True)
    wire.peer.tc("del", index=wire.v1, handle="1:", root=True)

    wire.ip.tc("add", "tbf", wire.v0, rate="10mbit", burst=3000, limit=1_000_000)
    times = wire.arrivals(200)
    seen["tbf lost"] = int((times == 0).sum())
    seen["tbf gap"] = statistics.median(np.diff(times.astype(np.int64))[10:].tolist()) / 1e9
    return seen


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
