"""The compiled part of the fluid model (model.c), and its state, which points to numpy's columns (model.h)."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import cache, partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from testbed.base.compiler import EXACT, LIBRARY_FLAGS, PACKAGE, Unit

SOURCE = Path(__file__).parent
FLAGS = (*LIBRARY_FLAGS, "-O3", EXACT)
MODEL = Unit("fluid", (SOURCE / "model.c",), ".so", FLAGS, headers=(SOURCE,), includes=(PACKAGE / "agent/histogram.h",))
ADVANCE, COUNT = (None, [c_void_p, c_int64, c_double, c_int64, c_double]), (c_int64, [c_void_p])
ROWS = (None, [c_void_p, c_int64])
library = cache(partial(MODEL.library, advance=ADVANCE, take_over=COUNT, collect=COUNT, notify=ROWS, meter=ROWS))


class Core(ctypes.Structure):
    """struct model of model.h, field by field."""

    _fields_ = [
        *((name, c_double) for name in ("now", "step", "next_start", "next_timer", "next_probe")),
        *((name, c_double) for name in ("wire_size", "line_rate", "buffer", "per_step", "decision_delay")),
        *((name, c_int64) for name in ("flows", "queues", "each", "hosts")),
        *((name, c_void_p) for name in ("amount", "window", "limit", "size", "sent", "acked", "lost", "finished")),
        *((name, c_void_p) for name in ("sending_now", "per_host", "sending", "host", "queue")),
        *((name, c_void_p) for name in ("counts", "area", "red", "ring", "into_slot", "into")),
        *((name, c_int64) for name in ("ring_size", "at", "alike")),
        *((name, c_void_p) for name in ("due", "base_rtt", "covers", "rtt", "seen_at", "seen", "first_due", "phase")),
        *((name, c_void_p) for name in ("heard_covers", "heard_rtt", "heard_at", "heard", "marked", "passed")),
        *((name, c_void_p) for name in ("news", "decided_at", "answered")),
        *((name, c_int64) for name in ("news_count", "answered_count", "ended")),
        *((name, c_double) for name in ("began", "half_at")),
        *((name, c_void_p) for name in ("rate", "timer")),
        ("least_rate", c_double),
        *((name, c_void_p) for name in ("told_sent", "told_acked", "told_lost", "told_real", "told")),
        *(("told_ce", c_int64), ("last_cnp", c_void_p), ("cnp_interval", c_double)),
        *((name, c_void_p) for name in ("rtt_now", "rtt_sum", "rtt_least", "ce", "cnps", "rtt_counts")),
        *(("rtt_bins", c_int64), ("rtt_per_octave", c_int64), ("decisions", c_void_p)),
    ]

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._columns: list[NDArray[Any]] = []  # must live as long as this
        self.address = ctypes.addressof(self)

    def point(self, **columns: NDArray[Any]) -> None:
        """To these columns, which must stay where they are."""
        for name, column in columns.items():
            assert column.flags.c_contiguous
            self._columns.append(column)
            setattr(self, name, column.ctypes.data)
