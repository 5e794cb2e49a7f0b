"""The invariant CRC of RoCEv2 (InfiniBand specification, annex A17), computed where a packet leaves for a capture.

In a rack nobody computes or checks it: packets carry zeros there.
"""

from __future__ import annotations

import zlib

from testbed.dataplane.wire import ROCE_PORT
from testbed.experiment.topology.framing import ETHERNET_IP_UDP, ICRC

IP, UDP, BTH = 14, 34, ETHERNET_IP_UDP
NO_LRH = b"\xff" * 8  # in the place of InfiniBand's own link header
LEAST = BTH + 12 + ICRC
HEAD = b"\x08\x00\x45"  # IPv4 without options


def sealed(frame: bytes) -> bytes:
    """A whole frame with its iCRC; one that is not RoCEv2 as it is.

    What routers change counts as ones: TOS, TTL and checksum of IP, UDP's checksum, FECN and BECN.
    """
    if not is_roce(frame):
        return frame
    covered = b"".join(
        (
            NO_LRH, frame[IP : IP + 1], b"\xff", frame[IP + 2 : IP + 8], b"\xff", frame[IP + 9 : IP + 10], b"\xff\xff",
            frame[IP + 12 : UDP + 6], b"\xff\xff", frame[BTH : BTH + 4], b"\xff", frame[BTH + 5 : -ICRC],
        )
    )  # fmt: skip
    return frame[:-ICRC] + zlib.crc32(covered).to_bytes(ICRC, "little")


def is_roce(frame: bytes) -> bool:
    """Whether it is RoCEv2 over IPv4."""
    port = int.from_bytes(frame[UDP + 2 : UDP + 4], "big")
    return len(frame) >= LEAST and frame[12:15] == HEAD and frame[IP + 9] == 17 and port == ROCE_PORT
