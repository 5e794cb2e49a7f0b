"""Racks of several switches: packets on their ways through a built one, and a run over three hops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from testbed.clock import Clock
from testbed.dataplane import wire
from testbed.dataplane.programs import NicPrograms
from testbed.dataplane.ring import Ring
from testbed.engines.kernel.rack.net import LinkLayer, Rack
from testbed.engines.kernel.rack.wall import wall_links
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.shape import LinkKind, two_level
from tests.engines.kernel.rack.built import sender, wait_for
from tests.support.runs import SHALLOW, run_clean
from tests.support.sandboxed import inside

pytestmark = [pytest.mark.root, pytest.mark.measures]
FRAMING = Framing(payload=1000, int_hops=3)
PORT_SERIES = ("time", "port", "dropped_packets", "tx_packets")
FLOWS = 32
SENT = 4  # packets of each


def work_paths() -> dict[str, Any]:
    shape = two_level(
        "leaf-spine", ["leaf1", "leaf2"], ["spine1", "spine2"], hosts=2,
        link=LinkKind("link", 25e6, 0.0, buffer=2e5), trunk=LinkKind("uplink", 100e6, 0.0, buffer=2e5),
    )  # fmt: skip
    rack = Rack(shape, wall_links(shape, Clock(1.0)), LinkLayer(frame=FRAMING.wire_size, buffer=200_000))
    nic = NicPrograms(rack.largest_ifindex, flows=FLOWS, rings=1, cnp_interval_ns=1_000_000, wake_agents=False)
    ports = rack.attach(nic, seed=1)
    for port in rack.ports:
        ports.set_red(port.ifindex, 1 << 30, 1 << 30, 0.0)
    rack.wait_until_active()
    ring = Ring(nic.ring_fds[0], nic.ring_size)
    far = [sender(rack, "h1", "h4", port=0xC000 + flow) for flow in range(FLOWS - 1)]
    opened = [*far, sender(rack, "h1", "h2")]

    def send(flows: range) -> dict[int, list[int]]:
        """Switches that INT tells of, per flow; all its packets must agree."""
        acked = int(nic.flows_tx["acks"].sum())
        for _ in range(SENT):
            for flow in flows:
                opened[flow].send(wire.frame(FRAMING, flow, 1000))
        wait_for(lambda: nic.flows_tx["acks"].sum() == acked + SENT * len(flows))
        records = ring.waiting().copy()
        ring.consume(len(records))
        seen: dict[int, set[tuple[int, ...]]] = {}
        for record in records:
            path = tuple((record["hop"]["node"][: record["hops"]] >> 16).tolist())
            seen.setdefault(int(record["flow"]), set()).add((*path, 64 - int(record["ttl"])))
        assert all(len(paths) == 1 for paths in seen.values())
        return {flow: list(paths.pop()) for flow, paths in seen.items()}

    found: dict[str, Any] = {"near": send(range(FLOWS - 1, FLOWS)), "far": send(range(FLOWS - 1))}
    rack.link_down("leaf2-spine1")
    rack.reroute(["leaf2-spine1"])  # flows from leaf1 must avoid spine1, too
    found["down"] = send(range(FLOWS - 1))
    rack.link_up("leaf2-spine1")
    rack.reroute(["leaf2-spine1"])
    found["up"] = send(range(FLOWS - 1))
    rack.link_down("leaf1-spine1")
    rack.link_down("leaf1-spine2")
    rack.reroute(["leaf1-spine1", "leaf1-spine2"])  # no way is left
    for flow in range(5):
        opened[flow].send(wire.frame(FRAMING, flow, 1000))
    wait_for(lambda: sum(int(ports.counters["lost_packets"][port.ifindex]) for port in rack.ports) == 5)
    found["conserved"] = all(
        int(ports.counters["packets"][port.ifindex]) == int(nic.arrivals["packets"][port.peer]) for port in rack.ports
    )
    found["shaper_drops"] = rack.shaper_drops()
    for one in opened:
        one.close()
    return found


def test_flows_spread_over_the_spines_and_around_cut_links() -> None:
    found = inside(work_paths)
    assert found["near"] == {FLOWS - 1: [1, 1]}  # leaf1 alone, one less of TTL
    assert {(path[0], path[2], path[3]) for path in found["far"].values()} == {(1, 2, 3)}
    by_spine = [sum(path[1] == spine for path in found["far"].values()) for spine in (3, 4)]
    assert min(by_spine) >= 5, by_spine  # of 31: a fair coin would be worse once in 10,000 times
    assert {path[1] for path in found["down"].values()} == {4}
    assert found["up"] == found["far"]  # the hash is seeded
    assert found["conserved"]
    assert found["shaper_drops"] == 0


MARKS = "marking between Kmin and Kmax"
DOWN, DETECTED, UP = 1.5e-3, 1.7e-3, 2.5e-3
LATE = 0.1e-3  # a sample, and what a busy machine may add to an event
EVENTS = "events=[{at: 1.5 ms, down: leaf1-spine1, detected_after: 200 us}, {at: 2.5 ms, up: all}]"


def test_hpcc_over_three_hops_and_around_a_cut_link(tmp_path: Path) -> None:
    """Every answer must bring as many INT records as its path has switches, or the run is not clean."""
    settings = ("--set", EVENTS, "--set", "transport.timeout=150 us")  # auto is longer than the run
    summary = run_clean(tmp_path, "leaf-spine", "--dilation", "1500", "--duration", "3.5 ms", *settings)
    folder = tmp_path / "clean"
    flows = pq.read_table(folder / "flows.parquet").to_pydict()
    series = pq.read_table(folder / "flow_series.parquet").to_pydict()
    size, ack = 1000 + 42 + 32 + 4 + 16 + 3 * 28, 42 + 32 + 4 + 16 + 3 * 28
    serial = {rate: (size + ack) * 8 / rate for rate in (25e9, 100e9)}
    near, far = 4e-6 + 2 * serial[25e9], 8e-6 + 2 * serial[25e9] + 2 * serial[100e9]
    for name, src, dst, base in zip(flows["flow"], flows["src"], flows["dst"], flows["base_rtt"], strict=True):
        across = (int(src[1:]) > 4) != (int(dst[1:]) > 4)
        assert base == pytest.approx(far if across else near, rel=1e-6)
        seen = [rtt for flow, rtt in zip(series["flow"], series["rtt"], strict=True) if flow == name]
        least = np.nanmin(seen)
        assert base <= least * 1.001
        if (src, dst) in {("h7", "h1"), ("h8", "h2")}:  # nobody else uses their links' ends
            assert least == pytest.approx(base, rel=0.02)
    ports = pq.read_table(folder / "port_series.parquet").to_pydict()
    lost: dict[float, float] = {}
    spine1: dict[float, float] = {}
    for time, port, dropped, sent in zip(*(ports[name] for name in PORT_SERIES), strict=True):
        lost[time] = lost.get(time, 0.0) + dropped
        if port.startswith("spine1"):
            spine1[time] = spine1.get(time, 0.0) + sent
    grown = [time for time, before in zip(list(lost)[1:], lost.values(), strict=False) if lost[time] > before]
    assert summary["drops_in_run"] == max(lost.values()) > 0
    assert min(grown) > DOWN
    assert max(grown) < DETECTED + LATE  # nobody goes there any more
    avoided = [sent for time, sent in spine1.items() if DETECTED + LATE < time < UP]
    assert avoided[0] == avoided[-1] < max(spine1.values())  # and then again


@pytest.mark.alone
def test_a_dumbbell_is_calibrated_and_limited_at_its_link(tmp_path: Path) -> None:
    # four times slower, the most that a busy machine gets, its buffer is still filled in the time that this may take
    summary = run_clean(tmp_path, "dumbbell", "--duration", "2 ms", "--dilation", "1000", *SHALLOW)
    assert summary["bottleneck"] == "s1-eth5"
    assert summary["bottleneck_rate"] == 40e9
    ends, middle = 2 * (1078 + 78) * 8 / 100e9, (1078 + 78) * 8 / 40e9
    assert summary["base_rtt"] == pytest.approx(2 * (1e-6 + 4e-6 + 1e-6) + ends + middle, rel=1e-6)
    assert summary["su"] > 95
    manifest = json.loads((tmp_path / "clean" / "manifest.json").read_text())
    measured = {(one["link"], one["what"]): one for one in manifest["calibration"]}
    assert {("h1:e0", "rate"), ("s1-eth5", "rate")} <= measured.keys()
    received, slope = (measured["s1-eth5", what] for what in ("packets received at the peer", MARKS))
    assert received["measured"] == received["expected"] > 1.8e6 / 1078
    assert slope["expected"] > 20
    assert measured["s1-eth5", "marking above Kmax 640 kB"]["measured"] > 1000
