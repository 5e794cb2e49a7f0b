"""Vivace's decisions, against the facts sheet, section 5.3."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from controllers.vivace import MOVING, PROBING, STARTING
from testbed.registry import find
from tests.controllers.vivace.flow import Flow, T
from tests.support.rows import ONE, controller, feedback, paths
from tests.support.simulated import measured


def alone(preset: str | None = "paper", base: float = 500.0, **options: Any) -> Any:
    """A flow as a plain object, in the middle of a run at half the line rate."""
    flow = controller("vivace", paths(), preset, **options).flow()
    flow.base = flow.last_rate = base
    return flow


def test_doubles_up_to_the_line_rate() -> None:
    flow, rates = Flow(), []
    for _ in range(8):
        flow.rounds(1)
        rates.append(flow.made.base[0])
        if flow.made.phase[0] != STARTING:
            break
    assert rates == [50, 100, 200, 400, 800, 1000, 1000]
    assert flow.made.phase[0] == PROBING


def test_goes_back_half_when_that_was_worse() -> None:
    """The RTT grows by 5 % of the time while 400 are tried out."""
    flow = Flow()
    flow.rounds(4)
    assert flow.made.base[0] == 400
    since = flow.seq * T / 100
    flow.rtt = lambda left: T + 0.05 * max(left - since, 0)
    flow.rounds(1)
    assert (flow.made.base[0], flow.made.phase[0]) == (200, PROBING)


class Moment:
    """The one thing of an acknowledgement that probes depend on."""

    def __init__(self, now: float) -> None:
        self.now = now


def test_two_pairs_of_probes_in_random_order() -> None:
    """Each is 5 % above and 5 % below; which is first differs."""
    flow = alone()
    seen = set()
    for count in range(64):
        flow.plan_pair(Moment(count * 1e-6), 0)
        flow.plan_pair(Moment(count * 1e-6), 2)
        for i in (0, 2):
            assert sorted(flow.tried[i : i + 2]) == pytest.approx([475, 525])
        seen.add((flow.tried[0] > 500, flow.tried[2] > 500))
    assert len(seen) == 4


def probed(*utility: float) -> Any:
    """After probes of 525, 475, 475 and 525."""
    flow = alone()
    flow.phase = PROBING
    flow.tried = [525.0, 475.0, 475.0, 525.0]
    flow.utility = list(utility)
    flow.compare()
    return flow


def test_pairs_that_agree_move_the_rate_by_their_gradient() -> None:
    up, down = probed(60, 10, 20, 50), probed(10, 60, 50, 20)
    assert (up.phase, up.base) == (MOVING, 500 + (50 / 50 + 30 / 50) / 2)
    assert (down.phase, down.base) == (MOVING, 500 - (50 / 50 + 30 / 50) / 2)


def test_pairs_that_disagree_are_repeated() -> None:
    flow = probed(60, 10, 50, 20)
    assert (flow.phase, flow.base) == (PROBING, 500)


def test_steps_the_same_way_are_amplified() -> None:
    """m(k) = k, and 2 k - 3 from the fourth on."""
    flow = alone()
    rates = [flow.base]
    for _ in range(6):
        flow.change(1.0)
        rates.append(flow.base)
    assert [b - a for a, b in pairwise(rates)] == [1, 2, 3, 5, 7, 9]


def test_a_change_is_bounded_and_the_bound_grows_while_it_binds() -> None:
    """omega is 5 %, 15 %, 25 % of the rate; then less again."""
    flow = alone()
    shares = []
    for slope in (-1e6, -1e6, -1e6, -1e-6, -1e6):
        before = flow.base
        flow.change(slope)
        shares.append((before - flow.base) / before)
    assert shares[:3] == pytest.approx([0.05, 0.15, 0.25])
    assert shares[4] == pytest.approx(0.25)


def test_least_change_and_least_rate() -> None:
    flow = alone()
    flow.change(1e-9)
    assert flow.base == 500.5
    flow = alone(base=0.6)
    flow.change(-1e6)
    assert flow.base == 0.5


@pytest.mark.parametrize(("utility", "phase", "rate"), [(11.0, MOVING, 520 + 2 / 20), (9.0, PROBING, 500.0)])
def test_goes_on_until_the_utility_falls(utility: float, phase: int, rate: float) -> None:
    """From 500 to 520, where it was 10 before: the second step of a gradient of 1/20, or back."""
    flow = alone(step=1)
    flow.phase, flow.base, flow.last_rate, flow.last_utility, flow.same_way = MOVING, 520.0, 500.0, 10.0, 1
    flow.utility[0] = utility
    flow.move()
    assert flow.phase == phase
    assert flow.base == pytest.approx(max(rate, 520.5) if phase == MOVING else rate)


def test_a_timeout_halves_and_probes() -> None:
    made = controller("vivace", paths(), "paper")
    made.on_feedback(0.0, ONE, feedback(timeouts=1))
    assert (made.base[0], made.phase[0], made.rate[0]) == (25, PROBING, 0.025 * 100e9)


def test_published_coefficient_leaves_no_standing_queue_for_a_thousand_flows() -> None:
    """b >= t n^(2 - t) C^(t - 1), at a line rate of 1000."""
    config = find("controller", "vivace").configure("paper", {})
    assert config.exponent * 1000 ** (2 - config.exponent) * 1000 ** (config.exponent - 1) == pytest.approx(900)
    assert config.latency == 900


@pytest.mark.parametrize("preset", ["recommended", "paper"])
@pytest.mark.parametrize("flows", [2, 4])
def test_few_flows_fill_the_line_and_share_it(preset: str, flows: int) -> None:
    """2400 base RTTs of virtual time. The sheet asks for SU above 85 % and FR above 80 %."""
    settings = [f"traffic.senders={flows}", "time.duration=30 ms", "time.warmup=10 ms"]
    found = measured("incast-8", [*settings, f"controller.preset={preset}"], controller="vivace")
    assert found.su > 90
    assert found.fr_flows > 80
    assert found.ql_mean < found.base_rtt / 8
    assert found.drops == 0
