"""Bolt: every step of the sender by hand, and where it rests with the switch (facts sheet more-controllers, 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.compiled.flows import CompiledFlows
from testbed.engines.virtual.run import VirtualRun
from testbed.registry import find
from testbed.results.summary import Summary
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from tests.support.rows import ONE, WIRE, controller, feedback, paths
from tests.support.simulated import measured
from tests.support.theory import LINE, base_rtt
from tests.support.theory import WIRE as PACKET

T = 8e-6
BDP = 100.0  # packets
NEVER = 1 << 40


def bolt(cwnd: float = BDP, grows_at: int = NEVER, **options: Any) -> Any:
    made = controller("bolt", paths(), **options)
    made.cwnd[:], made.grows_at[:] = cwnd, grows_at
    return made


def src(made: Any, now: float, queue: float, age: float = T / 2, rate: float = 100e9) -> float:
    """A notice of a queue in packets; returns the window in packets."""
    made.on_src(now, ONE, np.array([age]), np.array([queue * WIRE]), np.array([rate]))
    return float(made.cwnd[0])


def ack(made: Any, now: float = T, rtt: float = T, **counts: int) -> float:
    made.on_feedback(now, ONE, feedback(acked_packets=1, rtt=rtt, **counts))
    return float(made.cwnd[0])


def test_starts_with_a_bdp_at_line_rate_or_as_asked() -> None:
    made, asked = controller("bolt", paths()), controller("bolt", paths(), initial_window=1)
    assert (made.window[0], made.rate[0]) == (BDP * WIRE, pytest.approx(100e9))
    assert (asked.window[0], asked.rate[0]) == (WIRE, pytest.approx(100e9 / BDP))


def test_a_notice_takes_a_packet_off_and_the_next_one_only_after_age_over_the_share_of_the_queue() -> None:
    """With half of the link and 4 packets queued every age / 2."""
    made = bolt(BDP / 2)
    assert src(made, T, 4) == 49
    wait = (T / 2) / (4 * 0.49)
    assert src(made, T + 0.99 * wait, 4) == 49
    assert src(made, T + 1.01 * wait, 4) == 48
    assert src(made, T + 1.01 * wait, 1000, rate=1e9) == 48  # no time has passed
    assert src(made, T + 1.02 * wait, 1000, rate=1e9) == 47  # a share is at most the whole link


def test_all_senders_together_take_the_queue_off_in_one_age() -> None:
    """Sum of q x share = q, however unequal they are."""
    windows = np.array([50.0, 30.0, 20.0])
    taken, queue, age = 0.0, 10, T / 2
    for window in windows:
        made = bolt(window)
        for now in np.arange(T, T + age, age / 1000):
            src(made, now, queue)
        taken += window - made.cwnd[0]
    assert taken == pytest.approx(queue, abs=len(windows))


def test_below_a_packet_every_notice_halves_and_there_is_a_floor() -> None:
    made = bolt(1.0)
    assert [src(made, T, 4) for _ in range(7)] == [2.0**-n for n in (1, 2, 3, 4, 5, 6, 6)]
    assert made.window[0] == WIRE
    assert made.rate[0] == pytest.approx(100e9 / BDP / 64)


def test_a_target_queue_is_left_standing() -> None:
    made = bolt(target_queue=2)
    assert src(made, T, 2) == BDP
    assert src(made, T, 2.1) == BDP - 1


def test_growth_is_a_packet_per_rtt_and_per_granted_packet() -> None:
    made = bolt(10, grows_at=5)
    assert ack(made, acked_seq=4, next_seq=20) == 10
    assert ack(made, acked_seq=5, next_seq=21) == 11
    assert ack(made, acked_seq=20, next_seq=30) == 11
    assert ack(made, acked_seq=21, next_seq=31) == 12
    made.on_feedback(T, ONE, increased(3))
    assert made.cwnd[0] == 15
    made.cwnd[:] = BDP
    made.on_feedback(T, ONE, increased(1))
    assert made.cwnd[0] == BDP  # never more


def increased(packets: int) -> Any:
    told = feedback(acked_packets=packets, rtt=T)
    told.inc_packets = np.array([packets])
    return told


def test_losses_halve_once_per_rtt() -> None:
    made = bolt()
    for now, left in ((T, 50), (1.9 * T, 50), (2.1 * T, 25)):
        made.on_feedback(now, ONE, feedback(lost_packets=1))
        assert made.cwnd[0] == left
    made.on_feedback(4 * T, ONE, feedback(timeouts=1))
    assert made.cwnd[0] == 12.5


def test_paces_at_its_window_per_rtt() -> None:
    made = bolt(10.5)
    ack(made, rtt=2 * T)
    assert (made.window[0], made.rate[0]) == (11 * WIRE, pytest.approx(10.5 * WIRE * 8 / (2 * T)))


def test_switches_are_told_its_threshold() -> None:
    plugin = find("controller", "bolt")
    for preset, options, packets in (("paper", {}, 2), ("ns3", {"src_threshold": 10}, 10)):
        assert plugin.form.src_threshold(plugin.configure(preset, options)) == packets


# -- with the switch ------------------------------------------------------------------------------------------------


def incast(flows: int, *settings: str) -> Summary:
    options = ["time.duration=2 ms", "time.warmup=1 ms", f"traffic.senders={flows}", *settings]
    return measured("incast-8", options, controller="bolt")


def packets_of(seconds: float) -> float:
    return seconds * LINE / 8 / PACKET


@pytest.mark.parametrize(
    ("flows", "mean", "p99"), [(2, 2.5, 5.2), (4, 3.1, 6.2), (8, 4.5, 8.4), (16, 7.9, 16), (32, 13.9, 35)]
)
def test_queue_is_the_threshold_or_half_a_packet_per_flow(flows: int, mean: float, p99: float) -> None:
    """Growth of N packets per RTT against q per T/2: q = max(2, N/2) packets. The sheet's prototype within a fifth."""
    found = incast(flows)
    assert packets_of(found.ql_mean) == pytest.approx(mean, rel=0.2)
    if flows >= 8:
        assert packets_of(found.ql_mean) == pytest.approx(flows / 2, rel=0.2)
    assert packets_of(found.ql_p99) < 1.2 * p99
    assert found.su > 97
    assert found.drops_in_run == 0


