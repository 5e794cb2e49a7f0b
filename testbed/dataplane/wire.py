"""wire.h and maps.h for Python: packet layout as bytes, records and counters as numpy types.

`frame` builds the bytes that a sender's socket carries (from BTH on; the kernel adds UDP, IP and Ethernet).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.experiment.topology.dscp import DSCPS
from testbed.experiment.topology.framing import ICRC, RETH, Framing
from testbed.experiment.transport import Transport

ROCE_PORT = 4791
LOSSLESS = 3  # the priority of data; ACKs and CNPs have others and are never paused
QUEUES = 8  # of a port, with classes
FIRST_QUEUE = 0x00020001  # as a packet's priority: it waits in queue 0; the next number is the next queue
LOSSLESS_CLASS = 0x00020001  # where data waits at a port that has a gate; see `testbed.engines.kernel.rack.gate`
DATA_TOS = 26 << 2 | 2  # what RoCE data carries by convention: DSCP 26, which NICs map to priority 3, and ECT(0)
SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_ONLY_IMM = 0x00, 0x01, 0x03, 0x05
WRITE = 0x06  # more than the SEND of the same place in a message
DATA = range(WRITE + SEND_ONLY_IMM + 1)  # opcodes
ACK = 0x11
CNP = 0x81
SRC = 0xC0  # of Bolt's switches
CREDIT = 0xC1  # of a receiver
ACK_REQUEST = 0x80
PAD = 0x30  # bytes of payload that only fill a word
AETH_ACK, AETH_NAK, AETH_TRIMMED = 0x1F, 0x60, 0x65  # syndromes: no credits; PSN sequence error; a reserved one
SHIM_INT = 0x01
SHIM_CE = 0x02
SHIM_SRC, SHIM_FIRST, SHIM_LAST, SHIM_INC, SHIM_DEC = 0x04, 0x08, 0x10, 0x20, 0x40  # Bolt's
SHIM_AGAIN = 0x80  # sent before, under the same number
MOST_AHEAD = 2048  # packets that a receiver can keep behind a missing one
MAX_HOPS = 8
QP_BASE = 0x100
RATE_SHIFT = 32
LINK_DOWN = (1 << 32) - 1  # as the loss of a port: nothing passes its link
QUEUE_SUB_BITS = 3
QUEUE_BINS = 224

BTH = struct.Struct("!BBHIII")  # opcode, flags, P_Key, queue pair, PSN, ImmDt or AETH
SHIM = struct.Struct("!QHHBBH")  # departure, frame, payload, TTL, flags, ingress
INT_HEADER = struct.Struct("!BBHIHHHH")
INT_HOP = struct.Struct("!IIQQI")
P_KEY = 0xFFFF  # the default partition

INT_DOMAIN = 0x7B  # our domain-specific metadata; any number that no other domain here uses
INT_ALL = 0xF800  # domain-specific instructions: node, queue, time, bytes, rate

RECORD_HOP = np.dtype(
    [("ts_ns", "<u8"), ("tx_bytes", "<u8"), ("node", "<u4"), ("queue", "<u4"), ("rate", "<u4"), ("reserved", "<u4")]
)
RECORD = np.dtype(
    [
        *((name, "<u8") for name in ("rx_ns", "tx_ns")),
        *((name, "<u4") for name in ("flow", "psn")),
        *((name, "<u2") for name in ("frame", "payload")),
        *((name, "u1") for name in ("opcode", "flags", "ttl", "hops")),
        ("hop", RECORD_HOP, (MAX_HOPS,)),
    ]
)
FLOW_TX = np.dtype(
    [
        *((name, "<u8") for name in ("packets", "acks", "ce_echoes", "cnps", "ring_full")),
        *((name, "<u4") for name in ("ring", "notice_ring")),
        *((name, "<u8") for name in ("notices_made", "notices", "lost", "answers_lost")),
    ]
)
FLOW_RX = np.dtype(
    [
        *((name, "<u8") for name in ("packets", "payload_bytes", "ce", "cnps", "gaps", "reorders", "last_cnp_ns")),
        *((name, "<u4") for name in ("next_psn", "ring")),
    ]
)
RECEIVER = np.dtype(
    [
        *((name, "<u4") for name in ("lock", "expected", "asked", "marks", "messages", "trims")),
        *((name, "<u8") for name in ("delivered", "payload_bytes", "duplicates", "discarded", "acks", "naks")),
        ("overtaken", "<u8"),
        *((name, "<u8", (MOST_AHEAD // 64,)) for name in ("kept", "ends")),
    ]
)
"""struct receiver of receive.bpf.h."""
PORT_CONFIG = np.dtype(
    [
        *((name, "<u8") for name in ("drain", "rate_Bps", "longest_ns")),
        *((name, "<u4") for name in ("buffer", "node", "rate_kbps", "loss", "slack", "peer")),
        ("spare", "<u8", (2,)),
    ]
)
PORT_RED = np.dtype([(name, "<u4") for name in ("lock", "kmin", "kmax", "pmax")])
PORT_QUEUE = np.dtype(
    [
        *((name, "<u4") for name in ("lock", "random")),
        *((name, "<u8") for name in ("bytes", "last_ns", "tx_bytes", "sent")),
        *((name, "<u4") for name in ("offered", "share", "position", "drawn")),
        ("spare", "<u8"),
    ]
)
PORT_COUNTERS = np.dtype(
    [
        *((name, "<u8") for name in ("packets", "bytes", "marked_packets", "marked_bytes", "dropped_packets")),
        *((name, "<u8") for name in ("dropped_bytes", "lost_packets", "queue", "last_ns", "peak", "area", "found")),
        *((name, "<u8") for name in ("stalled", "trimmed_packets")),
        ("histogram", "<u8", (QUEUE_BINS,)),
        ("spare", "<u8", (2,)),
    ]
)
ARRIVALS = np.dtype(
    [
        *((name, "<u8") for name in ("bytes", "packets", "answered", "detour", "loss", "drawn")),
        ("spare", "<u8", (2,)),
    ]
)
# CNP interval in wall ns, ring flags, flowlet gap in wall ns, PFC or not, xon; port and P_Key of the tag, big-endian;
# far end or not; routing, seed; second bytes of the IP headers of ACKs and CNPs; flows that send again, packets that
# receivers keep behind a missing one, credits, what is left of trimmed packets, whether hosts are slow
NIC_SETTINGS = struct.Struct("=QQQIIHHIIIIIIIIIII")
# xoff, xon, limit, whether flows are counted, queue from which on SRCs are sent, bytes of a full packet, routing,
# seed
PORT_SETTINGS = struct.Struct("=IIIIIIII")
PORT_BOLT = np.dtype([("supply", "<i8"), ("leaving", "<u8"), ("asked", "<u8"), ("made", "<u8")])
FLOWLET = np.dtype([("last_ns", "<u8"), ("hash", "<u4"), ("reserved", "<u4")])
BY_HASH, BY_SENDER, SPRAYED, BY_FLOWLET, ADAPTIVE, VALIANT = range(6)  # routing
MOST_NEXT_HOPS = 64
NEXT_HOPS = np.dtype([("count", "<u4"), ("port", "<u4", (MOST_NEXT_HOPS,))])
FIRST_PORT = 0xC000  # RoCEv2 takes source ports from the dynamic range, for ECMP's sake
INGRESS = np.dtype(
    [
        *((name, "<u8") for name in ("bytes", "peak", "paused", "paused_at", "paused_ns", "pauses", "unsignalled")),
        ("frames", "<u8"),
    ]
)
BELOW_XON, ABOVE_XOFF, PAUSE_RECEIVED = range(3)  # what a pause event is about
PAUSE_EVENT = np.dtype([("ns", "<u8"), ("port", "<u4"), ("what", "<u2"), ("quanta", "<u2")])
PAUSE_SPAN = np.dtype([("from", "<u8"), ("until", "<u8")])
PAUSE = np.dtype(
    [
        ("span", PAUSE_SPAN, (2,)),
        *((name, "<u8") for name in ("spans", "paused_ns", "frames", "late_ns", "hold_ns", "quantum_ps")),
    ]
)
SCARCE = 8  # packets
CLASS_TABLE = np.dtype(
    [
        *((name, "<u4") for name in ("interfaces", "at_dequeue", "wred", "others")),
        *((name, "u1", (DSCPS,)) for name in ("queue_of", "group_of")),
        ("paused_by", "u1", (QUEUES,)),
        *((name, "<u4") for name in ("shared", "lossless", "trim_size", "trim_queue", "trim_tos")),
    ]
)
SHARE = np.dtype([("reserved", "<u4"), ("alpha", "<u4"), *((name, "<u8") for name in ("limit", "pool", "bytes"))])
GROUP = np.dtype(
    [
        ("share", SHARE),
        *((name, "<u8") for name in ("headroom", "xon", "xon_offset")),
        *((name, "<u8") for name in ("bytes", "above", "peak", "peak_above", "dropped_packets")),
    ]
)
POOL = np.dtype(  # of pool.bpf.h
    [
        *((name, "<u4") for name in ("lock", "reserved")),
        *((name, "<u8") for name in ("size", "headroom", "in", "out", "above", "peak")),
    ]
)
INTAKE = np.dtype(  # of intake.bpf.h
    [
        *((name, "<u4") for name in ("lock", "reserved")),
        *((name, "<u8") for name in ("drain", "xoff", "xon", "limit", "bytes", "last_ns")),
        ("until", "<u8", (8,)),
    ]
)
ALPHA_SHIFT = 20
UNLIMITED = 1 << 40  # bytes: more than a switch has
CLOSED = UNLIMITED + 1  # as a limit: nothing is admitted
PRIORITIES = 8
DEPARTURES = np.dtype([("bytes", "<u8"), ("packets", "<u8"), ("byte_ns", "<u8")])
FLOW_KEY = np.dtype([("port", "<u4"), ("src", ">u4"), ("dst", ">u4"), ("qp", ">u4")])
FLOW_SEEN = np.dtype([("bytes", "<u8"), ("last_ns", "<u8")])


def routing(name: str) -> int:
    """The number of what an experiment's `routing` names; a path chooser's is BY_SENDER."""
    switched = {
        "ecmp": BY_HASH, "spray": SPRAYED, "flowlet": BY_FLOWLET, "adaptive": ADAPTIVE, "valiant": VALIANT,
    }  # fmt: skip
    return switched.get(name, BY_SENDER)


PER_PACKET, GO_BACK_N, SELECTIVE_REPEAT = range(3)  # recovery


def recovery(transport: Transport) -> tuple[int, int]:
    """The number of an experiment's `transport.recovery`, and packets that its receivers keep behind a missing one."""
    number = ("per-packet", "go-back-n", "selective-repeat").index(transport.recovery)
    return number, transport.bitmap if number == SELECTIVE_REPEAT else 0


