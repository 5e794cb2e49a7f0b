"""SPINE's executor: every branch by hand, and where its parameters say that a queue rests."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from testbed_controllers.spine import Spine

from testbed.compiled.flows import build
from testbed.controller import Ack, Path
from testbed.engines.fluid.fluid import Fluid, Options
from testbed.engines.fluid.layout import FluidLayout, incast
from testbed.registry import find
from tests.support.simulated import measured

T, LINE = 8.192e-6, 100e9
BDP = LINE * T / 8
PACKETS = BDP / 1078
PATH = Path(line_rate=LINE, base_rtt=T, longest_rtt=T, hops=1, payload=1000, wire_size=1078)


def told(now: float, packets: int = 1, rtt: float = T) -> Ack:
    return Ack(now, packets, packets * 1078, 0, 0, 0, rtt, 0, ())


def made(preset: str = "default", **options: Any) -> Spine:
    return Spine(find("controller", "spine").configure(preset, options), PATH)


def test_it_starts_with_one_bdp_at_line_rate() -> None:
    one = made()
    assert one.cwnd == pytest.approx(PACKETS)
    assert one.rate == pytest.approx(LINE)
    assert one.window == np.ceil(PACKETS) * 1078
    parameters = np.array((one.alpha, one.beta, one.gamma, one.delta))
    assert (1024 * parameters).tolist() == [50, 200, 400, 717]  # gamma's 200 count twice


def test_below_the_threshold_it_adds_alpha_per_packet_and_above_it_takes_beta() -> None:
    one = made(rtt_gain=1 / 8)
    one.on_ack(told(T, 3))
    assert one.cwnd == pytest.approx(PACKETS + 3 * 50 / 1024)
    one.on_ack(told(2 * T, 1, 9 * T))  # srtt is 2 T now
    assert one.srtt == pytest.approx(2 * T)
    assert one.cwnd == pytest.approx(PACKETS + (150 - 200) / 1024)
    assert one.rate == pytest.approx(8 * 1078 * one.cwnd / (2 * T))


def test_the_smoothed_rtt_is_of_eight_packets() -> None:
    """One row of 5 packets is five of one."""
    many, single = made(rtt_gain=1 / 8), made(rtt_gain=1 / 8)
    many.on_ack(told(T, 5, 1.2 * T))
    for _ in range(5):
        single.on_ack(told(T, 1, 1.2 * T))
    assert many.srtt == pytest.approx(single.srtt, rel=1e-12)
    assert many.srtt == pytest.approx(T * (1.2 - 0.2 * (7 / 8) ** 5))
    assert many.cwnd == pytest.approx(single.cwnd, rel=1e-12)


def test_the_linear_law_is_proportional_and_limited() -> None:
    one = made("linear")
    assert one.change(1.0) == pytest.approx((50 - 200 * (1 - 400 / 1024)) / 1024)
    assert one.change(50.0) == -0.5
    assert made("linear", beta=1, gamma=4).change(0.0) == 1.0


def test_a_window_below_a_packet_is_at_most_halved_or_doubled() -> None:
    one = made()
    one.move(1 / 50)
    assert one.window == 1078
    assert one.change(0.0) == one.cwnd
    assert one.change(1.0) == -one.cwnd / 2
    one.move(0.0)
    assert one.cwnd == 1 / 64
    one.move(1e9)
    assert one.cwnd == pytest.approx(PACKETS * (1 + 400 / 1024))


def test_slow_start_grows_by_half_until_the_first_loss() -> None:
    one = made("module")
    assert one.cwnd == 10
    one.on_ack(told(T, 10, 3 * T))
    assert one.cwnd == pytest.approx(10 + 10 * 500 / 1024)
    one.on_ack(told(2 * T, 30))
    window = one.cwnd
    one.on_loss(3 * T, 1)
    assert one.cwnd == pytest.approx(window * 717 / 1024)
    window = one.cwnd
    one.on_ack(told(4 * T, 8))
    assert one.cwnd == pytest.approx(window + 8 * 50 / 1024)
    one.move(1.0)
    assert one.cwnd == 10  # the module's floor


def test_losses_cut_once_per_rtt() -> None:
    one = made()
    for now in (T, 1.5 * T):
        one.on_loss(now, 4)
    assert one.cwnd == pytest.approx(PACKETS * 717 / 1024)
    one.on_timeout(2.1 * T, 4)
    assert one.cwnd == pytest.approx(PACKETS * (717 / 1024) ** 2)


def run(layout: FluidLayout, **options: Any) -> Fluid:
    config = find("controller", "spine").configure("default", options)
    return Fluid(layout, build(Spine, config, layout.paths), Options(step=T / 16, probes=8))


@pytest.mark.parametrize(("flows", "queue"), [(2, 2.5e-6), (8, 2.3e-6)])
def test_the_queue_stays_below_the_threshold(flows: int, queue: float) -> None:
    """The sheet's measurements; the switch point is 0.39 T = 3.2 us."""
    layout = incast(flows)
    layout = dataclasses.replace(layout, start=np.random.default_rng(1).uniform(0, T, flows))
    fluid = run(layout)
    for _ in range(16 * 200):
        fluid.step()
    queues = fluid.queues
    left, area = queues.left[0], queues.area[0]
    for _ in range(16 * 200):
        fluid.step()
    assert (queues.area[0] - area) / 3200 / BDP * T == pytest.approx(queue, rel=0.1)
    assert queues.left[0] - left > 0.995 * 200 * BDP


@pytest.mark.parametrize(("options", "after"), [({}, 0.74), ({"rtt_gain": 0.125}, 0.66)])
def test_unequal_shares_stay(options: dict[str, Any], after: float) -> None:
    """Growth and cuts are multiplicative per RTT: 75 % are 74 % after 4 ms (the sheet's).

    Smoothing is per packet, so that the smaller flow knows an older RTT; that brings them together, slowly.
    """
    fluid = run(incast(2), **options)
    fluid.step()
    records = fluid.controller.records
    records["cwnd"] = np.array([0.75, 0.25]) * PACKETS
    records["rate"] = np.array([0.75, 0.25]) * LINE
    records["window"] = 1078 * np.ceil(records["cwnd"])
    fluid.apply_decisions()
    for _ in range(round(4e-3 / T * 16)):
        fluid.step()
    assert records["cwnd"][0] / records["cwnd"].sum() == pytest.approx(after, abs=0.02)


@pytest.mark.parametrize("flows", [2, 8, 32])
@pytest.mark.parametrize(("preset", "least", "most"), [("default", 0.0, 0.39), ("linear", 0.6, 0.8)])
def test_packets_rest_where_the_parameters_say(preset: str, least: float, most: float, flows: int) -> None:
    """Below gamma; with the linear law at gamma + alpha / beta = 0.64. Whole packets add to it."""
    settings = [f"traffic.senders={flows}", f"controller.preset={preset}", "time.duration=5 ms", "time.warmup=2 ms"]
    found = measured("incast-8", settings, controller="spine")
    packets = flows * 1078 * 8 / LINE / found.base_rtt
    assert least < found.ql_mean / found.base_rtt < most + packets
    assert found.su > 95
    assert found.drops == 0
