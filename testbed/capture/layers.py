"""scapy layers of what is on the wire: RoCEv2 with our shim and INT-MD (see testbed/dataplane/wire.h).

    Ether / IP / UDP / BTH [/ RETH] / ImmDt, AETH, CNP or SRC / Shim [/ IntMd] / payload, and the iCRC

Importing this module makes scapy take UDP port 4791 for these layers. Times are ns of CLOCK_MONOTONIC and rates kbit/s,
both of wall time, as they are in the packet.
"""

from __future__ import annotations

from typing import Any

from scapy.fields import (
    BitField,
    ByteEnumField,
    ByteField,
    ConditionalField,
    FCSField,
    FieldLenField,
    FlagsField,
    IntField,
    LongField,
    PacketListField,
    ShortField,
    XBitField,
    XByteField,
    XIntField,
    XShortField,
    XStrFixedLenField,
)
from scapy.layers.inet import UDP
from scapy.packet import Packet, Raw, bind_top_down

from testbed.capture.reth import BEGINS
from testbed.dataplane import wire

OPERATIONS = (
    "SEND First", "SEND Middle", "SEND Last", "SEND Last with Immediate", "SEND Only", "SEND Only with Immediate",
    "RDMA WRITE First", "RDMA WRITE Middle", "RDMA WRITE Last", "RDMA WRITE Last with Immediate", "RDMA WRITE Only",
    "RDMA WRITE Only with Immediate", "RDMA READ Request", "RDMA READ Response First", "RDMA READ Response Middle",
    "RDMA READ Response Last", "RDMA READ Response Only", "Acknowledge", "ATOMIC Acknowledge", "CmpSwap", "FetchAdd",
)  # fmt: skip
OPCODES = {number: f"RC {name}" for number, name in enumerate(OPERATIONS)} | {
    wire.CNP: "CNP",
    wire.SRC: "SRC",
    wire.CREDIT: "credit",
}
BOLT_FLAGS = ["SRC", "FIRST", "LAST", "INC", "DEC"]
SHIM_FLAGS = ["INT", "CE", *BOLT_FLAGS, "AGAIN"]


def _shim_or_raw(payload: bytes) -> type[Packet]:
    """What follows a RoCEv2 header is our shim, but for packets of other senders."""
    return Shim if len(payload) >= wire.SHIM.size else Raw


class BTH(Packet):
    """Base Transport Header (InfiniBand specification 9.2)."""

    name = "BTH"
    fields_desc = [  # noqa: RUF012 - scapy's way
        ByteEnumField("opcode", wire.SEND_ONLY_IMM, OPCODES),
        BitField("solicited", 0, 1),
        BitField("migration", 1, 1),
        BitField("pad", 0, 2),
        BitField("version", 0, 4),
        XShortField("pkey", wire.P_KEY),
        BitField("fecn", 0, 1),
        BitField("becn", 0, 1),
        BitField("reserved6", 0, 6),
        XBitField("qp", wire.QP_BASE, 24),
        BitField("ack_request", 0, 1),
        BitField("reserved7", 0, 7),
        BitField("psn", 0, 24),
        ConditionalField(FCSField("icrc", 0, fmt="!I"), lambda packet: not _cut(packet)),
    ]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:  # noqa: ARG002
        """By opcode."""
        following: dict[int, type[Packet]] = {wire.ACK: AETH, wire.CNP: CNP, wire.SRC: SRC, wire.CREDIT: Credit}
        following |= dict.fromkeys((wire.SEND_ONLY_IMM, wire.SEND_LAST_IMM, wire.WRITE + wire.SEND_LAST_IMM), ImmDt)
        following |= dict.fromkeys((wire.SEND_FIRST, wire.SEND_MIDDLE, wire.WRITE + wire.SEND_MIDDLE), Unused)
        following |= dict.fromkeys(BEGINS, RETH)
        return following.get(self.opcode, Raw)


def _cut(bth: Packet) -> bool:
    """Whether a captured packet goes on behind its last byte here, so that this is not the iCRC."""
    udp = bth.underlayer
    return isinstance(udp, UDP) and udp.len is not None and udp.len - 8 > len(bth.original) > 0


class _Extended(Packet):
    """An extended transport header of 4 bytes, in front of the shim."""

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return _shim_or_raw(payload)


