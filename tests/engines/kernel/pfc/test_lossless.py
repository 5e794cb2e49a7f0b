"""Lossless fabrics, with real packets: pauses that spread; a link down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.support.runs import LATE_PAUSE, UNCALIBRATED, run, run_clean


@pytest.mark.root
@pytest.mark.measures
def test_a_pause_spreads_through_the_fabric_and_has_a_victim(tmp_path: Path) -> None:
    """Three flows at line rate share a host's link: a third each, and so does all that passes the port that is paused.

    The fourth goes to another host over links that are never full; only the pauses make it as slow as the others.
    """
    arguments = ("victim", "--dilation", "2500", "--duration", "2.5 ms", "--metrics-addr", "none")
    summary = run_clean(tmp_path, *arguments, will_do=[LATE_PAUSE])
    assert summary["drops_in_run"] == 0
    assert summary["su"] >= 95.0
    flows = pq.read_table(tmp_path / "clean" / "flows.parquet").to_pydict()
    acked = dict(zip(flows["src"], flows["acked_packets"], strict=True))
    assert acked["h4"] == pytest.approx(np.mean([acked[host] for host in ("h1", "h2", "h3")]), rel=0.1)
    series = pq.read_table(tmp_path / "clean" / "port_series.parquet").to_pydict()
    columns = zip(series["port"], series["pause_frames"], series["paused"], strict=True)
    last = {port: (frames, paused / 2.5e-3) for port, frames, paused in columns}
    for port in ("leaf2-eth5", "spine1-eth1", *(f"leaf1-eth{number}" for number in range(1, 5))):
        frames, paused = last[
            port
        ]  # their far ends could send 100, 100 and 4 x 25 Gbit/s, of which a third gets through
        assert frames > 0
        assert paused == pytest.approx(2 / 3, abs=0.12)
    for port in ("leaf1-eth5", "spine1-eth2", "leaf2-eth1", "leaf2-eth2"):
        assert last[port] == (0, 0)  # nobody overruns what comes in there
    assert summary["paused_port"] in {"leaf1-eth5", "spine1-eth2"}
    in_run = summary["paused_port_in_run"]
    assert in_run is None or in_run == pytest.approx(100 * 2 / 3, abs=12)  # not told where the start was late


SLOW = """
rack:
  hosts: 3
  switch:
    classes: {data: {dscp: 26, queue: 3, group: 3}, acks: {dscp: 0, queue: 6, group: 0}}
    queues: {3: {red: off}, 6: {schedule: strict, red: off}}
    groups: {3: {pfc: on, xoff: 300 kB}}
  nic: {receive: {rate: 20 Gbit/s, hosts: [h3]}}
  calibrate: off
traffic: {pattern: flows, flows: [{src: h1, dst: h3}, {src: h1, dst: h2}]}
controller: {name: fixed, rate: 50 %}
time: {duration: 1.5 ms, warmup: 700 us, dilation: 1500}
record: {report: false}
"""


@pytest.mark.root
@pytest.mark.measures
def test_a_slow_host_pauses_its_port_and_that_pauses_the_sender(tmp_path: Path) -> None:
    file = tmp_path / "slow.yaml"
    file.write_text(SLOW)
    summary = run_clean(tmp_path, str(file), "--metrics-addr", "none", will_do=[LATE_PAUSE])
    assert summary["drops_in_run"] == 0
    flows = pq.read_table(tmp_path / "clean" / "flows.parquet").to_pydict()
    groups = pq.read_table(tmp_path / "clean" / "groups.parquet").to_pydict()
    assert {at for at, pauses in zip(groups["port"], groups["pauses"], strict=True) if pauses} == {"s1-eth1"}
    slow, other = flows["goodput"]
    assert slow == pytest.approx(20e9, rel=0.15)
    assert other == pytest.approx(slow, rel=0.15)  # it has the same sender and class


DOWN, DETECTED, UP = 0.6e-3, 0.65e-3, 1.2e-3
DOWN_WHILE_PAUSED = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 2
  hosts_per_leaf: 4
  link: {rate: 25 Gbit/s, delay: 1 us}
  uplink: {rate: 50 Gbit/s, delay: 1 us}
  switch: {pfc: {xoff: 50 kB}}
traffic:
  pattern: mix
  parts: # two flows of each, so that both spines have some
    - { pattern: flows, flows: [{src: h1, dst: h5}, {src: h2, dst: h5}, {src: h3, dst: h5}, {src: h4, dst: h6}] }
    - { pattern: flows, flows: [{src: h1, dst: h5}, {src: h2, dst: h5}, {src: h3, dst: h5}, {src: h4, dst: h6}] }
controller: fixed
events:
  - { at: 0.6 ms, down: leaf2-spine1, detected_after: 50 us }
  - { at: 1.2 ms, up: all }
time: {duration: 1.8 ms, warmup: 0, dilation: 1500}
"""


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone  # where a pause is late, ports drop
def test_a_link_that_is_cut_while_its_ports_pause(tmp_path: Path) -> None:
    """What was on it is the link's loss and nobody's drop; accounts balance; who was paused behind it comes free."""
    file = tmp_path / "failure.yaml"
    file.write_text(DOWN_WHILE_PAUSED)
    summary = run(tmp_path / "run", str(file), "--metrics-addr", "none", *UNCALIBRATED)
    broken = [one for one in summary["verdict"]["reasons"] if "docs/explanation/fidelity.md" in one["remedy"]]
    assert broken == []  # also in a run that was late: the counters that must agree do
    assert summary["counters"]["lost_on_links"] >= summary["drops_in_run"] > 0
    series = pq.read_table(tmp_path / "run" / "port_series.parquet").to_pydict()
    ports = np.array(series["port"])

    def column(port: str, name: str) -> np.ndarray:
        return np.array(series[name])[ports == port]

    time = column("leaf2-eth5", "time")
    paused = column("leaf2-eth5", "paused")  # of its far end, spine1-eth2, by what this port said
    before, dead, after = time < DOWN, (time > DETECTED + 0.1e-3) & (time < UP), time > UP + 0.1e-3
    assert paused[before].max() > 0.2 * DOWN  # the link failed in the midst of pauses
    assert np.ptp(paused[dead]) == 0  # the last pause has ended, and nobody asks for another
    assert not column("leaf2-eth5", "ingress")[dead].any()
    assert not column("spine1-eth2", "queue")[dead].any()  # what was queued has gone into the failed link
    assert np.ptp(paused[after]) > 0  # and all begins again
    assert np.ptp(column("leaf2-eth6", "paused")[dead]) > 0  # the other spine was paused all the time
    lost = {port for port in set(series["port"]) if column(port, "dropped_packets")[-1]}
    assert lost == {"spine1-eth2", "leaf2-eth5"}  # the two ends
