"""The mock data path against theory: what conformance says is only as good as this."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from testbed.base.arrays import Ints
from testbed.controller import Feedback, Paths, RateController, Signal
from testbed.errors import TestbedError
from testbed.plugin import PluginConfig
from testbed.sdk.mock.datapath import Mock
from testbed.sdk.mock.scenario import Scenario

RTT, LINE, WIRE = Scenario.base_rtt, Scenario.line_rate, Scenario.wire_size


class Probe(RateController):
    """Sends at a set rate and window, and keeps what it hears."""

    name = "probe"
    signals = Signal.RTT | Signal.CE | Signal.CNP | Signal.INT | Signal.TX
    share, packets = 1.0, np.inf

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.rate *= self.share
        self.window[:] = self.packets * paths.wire_size
        self.heard: list[tuple[float, Ints, Feedback]] = []
        self.sent: list[tuple[float, int]] = []
        self.fired: list[float] = []

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self.heard.append((now, flows, feedback))

    def on_sent(self, now: float, flows: Ints, sent_bytes: Ints) -> None:  # noqa: ARG002 - the interface
        self.sent.append((now, int(sent_bytes.sum())))

    def on_timer(self, now: float, flows: Ints) -> None:
        self.fired.append(now)
        self.timer[flows] = np.inf

    def total(self, column: str) -> int:
        return sum(int(getattr(feedback, column).sum()) for _, _, feedback in self.heard)


def simulate(share: float = 1.0, packets: float = np.inf, **scenario: Any) -> tuple[Any, Any]:
    form = type("Probe", (Probe,), {"share": share, "packets": packets})
    mock = Mock(form, PluginConfig(), Scenario(**scenario))
    return mock.run(), mock.controller


def test_overloaded_port_drains_at_exactly_the_line_rate() -> None:
    trace, _ = simulate(flows=3, duration=50 * RTT)
    assert trace.growth("delivered", 10 * RTT) * 8 == pytest.approx(LINE, rel=1e-6)
    assert trace.queue.max() <= Scenario.buffer
    sent = trace.sent[-1].sum() / WIRE
    assert trace.dropped[-1] == pytest.approx(sent - (trace.delivered[-1] + trace.queue[-1]) / WIRE, abs=1)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_rate_is_enforced(share: float) -> None:
    trace, _ = simulate(share=share, duration=100 * RTT)
    assert trace.growth("sent", 10 * RTT)[0] * 8 == pytest.approx(share * LINE, rel=0.01)
    assert trace.dropped[-1] == 0


@pytest.mark.parametrize("packets", [1, 10, 20.9])
def test_window_is_enforced_in_whole_packets(packets: float) -> None:
    trace, probe = simulate(packets=packets, duration=100 * RTT, poll=1e-9)
    assert max(int(feedback.inflight.max()) for _, _, feedback in probe.heard) <= packets * WIRE
    per_rtt = trace.growth("sent", 10 * RTT)[0] * RTT / WIRE
    assert per_rtt == pytest.approx(int(packets), rel=0.02)


def test_window_below_one_packet_stops_a_flow() -> None:
    trace, _ = simulate(packets=0.99, duration=10 * RTT)
    assert trace.sent[-1, 0] == 0


def test_rtt_is_the_base_rtt_plus_the_queue() -> None:
    _, alone = simulate(share=0.5, duration=20 * RTT)
    rtts = [feedback.rtt[0] for _, _, feedback in alone.heard]
    assert rtts == pytest.approx([RTT] * len(rtts))
    _, crowd = simulate(flows=2, duration=20 * RTT)
    for _, _, feedback in crowd.heard:
        for row in range(len(feedback.rtt)):
            waited = feedback.int_stack.queue[row, 0] * 8 / LINE
            assert feedback.rtt[row] == pytest.approx(RTT + waited)


def test_feedback_is_batched_with_one_row_per_flow() -> None:
    _, probe = simulate(flows=4, share=0.2, duration=30 * RTT, poll=4e-6)
    for now, flows, feedback in probe.heard:
        assert now / 4e-6 == pytest.approx(round(now / 4e-6))
        assert len(set(flows.tolist())) == len(flows)
        assert (feedback.acked_bytes == feedback.acked_packets * WIRE).all()
    assert max(len(flows) for _, flows, _ in probe.heard) == 4
    assert max(int(feedback.acked_packets.max()) for _, _, feedback in probe.heard) > 1


def test_lost_packets_show_as_gaps() -> None:
    trace, probe = simulate(share=0.5, duration=200 * RTT, lose=0.05)
    sent = trace.sent[-1, 0] / WIRE
    assert probe.total("lost_packets") == pytest.approx(0.05 * sent, rel=0.2)
    last = probe.heard[-1][2]
    assert probe.total("acked_packets") + probe.total("lost_packets") == last.acked_seq[0] + 1
    assert last.inflight[0] == (last.next_seq[0] - last.acked_seq[0] - 1) * WIRE


def test_timeouts_fire_once_per_silent_timeout_and_empty_the_flight() -> None:
    trace, probe = simulate(packets=10, duration=2e-3, blackout=(0, 1e-3), timeout=300e-6)
    timeouts = [(now, feedback) for now, _, feedback in probe.heard if feedback.timeouts.any()]
    assert [now for now, _ in timeouts] == pytest.approx([300e-6, 600e-6, 900e-6, 1200e-6], abs=5e-6)
    assert all(feedback.inflight[0] == 0 and np.isnan(feedback.rtt[0]) for _, feedback in timeouts)
    assert all(feedback.int_stack.hops[0] == 0 for _, feedback in timeouts)
    assert trace.timeouts[-1] == 4
    assert probe.total("lost_packets") == 0  # what timed out is no gap afterwards
    assert trace.growth("acked", 1.5e-3)[0] * RTT / WIRE == pytest.approx(10, rel=0.1)


def test_duplicate_and_late_feedback_reaches_the_controller() -> None:
    trace, probe = simulate(share=0.5, duration=200 * RTT, duplicate=0.1)
    assert trace.acked[-1, 0] / trace.sent[-1, 0] == pytest.approx(1.1, abs=0.03)
    _, probe = simulate(share=0.5, duration=100 * RTT, reorder=0.1)
    stamps = [feedback.int_stack.ts[0, 0] for _, _, feedback in probe.heard]
    assert any(later < earlier for earlier, later in pairwise(stamps))
    assert probe.total("lost_packets") > 0  # overtaken packets look lost


def test_cnps_are_paced_per_flow() -> None:
    """CE on every packet for 1 ms and N = 50 us: one CNP at 0 and then 20."""
    trace, probe = simulate(flows=2, share=0.4, duration=1e-3 + RTT + 1e-6, red=(-1, -1, 1))
    assert trace.cnps[-1].tolist() == [20, 20]
    assert probe.total("cnps") == 40
    assert probe.total("ce_packets") == probe.total("acked_packets")


def test_sent_bytes_are_told() -> None:
    trace, probe = simulate(share=0.3, duration=20 * RTT)
    assert sum(size for _, size in probe.sent) == pytest.approx(trace.sent[-1, 0], abs=10 * WIRE)
    gaps = np.diff([now for now, _ in probe.sent])
    assert gaps == pytest.approx(np.full(len(gaps), 8 * WIRE / (0.3 * LINE)))


def test_flows_start_one_after_the_other() -> None:
    trace, _ = simulate(flows=3, share=0.1, start_gap=10 * RTT, duration=40 * RTT)
    first = [trace.time[np.flatnonzero(trace.sent[:, flow])[0]] for flow in range(3)]
    assert first == pytest.approx([RTT, 11 * RTT, 21 * RTT], abs=1.01 * RTT)


def test_timers_are_called_when_due() -> None:
    mock = Mock(Probe, PluginConfig(), Scenario(flows=2, duration=20 * RTT))
    mock.controller.timer[:] = (7e-6, 90e-6)
    mock.run()
    assert mock.controller.fired == [7e-6, 90e-6]  # type: ignore[attr-defined]


def test_a_timer_that_is_never_set_forward_is_found() -> None:
    class Endless(Probe):
        def on_timer(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - the interface
            self.fired.append(now)

    mock = Mock(Endless, PluginConfig(), Scenario())
    mock.controller.timer[0] = 0.0
    with pytest.raises(TestbedError, match="on_timer leaves the timer of flow 0 in the past"):
        mock.run()


def test_seed_decides_everything() -> None:
    runs = [simulate(flows=2, share=0.6, duration=50 * RTT, lose=0.05, seed=seed)[0] for seed in (1, 1, 2)]
    assert np.array_equal(runs[0].acked, runs[1].acked)
    assert not np.array_equal(runs[0].acked, runs[2].acked)