class RETH(Packet):
    """RDMA Extended Transport Header, of the first packet of a message."""

    name = "RETH"
    fields_desc = [LongField("address", 0), XIntField("r_key", 0), IntField("length", 0)]  # noqa: RUF012

    def guess_payload_class(self, payload: bytes) -> type[Packet]:  # noqa: ARG002
        """Immediate data if it is the last as well."""
        return ImmDt if getattr(self.underlayer, "opcode", None) == wire.WRITE + wire.SEND_ONLY_IMM else Unused


class ImmDt(_Extended):
    """Immediate data, unused."""

    name = "ImmDt"
    fields_desc = [XIntField("data", 0)]  # noqa: RUF012


class Unused(_Extended):
    """The same place in packets that have no immediate data: part of the payload."""

    name = "unused"
    fields_desc = [XIntField("data", 0)]  # noqa: RUF012


class AETH(_Extended):
    """ACK Extended Transport Header."""

    name = "AETH"
    fields_desc = [XByteField("syndrome", 0), BitField("msn", 0, 24)]  # noqa: RUF012


class CNP(Packet):
    """Congestion Notification Packet: what follows its BTH is reserved."""

    name = "CNP"
    fields_desc = [XStrFixedLenField("reserved", bytes(16), 16)]  # noqa: RUF012


class SRC(_Extended):
    """A notice of one of Bolt's switches; the INT record behind its shim is that of the port. As an ACK otherwise."""

    name = "SRC"
    fields_desc = [XIntField("reserved", 0)]  # noqa: RUF012


class Credit(Packet):
    """A receiver's credit: what follows its BTH, whose PSN says how much was granted, is reserved."""

    name = "credit"
    fields_desc = [XStrFixedLenField("reserved", bytes(20), 20)]  # noqa: RUF012


class Shim(Packet):
    """Ours: what the sender's NIC and the receiver's NIC write."""

    name = "Shim"
    fields_desc = [  # noqa: RUF012
        LongField("departure", 0),  # ns
        ShortField("frame", 0),  # bytes of the data packet
        ShortField("payload_bytes", 0),
        ByteField("ttl", 0),  # ACK: with which the data packet arrived
        FlagsField("flags", 0, 8, SHIM_FLAGS),
        ShortField("ingress", 0),  # ifindex of the port at which it came into the switch, with PFC
    ]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:  # noqa: ARG002
        """INT-MD if it says so."""
        return IntMd if self.flags.INT else Raw


class IntHop(Packet):
    """What one switch port wrote."""

    name = "INT hop"
    fields_desc = [  # noqa: RUF012
        ShortField("switch", 0),
        ShortField("port", 0),
        IntField("queue", 0),  # bytes before this packet
        LongField("ns", 0),
        LongField("tx_bytes", 0),
        IntField("kbps", 0),
    ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        """The next hop follows."""
        return b"", s


class IntMd(Packet):
    """INT-MD 2.1 shim and header (P4.org, 2020-11), with the records that the sender reserved."""

    name = "INT-MD"
    fields_desc = [  # noqa: RUF012
        BitField("type", 1, 4),
        BitField("npt", 0, 2),
        BitField("reserved2", 0, 2),
        FieldLenField("length", None, fmt="B", count_of="hops", adjust=lambda _, hops: _words(hops)),
        XShortField("following", 0),
        BitField("version", 2, 4),
        BitField("discard", 0, 1),
        BitField("exceeded", 0, 1),
        BitField("mtu_exceeded", 0, 1),
        BitField("reserved12", 0, 12),
        BitField("hop_words", wire.INT_HOP.size // 4, 5),
        ByteField("remaining", 0),
        XShortField("instructions", 0),
        XShortField("domain", wire.INT_DOMAIN),
        XShortField("domain_instructions", wire.INT_ALL),
        XShortField("domain_flags", 0),
        PacketListField("hops", [], IntHop, length_from=lambda packet: max(0, 4 * packet.length - 12)),
    ]

    @property
    def stamped(self) -> list[Any]:
        """The records that switches have filled in, in path order."""
        hops: list[Any] = [hop for hop in self.hops if isinstance(hop, IntHop)]  # not what a capture has cut
        reserved = (4 * self.length - (wire.INT_HEADER.size - 4)) // wire.INT_HOP.size
        return hops[: max(0, reserved - self.remaining)]


def _words(hops: int) -> int:
    return (wire.INT_HEADER.size - 4 + hops * wire.INT_HOP.size) // 4


bind_top_down(UDP, BTH, dport=wire.ROCE_PORT)
UDP.payload_guess = [({"dport": wire.ROCE_PORT}, BTH), *UDP.payload_guess]  # before any guess by the source port
