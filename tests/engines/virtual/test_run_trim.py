"""Trimming in a rack: headers of packets that find their queue full go on, and those packets come again.

Every run here is held to the invariants, `trims_are_answered` and `delivery_is_in_order` among them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scapy.layers.l2 import Ether

from testbed.capture.layers import BTH, RETH
from testbed.engines.virtual.run import VirtualRun
from testbed.results.record import RunRecord
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from tests.support.simulated import captured, simulated

PACKETS = 125
SEEN = 50  # scapy reads one of so many frames, and takes a minute for all
HOSTS = f"[{', '.join(f'h{n}' for n in range(1, 65))}]"
INCAST = """
rack:
  kind: star
  hosts: 65
  switch:
    buffer: 200 kB
    trim: on
    queues: {0: {red: {kmin: 20 kB, kmax: 80 kB, pmax: 1}}, 7: {schedule: strict, red: off}}
traffic: {pattern: incast, senders: 64, size: 512 kB, payload: 4096 B}
controller: nscc
transport: {recovery: selective-repeat}
time: {duration: 4 ms, warmup: 0 s}
record: {report: false}
"""
LEAVES = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 2
  hosts_per_leaf: 4
  switch: {buffer: 100 kB, trim: on, queues: {0: {red: off}}}
traffic: {pattern: incast, senders: 7, size: 512 kB, payload: 4096 B}
controller: {name: fixed, rate: 60 %}
transport: {recovery: selective-repeat}
routing: spray
time: {duration: 4 ms, warmup: 0 s}
record: {report: false}
"""


def dropped_packets(record: RunRecord) -> int:
    return int(record.port_series.dropped_packets[-1].sum())


def all_arrived(record: RunRecord, flows: int) -> None:
    assert np.isfinite(record.flows.finished).all()
    assert len(record.flows.finished) == flows
    assert (record.flows.sent_packets - record.flows.resent_packets == PACKETS).all()


def test_nothing_is_lost_to_the_application_of_64_senders_without_pfc() -> None:
    record = simulated(INCAST)
    all_arrived(record, 64)
    assert record.counters["trims"] > 64
    assert record.flows.resent_packets.sum() == record.flows.lost_packets.sum() == record.counters["trims"]
    assert record.flows.timeouts.sum() == 0
    assert dropped_packets(record) == 0


@pytest.mark.parametrize("routing", ["ecmp", "spray", "reps"])
def test_each_trim_is_one_packet_sent_again_whatever_the_paths(routing: str) -> None:
    record = simulated(LEAVES, [f"routing={routing}"])
    all_arrived(record, 7)
    assert record.flows.resent_packets.sum() == record.counters["trims"] > 100
    assert record.flows.timeouts.sum() == 0


def test_headers_that_find_no_room_are_counted_and_recovered() -> None:
    pool = "rack.switch.pool={size: 400 kB}"
    queues = "rack.switch.queues={0: {static: 100 kB, red: off}, 7: {static: 256 B, red: off}}"
    record = simulated(INCAST, [pool, queues, "transport.timeout=100 us", "time.duration=12 ms"])
    all_arrived(record, 64)
    assert 0 < dropped_packets(record) < record.counters["trims"]
    assert record.flows.resent_packets.sum() >= record.counters["trims"]


def test_headers_that_are_lost_on_their_way_are_recovered() -> None:
    record = simulated(INCAST, ["rack.link.loss=0.01", "transport.timeout=100 us", "time.duration=8 ms"])
    all_arrived(record, 64)
    assert record.counters["trims"] > 64


def test_what_is_left_of_an_rdma_write_says_where_it_goes(tmp_path: Path) -> None:
    """Also with INT, which stays behind."""
    settings = ["transport.operation=write", "controller=hpcc", "traffic.size=100 kB", "time.duration=60 us"]
    record, (there,) = captured(tmp_path, ["nic:h65"], INCAST, *settings)
    trimmed = [frame.data for frame in there if frame.length == 128]
    assert len(trimmed) == record.counters["trims"] > 64 * SEEN
    for one in map(Ether, trimmed[::SEEN]):
        assert one[RETH].address == 4096 * one[BTH].psn
        assert (one[RETH].r_key, one[RETH].length) == (one[BTH].qp, min(4096, 100_000 - one[RETH].address))


