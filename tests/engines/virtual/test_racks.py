"""Racks whose links differ, and custom ones, on the virtual engine: closed forms of their links alone."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.experiment.layout import Layout
from testbed.experiment.load import load
from testbed.results.record import RunRecord
from tests.support.simulated import simulated

SQUARE = """
rack:
  kind: custom
  nodes: [h1, h2, a, b, c, d]
  links:
    - { ends: [h1, a] }
    - { ends: [h2, d] }
    - { ends: [a, b] }
    - { ends: [b, d] }
    - { ends: [a, c] }
    - { ends: [c, d] }
traffic: { pattern: flows, flows: [{ src: h1, dst: h2 }] }
controller: { name: fixed, rate: 20 % }
time: { duration: 1 ms, warmup: 0.1 ms }
events:
  - { at: 0.5 ms, down: CUT }
"""


def goodput(record: RunRecord) -> np.ndarray:
    """Bit/s of wire bytes that came back, by flow."""
    series = record.flow_series
    after = series.time >= record.warmup
    span = series.time[after]
    return 8 * np.ptp(series.wire_bytes[after].astype(float), axis=0) / (span[-1] - span[0])


def test_round_trips_of_an_rtt_mix_are_the_links() -> None:
    """At a fortieth of the rate no packet waits for longer than those that came at the same time: at most 7."""
    record = simulated("rtt-mix", ["time.duration=3 ms", "controller.rate=2.5 %"], controller="fixed")
    late = record.flows.rtt_mean - record.flows.base_rtt
    frame = 8 * 1104 / 100e9
    assert record.flows.base_rtt.max() / record.flows.base_rtt.min() == pytest.approx(100, rel=0.03)
    assert (late > -1e-9).all()
    assert (late < 7 * frame).all()


def test_a_host_of_two_speeds_sends_at_its_own() -> None:
    """25 Gbit/s each fill the 100 Gbit/s of the receiver, with nothing left to wait."""
    options = ["time.duration=1 ms", "time.warmup=0.2 ms", "traffic.senders=4", "rack.hosts=9"]
    record = simulated("two-speeds", options, controller="fixed")
    assert goodput(record) == pytest.approx([25e9] * 4, rel=2e-3)
    assert record.port_series.queue[:, record.bottleneck].max() <= 4 * 1104


def test_no_link_of_a_parking_lot_carries_more_than_it_can_and_each_is_filled() -> None:
    """HPCC holds eta of every link; the long flow, which meets three of them, gets no more than the others."""
    record = simulated("parking-lot", ["time.duration=4 ms", "time.warmup=2 ms"])
    rate = goodput(record)
    for short in rate[1:]:
        assert rate[0] + short == pytest.approx(0.95 * 40e9, rel=0.015)
    assert 0.1 * rate[1] < rate[0] < 1.02 * rate[1:].min()


def test_oversubscribed_uplinks_share_what_they_carry() -> None:
    record = simulated("oversubscribed", ["time.duration=2 ms", "time.warmup=1 ms"])
    assert goodput(record).sum() == pytest.approx(2 * 25e9, rel=0.01)  # of 8 x 25


def test_a_custom_rack_with_pfc_drops_nothing() -> None:
    record = simulated(
        "parking-lot", ["time.duration=1 ms", "rack.switch.pfc=on", "time.warmup=0.3 ms"], controller="fixed"
    )
    assert record.port_series.dropped_packets[-1].sum() == 0
    assert goodput(record)[[0, 3]].sum() == pytest.approx(40e9, rel=0.01)  # of the last link, which nobody pauses


@pytest.mark.parametrize(("cut", "around"), [("a-b", "c"), ("c-d", "b")])
def test_a_cut_link_of_a_custom_rack_is_gone_around(cut: str, around: str) -> None:
    record = simulated(SQUARE.replace("CUT", cut))
    carried = dict(zip(record.ports, record.port_series.tx_bytes[-1], strict=True))
    most = max(carried[port] for port in record.ports if port.startswith(f"{around}-"))
    assert most > 0.4e-3 * 20e9 / 8
    assert record.flows.delivered_packets.sum() > 0.95 * record.flows.sent_packets.sum()


@pytest.mark.parametrize("name", ["rtt-mix", "two-speeds"])
def test_controllers_know_of_their_own_path_and_nic(name: str) -> None:
    """And of the network only what its operator would configure: the longest base RTT, whichever agent asks."""
    layout = Layout(load(name).experiment)
    one, all_of_them = layout.controller_paths(slice(2, 3)), layout.controller_paths()
    assert one.base_rtt.tolist() == [layout.paths.base_rtt[2]]
    assert one.line_rate.tolist() == [layout.paths.line_rate[2]]
    assert one.longest_rtt == all_of_them.longest_rtt == layout.paths.base_rtt.max()


def test_a_rack_of_more_hosts_than_a_kernel_has_room_for() -> None:
    """Addresses are told apart: a flow between the outermost of 1,536 hosts is as quick as if it were alone."""
    rack = "{kind: fat-tree, tors: 48, hosts_per_tor: 32, cores: 32}"
    ends = [("h1", "h1536"), ("h512", "h1280"), ("h1535", "h256")]
    flows = ", ".join(f"{{src: {src}, dst: {dst}, size: 100 kB}}" for src, dst in ends)
    settings = (f"rack={rack}", f"traffic={{pattern: flows, flows: [{flows}]}}", "controller.rate=100 %")
    record = simulated("incast-2", (*settings, "time.duration=50 us", "time.warmup=0"), controller="fixed")
    wire = 8 * 100 * 1078 / 100e9
    assert (record.flows.finished - record.flows.start) == pytest.approx(record.flows.base_rtt + wire, rel=0.02)
