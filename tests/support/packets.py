"""Frames for the programs, and running a program on one frame (BPF_PROG_TEST_RUN): the real code, without a wire."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_int, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np

from testbed.base import linux
from testbed.clock import WallRate
from testbed.dataplane import wire
from testbed.dataplane.port_maps import Port
from testbed.dataplane.programs import NO_PFC, NO_SRC, NicPrograms, Notices, PortPrograms, Thresholds
from testbed.experiment.topology import framing
from testbed.experiment.topology.framing import Framing

UNSPEC, OK, SHOT, REDIRECT = 0xFFFFFFFF, 0, 2, 7
LOOPBACK = 1  # ifindex of the interface that test runs are on
NOT_ECT, ECT0, CE = 0, 2, 3
SKB = 192  # bytes of struct __sk_buff, whose third field is the mark
PEER = 2  # ifindex of what would be at the far end of the link
H1, H2 = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
IP1, IP2 = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
FRAMING = Framing(payload=1000, int_hops=2)
PLAIN = Framing(payload=1000)


class _Options(ctypes.Structure):
    """struct bpf_test_run_opts."""

    _fields_ = [
        ("sz", c_size_t),
        ("data_in", c_void_p),
        ("data_out", c_void_p),
        ("data_size_in", c_uint32),
        ("data_size_out", c_uint32),
        ("ctx_in", c_void_p),
        ("ctx_out", c_void_p),
        ("ctx_size_in", c_uint32),
        ("ctx_size_out", c_uint32),
        ("retval", c_uint32),
        ("repeat", c_int),
        ("duration", c_uint32),
        ("flags", c_uint32),
        ("cpu", c_uint32),
        ("batch_size", c_uint32),
    ]


def run(program: int, frame: bytes, repeat: int = 1, mark: int = 0) -> tuple[int, bytes]:
    """Verdict of a program and the frame as it left it. Repeated runs see the frame that the one before left."""
    context = ctypes.create_string_buffer(struct.pack("=8xI", mark), SKB)
    data, out = ctypes.create_string_buffer(frame, len(frame)), ctypes.create_string_buffer(1 << 14)
    options = _Options(
        sz=ctypes.sizeof(_Options),
        data_in=ctypes.addressof(data),
        data_out=ctypes.addressof(out),
        data_size_in=len(frame),
        data_size_out=len(out),
        ctx_in=ctypes.addressof(context) if mark else None,
        ctx_size_in=SKB if mark else 0,
        repeat=repeat,
    )
    library = ctypes.CDLL("libbpf.so.1", use_errno=True)
    if library.bpf_prog_test_run_opts(program, ctypes.byref(options)) != 0:
        raise OSError(ctypes.get_errno(), "BPF_PROG_TEST_RUN")
    return options.retval, out.raw[: options.data_size_out]


def frame_of(size: int) -> bytes:
    """A data frame of exactly ``size`` bytes."""
    frame = data(payload=size - PLAIN.overhead)
    assert len(frame) == size
    return frame


def checksum(data: bytes) -> int:
    """Of IPv4, UDP and TCP (RFC 1071); 0 over what carries a valid one."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF)


def on_the_wire(udp_payload: bytes, tos: int = ECT0, dst: bytes = H2, port: int = wire.ROCE_PORT) -> bytes:
    """Ethernet, IPv4 and UDP around what a socket sends, from h1 to h2."""
    length = 28 + len(udp_payload)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, tos, length, 0, 0, 61, 17, 0, IP1, IP2)
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    udp = struct.pack("!HHHH", 0xC000, port, length - 20, 0)
    return dst + H1 + b"\x08\x00" + ip + udp + udp_payload


def data(
    flow: int = 0,
    framing: Framing = PLAIN,
    *,
    tos: int = ECT0,
    psn: int = 0,
    payload: int | None = None,
    dst: bytes = H2,
) -> bytes:
    """A data frame as it leaves the sender's NIC, but for its departure time."""
    carried = wire.frame(framing, flow, framing.payload if payload is None else payload)
    return with_psn(on_the_wire(carried, tos, dst), psn)


PSN_AT = framing.ETHERNET_IP_UDP + 8
SHIM_AT = framing.ETHERNET_IP_UDP + wire.BTH.size
INT_AT = SHIM_AT + wire.SHIM.size