def test_one_flow_finds_no_queue() -> None:
    found = incast(1)
    assert found.su > 98
    assert packets_of(found.ql_p99) <= 1


@pytest.mark.parametrize(
    ("flows", "setting", "mean", "su"),
    [(8, "src_threshold=10", 7.6, 97), (2, "preset=ns3", 3.7, 99.9), (8, "preset=ns3", 6.3, 99.9)],
)
def test_higher_threshold_and_target_queue_as_in_the_prototype(
    flows: int, setting: str, mean: float, su: float
) -> None:
    found = incast(flows, f"controller.{setting}")
    assert packets_of(found.ql_mean) == pytest.approx(mean, rel=0.2)
    assert found.su > su


def test_unused_supply_lets_a_flow_fill_an_idle_link_in_100_us() -> None:
    """From 2 packets. By one packet per RTT alone it would have a seventh of the link then."""
    settings = ["engine=virtual", "traffic.senders=1", "time.duration=150 us", "time.warmup=0 s", "record.decisions=0"]
    run = VirtualRun(resolve("incast-8", {"controller": "bolt"}, {}, settings), [], Unwatched())
    assert isinstance(run.controller, CompiledFlows)
    rtt = base_rtt(PACKET)
    for name, value in (("cwnd", 2.0), ("window", 2.0 * PACKET), ("rate", 2 * PACKET * 8 / rtt)):
        run.controller.initial[name] = value
    series = run.follow().flow_series
    at = series.time.searchsorted(100e-6)
    since = series.acked_bytes[-1, 0] - series.acked_bytes[at, 0]
    assert since * 8 / (series.time[-1] - series.time[at]) > 0.98 * LINE * 1000 / PACKET
