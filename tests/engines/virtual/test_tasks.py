"""Flows that wait for others start to the nanosecond: when the last byte was received, and after computing."""

from __future__ import annotations

import pytest

from tests.support.simulated import simulated
from tests.support.theory import HEADERS, LINE, PROPAGATION, WIRE, base_rtt

SLOT = WIRE * 8 / LINE
EXPERIMENT = """
traffic:
  pattern: flows
  flows:
    - {src: h1, dst: h2, size: 100 kB, start: 1 us}
    - {src: h3, dst: h4, size: 30 kB, start: 5 us}
    - {src: h2, dst: h3, size: 50 kB, after: [0, 1], start: 3 us}
    - {src: h3, dst: h1, size: 1 kB, after: [2]}
controller: {name: fixed, rate: 100 Gbit/s}
time: {duration: 100 us, warmup: 0}
"""


def received(start: float, packets: int) -> float:
    """The last of so many full packets of an idle rack: it leaves its host, and its switch a slot later."""
    return start + (packets + 1) * SLOT + PROPAGATION / 2


def test_a_flow_starts_when_the_last_byte_was_received_and_its_time_has_passed() -> None:
    flows = simulated(EXPERIMENT, ["record.interval=1 us"]).flows
    start = dict(zip(zip(flows.src, flows.dst, strict=True), flows.start.tolist(), strict=True))
    second = max(received(1e-6, 100), received(5e-6, 30)) + 3e-6
    assert start["h2", "h3"] == pytest.approx(second, abs=1e-9)
    assert start["h3", "h1"] == pytest.approx(received(second, 50), abs=1e-9)
    last = flows.src.index("h3", flows.src.index("h3") + 1)
    # At once, behind the acknowledgement of what it waited for; it is one packet.
    alone = base_rtt(WIRE) + HEADERS * 8 / LINE
    assert flows.finished[last] - start["h3", "h1"] == pytest.approx(alone, abs=1e-9)


def test_a_controller_in_batches_starts_no_later() -> None:
    """Feedback is gathered for it; what was received is not."""
    settings = ["controller={name: adpg-int8}", "record.interval=1 us", "traffic.flows.0.size=1 kB"]
    flows = simulated(EXPERIMENT, [*settings, "traffic.flows.1.size=1 kB"]).flows
    assert flows.start[flows.src.index("h2")] == pytest.approx(received(5e-6, 1) + 3e-6, abs=1e-9)
