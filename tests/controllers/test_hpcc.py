"""HPCC against the numbers of the facts sheet, sections 3.2 to 3.8 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.controller import IntStack
from tests.support.rows import ONE, WIRE, controller, feedback, paths
from tests.support.trials import tried

B, T = 100e9, 8e-6
BDP = B * T / 8
W_AI = BDP * 0.05 / 100


def stack(
    *hops: tuple[float, float, float], node: int = 7, rate: float = B, width: int = 5, flows: int = 1
) -> IntStack:
    """Hops of (ts, tx_bytes, queue), the same in every row; nan beyond the last."""
    columns = np.full((4, flows, width), np.nan)
    nodes = np.full((flows, width), -1)
    for i, (ts, tx_bytes, queue) in enumerate(hops):
        columns[:, :, i] = np.array([ts, tx_bytes, queue, rate])[:, None]
        nodes[:, i] = node + i
    return IntStack(np.full(flows, len(hops)), nodes, *columns)


def at(ts: float, utilisation: float, queue: float = 0.0, **more: Any) -> IntStack:
    """One hop that has sent at ``utilisation`` since time 0."""
    return stack((ts, 1e6 + utilisation * B / 8 * ts, queue), **more)


def hear(hpcc: Any, ints: IntStack, seq: int, next_seq: int) -> float:
    """One acknowledgement; returns the window in bytes that rate = W / T implies."""
    hpcc.on_feedback(0.0, ONE, feedback(stack=ints, acked_packets=1, acked_seq=seq, next_seq=next_seq, rtt=T))
    return float(hpcc.rate[0]) * T / 8


def started(preset: str | None = None, **options: Any) -> Any:
    """After the first acknowledgement, which was heard at 0 with 100 packets sent."""
    hpcc = controller("hpcc", paths(), preset, **options)
    hear(hpcc, at(0, 0), seq=0, next_seq=100)
    return hpcc


def test_starts_with_one_bdp_at_line_rate_and_the_first_ack_only_stores() -> None:
    hpcc = controller("hpcc", paths())
    assert (hpcc.rate[0], hpcc.window[0]) == (B, BDP)
    hear(hpcc, at(0, 0), seq=0, next_seq=100)
    assert (hpcc.rate[0], hpcc.window[0]) == (B, BDP)


def test_an_initial_window_is_where_the_reference_begins_too() -> None:
    hpcc = started(initial_window=1)
    assert (hpcc.window[0], hpcc.rate[0]) == (WIRE, pytest.approx(8 * WIRE / T))
    assert hear(hpcc, at(T, 0.5), seq=101, next_seq=200) == pytest.approx(WIRE + hpcc.additive[0])


def test_additive_step() -> None:
    """W_init (1 - eta) / N: 312 B and 625 B for 10 flows in the regimes of section 0.6."""
    slow = controller("hpcc", paths(line_rate=100e6, base_rtt=5e-3), flows=10)
    fast = controller("hpcc", paths(line_rate=1e9, base_rtt=1e-3), flows=10)
    assert slow.additive[0] == pytest.approx(312.5)
    assert fast.additive[0] == pytest.approx(625)


def test_at_eta_both_branches_give_one_additive_step() -> None:
    for preset in ("paper", "sim"):
        hpcc = started(preset)
        hpcc.reference[0] = BDP / 2
        window = hear(hpcc, at(T, 0.95), seq=1, next_seq=200)
        assert hpcc.utilisation[0] == pytest.approx(0.95)
        assert window == pytest.approx(BDP / 2 + hpcc.additive[0], rel=1e-6)


def test_a_packet_is_compared_with_the_one_before_on_its_path() -> None:
    """Every second packet takes the other path, whose port is idle: node 7 sends at 0.6 and then at 1.2 of its rate."""
    hpcc = started()
    hear(hpcc, at(T / 2, 0, node=8), seq=1, next_seq=100)
    hear(hpcc, at(T, 0.6), seq=2, next_seq=100)
    assert hpcc.utilisation[0] == pytest.approx(0.6)
    hear(hpcc, at(3 * T / 2, 0, node=8), seq=3, next_seq=100)
    assert hpcc.utilisation[0] == pytest.approx(0)
    hear(hpcc, at(2 * T, 0.9), seq=4, next_seq=100)
    assert hpcc.utilisation[0] == pytest.approx(1.2)


def test_utilisation_adds_the_smaller_queue_of_two() -> None:
    for queues in ((3 * BDP, BDP / 2), (BDP / 2, 3 * BDP)):
        hpcc = controller("hpcc", paths())
        hear(hpcc, at(0, 1, queues[0]), seq=0, next_seq=100)
        hear(hpcc, at(T, 1, queues[1]), seq=1, next_seq=100)
        assert hpcc.utilisation[0] == pytest.approx(1.5)


def test_the_fullest_hop_decides() -> None:
    hpcc = controller("hpcc", paths(hops=3))
    hear(hpcc, stack((0, 0, 0), (0, 0, 0), (0, 0, 0)), seq=0, next_seq=100)
    hear(hpcc, stack((T, 0.2 * BDP, 0), (T, 1.0 * BDP, 0.9 * BDP), (T, 0.5 * BDP, 0)), seq=1, next_seq=100)
    assert hpcc.utilisation[0] == pytest.approx(1.0)  # its queue was 0 in one of the two samples
    hear(hpcc, stack((2 * T, 0.2 * BDP, 0), (2 * T, 2 * BDP, 0.9 * BDP), (2 * T, BDP, 0)), seq=1, next_seq=100)
    assert hpcc.utilisation[0] == pytest.approx(1.9)


def test_short_intervals_are_averaged_over_one_rtt() -> None:
    hpcc = started()
    hear(hpcc, at(T / 4, 0.2), seq=1, next_seq=200)
    assert hpcc.utilisation[0] == pytest.approx(0.75 * 1 + 0.25 * 0.2)


def test_acks_within_one_rtt_do_not_compound() -> None:
    """U = 1.9 gives Wc/2 + W_AI every time."""
    hpcc = started()
    for count in range(1, 6):
        window = hear(hpcc, at(count * T, 1.9), seq=50, next_seq=150)
        assert window == pytest.approx(BDP / 2 + W_AI, rel=1e-6)
    assert hpcc.reference[0] == BDP


def test_the_reference_moves_once_per_rtt() -> None:
    hpcc = started()
    hear(
        hpcc, at(T, 1.9), seq=100, next_seq=180
    )  # 100 was not yet sent at the first ack: seq > lastUpdateSeq is needed
    assert hpcc.reference[0] == BDP
    hear(hpcc, at(2 * T, 1.9), seq=101, next_seq=190)
    assert hpcc.reference[0] == pytest.approx(BDP / 2 + W_AI)
    hear(hpcc, at(3 * T, 1.9), seq=190, next_seq=240)
    assert hpcc.reference[0] == pytest.approx(BDP / 2 + W_AI)
    hear(hpcc, at(4 * T, 1.9), seq=191, next_seq=250)
    assert hpcc.reference[0] == pytest.approx((BDP / 2 + W_AI) / 2 + W_AI)


def windows_below_eta(preset: str) -> list[float]:
    """Growth of the window per RTT at a utilisation of one half, in additive steps."""
    hpcc = started(preset)
    hpcc.reference[0] = before = BDP / 10
    grown = []
    for rtt in range(1, 8):
        hear(hpcc, at(rtt * T, 0.5), seq=1000 * rtt, next_seq=1000 * rtt + 500)
        grown.append((hpcc.reference[0] - before) / hpcc.additive[0])
        before = hpcc.reference[0]
    return grown


def test_five_additive_rtts_then_a_multiplicative_one() -> None:
    grown = windows_below_eta("paper")
    assert grown[:5] == pytest.approx([1] * 5)
    assert grown[5] > 10
    assert grown[6] == pytest.approx(1)


def test_sim_preset_multiplies_at_once() -> None:
    assert windows_below_eta("sim")[0] > 10


def test_sim_preset_has_the_published_step() -> None:
    """R_AI = 10 Mbit/s per 25 Gbit/s."""
    hpcc = controller("hpcc", paths(), "sim")
    assert hpcc.additive[0] * 8 / T == pytest.approx(10e6 * B / 25e9)


def test_window_and_rate_bounds() -> None:
    hpcc = started(min_rate="1 Mbit/s")
    for rtt in range(1, 200):
        hear(hpcc, at(rtt * T, 30.0), seq=1000 * rtt, next_seq=1000 * rtt + 500)
    assert 1e6 <= hpcc.rate[0] < 100e6
    assert hpcc.window[0] == WIRE  # a packet gets through, the rate holds it back
    hpcc = started()
    for rtt in range(1, 50):
        hear(hpcc, at(rtt * T, 0.01), seq=1000 * rtt, next_seq=1000 * rtt + 500)
    assert (hpcc.rate[0], hpcc.window[0]) == (B, BDP)


def test_idle_port_is_not_divided_by() -> None:
    hpcc = started("sim")
    assert hear(hpcc, at(T, 0.0), seq=1, next_seq=200) == BDP


STRANGE = {
    "same tick": at(T, 1.9),
    "reordered": at(T / 2, 1.9),
    "path change": at(2 * T, 1.9, node=9),
    "longer path": stack((2 * T, 3e6, 0), (2 * T, 9e6, 0)),
    "counter restarted": stack((2 * T, 10.0, 0)),
    "clock restarted": stack((-5 * T, 10.0, 0)),
    "no hop": stack(),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_stacks_change_nothing_and_the_next_one_counts(name: str) -> None:
    hpcc = started()
    before = hear(hpcc, at(T, 1.9), seq=101, next_seq=200)
    with np.errstate(all="raise"):
        assert hear(hpcc, STRANGE[name], seq=102, next_seq=200) == before
    strange = STRANGE[name]
    later = stack(*[
        (ts + 2 * T, tx + 0.95 * B / 8 * 2 * T, 0)
        for ts, tx in zip(strange.ts[0, : strange.hops[0]], strange.tx_bytes[0, : strange.hops[0]], strict=True)
    ] or [(3 * T, 1e6 + 0.95 * B / 8 * 3 * T, 0)], node=int(strange.node[0, 0]) if strange.hops[0] else 7)  # fmt: skip
    hear(hpcc, later, seq=103, next_seq=200)
    assert np.isfinite(hpcc.utilisation[0])
    assert 0 < hpcc.utilisation[0] < 2
    assert hpcc.utilisation[0] != pytest.approx(1.9)


def test_feedback_without_int_changes_nothing() -> None:
    hpcc = started()
    hpcc.on_feedback(1.0, ONE, feedback(timeouts=1))
    assert hpcc.rate[0] == B


def test_stacks_of_changing_width() -> None:
    """The agent cuts stacks to the longest of a batch."""
    hpcc = started()
    assert hear(hpcc, at(T, 1.9, width=1), seq=1, next_seq=200) == pytest.approx(BDP / 2 + W_AI)
    hear(hpcc, at(2 * T, 0.95, width=3), seq=2, next_seq=200)
    assert hpcc.utilisation[0] == pytest.approx(0.95 * 2 - 1.9)  # sent 0.95*2T in all, of which 1.9 T were counted


def test_rows_are_independent() -> None:
    hpcc = controller("hpcc", paths(3))
    for ts, utilisation in ((0.0, 0.0), (T, 1.9)):
        ints = at(ts, utilisation, flows=2)
        told = feedback(2, stack=ints, acked_packets=1, acked_seq=5, next_seq=100, rtt=T)
        hpcc.on_feedback(ts, np.array([2, 0]), told)
    assert hpcc.rate[1] == B
    assert hpcc.rate[[0, 2]] == pytest.approx((BDP / 2 + W_AI) * 8 / T)


def test_restart_forgets() -> None:
    hpcc = started()
    hear(hpcc, at(T, 1.9), seq=101, next_seq=200)
    hpcc.on_start(1.0, ONE)
    assert (hpcc.rate[0], hpcc.window[0], hpcc.utilisation[0]) == (B, BDP, 1)
    assert hear(hpcc, at(2 * T, 0.95), seq=0, next_seq=100) == BDP  # the first stack again, which is only stored
    assert hear(hpcc, at(2.5 * T, 0.95), seq=1, next_seq=100) == pytest.approx(BDP * 0.95 / 0.975 + W_AI)


def test_base_rtt_is_the_longest_unless_it_is_given() -> None:
    mixed = paths(2)
    mixed.base_rtt[1] = 2 * T
    assert controller("hpcc", mixed).base_rtt.tolist() == [2 * T] * 2
    assert controller("hpcc", mixed, base_rtt="30 us").base_rtt == pytest.approx(30e-6)


def test_one_flow_settles_at_eta_with_no_queue() -> None:
    trial = tried("hpcc", 1, 1.3e-3)
    assert trial.load(0.6e-3) == pytest.approx(0.9505, abs=0.002)
    assert trial.growth(trial.port("queue_area"), 0.6e-3) < 1100  # less than one packet


def test_incast_loses_nothing_and_its_queue_is_gone_in_a_few_rtts() -> None:
    """8 to 1, with room for the 7 BDP that the first RTT sends too much."""
    bdp = 25e9 * 13e-6 / 8
    trial = tried("hpcc", 8, 0.8e-3, buffer=8 * bdp)
    queue = trial.port("queue")
    assert trial.port("dropped_packets")[-1] == 0
    assert queue.max() > 5 * bdp
    settled = trial.port_series.time > 20 * 13e-6
    assert queue[settled].max() < 0.25 * bdp
    assert trial.load(0.4e-3) == pytest.approx(0.95, abs=0.03)
