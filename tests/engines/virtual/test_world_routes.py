"""A link of a routed rack goes down and comes back: who loses what, and when; exact, for nothing is late here."""

from __future__ import annotations

import numpy as np

from tests.support.simulated import simulated

DOWN, DETECTED, UP = 1.5e-3, 1.7e-3, 2.5e-3
SAMPLE = 10e-6
ON_THE_WAY = 1e-6  # s, of a link: what left before may still arrive, or be lost, so much later
EVENTS = "events=[{at: 1.5 ms, down: leaf1-spine2, detected_after: 200 us}, {at: 2.5 ms, up: all}]"
SHORT = ("time.duration=3.5 ms", "transport.timeout=150 us", EVENTS)  # auto is longer than the run


def test_packets_are_lost_until_it_is_detected_and_go_around_until_it_is_up() -> None:
    record = simulated("leaf-spine", SHORT)
    time, lost = record.port_series.time, record.port_series.dropped_packets.sum(axis=1)
    losing = time[1:][np.diff(lost) > 0]
    assert DOWN < losing.min() <= DOWN + 2 * SAMPLE
    assert losing.max() <= DETECTED + ON_THE_WAY + SAMPLE
    spine2 = [number for number, name in enumerate(record.ports) if name.startswith("spine2")]
    sent = record.port_series.tx_packets[:, spine2].sum(axis=1)
    before, around, after = (
        (time > start) & (time < end) for start, end in ((0, DOWN), (DETECTED + 1e-4, UP), (UP, 1))
    )
    assert sent[before][-1] > sent[before][0]
    assert sent[around][0] == sent[around][-1]  # leaf2 knows as well: there is no way from spine2 to leaf1
    assert sent[after][-1] > sent[around][-1]


def test_every_packet_was_delivered_or_lost() -> None:
    """All have arrived when the run has ended, however often the routes changed."""
    record = simulated("leaf-spine", [*SHORT, "rack.link.loss=0.001"])
    dropped = record.port_series.dropped_packets[-1].sum()
    flows = record.flows
    missing = flows.sent_packets.sum() - flows.delivered_packets.sum()
    assert record.counters["lost_on_links"] > dropped / 2 > 0
    assert 0 < missing <= record.counters["lost_on_links"]
