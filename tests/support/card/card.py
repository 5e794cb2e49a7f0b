"""An export on the card of the rack (doca_pcc/card.c) and feed.c: what it registers, and what it answers to events."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_uint32, c_void_p
from typing import Any

import numpy as np

PARAMETERS, COUNTERS = 38, 63


class _Registered(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("initial", "most", "least", "permissions")),
        ("text", ctypes.c_char * 128),
    ]


class Card:
    """The export on the card: flows of port 1."""

    def __init__(self, library: ctypes.CDLL, flows: int = 1) -> None:
        self.library = library
        self.contexts = np.zeros((flows, 12), np.uint32)
        counted = (c_uint32 * COUNTERS).in_dll(library, "card_counted")
        ctypes.memset(counted, 0, ctypes.sizeof(counted))
        c_uint32.in_dll(library, "card_counting").value = 1
        library.card_start()

    @property
    def values(self) -> Any:
        """The parameters in force; to be written by number."""
        return (c_uint32 * PARAMETERS).in_dll(self.library, "card_values")

    def number(self, name: str) -> int:
        return int(c_uint32.in_dll(self.library, f"card_{name}").value)

    def registered(self, kind: str) -> dict[str, _Registered]:
        table = (_Registered * self.number(f"{kind}_count")).in_dll(self.library, f"card_{kind}s")
        return {one.text.decode().partition(",")[0]: one for one in table}

    def counter(self, name: str) -> int:
        position = list(self.registered("counter")).index(name)
        return int((c_uint32 * 64).in_dll(self.library, "card_counted")[position])

    def feed(self, flow: Any, kind: Any, at: Any, sent: Any, slot: int = 0) -> tuple[Any, Any]:
        """Rates (20 bits of fraction) and probe requests that follow events; numbers or columns of them."""
        columns = [np.atleast_1d(np.asarray(one, np.int64)) for one in (flow, kind, at, sent)]
        n = max(len(one) for one in columns)
        columns = [np.ascontiguousarray(np.broadcast_to(one, n)) for one in columns]
        out = np.empty((2, n), np.int64)
        pointers = [c_void_p(one.ctypes.data) for one in (*columns, self.contexts, *out)]
        self.library.feed(c_int64(n), *pointers[:4], c_uint32(slot), *pointers[4:])
        return out[0], out[1]
