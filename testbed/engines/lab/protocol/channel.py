"""Messages between the operator's machine and the agent on a host, over one pair of pipes (mostly those of ssh).

A message is one line of JSON and, if it carries arrays, so many bytes of numpy's npz behind it. Nothing that arrives is
ever executed or unpickled: neither side has to trust the other further than with numbers and text.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.errors import TestbedError

PROTOCOL = 1
LONGEST_LINE = 1 << 24
MOST_BYTES = 1 << 31

Arrays = Mapping[str, NDArray[Any]]

UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)  # what zipfile and numpy raise


class Message(NamedTuple):
    """One message, in either direction."""

    kind: str
    data: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def pack(kind: str, data: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> bytes:
    """A message as bytes."""
    body = b""
    if arrays:
        sink = io.BytesIO()
        np.savez_compressed(sink, **arrays)  # type: ignore[arg-type] # its keywords are the names
        body = sink.getvalue()
    head = {"kind": kind, "data": dict(data or {}), "bytes": len(body)}
    return json.dumps(head, separators=(",", ":")).encode() + b"\n" + body


class Unpacker:
    """Messages from the bytes of a channel. Raises TestbedError for what is none."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._head: dict[str, Any] | None = None

    def feed(self, more: bytes) -> Iterator[Message]:
        """The messages that are complete now."""
        self._waiting += more
        while True:
            if self._head is None:
                line, newline, _ = self._waiting.partition(b"\n")
                if not newline:
                    if len(self._waiting) > LONGEST_LINE:
                        raise _not_a_message(bytes(self._waiting[:80]))
                    return
                self._head = _head(bytes(line))
                del self._waiting[: len(line) + 1]
            size = self._head["bytes"]
            if len(self._waiting) < size:
                return
            body = bytes(self._waiting[:size])
            del self._waiting[:size]
            head, self._head = self._head, None
            yield Message(head["kind"], head["data"], _arrays(body) if size else {})


def _head(line: bytes) -> dict[str, Any]:
    try:
        head = json.loads(line)
        known = isinstance(head["kind"], str) and isinstance(head["data"], dict)
        known = known and isinstance(head["bytes"], int) and 0 <= head["bytes"] <= MOST_BYTES
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise _not_a_message(line[:80])
    assert isinstance(head, dict)
    return head


def _arrays(body: bytes) -> dict[str, NDArray[Any]]:
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except UNREADABLE as error:
        raise TestbedError(f"the control channel carried arrays that cannot be read: {error}") from None


def _not_a_message(begin: bytes) -> TestbedError:
    return TestbedError(f"the control channel carried something else than messages: {begin.decode(errors='replace')!r}")
