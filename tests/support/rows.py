"""Hand-made paths and feedback for tests of controllers."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import CompiledController, Feedback, IntStack, Paths
from testbed.registry import find

WIRE = 1000  # bytes of a full packet


def paths(flows: int = 1, line_rate: float = 100e9, base_rtt: float = 8e-6, hops: int = 1) -> Paths:
    return Paths(
        np.full(flows, line_rate), np.full(flows, base_rtt), np.full(flows, hops), payload=WIRE - 100, wire_size=WIRE
    )


class Columns:
    """Compiled flows, and their state by name: one entry per flow, to read and to set."""

    def __init__(self, flows: CompiledFlows) -> None:
        self._flows = flows

    def __getattr__(self, name: str) -> Any:
        if name in self._flows.form.fields():
            return self._flows.records[name]
        return getattr(self._flows, name)

    def flow(self, number: int = 0) -> Any:
        """A copy of one flow as a plain object, whose methods can be called."""
        made: CompiledController = self._flows.form(self._flows.config, self._flows.by_flow[number])
        for name, field in made.fields().items():
            if not field.constant:
                setattr(made, name, self._flows.records[number][name].tolist())
        return made


def controller(name: str, on: Paths, preset: str | None = None, **options: Any) -> Any:
    """A started controller; ``Any`` because tests look into its columns."""
    plugin = find("controller", name)
    made = build(plugin.form, plugin.configure(preset, options), on)
    made.on_start(0.0, np.arange(len(on)))
    return Columns(made) if isinstance(made, CompiledFlows) else made


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
