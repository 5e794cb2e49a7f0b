"""Real packets through a lab's switch: RoCE data with ECT(0), as fast as it goes, and what of it arrives with CE."""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack

from testbed.base import linux
from testbed.dataplane import wire
from testbed.experiment.topology.framing import Framing
from tests.emulated_lab.host import Host

PACKET = wire.frame(Framing(1000), flow=0, payload=1000)
PACKETS = 1500  # 1.6 MB, which take a port of the lab 0.6 s
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
ROOM = 32 << 20  # bytes
PATIENCE = 2.0  # s without a packet


def namespace(host: Host) -> int:
    """A descriptor of its network namespace."""
    return os.open(f"/proc/{host.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def arrivals(sender: Host, receiver: Host, packets: int = PACKETS) -> tuple[int, int]:
    """How many packets arrived, and how many of them with CE."""
    with ExitStack() as stack:
        sockets = []
        for host in (sender, receiver):
            netns = namespace(host)
            stack.callback(os.close, netns)
            with linux.inside(netns):
                sockets.append(stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        out, come = sockets
        come.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        come.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        come.bind((receiver.roce_address, wire.ROCE_PORT))
        come.settimeout(PATIENCE)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, wire.DATA_TOS)
        out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
        out.connect((receiver.roce_address, wire.ROCE_PORT))
        out.send(PACKET)  # ARP holds few packets
        come.recv(len(PACKET))
        time.sleep(0.01)
        linux.send_many(out.fileno(), PACKET, packets)
        return _count(come, packets)


def _count(come: socket.socket, packets: int) -> tuple[int, int]:
    arrived = marked = 0
    try:
        while arrived < packets:
            _, notes, _, _ = come.recvmsg(2 * len(PACKET), 64)
            arrived += 1
            marked += (notes[0][2][0] & 3) == 3
    except TimeoutError:
        pass
    return arrived, marked
