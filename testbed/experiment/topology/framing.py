"""How large packets are. The layout itself is the data plane's, whose tests hold its sizes to these."""

from __future__ import annotations

from dataclasses import dataclass

# bytes on the wire
ETHERNET_IP_UDP = 14 + 20 + 8
BTH = 16  # with ImmDt or AETH
SHIM = 16
INT_HEADER = 16
INT_HOP = 28
MOST_INT_HOPS = 8  # records in a packet
ICRC = 4
RETH = 16


@dataclass(frozen=True)
class Framing:
    """How large packets are: ``int_hops`` INT records are reserved in every data packet (0 for no INT)."""

    payload: int
    int_hops: int = 0
    write: bool = False
    """Whether there is room for an RETH: only a message's first packet needs it, but all are equal."""

    @property
    def int_size(self) -> int:
        """Bytes of INT shim, header and reserved records."""
        return INT_HEADER + self.int_hops * INT_HOP if self.int_hops else 0

    @property
    def overhead(self) -> int:
        """Bytes of a frame that are not payload."""
        return self.ack_size + RETH * self.write

    @property
    def wire_size(self) -> int:
        """Bytes of a full frame."""
        return self.overhead + self.payload

    def with_int(self, hops: int) -> Framing:
        """Packets as large as these, where they can hold it, with room for INT instead of user data."""
        return Framing(max(0, self.wire_size - Framing(0, hops, self.write).wire_size), hops, self.write)

    @property
    def ack_size(self) -> int:
        """Bytes of the frame that acknowledges."""
        return ETHERNET_IP_UDP + BTH + SHIM + self.int_size + ICRC

    @property
    def src_size(self) -> int:
        """Bytes of the frame that a switch sends to the sender: it carries one INT record (Bolt)."""
        return Framing(0, int_hops=1).overhead
