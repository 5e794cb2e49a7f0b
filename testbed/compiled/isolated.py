"""A controller in C that has a process of its own (isolate.c): shared options, and what it was told last."""

from __future__ import annotations

import ctypes
import mmap
from ctypes import c_double, c_int32, c_int64, c_uint32
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.compiled.layout import ACK
from testbed.units import show_time

KEPT, TOLD = 256, 5  # events, of all flows, and of the one that failed


class _Past(ctypes.Structure):
    """struct past."""

    _fields_ = [*((name, c_int64) for name in ("flow", "event", "number")), ("now", c_double), ("rtt", c_double)]


class _Apart(ctypes.Structure):
    """struct apart, up to the flow."""

    _fields_ = [
        ("turn", c_uint32), ("status", c_int32),
        *((name, c_int64) for name in ("event", "number", "crashed_at", "told")), ("now", c_double),
        ("ack", ctypes.c_char * ACK.itemsize), ("past", _Past * KEPT),
    ]  # fmt: skip


def shared(values: NDArray[Any]) -> NDArray[Any]:
    """A copy in memory that a child process shares."""
    place = np.frombuffer(mmap.mmap(-1, max(values.nbytes, 1)), values.dtype, values.size).reshape(values.shape)
    place[...] = values
    return place


def last_events(apart: int, flow: int, names: tuple[str, ...]) -> str:
    """What a flow was told last, the newest at the end."""
    known = _Apart.from_address(apart)
    newest = (known.past[number % KEPT] for number in range(known.told - 1, max(known.told - KEPT, 0) - 1, -1))
    told = [_shown(one, names[one.event]) for one in newest if one.flow == flow][:TOLD]
    return ", ".join(reversed(told))


def _shown(one: Any, name: str) -> str:
    rtt = f" with an RTT of {show_time(one.rtt)}" if name == "on_ack" else ""
    return f"{name} at {show_time(one.now)}{rtt}"