def test_numbers_of_trimmed_packets_wrap_at_24_bits(tmp_path: Path) -> None:
    (file := tmp_path / "incast.yaml").write_text(INCAST)
    run = VirtualRun(resolve(str(file), {}, {}, ["engine=virtual"]), [], Unwatched())
    begin = (1 << 24) - 20
    run.flows.sent[:] = run.flows.expected[:] = begin
    run.world.maps.receivers["expected"] = begin
    record = run.follow()
    assert np.isfinite(record.flows.finished).all()
    assert record.counters["trims"] == record.flows.resent_packets.sum() > 64
    assert (run.world.maps.receivers["expected"] == begin + PACKETS - (1 << 24)).all()
    assert (run.world.maps.receivers["delivered"] == PACKETS).all()


def test_where_receivers_grant_each_trim_is_a_request() -> None:
    """Most of 25 packets that each flow may send unasked are trimmed; nothing is left that could ask for more."""
    settings = ["controller=fixed", "receiver={name: eqds, preset: trimming}", "traffic.size=100 kB"]
    record = simulated(INCAST, settings)
    line = 64 * 25 * 4160 * 8 / 100e9  # s that the packets take
    assert record.flows.resent_packets.sum() == record.counters["trims"] > 64 * 20
    assert record.flows.timeouts.sum() == 0
    assert record.flows.finished.max() < 1.05 * line  # headers take some of it


def test_credits_do_not_keep_a_flow_waiting_for_what_is_lost() -> None:
    """Headers are dropped, too, and windows stay full of what they were of. Credits say nothing of that."""
    settings = ["receiver={name: rccc, preset: trimming}", "rack.switch.queues={0: {red: off}}"]
    record = simulated(INCAST, settings)
    all_arrived(record, 64)
    assert dropped_packets(record) > 0
    assert record.flows.finished.max() < 2.9e-3


def test_flows_of_which_many_wait_for_credits_do_not_ask_all_the_time() -> None:
    """Each is granted 15 packets in 320 us. Asking whenever 30 us are over had 5,204 packets trimmed."""
    settings = ["controller=fixed", "receiver={name: rccc, preset: trimming, credit: 64 kB}", "transport.timeout=30 us"]
    record = simulated(INCAST, settings)
    all_arrived(record, 64)
    assert record.counters["trims"] < 4000
    assert record.flows.timeouts.sum() == 0


def test_a_packet_no_longer_than_its_headers_is_dropped() -> None:
    small = ["traffic.payload=64 B", "traffic.size=4 kB", "rack.switch.buffer=4 kB"]
    record = simulated(INCAST, [*small, "rack.switch.trim={size: 300 B}", "rack.switch.queues={0: {red: off}}"])
    assert record.counters["trims"] == 0
    assert dropped_packets(record) > 0


@pytest.mark.parametrize(
    ("controller", "schedule", "more", "finished"),
    [
        ("hpcc", "dwrr", [], 64),
        ("hpcc", "strict", ["traffic.size=100 kB"], 0),
        ("dcqcn", "strict", [], 64),  # nothing is marked: it slows down for CNPs of trimmed packets
        ("dcqcn", "strict", [f"packets=[{{of: {{hosts: {HOSTS}}}, ecn: off}}]", "traffic.size=100 kB"], 0),
    ],
)
def test_headers_that_go_first_starve_data_of_senders_that_do_not_slow_down(
    controller: str, schedule: str, more: list[str], finished: int
) -> None:
    queues = f"rack.switch.queues={{0: {{red: off}}, 7: {{red: off, schedule: {schedule}}}}}"
    duration = 8 if finished else 1
    record = simulated(INCAST, [f"controller={controller}", queues, f"time.duration={duration} ms", *more])
    assert np.isfinite(record.flows.finished).sum() == finished
