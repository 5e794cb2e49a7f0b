"""NVIDIA's RTT template against the numbers of the facts sheet, section 6.2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.sdk.conformance.trial import LINE, RTT
from tests.support.rows import ONE, controller, feedback, paths
from tests.support.simulated import measured
from tests.support.trials import tried

B, T = 100e9, 8e-6
CNP, NACK = feedback(cnps=1), feedback(lost_packets=1)
NO_MARKS = ("tuner.kmin=4.9 MB", "tuner.kmax=4.95 MB", "tuner.pmax=1")
EARLY_MARKS = ("tuner.kmin=20 kB", "tuner.kmax=20 kB", "tuner.pmax=1")
LONG = ("time.duration=10 ms", "time.warmup=5 ms")


class Card:
    """A flow whose probes come back."""

    def __init__(self, preset: str | None = None, share: float = 0.5, **options: Any) -> None:
        self.made = controller("rtt-template", paths(), preset, start_rate=share, **options)
        self.seq = 0

    def hear(self, rtt: float) -> float:
        """The next reply; returns the rate as a share of the line's."""
        told = feedback(acked_packets=1, acked_seq=self.seq, next_seq=self.seq + 100, rtt=rtt)
        self.seq += 100
        self.made.on_feedback(0.0, ONE, told)
        return float(self.made.rate[0]) / B

    def tell(self, what: Any) -> None:
        self.made.on_feedback(0.0, ONE, what)


def test_starts_at_line_rate_without_a_window() -> None:
    made = controller("rtt-template", paths())
    assert (made.rate[0], made.window[0]) == (B, np.inf)


def test_a_short_rtt_adds_a_twentieth_of_the_line_rate() -> None:
    card = Card()
    assert card.hear(T) == pytest.approx(0.55)
    assert card.hear(T + 12.9e-6) == pytest.approx(0.6)


def test_a_long_rtt_takes_off_a_tenth() -> None:
    card = Card()
    card.hear(T)
    assert card.hear(T + 13.1e-6) == pytest.approx(0.55 * 0.9)


@pytest.mark.parametrize(("preset", "rate"), [("doca-3", 0.6), ("doca-2", 0.55 * 0.9)])
def test_the_two_releases_mean_different_rtts(preset: str, rate: float) -> None:
    """14 us: 6 above the least RTT, but more than 13."""
    card = Card(preset)
    card.hear(T)
    assert card.hear(14e-6) == pytest.approx(rate)


def test_a_cnp_takes_off_a_fifth_at_the_next_reply_whatever_the_rtt() -> None:
    card = Card()
    card.tell(CNP)
    card.tell(CNP)
    assert card.made.rate[0] == 0.5 * B
    assert card.hear(T) == pytest.approx(0.4)
    assert card.hear(T) == pytest.approx(0.45)


def test_a_nack_counts_at_the_first_very_long_rtt() -> None:
    card = Card()
    card.tell(NACK)
    assert card.hear(T) == pytest.approx(0.55)
    assert card.hear(149e-6) == pytest.approx(0.55 * 0.9)
    assert card.hear(150e-6) == pytest.approx(0.55 * 0.9 * 0.5)
    assert card.hear(150e-6) == pytest.approx(0.55 * 0.9 * 0.5 * 0.8)  # as a CNP


def test_rates_stay_between_the_least_and_the_line_rate() -> None:
    card = Card(share=0.98)
    assert card.hear(T) == 1
    for _ in range(200):
        card.hear(1e-3)
    assert card.hear(1e-3) == pytest.approx(2**-14)


def test_one_decision_per_probe() -> None:
    """Other acknowledgements decide nothing, and a later packet answers for a probe that is lost."""
    card = Card()
    card.hear(T)  # the next probe is packet 100
    for seq in (1, 50, 99):
        card.tell(feedback(acked_packets=1, acked_seq=seq, next_seq=130, rtt=1e-3))
    assert card.made.rate[0] == pytest.approx(0.55 * B)
    card.tell(feedback(acked_packets=1, acked_seq=101, next_seq=150, rtt=1e-3))
    assert card.made.rate[0] == pytest.approx(0.55 * 0.8 * B)
    card.tell(feedback(acked_packets=1, acked_seq=149, next_seq=160, rtt=1e-3))
    assert card.made.rate[0] == pytest.approx(0.55 * 0.8 * B)


def test_a_timeout_halves() -> None:
    card = Card()
    card.tell(feedback(timeouts=1))
    assert card.made.rate[0] == pytest.approx(0.25 * B)


def test_share_of_decreases_at_rest() -> None:
    """0.05 (1 - p) = 0.1 p r: what p of the RTTs take off at a rate r is what the others add."""
    trial = tried("rtt-template", 2, 2000 * RTT, red=(9e5, 9.9e5, 1))  # marks nothing
    of = trial.decided["flow"] == 0
    rates = trial.decided["rate"][of & (trial.decided["time"] > 100 * RTT)] / LINE
    assert rates.max() < 1  # none is cut off
    steps = np.diff(rates)
    before = rates[:-1][steps < 0]
    p = len(before) / (steps != 0).sum()
    assert len(before) > 100
    assert 0.05 * (1 - p) == pytest.approx(0.1 * p * before.mean(), rel=0.05)


# With real packets, in virtual time.


def test_two_flows_by_their_rtt_alone() -> None:
    """The sheet's fluid has a mean queue of 49 us and SU 99 %."""
    found = measured("incast-8", ["traffic.senders=2", *NO_MARKS, *LONG], controller="rtt-template")
    assert found.ql_mean == pytest.approx(49e-6, rel=0.2)
    assert found.su > 97
    assert found.drops == 0


def test_eight_flows_need_marks() -> None:
    """They grow by 40 % of the line rate per RTT: by RTT alone into a full buffer, which costs half of what is sent."""
    alone = measured("incast-8", [*NO_MARKS, *LONG], controller="rtt-template")
    marked = measured("incast-8", [*EARLY_MARKS, *LONG], controller="rtt-template")
    assert alone.ql_max == pytest.approx(400e-6, rel=0.01)
    assert alone.drops > 0
    assert marked.drops == 0
    assert marked.ql_mean < alone.ql_mean / 10
    assert marked.su > 90
    assert marked.fr_flows > 80
