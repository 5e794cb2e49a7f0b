"""Trials against theory: what conformance says is only as good as this."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.base.arrays import Ints
from testbed.controller import CompiledController, Feedback, Paths, RateController, Signal
from testbed.errors import BadInput, PluginFailed
from testbed.plugin import PluginConfig
from testbed.results.trace import FEEDBACK, SENT, TIMEOUT, TIMER
from testbed.sdk.conformance.trial import BUFFER, LINE, RTT, USUAL, Fabric, OutOfBounds, Trial
from testbed.sdk.conformance.trial import TIMEOUT as SILENCE
from tests.support.trials import tried

GATHERED = 1 / 32  # of a base RTT: for so long feedback of a batch form may wait


class Probe(RateController):
    """Sends at a set rate and window."""

    name = "probe"
    signals = Signal.RTT | Signal.CE | Signal.CNP | Signal.INT | Signal.TX
    share, packets = 1.0, np.inf

    def __init__(self, config: PluginConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.rate *= self.share
        self.window[:] = self.packets * paths.wire_size

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        """Nothing changes."""


def probed(share: float = 1.0, packets: float = np.inf, *, flows: int = 1, duration: float, **more: Any) -> Trial:
    form = type("Probe", (Probe,), {"share": share, "packets": packets})
    return tried(form, flows, duration, **more)


@pytest.mark.parametrize("fabric", [Fabric(100e9, 8e-6), Fabric(10e9, 50e-6)], ids=["100G", "10G"])
def test_a_rack_of_another_rate_and_rtt_is_the_same_in_bdps(fabric: Fabric) -> None:
    trial = probed(fabric=fabric, duration=60 * fabric.rtt)
    assert trial.rtt == pytest.approx(fabric.rtt, rel=0.01)
    assert trial.load(20 * fabric.rtt) == pytest.approx(1, abs=0.01)
    assert trial.experiment.rack.switch.buffer == pytest.approx(BUFFER * fabric.bdp / USUAL.bdp, abs=1)


def test_a_packet_takes_its_time() -> None:
    with pytest.raises(BadInput, match="a base RTT of 1 us at 10 Gbit/s is less than it takes to send a packet"):
        _ = Fabric(10e9, 1e-6).delay


def told(trial: Trial, column: str, kind: int = FEEDBACK) -> np.ndarray:
    return np.asarray(trial.decided[column][trial.decided["kind"] == kind])


def sent(trial: Trial, start: float) -> float:
    """Bytes per second that left the host."""
    rows = (trial.decided["kind"] == SENT) & (trial.decided["time"] >= start)
    return float(trial.decided["sent_bytes"][rows].sum() / (trial.record.duration - start))


def test_an_overloaded_port_drains_at_exactly_the_line_rate() -> None:
    trial = probed(flows=3, duration=50 * RTT)
    assert trial.load(10 * RTT) == pytest.approx(1, rel=1e-6)
    assert trial.port("queue").max() <= BUFFER


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_rate_is_enforced(share: float) -> None:
    trial = probed(share, duration=100 * RTT)
    assert trial.load(10 * RTT) == pytest.approx(share, rel=0.01)
    assert trial.port("dropped_packets")[-1] == 0


@pytest.mark.parametrize("packets", [1, 10, 20.9])
def test_a_window_is_enforced_in_whole_packets(packets: float) -> None:
    """What a batch gathers is an acknowledgement that the window still holds."""
    trial = probed(packets=packets, duration=100 * RTT)
    wire = trial.record.wire_size
    assert told(trial, "inflight").max() <= packets * wire
    per_rtt = sent(trial, 10 * RTT) * trial.rtt / wire
    assert int(packets) * (1 - GATHERED) - 0.1 <= per_rtt <= int(packets) * 1.02


def test_a_window_below_one_packet_is_one_packet_at_a_time() -> None:
    assert probed(packets=0.5, duration=40 * RTT).record.flows.sent_packets[0] == pytest.approx(39, abs=1)


def test_the_rtt_is_the_base_rtt_and_the_queue() -> None:
    rtt = told(alone := probed(0.5, duration=20 * RTT), "rtt")
    assert rtt == pytest.approx(np.full(len(rtt), alone.rtt))
    crowd = probed(flows=2, duration=20 * RTT)
    rtt, queue = told(crowd, "rtt"), told(crowd, "hop1_queue")
    packet = crowd.record.wire_size * 8 / LINE
    assert np.abs(rtt - crowd.rtt - queue * 8 / LINE).max() <= packet
    assert queue.max() > 100e3


def test_lost_packets_show_as_gaps() -> None:
    """1 % of the packets, and then 1 % of the acknowledgements."""
    trial = probed(0.5, duration=400 * RTT, loss=0.01)
    sent = trial.record.flows.sent_packets[0]
    assert told(trial, "lost_packets").sum() == pytest.approx(0.0199 * sent, rel=0.2)
    assert told(trial, "acked_packets").sum() + told(trial, "lost_packets").sum() == told(trial, "acked_seq")[-1] + 1


def test_timeouts_fire_after_silence_and_empty_the_flight() -> None:
    trial = probed(packets=10, duration=2e-3, silence=(1e-4, 1.2e-3))
    times = told(trial, "time", TIMEOUT)
    assert np.diff(times, prepend=1e-4 + RTT) == pytest.approx(np.full(len(times), SILENCE), rel=1 / 4)  # checks: 1/8
    assert len(times) == trial.record.flows.timeouts[0] == 3
    assert (told(trial, "inflight", TIMEOUT) == 0).all()
    assert trial.load(1.7e-3) * LINE / 8 * trial.rtt / trial.record.wire_size == pytest.approx(10, rel=0.1)


def test_cnps_are_paced_per_flow() -> None:
    """CE on every packet, but for the first of all, and N = 50 us."""
    trial = probed(0.8, flows=2, duration=1e-3, red=(0, 0, 1), buffer=8e6)
    assert told(trial, "cnps").sum() == trial.record.flows.cnps.sum()
    assert set(trial.record.flows.cnps) <= {19, 20}


def test_flows_start_one_after_the_other() -> None:
    trial = probed(0.1, flows=3, duration=40 * RTT, gap=10 * RTT)
    first = [trial.decided["time"][trial.decided["flow"] == flow][0] for flow in range(3)]
    assert np.array(first) == pytest.approx([0, 10 * RTT, 20 * RTT], abs=RTT)  # and up to a base RTT by the seed


def test_timers_are_called_when_due() -> None:
    class Timed(Probe):
        def on_start(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - the interface
            self.timer[flows] = 50e-6 + 10e-6 * flows

        def on_timer(self, now: float, flows: Ints) -> None:  # noqa: ARG002 - the interface
            self.timer[flows] = np.inf

    trial = tried(Timed, 2, 10 * RTT)
    assert told(trial, "time", TIMER) == pytest.approx([50e-6, 60e-6], abs=GATHERED * trial.rtt)


class Loop(CompiledController):
    name = "loop"

    def on_start(self, now: float) -> None:
        self.timer = now


@pytest.mark.parametrize("compiled", [True, False])
def test_a_timer_that_is_never_set_forward_ends_the_run(compiled: bool) -> None:
    with pytest.raises((PluginFailed, OutOfBounds), match=r"on_timer leaves the timer of .*flow.* in the past"):
        tried(Loop, 1, 10 * RTT, compiled=compiled)


def test_the_seed_decides() -> None:
    digests = [probed(0.6, flows=2, duration=50 * RTT, loss=0.02, seed=seed).digest for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


def test_flows_that_start_again_say_with_what() -> None:
    trial = probed(0.3, packets=7, flows=2, duration=10 * RTT)
    assert (trial.begun() == trial.restarted()).all()
    assert trial.begun()[0] == pytest.approx([0.3 * LINE] * 2)
