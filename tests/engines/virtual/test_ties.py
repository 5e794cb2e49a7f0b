"""Symmetric senders lose alike at a full port, whatever their phase: a leaf switch splits losses within 0.5 %."""

from __future__ import annotations

import pytest

from tests.support.simulated import simulated

LOSSY = """
engine: virtual
rack: {{hosts: {hosts}, link: {{rate: {rate} Gbit/s}}, switch: {{buffer: 500 kB}}}}
traffic: {{pattern: incast, senders: {senders}, flows_per_sender: {each}, payload: {payload} B}}
controller: {{name: fixed}}
tuner: {{name: static, kmin: 400 kB, kmax: 490 kB, pmax: 0.1, reference_rate: {rate} Gbit/s}}
time: {{duration: {duration} us}}
"""
ENOUGH = 10_000  # losses of a flow
TIES = [
    *((senders, payload, 100, 1) for senders in (2, 3, 8, 16) for payload in (1000, 2000, 4096)),
    (8, 4096, 25, 1),
    (3, 1000, 100, 4),
]


@pytest.mark.parametrize(("senders", "payload", "rate", "each"), TIES)
def test_flows_alike_lose_alike(senders: int, payload: int, rate: int, each: int) -> None:
    flows = senders * each
    excess = rate * 1e3 * (senders - 1) / 8  # bytes per us
    losses, filling = 1.05 * ENOUGH * flows * (payload + 62) / excess, 500e3 / excess
    duration = round(losses + filling + 50)
    text = LOSSY.format(
        hosts=senders + 1, senders=senders, each=each, payload=payload, rate=rate, duration=duration
    )  # fmt: skip
    lost = simulated(text).flows.lost_packets
    assert len(lost) == flows
    assert lost.mean() >= ENOUGH
    assert abs(lost / lost.mean() - 1).max() < 0.03
