"""Go-back-N and selective repeat in a rack: what is lost is sent again under its number, and delivered once, in order.

Every run here is held to the invariants, `delivery_is_in_order` among them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.engines.virtual.run import VirtualRun
from testbed.results.record import RunRecord
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from tests.support.simulated import simulated

NUMBERED = ["go-back-n", "selective-repeat"]
SIZE, PAYLOAD = 1e6, 4096
PACKETS = -(-SIZE // PAYLOAD)
TWO_TO_ONE = """
rack: {kind: star, hosts: 3, link: {rate: 100 Gbit/s}, switch: {buffer: 5.2 MB}}
traffic: {pattern: incast, senders: 2, payload: 4096 B, size: 1 MB}
controller: {name: fixed, rate: 40 %}
time: {duration: 2 ms, warmup: 0 s}
record: {report: false}
"""
LEAVES = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 4
  hosts_per_leaf: 4
  link: {rate: 100 Gbit/s, delay: 1 us}
  uplink: {rate: 100 Gbit/s, delay: 1 us}
traffic: {pattern: permutation, hosts: 8, stride: 4, payload: 4096 B}
controller: {name: fixed, rate: 90 %}
time: {duration: 400 us, warmup: 100 us}
record: {report: false}
"""


def recovered(recovery: str, *settings: str, experiment: str = TWO_TO_ONE) -> RunRecord:
    return simulated(experiment, [f"transport.recovery={recovery}", *settings])


@pytest.mark.parametrize("recovery", NUMBERED)
def test_where_nothing_is_lost_it_makes_no_difference(recovery: str) -> None:
    plain, one = recovered("per-packet").flows, recovered(recovery).flows
    assert (one.finished == plain.finished).all()
    assert (one.sent_packets == plain.sent_packets).all()
    assert one.lost_packets.sum() == one.timeouts.sum() == 0


@pytest.mark.parametrize("controller", ["fixed", "hpcc", "dcqcn", "swift"])
@pytest.mark.parametrize("recovery", NUMBERED)
def test_everything_arrives_though_packets_are_lost(recovery: str, controller: str) -> None:
    flows = recovered(
        recovery, "rack.link.loss=0.01", "transport.timeout=100 us", f"controller={controller}", "time.duration=4 ms"
    ).flows
    assert np.isfinite(flows.finished).all()
    assert flows.lost_packets.sum() > 0
    again = flows.sent_packets - PACKETS
    assert (again == flows.resent_packets).all()
    assert (again >= 0).all()
    if recovery == "selective-repeat":  # only what was lost, or whose acknowledgement was
        assert (again <= flows.lost_packets + flows.late_acks).all()
        assert again.sum() < 0.1 * flows.sent_packets.sum()


def test_going_back_costs_more_than_what_was_lost() -> None:
    loss = ("rack.link.loss=0.005", "transport.timeout=100 us", "time.duration=4 ms")
    back, repeat = (recovered(recovery, *loss).flows.sent_packets.sum() for recovery in NUMBERED)
    assert repeat > 2 * PACKETS
    assert back - 2 * PACKETS > 3 * (repeat - 2 * PACKETS)


@pytest.mark.parametrize("recovery", NUMBERED)
def test_numbers_wrap_at_24_bits(recovery: str, tmp_path: Path) -> None:
    file = tmp_path / "two-to-one.yaml"
    file.write_text(TWO_TO_ONE)
    settings = [f"transport.recovery={recovery}", "engine=virtual", "rack.link.loss=0.01", "transport.timeout=100 us"]
    run = VirtualRun(resolve(str(file), {}, {}, settings), [], Unwatched())
    begin = (1 << 24) - 100
    run.flows.sent[:] = run.flows.expected[:] = begin
    run.world.maps.receivers["expected"] = begin
    record = run.follow()
    assert np.isfinite(record.flows.finished).all()
    assert (run.world.maps.receivers["expected"] == (begin + PACKETS) % (1 << 24)).all()
    assert (run.world.maps.receivers["delivered"] == PACKETS).all()


def test_a_lost_last_packet_waits_for_the_timeout() -> None:
    """Nothing that came later could show that it is missing."""
    flows = recovered("go-back-n", "rack.link.loss=0.2", "traffic.size=4096 B", "transport.timeout=7", "seed=3").flows
    waited = flows.timeouts > 0
    assert waited.any()
    assert (flows.finished[waited] > 4.096e-6 * 2**7).all()


