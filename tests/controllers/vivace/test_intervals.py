"""What an interval is worth, against the facts sheet, section 5.3."""

from __future__ import annotations

import pytest

from tests.controllers.vivace.flow import GAP, Flow, T


def first_utility(flow: Flow) -> float:
    """Of the flow's start rate, 50 thousandths of the line rate."""
    flow.rounds(2)
    return float(flow.made.utility[0][0])


def test_utility_of_a_rate() -> None:
    assert first_utility(Flow()) == pytest.approx(50**0.9)


@pytest.mark.parametrize(("growth", "cost"), [(0.03, 0.03), (0.011, 0.011), (0.009, 0), (-0.03, 0)])
def test_a_growing_rtt_costs(growth: float, cost: float) -> None:
    """In proportion to rate and slope; not below 1 %, and nothing is gained where it falls."""
    flow = Flow(rtt=lambda left: 3 * T + growth * left)
    assert first_utility(flow) == pytest.approx(50**0.9 - 900 * 50 * cost)


def test_losses_cost() -> None:
    """One of 20 packets; an interval has 100."""
    flow = Flow(lost=lambda seq: seq % 20 == 7)
    assert first_utility(flow) == pytest.approx(50**0.9 - 11.35 * 50 * 0.05, rel=0.01)


def test_an_interval_without_an_answer_is_all_lost() -> None:
    flow = Flow(lost=lambda seq: 100 < seq < 400)
    assert first_utility(flow) == pytest.approx(50**0.9 - 11.35 * 50)


@pytest.mark.parametrize(("share", "bears"), [(1.0, 0.04), (0.1, 0.05)])
def test_random_losses_of_five_percent_are_borne(share: float, bears: float) -> None:
    """A higher rate is worth more as long as 0.9 x^-0.1 > 11.35 L."""

    def gain(losses: float) -> float:
        x = 1000 * share
        low, high = (rate**0.9 - 11.35 * rate * losses for rate in (0.99 * x, x))
        return high - low

    assert gain(bears - 0.002) > 0 > gain(bears + 0.002)


def test_an_interval_takes_an_rtt_and_its_answer_another() -> None:
    """Hence 5 RTTs for 4 probes."""
    flow = Flow()
    while flow.made.planned[0] != 4:
        flow.rounds(1)
    began = flow.seq
    flow.rounds(1)
    assert (flow.seq - began) * GAP == pytest.approx(5 * T, rel=0.03)


def test_an_interval_has_ten_packets_at_least() -> None:
    """Where an RTT has two."""
    flow = Flow(rtt=lambda _: 2 * GAP)
    flow.rounds(3)
    began = flow.made.first[0][0]
    flow.rounds(1)
    assert flow.made.first[0][0] - began >= 10
