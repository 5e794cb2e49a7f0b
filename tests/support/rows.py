"""Hand-made paths and feedback for tests of controllers."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.compiled.flows import build
from testbed.controller import Feedback, IntStack, Paths, RateController
from testbed.registry import find

WIRE = 1000  # bytes of a full packet


def paths(flows: int = 1, line_rate: float = 100e9, base_rtt: float = 8e-6, hops: int = 1) -> Paths:
    return Paths(
        np.full(flows, line_rate), np.full(flows, base_rtt), np.full(flows, hops), payload=WIRE - 100, wire_size=WIRE
    )


def controller(name: str, on: Paths, preset: str | None = None, **options: Any) -> Any:
    """A started controller; ``Any`` because tests look into its columns."""
    plugin = find("controller", name)
    made: RateController = build(plugin.form, plugin.configure(preset, options), on)
    made.on_start(0.0, np.arange(len(on)))
    return made


def feedback(rows: int = 1, *, stack: IntStack | None = None, rtt: float = np.nan, **counts: int) -> Feedback:
    """The same numbers in every row; what is not given is 0."""
    column = {name: np.full(rows, value) for name, value in counts.items()}
    zero = np.zeros(rows, np.int64)
    acked = column.get("acked_packets", zero)
    return Feedback(
        acked_packets=acked,
        acked_bytes=acked * WIRE,
        acked_seq=column.get("acked_seq", zero),
        next_seq=column.get("next_seq", zero),
        inflight=column.get("inflight", zero),
        rtt=np.full(rows, rtt),
        ce_packets=column.get("ce_packets", zero),
        cnps=column.get("cnps", zero),
        lost_packets=column.get("lost_packets", zero),
        timeouts=column.get("timeouts", zero),
        int_stack=stack,
    )


ONE = np.array([0])  # flow 0
