"""Aurora: its interval and its rewards by hand, what it decides, and that going up alone fills the buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from testbed_controllers.baselines import Aurora
from testbed_controllers.baselines.evaluate import measure

from testbed.controller import Ack, Path

T, LINE = 8.192e-6, 100e9
PATH = Path(line_rate=LINE, base_rtt=T, longest_rtt=T, hops=1, payload=1000, wire_size=1078)


class Fixed(Aurora):
    """Always a little up."""

    def policy(self) -> float:
        return 1.0


def told(now: float, packets: int, rtt: float) -> Ack:
    return Ack(now, packets, packets * 1078, 0, 0, 0, rtt, 0, ())


def made(form: type[Aurora] = Fixed, **options: Any) -> Aurora:
    return form(form.Config.model_validate(options), PATH)


def after_an_interval(**options: Any) -> Aurora:
    """12 packets with the base RTT, then 18 with twice that; 3 lost, half as much again sent."""
    one = made(**options)
    one.on_ack(told(T, 1, T))  # the interval begins
    one.on_sent(1.1 * T, 45 * 1078)
    one.on_ack(told(1.4 * T, 12, T))
    one.on_loss(1.5 * T, 3)
    one.on_ack(told(2 * T, 18, 2 * T))
    return one


def test_an_interval_is_seen_by_slope_ratio_and_send_ratio() -> None:
    one = after_an_interval()
    rtt = (12 + 18 * 2) / 30
    # Slope 1 (one RTT more within one RTT), beside nine intervals in which nothing happened.
    assert list(one.seen[:27]) == pytest.approx([0, 1, 1] * 8 + [1, rtt, 1.5])
    assert one.rate == pytest.approx(0.3 * LINE * 1.025)
    assert one.length == T  # half of 1.6 RTTs is less
    assert (one.packets, one.lost, one.sent) == (0, 0, 0)


def test_rewards() -> None:
    """Published: packets/s, seconds, shares. Rescaled: of the line rate and base RTTs, times 300 and 0.275."""
    published, rescaled = after_an_interval(), after_an_interval(reward="rescaled")
    assert published.gained == pytest.approx(0.001 * (10 * 30 / T - 1000 * 1.6 * T - 2000 * 3 / 33))
    share = 30 * 1078 * 8 / T / LINE
    assert rescaled.gained == pytest.approx(0.001 * (10 * 300 * share - 1000 * 0.275 * 1.6 - 2000 * 3 / 33))


def test_the_published_reward_sees_nothing_but_throughput() -> None:
    """A full buffer and half of the packets lost cost less than a thousandth of what sending twice as much brings."""
    thr = 100e9 / 8 / 1078
    assert 0.001 * 10 * thr > 1000 * 400e-6 + 2000 * 0.5


def test_ten_packets_are_the_least() -> None:
    one = made()
    one.on_ack(told(T, 1, T))
    one.on_ack(told(3 * T, 9, T))
    assert one.rate == 0.3 * LINE
    one.on_ack(told(4 * T, 1, T))
    assert one.rate > 0.3 * LINE


@pytest.mark.parametrize(("wanted", "times"), [(2.0, 1.05), (-2.0, 1 / 1.05)])
def test_the_action_is_a_step_of_the_rate(wanted: float, times: float) -> None:
    one = after_an_interval()
    before, one.wanted, one.packets, one.rtts = one.rate, wanted, 1, T
    one.act(3 * T)
    assert one.rate == pytest.approx(before * times)


def test_the_network_is_the_files() -> None:
    one, rng = made(Aurora), np.random.default_rng(1)
    network = Aurora.load(one.config)
    for seen in rng.normal(1, 1, (10, 30)):
        one.seen = list(seen)
        assert one.policy() == pytest.approx(network(seen[None])[0, 0], rel=1e-9)


def test_always_up_fills_the_buffer_from_two_flows_on() -> None:
    """By theory: ln(1 / 0.3) / ln(1.025) = 49 intervals to line rate, each; then half is lost."""
    alone, two = (measure(Fixed, Fixed.Config(), n, warmup=9e-3, duration=10e-3) for n in (1, 2))
    assert alone.kind == "fine"
    assert alone.su == pytest.approx(100, abs=0.5)
    assert two.kind == "PL"
    assert two.lost == pytest.approx(0.5, abs=0.02)
