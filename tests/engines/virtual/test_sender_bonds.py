"""A host with two NICs in a run: both carry its flows, one fails, and the other carries on."""

from __future__ import annotations

import pytest

from testbed.results.record import RunRecord
from tests.support.simulated import simulated

RACK = """\
rack:
  kind: custom
  nodes: [{{name: a, bond: true}}, {{name: b, bond: true}}, s1, s2]
  links: [{{ends: [a, s1]}}, {{ends: [a, s2]}}, {{ends: [b, s1]}}, {{ends: [b, s2]}}, {{ends: [s1, s2]}}]
traffic: {{pattern: incast, senders: 1, flows_per_sender: 8}}
controller: swift
transport: {{timeout: 50 us}}
time: {{duration: 600 us, warmup: 0}}
record: {{interval: 50 us}}
seed: 2
events:
  - {{at: 200 us, down: {nic}-s1, detected_after: 10 us}}
  - {{at: 400 us, up: all}}
"""
BOTH, ONE, AGAIN = slice(2, 4), slice(6, 8), slice(10, 12)  # samples
LINE = 100e9


def acknowledged(record: RunRecord, samples: slice) -> float:
    """Of all flows, in lines of one NIC."""
    series = record.flow_series
    begin, end = samples.start, samples.stop
    sent = series.wire_bytes[end].sum() - series.wire_bytes[begin].sum()
    return float(sent * 8 / (series.time[end] - series.time[begin]) / LINE)


@pytest.mark.parametrize("nic", ["h1", "h2"])
def test_one_nic_fails_and_the_other_carries_on(nic: str) -> None:
    """The sender's, or the receiver's; no packet is unaccounted for, and nobody waits for a timer."""
    record = simulated(RACK.format(nic=nic))
    assert acknowledged(record, BOTH) == pytest.approx(2, abs=0.01)
    assert acknowledged(record, ONE) == pytest.approx(1, abs=0.01)
    assert acknowledged(record, AGAIN) == pytest.approx(2, abs=0.1)
    assert {*record.flows.src, *record.flows.dst} == {"h1", "h2"}
    assert (record.flows.lost_packets > 0).sum() == 4  # those on that NIC
    assert not record.flows.timeouts.any()
