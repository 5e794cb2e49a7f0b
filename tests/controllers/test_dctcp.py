"""DCTCP against the closed forms of its paper (SIGCOMM 2010, section 3.3) and RFC 8257's rules."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.results.summary import Summary
from tests.support.modelled import figures
from tests.support.rows import ONE, WIRE, controller, feedback, paths
from tests.support.simulated import measured
from tests.support.theory import LINE, base_rtt, root
from tests.support.theory import WIRE as PACKET

T = 8e-6
BDP = 100  # packets of `rows`


def dctcp(cwnd: float = 0, preset: str | None = None, **options: Any) -> Any:
    return controller("dctcp", paths(), preset, initial_window=cwnd, **options)


def ack(made: Any, seq: int, next_seq: int, *, packets: int = 1, marked: int = 0, rtt: float = T) -> float:
    """One acknowledgement; returns the window in packets."""
    counts = {"acked_packets": packets, "ce_packets": marked, "acked_seq": seq, "next_seq": next_seq}
    made.on_feedback(0.0, ONE, feedback(rtt=rtt, **counts))
    return float(made.cwnd[0])


def test_starts_with_one_bdp_at_line_rate_and_alpha_1() -> None:
    made = dctcp()
    assert (made.window[0], made.rate[0], made.alpha[0]) == (BDP * WIRE, 100e9, 1)


def test_grows_by_a_packet_per_window() -> None:
    assert ack(dctcp(20), seq=0, next_seq=20, packets=20) == pytest.approx(21)


def test_one_cut_per_window_by_half_of_alpha() -> None:
    """alpha is of the window that ends with the mark: 1 + (1/20 - 1)/16."""
    made = dctcp(40)
    made.window_end[:] = 20
    ack(made, seq=18, next_seq=58, packets=19)
    grown = 40 + 19 / 40
    assert ack(made, seq=20, next_seq=60, marked=1) == pytest.approx(grown * (1 - (1 + (1 / 20 - 1) / 16) / 2))
    cut = made.cwnd[0]
    for seq in range(21, 60):
        assert ack(made, seq, next_seq=60 + seq, marked=seq % 2) == cut  # nor does it grow
    assert ack(made, seq=60, next_seq=90) > cut


def test_alpha_is_a_mean_of_windows() -> None:
    made = dctcp(10)
    alpha, end = 1.0, 0
    for marks in (0, 3, 10, 5):
        ack(made, end, end + 10, packets=10, marked=marks)
        alpha += (marks / 10 - alpha) / 16
        end += 10
        assert made.alpha[0] == pytest.approx(alpha)


def test_a_row_of_n_packets_is_n_rows_of_one() -> None:
    one, many = dctcp(1000), dctcp(1000)
    ack(one, seq=9, next_seq=1000, packets=10)
    for seq in range(10):
        ack(many, seq, next_seq=1000)
    assert one.cwnd[0] == pytest.approx(many.cwnd[0], rel=1e-6)


def test_pacing_is_a_window_per_rtt() -> None:
    made = dctcp(2.5)
    ack(made, seq=0, next_seq=3, rtt=20e-6)
    assert made.rate[0] == pytest.approx(made.cwnd[0] * WIRE * 8 / 20e-6)
    assert made.window[0] == 3 * WIRE
    made = dctcp(2.5, paced=False)
    ack(made, seq=0, next_seq=3, rtt=20e-6)
    assert made.rate[0] == 100e9


def test_losses_halve_once_per_rtt_and_a_timeout_leaves_one_packet() -> None:
    made = dctcp(80)
    for now in (1e-3, 1e-3 + T / 2):
        made.on_feedback(now, ONE, feedback(lost_packets=3))
        assert made.cwnd[0] == 40
    made.on_feedback(1e-3 + 1.01 * T, ONE, feedback(lost_packets=1))
    assert made.cwnd[0] == 20
    made.on_feedback(2e-3, ONE, feedback(timeouts=1))
    assert (made.cwnd[0], made.window[0]) == (1, WIRE)


def test_rfc_doubles_up_to_the_first_cut_and_grows_while_it_is_reduced() -> None:
    made = controller("dctcp", paths(), "rfc8257")
    assert made.cwnd[0] == 10
    assert ack(made, seq=0, next_seq=20, packets=10) == 20
    cut = ack(made, seq=1, next_seq=30, marked=1)
    assert cut == pytest.approx(20 * (1 - (1 - 1 / 16) / 2))
    assert ack(made, seq=2, next_seq=30, packets=5) == pytest.approx(cut + 5 / cut)
    made.on_feedback(1e-3, ONE, feedback(timeouts=1))
    assert made.cwnd[0] == 2


K, D = 20e3, ("time.duration=6 ms", "time.warmup=3 ms")


def incast(flows: int, *settings: str) -> Summary:
    return measured("incast-8", [f"traffic.senders={flows}", "tuner.preset=dctcp", *D, *settings], controller="dctcp")


@pytest.mark.parametrize("flows", [2, 8, 32])
def test_queue_and_marks_are_those_of_the_sawtooth(flows: int) -> None:
    """Of synchronised flows, section 3.3: W* = (C RTT + K) / N, Qmax = K + N, amplitude sqrt(2 N (C RTT + K)) / 2.

    alpha, the share of marks, is what a window of W* + 1 loses per period. Flows that are not synchronised swing less
    and have fewer marks: a quarter is for that. With 32 of them Qmin is near 0, and the queue may run empty.
    """
    found = incast(flows)
    pipe = (LINE / 8 * base_rtt(PACKET) + K) / PACKET
    most = K / PACKET + flows
    least = most - (2 * flows * pipe) ** 0.5 / 2
    assert least <= found.ql_mean * LINE / 8 / PACKET <= most + 2
    window = pipe / flows
    alpha = root(lambda alpha: alpha**2 * (1 - alpha / 4) - (2 * window + 1) / (window + 1) ** 2, 0, 1)
    assert found.marked / 100 == pytest.approx(alpha, rel=0.25)
    assert found.su > (99 if flows < 32 else 95)
    assert found.drops_in_run == 0
    assert found.jain_flows > 0.99


def test_queue_at_the_published_threshold() -> None:
    """K of 65 packets, 8 flows: 4.99 us in the facts sheet's prototype, to a tenth."""
    found = incast(8, "tuner.kmin=70 kB", "tuner.kmax=70 kB")
    assert found.ql_mean == pytest.approx(4.99e-6, rel=0.1)
    assert found.su > 99.9


def test_bursts_lose_what_pacing_keeps_in_the_model() -> None:
    """Where all flows are in step (facts sheet 0.3); with packets, acknowledgements spread the bursts."""
    settings = ["tuner.preset=dctcp", "fluid.probes=8", "time.duration=2 ms", "time.warmup=1 ms"]
    paced, bursts = (
        figures("incast-8", [*settings, f"controller.paced={paced}"], controller="dctcp").su for paced in (True, False)
    )
    assert paced > 99
    assert bursts < 90
