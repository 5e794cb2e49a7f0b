"""The fluid model by definition: conservation, delays, windows, losses, marks. Rates are set, so nothing is fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths, RateController, Signal
from testbed.engines.fluid.fluid import Fluid, Options, UnusableDecision
from testbed.engines.fluid.layout import FluidLayout, incast
from testbed.plugin import PluginConfig
from tests.support.fluid_trace import run

T, LINE, STEP = 8e-6, 100e9, 0.5e-6
PER_STEP = LINE / 8 * STEP  # bytes


class Given(RateController):
    """Rates and windows that are given; keeps what it is told."""

    name = "given"

    def __init__(self, paths: Paths, rate: float | Floats, window: float = np.inf) -> None:
        super().__init__(PluginConfig(), paths)
        self.rate[:] = rate
        self.window[:] = window
        self.told: list[tuple[float, Ints, Feedback]] = []
        self.bytes_sent = np.zeros(len(paths))

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self.told.append((now, flows, feedback))

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:  # noqa: ARG002 - part of the interface
        self.bytes_sent[flows] += sent_bytes

    def of(self, flow: int, column: str) -> list[Any]:
        return [getattr(told, column)[flows == flow][0] for _, flows, told in self.told if (flows == flow).any()]


def model(layout: FluidLayout, rate: float | Floats, window: float = np.inf, **options: Any) -> tuple[Fluid, Given]:
    controller = Given(layout.paths, rate, window)
    signals = options.pop("signals", Signal.RTT)
    return Fluid(layout, controller, Options(step=STEP, **options), signals), controller


def star(flows: int, **changes: Any) -> FluidLayout:
    return replace(incast(flows, line_rate=LINE, base_rtt=T), **changes)


def test_queue_is_the_integral_of_what_is_too_much() -> None:
    fluid, _ = model(star(2), 0.75 * LINE)
    trace = run(fluid, 100e-6)
    assert trace.every_queue[-1, 0] == pytest.approx(0.5 * LINE / 8 * (100e-6 - T / 2))
    assert trace.growth("left", 50e-6)[0] * 8 == pytest.approx(LINE)


def test_rtt_is_the_base_and_the_queue_that_the_probe_met() -> None:
    fluid, controller = model(star(2), 0.75 * LINE)
    run(fluid, 100e-6)
    first, second = controller.of(0, "rtt")[:2]
    assert first == T  # it left before anything else
    assert second == pytest.approx(T + 0.5 * T, abs=STEP)  # the next left a base RTT later


def test_everything_sent_is_somewhere() -> None:
    fluid, _ = model(star(4, buffer=2e5), LINE)
    for _ in range(400):
        fluid.step()
        queues = fluid.queues
        under_way = fluid.sent.sum() - queues.arrived[0]
        assert under_way == pytest.approx(min(fluid.sent.sum(), 4 * PER_STEP * 8))
        assert queues.arrived[0] == pytest.approx(queues.left[0] + queues.dropped[0] + queues.now[0])
    assert fluid.queue[0] == pytest.approx(2e5)
    in_flight = fluid.sent - fluid.acked - fluid.lost
    assert (in_flight >= 0).all()
    assert fluid.lost.sum() == pytest.approx(0.75 * (fluid.lost + fluid.acked).sum(), rel=0.1)


@pytest.mark.parametrize("probes", [4, 16])
def test_a_window_lets_out_one_window_per_rtt(probes: int) -> None:
    window = LINE / 8 * T / 4
    fluid, controller = model(star(1), LINE, window, probes=probes)
    trace = run(fluid, 400e-6)
    assert max(controller.of(0, "inflight")) <= window
    # What is acknowledged is known a spacing of probes late at most, and so is the window open.
    assert 1 - 1 / probes - 0.1 <= trace.growth("acked", 200e-6)[0] / (window / T) <= 1.001


def test_flows_of_a_host_share_its_line() -> None:
    layout = star(3, host=np.array([0, 0, 1]), queue=np.array([0, 1, 2]))
    fluid, _ = model(layout, np.array([LINE, LINE, 0.5 * LINE]))
    trace = run(fluid, 50e-6)
    assert trace.growth("sent", 0.0) * 8 == pytest.approx(np.array([0.5, 0.5, 0.5]) * LINE)


def test_queues_know_nothing_of_each_other() -> None:
    fluid, _ = model(replace(incast(2, copies=2, line_rate=LINE, base_rtt=T)), np.array([1, 1, 0.4, 0.4]) * LINE)
    run(fluid, 50e-6)
    assert fluid.queue[0] > 0
    assert fluid.queue[1] == 0


def test_paths_of_different_length() -> None:
    fluid, controller = model(star(2, base_rtt=np.array([T, 2 * T])), 0.4 * LINE)
    run(fluid, 100e-6)
    assert set(controller.of(0, "rtt")) == {T}
    assert set(controller.of(1, "rtt")) == {2 * T}


def test_finite_flows_finish_when_all_is_acknowledged() -> None:
    size, start = 1e6, 20e-6
    fluid, _ = model(star(1, size=np.array([size]), start=np.array([start])), 0.5 * LINE, probes=8)
    run(fluid, 400e-6)
    ideal = start + size * 8 / (0.5 * LINE) + T
    assert ideal <= fluid.finished[0] <= ideal + T / 8 + 3 * STEP
    assert fluid.sent[0] == pytest.approx(size)


def test_what_was_lost_is_sent_again() -> None:
    size = 1e6
    fluid, _ = model(star(2, size=np.full(2, size), buffer=1e5), LINE, probes=8)
    run(fluid, 2e-3)
    assert np.isfinite(fluid.finished).all()
    assert fluid.lost.sum() > 1e5
    assert fluid.acked == pytest.approx(np.full(2, size), abs=fluid.layout.wire_size)


def test_marks_follow_red_and_come_back() -> None:
    fluid, controller = model(star(2), 0.5 * LINE, red=(0.0, 1e6, 1.0), probes=4, cnp_interval=50e-6)
    fluid.queues.now[:] = 1e5 + T / 2 * LINE / 8  # for half an RTT nothing arrives, and then what leaves
    run(fluid, 3e-3)
    marked = sum(controller.of(0, "ce_packets")) / sum(controller.of(0, "acked_packets"))
    packets = 0.5 * LINE / 8 * 3e-3 / fluid.layout.wire_size
    assert marked == pytest.approx(0.1, abs=4 * (0.1 / packets) ** 0.5)
    assert 3e-3 / 50e-6 * 0.8 <= sum(controller.of(0, "cnps")) <= 3e-3 / 50e-6


def test_int_tells_of_the_queue_and_of_what_left() -> None:
    fluid, controller = model(star(2), 0.75 * LINE, signals=Signal.INT)
    run(fluid, 60e-6)
    stacks = [told.int_stack for _, _, told in controller.told]
    first, last = stacks[0], stacks[-1]
    grown = last.tx_bytes[0, 0] - first.tx_bytes[0, 0]
    assert grown * 8 / (last.ts[0, 0] - first.ts[0, 0]) == pytest.approx(LINE, rel=1e-6)
    assert last.queue[0, 0] > first.queue[0, 0] == 0
    assert last.queue[0, 0] * 8 / LINE == pytest.approx(controller.told[-1][2].rtt[0] - T)  # of the same moment


def test_sent_bytes_are_told_to_who_asks() -> None:
    fluid, controller = model(star(2), 0.3 * LINE, signals=Signal.TX, probes=4)
    run(fluid, 100e-6)
    assert controller.bytes_sent == pytest.approx(fluid.sent, abs=T / 4 * LINE / 8 + fluid.layout.wire_size)


def test_decision_delay_is_no_part_of_the_rtt() -> None:
    fluid, controller = model(star(1), 0.5 * LINE, decision_delay=5 * T)
    run(fluid, 240e-6)
    assert controller.of(0, "rtt") == pytest.approx([T] * 5)
    assert np.diff([now for now, _, _ in controller.told]) == pytest.approx(6 * T, abs=STEP)


def test_what_is_gathered_is_the_sum_of_what_came_back() -> None:
    """Two models of the same overload, one told of every probe: same bytes, one row per flow, the newest RTT."""
    start = np.linspace(0, T, 16, endpoint=False)
    layouts = [star(16, start=start.copy(), buffer=3e5) for _ in range(2)]
    (each, told), (once, gathered) = (model(layout, 0.2 * LINE, probes=4) for layout in layouts)
    until = 20 * T
    while each.now < until:
        each.step()
    while once.now < start[-1] + STEP:
        once.step()
    before = len(gathered.told)
    assert not once.gather(until, 64, once.now)  # more than twice as many as there are: to the end
    assert once.now == each.now
    assert np.array_equal(once.acked, each.acked)
    assert np.array_equal(once.lost, each.lost)
    assert each.lost.min() > 0
    assert len(gathered.told) == before + 1
    for flow in range(16):
        for column in ("acked_packets", "lost_packets"):
            assert sum(gathered.of(flow, column)) == sum(told.of(flow, column))
        for column in ("rtt", "acked_seq"):
            assert gathered.of(flow, column)[-1] == told.of(flow, column)[-1]


def test_gathering_ends_when_enough_are_answered_or_half_of_the_time_ago() -> None:
    """A packet that leaves after a decision is back an RTT later; one of three paths is ten times as long."""
    fluid, _ = model(star(3, base_rtt=np.array([T, T, 10 * T])), 0.1 * LINE, probes=8)
    while fluid.now < 20 * T:
        fluid.step()
    fluid.answer(np.arange(3))
    began = fluid.now
    assert not fluid.gather(np.inf, 2, began)
    assert fluid.now - began == pytest.approx(T, abs=T / 8 + 2 * STEP)
    fluid.answer(np.arange(3))
    began = fluid.now
    assert fluid.gather(np.inf, 3, began)
    assert fluid.now - began == pytest.approx(2 * T, abs=T / 4 + 4 * STEP)


def test_a_rate_that_is_no_number_is_refused() -> None:
    fluid, _ = model(star(1), float("nan"))
    with pytest.raises(UnusableDecision, match="rate nan"):
        fluid.step()
