"""Reads captures packet by packet: pcapng and pcap, of either byte order and any time resolution.

scapy's reader would do but for two things: it takes a file that was cut short for one that ended, and it skips the
statistics that say how many packets are missing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from testbed.base.strange import visible
from testbed.capture import pcapng
from testbed.errors import BadInput, TestbedError

MAGIC_PCAPNG = b"\x0a\x0d\x0d\x0a"
MAGIC_PCAP = {  # byte order, units per second
    b"\xd4\xc3\xb2\xa1": ("<", 10**6),
    b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9),
    b"\xa1\xb2\x3c\x4d": (">", 10**9),
}
LARGEST = 1 << 24  # bytes of a block: more is damage
OTHER_PACKETS = {2: "packet blocks of an obsolete kind", 3: "packets without time"}
DIRECTIONS = {pcapng.INBOUND: "in", pcapng.OUTBOUND: "out"}


class Frame(NamedTuple):
    """One packet of a capture."""

    time: float  # s
    point: str  # name of the interface; empty if the file has none
    direction: str  # "in", "out", or empty
    length: int  # bytes on the wire
    data: bytes  # as far as they were captured


class _Interface(NamedTuple):
    link: int
    name: str
    units: int  # per second


@dataclass
class Reader:
    """Iterate over its `Frame`s. Raises BadInput if it is no capture, TestbedError where it is damaged or cut short."""

    path: Path
    comments: list[str] = field(default_factory=list)  # of the section; there before the first packet is
    dropped: int = 0  # packets that the capture missed; known at the end
    count: int = 0
    digits: int = pcapng.NANOSECONDS  # after the point, that times are shown with

    def __iter__(self) -> Iterator[Frame]:
        try:
            with self.path.open("rb") as file:
                yield from self._frames(file)
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read: {error.strerror}") from None
        except struct.error:
            raise self._damaged("is damaged") from None

    def _frames(self, file: BinaryIO) -> Iterator[Frame]:
        magic = file.read(4)
        if magic == MAGIC_PCAPNG:
            return self._pcapng(file)
        if magic in MAGIC_PCAP:
            return self._pcap(file, *MAGIC_PCAP[magic])
        kind = "is empty" if not magic else "is not a capture"
        raise BadInput(f"{self.path} {kind}; expected pcapng (testbed run --pcap writes it) or pcap")

    def _pcap(self, file: BinaryIO, order: str, units: int) -> Iterator[Frame]:
        link = struct.unpack(order + "HHiIII", self._all(file, 20))[5] & 0xFFFF
        self._ethernet(link)
        while head := file.read(16):
            seconds, part, captured, length = struct.unpack(order + "IIII", self._whole(head, 16))
            data = self._all(file, captured)
            self.count += 1
            yield Frame(seconds + part / units, "", "", length, data)

    def _pcapng(self, file: BinaryIO) -> Iterator[Frame]:
        file.seek(0)
        order = "<"
        interfaces: list[_Interface] = []
        while head := file.read(8):
            if head[:4] == MAGIC_PCAPNG:
                mark = self._all(file, 4)
                order = "<" if struct.unpack("<I", mark)[0] == pcapng.BYTE_ORDER else ">"
                interfaces = []
                file.seek(-4, 1)
            kind, size = struct.unpack(order + "II", self._whole(head, 8))
            if size < 12 or size % 4:
                raise self._damaged("is damaged")
            body = self._all(file, size - 8)
            if kind == pcapng.PACKET:  # first: nearly all are
                yield self._packet(order, body, interfaces)
                continue
            body = body[:-4]
            if kind == pcapng.SECTION:
                self.comments += [
                    visible(text.decode(errors="replace")) for text in _all_of(order, body[16:], pcapng.COMMENT)
                ]
            elif kind == pcapng.INTERFACE:
                interfaces.append(self._interface(order, body))
            elif kind in OTHER_PACKETS:
                raise BadInput(f"{self.path} has {OTHER_PACKETS[kind]}; convert it: editcap -F pcapng OLD NEW")
            elif kind == pcapng.STATISTICS:
                for raw in _all_of(order, body[12:], pcapng.DROPPED):
                    self.dropped += struct.unpack(order + "Q", raw)[0]

    def _interface(self, order: str, body: bytes) -> _Interface:
        link = struct.unpack_from(order + "H", body)[0]
        self._ethernet(link)
        name = visible(b"".join(_all_of(order, body[8:], pcapng.NAME)).decode(errors="replace"))
        power = (b"".join(_all_of(order, body[8:], pcapng.RESOLUTION)) or b"\x06")[0]  # microseconds if it says nothing
        if not power & 0x80:
            self.digits = max(self.digits, power)
        return _Interface(link, name, 2 ** (power & 0x7F) if power & 0x80 else 10**power)

    def _packet(self, order: str, body: bytes, interfaces: list[_Interface]) -> Frame:
        """Of a block's body, with the length that ends it."""
        number, high, low, captured, length = struct.unpack_from(order + "IIIII", body)
        end = 20 + captured
        if number >= len(interfaces) or end > len(body) - 4:
            raise self._damaged("is damaged")
        _, name, units = interfaces[number]
        direction = _direction(order, body[end + -captured % 4 : -4])
        self.count += 1
        return Frame((high << 32 | low) / units, name, direction, length, body[20:end])

    def _ethernet(self, link: int) -> None:
        if link != pcapng.ETHERNET:
            raise BadInput(f"{self.path}: link type {link} is not Ethernet (1), which is all that is decoded here")

    def _all(self, file: BinaryIO, size: int) -> bytes:
        if size > LARGEST:
            raise self._damaged("is damaged")
        return self._whole(file.read(size), size)

    def _whole(self, data: bytes, size: int) -> bytes:
        if len(data) < size:
            raise self._damaged("is cut short")
        return data

    def _damaged(self, how: str) -> TestbedError:
        return TestbedError(f"{self.path} {how} after {self.count} packets; what comes before is good")


@lru_cache  # few packets have other options than the one before
def _direction(order: str, options: bytes) -> str:
    flags = _all_of(order, options, pcapng.FLAGS)
    return DIRECTIONS.get(struct.unpack(order + "I", flags[0])[0] & 3, "") if flags else ""


def _all_of(order: str, options: bytes, wanted: int) -> list[bytes]:
    """The values of an option, in order."""
    found: list[bytes] = []
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(order + "HH", options, at)
        if code == pcapng.END:
            break
        if code == wanted:
            found.append(options[at + 4 : at + 4 + size])
        at += 4 + size + -size % 4
    return found
