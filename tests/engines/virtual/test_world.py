"""Packets in virtual time: what follows from rates, delays and sizes alone, and what no run may break."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from testbed.engines.virtual.clock import virtual_clock
from testbed.engines.virtual.world import World
from testbed.results.record import RunRecord
from tests.support.simulated import simulated

TICK = 1e-12
RACKS = {
    "star": "{kind: star, hosts: 5}",
    "two rates": "{kind: dumbbell, left: 2, right: 3, link: {rate: 100 Gbit/s}, bottleneck: {rate: 25 Gbit/s}}",
    "leaf-spine": "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, uplink: {rate: 40 Gbit/s, delay: 3 us}}",
    "fat tree": "{kind: fat-tree, tors: 3, cores: 2, hosts_per_tor: 2}",
}
LONE = """
rack: {rack}
traffic: {{pattern: flows, flows: [{{src: h1, dst: h5}}]}}
time: {{duration: 100 us, warmup: 0 s}}
controller: fixed
"""


def test_a_tick_is_the_first_that_is_not_before_its_time() -> None:
    """A tick too late for 0.1325 s: a run that waited for that sample never ended."""
    now = 0
    told = SimpleNamespace(clock=virtual_clock(lambda: now))
    times = np.concatenate([np.arange(20_000) * 1e-5, np.random.default_rng(1).uniform(0, 10, 20_000), [0.1325]])
    for time, tick in zip(times.tolist(), World.tick_of(told, times).tolist(), strict=True):  # type: ignore[arg-type]
        now = tick
        assert told.clock.now() >= time
        now = tick - 1
        assert told.clock.now() < time


@pytest.mark.parametrize("rack", RACKS)
@pytest.mark.parametrize("controller", ["fixed", "hpcc"])
def test_the_first_packet_of_a_lone_flow_takes_the_base_rtt(rack: str, controller: str) -> None:
    """Every serialisation may be rounded by half a tick, there and back."""
    record = simulated(LONE.format(rack=RACKS[rack]), controller=controller)
    flow = record.flows
    assert flow.acked_packets[0] > 10
    assert abs(record.rtt_min - flow.base_rtt[0]) <= (flow.hops[0] + 1) * 2 * TICK


def test_what_overloads_a_link_waits_drains_and_is_lost_by_the_byte() -> None:
    """Four senders at line rate: three quarters of what comes is too much, and the queue is full from then on."""
    record = simulated("incast-4", ["time.duration=1 ms", "time.warmup=500 us"], controller="fixed")
    port = record.bottleneck
    queue = record.port_series.queue[:, port][record.port_series.time >= 500e-6]
    wire = record.wire_size
    scarce = 8 * wire  # there, chance decides who gets in
    assert record.port_buffer[port] - scarce <= queue.min() <= queue.max() <= record.port_buffer[port]
    sent, lost = record.flows.sent_packets.sum(), record.port_series.dropped_packets[-1, port]
    fits = record.port_buffer[port] / wire
    drained = record.port_rate[port] * record.duration / 8 / wire
    assert sent - lost == pytest.approx(fits + drained, rel=0.01)


@pytest.mark.parametrize("engine_of", ["dcqcn", "swift", "hpcc", "adpg"])
def test_all_flows_of_a_finite_load_finish_as_they_were_sent(engine_of: str) -> None:
    settings = ["traffic.size=100500 B", "time.duration=4 ms", "rack.link.loss=0.001"]
    record = simulated("incast-8", settings, controller=engine_of)
    flows = record.flows
    assert np.isfinite(flows.finished).all()
    assert (flows.delivered_packets >= 101).all()
    assert record.counters["lost_on_links"] > 0
    assert flows.lost_packets.sum() > 0


@pytest.mark.parametrize("settings", [["time.duration=1500 us"], ["time.duration=500 us", "rack.link.delay=0 s"]])
def test_with_priority_flow_control_nothing_is_lost_and_hosts_pause(settings: list[str]) -> None:
    """Without delay a packet arrives, and becomes its ACK, at the tick at which it leaves."""
    record = simulated("incast-64-lossless", settings, controller="fixed")
    assert record.port_series.dropped_packets[-1].sum() == 0
    assert record.port_series.pause_frames[-1].sum() > 64
    port = record.bottleneck
    sent = np.diff(record.port_series.tx_bytes[[20, -1], port])[0] * 8
    assert sent == pytest.approx(record.port_rate[port] * np.diff(record.port_series.time[[20, -1]])[0], rel=1e-3)


def test_a_pause_holds_between_switches_too() -> None:
    """Flows that share a paused uplink with an incast are its victims, and without PFC they are not."""
    record = simulated("victim", ["time.duration=2 ms"])
    assert record.port_series.dropped_packets[-1].sum() == 0
    between = [number for number, name in enumerate(record.port_neighbour) if not name.startswith("h")]
    assert record.port_series.paused[-1, between].sum() > 0


def test_a_link_that_goes_down_loses_what_is_on_it_and_the_others_take_over() -> None:
    record = simulated("link-failure")
    assert len(record.events) >= 2
    assert record.counters["lost_on_links"] > 0


def sums(record: RunRecord) -> list[int]:
    return [int(column.sum()) for column in (record.flows.sent_packets, record.flows.ce_packets)]


def test_the_seed_decides() -> None:
    settings = ["time.duration=500 us", "tuner.preset=secn1"]
    runs = [sums(simulated("incast-8", [*settings, f"seed={seed}"], controller="dcqcn")) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
