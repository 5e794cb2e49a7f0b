"""Ports with several queues beside what arithmetic says of them: shares, latency, RED, drops, marking at dequeue."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from testbed.base.arrays import Floats
from testbed.dataplane.wire import INT_HEADER, INT_HOP, SCARCE
from testbed.experiment.topology.framing import BTH, ETHERNET_IP_UDP, SHIM
from testbed.results.record import Queues, RunRecord
from tests.support.simulated import captured, simulated

HEADERS = ETHERNET_IP_UDP + BTH + SHIM

LINE, FRAME = 100e9, 1078  # bit/s, bytes of a packet with 1000 of payload
PACKET = FRAME * 8 / LINE  # s
RACK = """
engine: virtual
controller: {{name: fixed, rate: {rate}}}
tuner: {{name: static, kmin: 400 kB, kmax: 1.6 MB, pmax: 0.2, reference_rate: 100 Gbit/s}}
time: {{duration: {duration} us, warmup: {warmup} us}}
record: {{interval: 2 us}}
traffic:
  pattern: flows
  flows:
{flows}
packets:
{packets}
rack:
  hosts: {hosts}
  link: {{delay: {delay}}}
  switch:
    buffer: {buffer}
    marking: {marking}
    classes:
      one: {{dscp: 1, queue: 1}}
      two: {{dscp: 2, queue: 2}}
      three: {{dscp: 3, queue: 3}}
      answers: {{dscp: [0, 48], queue: 7}}
    queues:
{queues}
"""


def _run(
    flows: list[str],
    dscps: list[str],
    queues: list[str],
    *,
    rate: str = "100 %",
    duration: int = 1500,
    buffer: str = "5 MB",
    marking: str = "enqueue",
    delay: str = "1 us",
) -> RunRecord:
    """Flow i from host i to the last host has ``dscps[i]``: a DSCP, and perhaps `, ecn: off`."""
    hosts = len(flows) + 1
    text = RACK.format(
        rate=rate, duration=duration, warmup=duration // 3, hosts=hosts, buffer=buffer, marking=marking, delay=delay,
        flows="\n".join(f"  - {{src: h{n}, dst: h{hosts}, {one}}}" for n, one in enumerate(flows, start=1)),
        packets="\n".join(f"- {{of: {{hosts: [h{n}]}}, dscp: {one}}}" for n, one in enumerate(dscps, start=1)),
        queues="\n".join(f"      {one}" for one in [*queues, "7: {schedule: strict, red: off}"]),
    )  # fmt: skip
    return simulated(text)


def _queues(record: RunRecord) -> tuple[Queues, dict[int, int]]:
    """And of the bottleneck the row of each of its queues."""
    queues = record.queues
    assert queues
    here = np.flatnonzero(queues.port == record.bottleneck)
    return queues, {int(queues.number[row]): int(row) for row in here}


def _sent(record: RunRecord) -> dict[int, float]:
    """Share of the line that each queue of the bottleneck had in the window."""
    queues, rows = _queues(record)
    series = queues.series
    inside = series.time >= record.warmup
    time, sent = series.time[inside], series.tx_bytes[inside]
    rate = (sent[-1] - sent[0]) * 8 / (time[-1] - time[0]) / LINE
    return {number: float(rate[row]) for number, row in rows.items()}


WEIGHED = ["1: {weight: 1}", "2: {weight: 2}", "3: {weight: 5}"]


def test_backlogged_queues_share_by_weight() -> None:
    record = _run(["size: null"] * 3, ["1", "2", "3"], WEIGHED)
    sent = _sent(record)
    for number, weight in ((1, 1), (2, 2), (3, 5)):
        assert sent[number] == pytest.approx(weight / 8, rel=0.02)
    queues, rows = _queues(record)
    assert [queues.classes[rows[number]] for number in (1, 2, 3, 7)] == ["one", "two", "three", "answers"]
    assert queues.series.queue[queues.series.time >= record.warmup][:, rows[3]].min() > 0  # it was backlogged


def test_what_one_queue_leaves_is_the_others() -> None:
    """Queue 3 may have 5/8 and sends nothing."""
    sent = _sent(_run(["size: null"] * 2, ["1", "2"], WEIGHED))
    assert sent[1] == pytest.approx(1 / 3, rel=0.02)
    assert sent[2] == pytest.approx(2 / 3, rel=0.02)
    assert sent[1] + sent[2] == pytest.approx(1, rel=1e-3)


def test_a_queue_below_its_share_loses_nothing() -> None:
    """Five flows of 30 %: one in queue 3, whose share is 62.5 %; four in queue 1, which get what is left."""
    record = _run(["size: null"] * 5, ["3", "1", "1", "1", "1"], WEIGHED, rate="30 %")
    sent = _sent(record)
    assert sent[3] == pytest.approx(0.3, rel=0.005)
    assert sent[1] + sent[3] == pytest.approx(1, rel=1e-3)
    queues, rows = _queues(record)
    dropped = queues.series.dropped_packets[-1]
    assert dropped[rows[3]] == 0 < dropped[rows[1]]


def test_a_strict_queue_waits_for_one_packet_at_most() -> None:
    """Three flows fill queue 1; one of 35 % is in a strict queue: at most the packet that has begun is before it."""
    record = _run(["size: null"] * 4, ["3", "1", "1", "1"], ["3: {schedule: strict}"], rate="35 %")
    rtt = record.flow_series.rtt[record.flow_series.time >= record.warmup, 0]
    waited = rtt - record.flows.base_rtt[0]
    assert waited.min() >= -1e-12
    assert waited.max() <= 1.5 * PACKET
    assert waited.mean() == pytest.approx(PACKET / 2, rel=0.25)  # of one that begins at any time
    assert record.flow_series.rtt[-1, 1] > 100 * PACKET
    assert _sent(record)[3] == pytest.approx(0.35, rel=0.005)


def test_of_strict_queues_the_higher_number_goes_first() -> None:
    sent = _sent(_run(["size: null"] * 3, ["1", "2", "3"], [f"{n}: {{schedule: strict}}" for n in (2, 3)], rate="60 %"))
    assert sent[3] == pytest.approx(0.6, rel=0.005)
    assert sent[2] == pytest.approx(0.4, rel=0.01)
    assert sent[1] < 0.001


def _curve(queue: Floats, kmin: float, kmax: float, pmax: float) -> Floats:
    between = pmax * (queue - kmin) / (kmax - kmin)
    return np.where(queue <= kmin, 0.0, np.where(queue > kmax, 1.0, between))


OWN_RED = [
    "1: {red: {kmin: 200 kB, kmax: 3 MB, pmax: 40 %}}",
    "2: {weight: 2}",
    "3: {weight: 2, red: off}",
]


def test_each_queue_marks_by_its_own_curve() -> None:
    """As many as the depths that packets found say, within four sigma of chance and the width of the bins."""
    record = _run(["size: null"] * 6, ["1", "1", "2", "2", "3", "3"], OWN_RED, buffer="4 MB", duration=900)
    queues, rows = _queues(record)
    edges = record.queue_histogram.edges
    middle = (edges[1:] + edges[:-1]) / 2
    marked, dropped = queues.series.marked_packets[-1], queues.series.dropped_packets[-1]
    for number, curve in ((1, (200e3, 3e6, 0.4)), (2, (400e3, 1.6e6, 0.2))):
        found = queues.found[rows[number]].astype(float)
        expected = float((found * _curve(middle, *curve)).sum()) - dropped[rows[number]]  # found a full queue
        assert marked[rows[number]] == pytest.approx(expected, rel=0.02, abs=4 * math.sqrt(expected))
        assert found[middle > curve[0]].sum() > 1000
    assert marked[rows[3]] == 0


WRED = [
    "1: {wred: on, red: {kmin: 500 kB, kmax: 500 kB, pmax: 100 %}}",
    "2: {red: {kmin: 500 kB, kmax: 500 kB, pmax: 1}}",
]


def test_without_ect_wred_drops_where_others_are_marked() -> None:
    """A step: nobody gets in above it; without WRED the queue fills the buffer."""
    record = _run(["size: null"] * 4, ["1, ecn: off", "1, ecn: off", "2, ecn: off", "2, ecn: off"], WRED, buffer="2 MB")
    queues, rows = _queues(record)
    peak = queues.series.peak_queue[-1]
    assert 500e3 < peak[rows[1]] <= 500e3 + FRAME
    assert 2e6 - SCARCE * FRAME < peak[rows[2]] <= 2e6
    assert queues.series.dropped_packets[-1][rows[1]] > 1000
    assert queues.series.marked_packets[-1].sum() == 0


def test_wred_leaves_packets_with_ect_alone() -> None:
    """Of two flows in one queue that stands above the step one is marked, the other one dropped."""
    queues = ["1: {wred: on, red: {kmin: 500 kB, kmax: 500 kB, pmax: 100 %}}"]
    record = _run(["size: null"] * 3, ["1", "1", "1, ecn: off"], queues, buffer="4 MB", duration=400)
    assert record.flows.lost_packets[:2].sum() == 0
    assert record.flows.ce_packets[:2].min() > 1000
    made, rows = _queues(record)
    assert made.series.dropped_packets[-1][rows[1]] > 1000
    assert record.flows.ce_packets[2] == 0


@pytest.mark.parametrize(("marking", "last"), [("enqueue", 1), ("dequeue", 0)])
def test_when_packets_are_marked(marking: str, last: int) -> None:
    """Three senders fill a queue and stop; a single packet comes behind them, and none behind it.

    At enqueue it finds a queue, at dequeue it leaves none. In both cases as many packets of the others are marked: of n
    that come three at a time, all but those that come until K is reached or, the same number, that leave before it and
    after it.
    """
    size, step = 400e3, 100e3
    flows = [f"size: {size / 1e3:g} kB"] * 3 + ["size: 1 kB, start: 60 us"]
    queues = ["1: {red: {kmin: 100 kB, kmax: 100 kB, pmax: 100 %}}"]
    record = _run(flows, ["1"] * 4, queues, duration=300, marking=marking)
    unmarked = step / FRAME * 3 / 2
    assert record.flows.ce_packets[:3].sum() == pytest.approx(3 * size / 1000 - unmarked, abs=4)
    assert record.flows.ce_packets[3] == last


@pytest.mark.parametrize("delay", ["1 us", "0 s"])
def test_the_area_is_the_integral_of_the_queue(delay: str) -> None:
    record = _run(["size: null"] * 3, ["1", "2", "3"], WEIGHED, duration=300, delay=delay)
    queues, rows = _queues(record)
    series = queues.series
    for number in (1, 2, 3):
        row = rows[number]
        integral = np.trapezoid(series.queue[:, row], series.time)
        assert series.queue_area[-1, row] - series.queue_area[0, row] == pytest.approx(integral, rel=2e-3)
    sent = series.tx_bytes[[20, -1]][:, list(rows.values())].sum(axis=1)
    assert np.diff(sent)[0] * 8 / LINE == pytest.approx(series.time[-1] - series.time[20], rel=1e-3)


def test_int_is_of_the_packets_own_queue(tmp_path: Path) -> None:
    """HPCC in a strict queue beside one that is full: its stamps say a few packets, and all that the port has sent."""
    text = RACK.format(
        rate="100 %", duration=200, warmup=60, hosts=4, buffer="5 MB", marking="enqueue", delay="1 us",
        flows="\n".join(f"  - {{src: h{n}, dst: h4}}" for n in (1, 2, 3)), packets="- {of: {hosts: [h1]}, dscp: 3}",
        queues="      3: {schedule: strict}",
    )  # fmt: skip
    one = "controllers=[{name: hpcc, of: {hosts: [h1]}}]"
    record, (frames,) = captured(tmp_path, ["nic:h4"], text, one)
    queues, rows = _queues(record)
    at = HEADERS + INT_HEADER.size
    hops = [INT_HOP.unpack_from(frame.data, at) for frame in frames if frame.data[15] >> 2 == 3 and frame.length > 1000]
    assert len(hops) > 500
    assert max(hop[1] for hop in hops) < 20 * FRAME
    assert queues.series.queue[-1, rows[1]] > 100 * FRAME
    rate = (hops[-1][3] - hops[0][3]) / (hops[-1][2] - hops[0][2])
    assert rate * hops[0][4] ** -1 * 8e6 == pytest.approx(1, rel=0.01)  # bytes per ns and kbit/s: the whole line


@pytest.mark.parametrize("routing", ["ecmp", "spray", "adaptive"])
def test_many_paths_and_classes_at_once(routing: str) -> None:
    """Two leaves: two classes of unequal weight meet at a spine's port down to the other leaf, or where they arrive."""
    settings = [
        "rack.switch.classes={one: {dscp: 1, queue: 1}, two: {dscp: 26, queue: 2}, answers: {dscp: [0, 48], queue: 7}}",
        "rack.switch.queues={1: {weight: 3}, 7: {schedule: strict, red: off}}",
        "packets=[{of: {hosts: [h1]}, dscp: 1}]",
        "time.duration=300 us",
        f"routing={routing}",
    ]
    record = simulated("leaf-spine", settings)
    queues = record.queues
    assert queues
    assert queues.series.tx_bytes[-1].sum() == record.port_series.tx_bytes[-1].sum() > 0
    assert queues.series.tx_bytes[-1][queues.number == 1].sum() > 0
