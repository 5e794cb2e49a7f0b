"""Chakra's traces, written field by field, as schema/protobuf/et_def.proto has them."""

from __future__ import annotations

from pathlib import Path

COMP, SEND, RECV, COLL = 4, 5, 6, 7


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def text(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def node(
    number: int, kind: int, *, after: tuple[int, ...] = (), micros: int = 0, packed: bool = False, **values: int
) -> bytes:
    deps = text(5, b"".join(map(varint, after))) if packed else b"".join(integer(5, one) for one in after)
    attributes = b"".join(text(10, text(1, key.encode()) + integer(9, value)) for key, value in values.items())
    return integer(1, number) + text(2, b"n%d" % number) + integer(3, kind) + deps + integer(7, micros) + attributes


def write(folder: Path, ranks: list[list[bytes]]) -> Path:
    for rank, nodes in enumerate(ranks):
        messages = [text(1, b"0.0.4"), *nodes]
        (folder / f"llm.{rank}.et").write_bytes(b"".join(varint(len(one)) + one for one in messages))
    return folder / "llm"