def with_psn(frame: bytes, psn: int) -> bytes:
    """The frame with another packet number."""
    return frame[: PSN_AT + 1] + psn.to_bytes(3, "big") + frame[PSN_AT + 4 :]


def psn_of(frame: bytes) -> int:
    return int.from_bytes(frame[PSN_AT + 1 : PSN_AT + 4], "big")


def shim_of(frame: bytes) -> tuple[int, ...]:
    """Departure, frame size, payload size, TTL, flags, reserved."""
    return wire.SHIM.unpack_from(frame, SHIM_AT)


def ecn_of(frame: bytes) -> int:
    return frame[15] & 3


class Bench:
    """NIC and port programs, loaded; the port is the loopback interface of a private namespace."""

    def __init__(
        self,
        *,
        flows: int = 8,
        cnp_interval_ns: int = 1_000_000,
        rings: int = 1,
        pfc: Thresholds = NO_PFC,
        monitor: int = 0,
        src: Notices = NO_SRC,
        routing: int = wire.BY_HASH,
        seed: int = 1,
        recovery: tuple[int, int] = (wire.PER_PACKET, 0),
    ) -> None:
        self.nic = NicPrograms(
            8, flows, rings, cnp_interval_ns, wake_agents=False, pfc=pfc, src=src, routing=routing, seed=seed,
            recovery=recovery,
        )  # fmt: skip
        self.ports = PortPrograms(self.nic, monitor)

    def port(
        self,
        rate: float = 100e6,
        buffer: int = 1 << 20,
        *,
        loss: float = 0.0,
        seed: int = 1,
        slack: int = 3000,
        peer: int = 0,
    ) -> None:
        """Switch the port on, with no marking; without a peer it is not compared with its shaper."""
        self.ports.configure([Port(LOOPBACK, 1 << 16 | 7, WallRate(rate), buffer, slack, loss, peer)], seed)
        self.ports.set_red(LOOPBACK, 1 << 30, 1 << 30, 0.0)

    @property
    def count(self) -> Any:
        """The port's counters, live."""
        return self.ports.counters[LOOPBACK]

    def state(self) -> tuple[int, int, int]:
        """Random state, queue (fixed point), time of the last arrival."""
        (queue,) = self.ports.read("port_queue", np.array([LOOPBACK]))
        return int(queue["random"]), int(queue["bytes"]), int(queue["last_ns"])

    def set_queue(self, size: int, last_ns: int) -> None:
        """Put ``size`` bytes into the virtual queue, as of ``last_ns``; the random state goes on."""
        queue = np.zeros(1, wire.PORT_QUEUE)
        queue["random"], queue["bytes"], queue["last_ns"] = self.state()[0], size << wire.RATE_SHIFT, last_ns
        self.ports.write("port_queue", np.array([LOOPBACK]), queue)

    def freeze(self, size: int) -> None:
        """``size`` bytes in the queue, and no time passes: the last arrival lies in the future."""
        self.set_queue(size, FUTURE)

    def egress(self, frame: bytes, repeat: int = 1) -> tuple[int, bytes]:
        return run(self.ports.fd, frame, repeat)

    def ingress(self, frame: bytes) -> int:
        """Verdict on a frame that comes out of the port's link."""
        return run(self.ports.ingress_fd, frame)[0]

    def tx(self, frame: bytes) -> bytes:
        """What leaves the sender's NIC."""
        verdict, out = run(self.nic.tx_fd, frame)
        assert verdict == OK
        return out

    def rx(self, frame: bytes, repeat: int = 1) -> tuple[int, bytes]:
        return run(self.nic.rx_fd, frame, repeat)

    def close(self) -> None:
        self.nic._object.close()
        self.ports._object.close()
        for fd in self.nic.ring_fds:
            os.close(fd)


FUTURE = 1 << 62


@contextmanager
def bench(**settings: Any) -> Iterator[Bench]:
    """A `Bench` in a network namespace of its own."""
    netns = linux.new_netns()
    try:
        with linux.inside(netns):
            made = Bench(**settings)
            try:
                yield made
            finally:
                made.close()
    finally:
        os.close(netns)