@dataclass(frozen=True)
class Tag:
    """What distinguishes the packets of a run from all others on their wire."""

    port: int = ROCE_PORT  # of UDP
    p_key: int = P_KEY  # the partition


RACK = Tag()  # where there are no others


def frame(framing: Framing, flow: int, payload: int, tag: Tag = RACK) -> bytes:
    """The UDP payload of a data packet of ``flow``; the sender's NIC fills in PSN and departure."""
    size = framing.overhead + payload
    bth = BTH.pack(SEND_ONLY_IMM + WRITE * framing.write, 0x40, tag.p_key, QP_BASE + flow, ACK_REQUEST << 24, 0)
    shim = SHIM.pack(0, size, payload, 0, SHIM_INT if framing.int_hops else 0, 0)
    return bth + shim + int_header(framing.int_hops) + bytes(RETH * framing.write + payload + ICRC)


def room_for_reth(packet: NDArray[np.uint8], payload: int) -> int:
    """Where in a packet that a socket carries, with so much user data, an RETH has room; 0 if it is a SEND."""
    return len(packet) - payload - ICRC - RETH if packet[0] >= WRITE else 0


def int_header(hops: int) -> bytes:
    """INT-MD shim and header with ``hops`` empty records; nothing for 0 hops."""
    if not hops:
        return b""
    words = (INT_HEADER.size - 4 + hops * INT_HOP.size) // 4
    version = 2 << 28 | (INT_HOP.size // 4) << 8 | hops
    return INT_HEADER.pack(1 << 4, words, 0, version, 0, INT_DOMAIN, INT_ALL, 0) + bytes(hops * INT_HOP.size)