def test_a_queue_pair_gives_up_after_so_many_retries() -> None:
    record = recovered(
        "go-back-n", "rack.link.loss=0.9", "transport.timeout=30 us", "transport.retries=2", "traffic.size=40 kB"
    )
    assert np.isnan(record.flows.finished).all()
    assert record.counters["queue_pairs_in_error"] == 2
    assert record.flows.timeouts.max() < 20  # and not one every 30 us


# -- what hardware did: 2:1, eight streams, 5.2 MB, no ECN and no PFC --------------------------------------------------

EIGHT = """
rack: {kind: star, hosts: 3, link: {rate: 100 Gbit/s}, switch: {buffer: 5.2 MB}}
traffic:
  pattern: flows
  payload: 4096 B
  flows: [{src: h1, dst: h3}, {src: h2, dst: h3}, {src: h1, dst: h3}, {src: h2, dst: h3},
          {src: h1, dst: h3}, {src: h2, dst: h3}, {src: h1, dst: h3}, {src: h2, dst: h3}]
controller: {name: fixed}
time: {duration: 20 ms, warmup: 5 ms}
record: {report: false}
"""
HARDWARE = 73.9e9  # bit/s of goodput, ConnectX-5


def goodput(record: RunRecord) -> float:
    return float(record.acked_in_window.sum() * 8 / (record.duration - record.warmup))


def test_without_any_reaction_going_back_collapses() -> None:
    """Half of what is sent again is lost again, and then only the timer knows: that is not what the hardware did."""
    assert goodput(recovered("per-packet", experiment=EIGHT)) > 97e9
    assert goodput(recovered("selective-repeat", experiment=EIGHT)) > 97e9
    assert goodput(recovered("go-back-n", experiment=EIGHT)) < 1e9
    assert goodput(recovered("go-back-n", "transport.timeout=100 us", experiment=EIGHT)) < 5e9


def test_a_nic_that_slows_down_where_it_loses_has_the_hardwares_goodput() -> None:
    """Its receivers sent CNPs though no switch marked: as if marked where the buffer ends."""
    edge = ["tuner.kmin=5 MB", "tuner.kmax=5 MB", "tuner.pmax=1", "controller=dcqcn"]
    record = recovered("go-back-n", *edge, "time.duration=60 ms", "time.warmup=20 ms", experiment=EIGHT)
    assert goodput(record) == pytest.approx(HARDWARE, rel=0.1)
    assert record.port_series.dropped_packets[-1].sum() > 1000
    shares = record.acked_in_window / record.acked_in_window.mean()
    assert shares.min() > 0.93


def test_who_loses_is_chance() -> None:
    """The hardware's streams shared the losses within 0.5 %; 7,500 losses each are within 1.2 % by chance alone."""
    flows = recovered("per-packet", experiment=EIGHT).flows
    lost = flows.sent_packets - flows.delivered_packets
    assert lost.min() > 5000
    assert lost[::2].sum() == pytest.approx(lost[1::2].sum(), rel=0.02)
    assert lost.std() < 0.03 * lost.mean()


# -- many paths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("routing", ["spray", "reps"])
def test_disorder_collapses_going_back_and_not_selective_repeat(routing: str) -> None:
    back, repeat = (recovered(one, f"routing={routing}", experiment=LEAVES) for one in NUMBERED)
    goodput = [one.acked_in_window.sum() for one in (back, repeat)]
    assert goodput[0] < 0.5 * goodput[1]
    assert repeat.flows.lost_packets.sum() == 0
    assert back.flows.lost_packets.sum() > back.flows.sent_packets.sum() / 4


def test_adaptive_timers_find_a_lost_last_packet_soon() -> None:
    """Within 67.1 ms nothing would."""
    settings = ["rack.link.loss=0.2", "traffic.size=4096 B", "transport.timeout=14", "seed=3"]
    assert np.isnan(recovered("go-back-n", *settings).flows.finished).any()
    flows = recovered("go-back-n", *settings, "transport.adaptive={first: 30 us}").flows
    assert np.isfinite(flows.finished).all()
    assert flows.timeouts.sum() > 0


@pytest.mark.parametrize("recovery", NUMBERED)
def test_adaptive_timers_double_until_the_queue_pair_gives_up(recovery: str) -> None:
    """After 20, 40, 80, 160 and 320 us: that is as long as the one timeout of 320 us that may pass."""
    settings = ["rack.link.loss=0.999", "transport.timeout=320 us", "transport.retries=0"]
    record = recovered(recovery, *settings, "transport.adaptive={first: 20 us}")
    assert record.counters["queue_pairs_in_error"] == 2
    assert (record.flows.timeouts == 5).all()
