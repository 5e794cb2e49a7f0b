"""Jobs from Chakra execution traces of MLCommons: a file of protobuf messages per rank, NAME.0.et, NAME.1.et, ...

The fields are those of schema/protobuf/et_def.proto of github.com/mlcommons/chakra, whose Python package is not on
PyPI. Computing and memory nodes take their `duration_micros` (or `runtime`, in us); sends and receives are matched by
ranks and tags; the k-th collective of a process group is one operation of the ranks that have it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMPUTING = {1: "METADATA", 2: "MEM_LOAD", 3: "MEM_STORE", 4: "COMP"}
SEND, RECV, COLLECTIVE = 5, 6, 7
SIGNED = {7, 9}  # int32_val, int64_val: negative ones are as long as 64 bits
NUMBERS = {"comm_dst", "comm_size", "comm_src", "comm_tag", "comm_type", "runtime"}  # attributes
LARGEST = 1 << 53  # bytes or microseconds that a float holds exactly
VALUES = {3: "<d", 5: "<f", 19: "<I", 21: "<Q", 23: "<i", 25: "<q"}  # of a fixed length


@dataclass
class Node:
    """One node of a trace."""

    id: int = 0
    name: str = ""
    type: int = 0
    after: list[int] = field(default_factory=list)  # control and data dependencies
    micros: int = 0
    values: dict[str, Any] = field(default_factory=dict)

    def number(self, key: str, default: int = 0) -> int:
        """An attribute."""
        return int(self.values.get(key, default))


def nodes(file: Path) -> list[Node]:
    """Of one rank. Raises ValueError with the position of a message that is none."""
    content = memoryview(file.read_bytes())
    found, at, number = [], 0, 0
    while at < len(content):
        try:
            size, begin = _varint(content, at)
            if begin + size > len(content):
                raise ValueError("the file ends within it")
            if number:  # the first one is about the file
                found.append(_node(content[begin : begin + size]))
        except (ValueError, IndexError, struct.error) as error:
            why = str(error) if isinstance(error, ValueError) else "the file ends within it"
            raise ValueError(f"{file}, message {number + 1} (byte {at}): {why}") from None
        at, number = begin + size, number + 1
    return found


def _node(message: memoryview) -> Node:
    node = Node()
    for key, value in _fields(message):
        if key == 1:
            node.id = _integer(value)
        elif key == 2:
            node.name = _text(value)
        elif key == 3:
            node.type = _integer(value)
        elif key in (4, 5):
            node.after += [value] if isinstance(value, int) else _packed(value)
        elif key == 7:
            node.micros = _integer(value)
        elif key == 10:
            name, content = _attribute(_bytes(value))
            if name in NUMBERS and not (isinstance(content, int | float) and abs(content) <= LARGEST):  # nor nan
                raise ValueError(f"attribute {name} is no number up to 2^53")
            node.values[name] = content
    return node


def _attribute(message: memoryview) -> tuple[str, Any]:
    name, content = "", None
    for key, value in _fields(message):
        if key == 1:
            name = _text(value)
        elif key in VALUES:
            (content,) = struct.unpack(VALUES[key], _bytes(value))
        elif key in SIGNED:
            content = _integer(value) - (1 << 64 if _integer(value) >> 63 else 0)
        elif key in (15, 17):
            content = (_integer(value) >> 1) ^ -(_integer(value) & 1)
        elif key in (11, 13, 27):
            content = value
        elif key == 29:
            content = _text(value)
    return name, content


def _integer(value: int | memoryview) -> int:
    """Raises ValueError for another type than the schema has."""
    if isinstance(value, int):
        return value
    raise ValueError("a field is no integer")


def _bytes(value: int | memoryview) -> memoryview:
    """Raises ValueError for another type than the schema has."""
    if isinstance(value, int):
        raise ValueError("a field is an integer")
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_bytes(value)).decode(errors="replace")


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and content of each field: an integer, or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind)
        if kind == 2:
            size, at = _varint(message, at)
        if size is None:
            raise ValueError(f"it is no protobuf message (wire type {kind})")
        if at + size > len(message):
            raise ValueError("a field is longer than its message")
        yield key >> 3, message[at : at + size]
        at += size


def _packed(content: memoryview) -> list[int]:
    found, at = [], 0
    while at < len(content):
        value, at = _varint(content, at)
        found.append(value)
    return found


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """An integer of 7 bits per byte, and where it ends."""
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("an integer is longer than 64 bits")
