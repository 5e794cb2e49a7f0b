"""The memory that the ports of a switch share, with real packets: closed forms, to a packet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results import folder as results
from testbed.results.tables import GROUPS, QUEUE_SERIES
from tests.support.runs import LATE_PAUSE, UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]
POOL, FRAME, RESERVED = 3e6, 1078, 100e3
# s: a queue whose senders are late leaves room, in which the other grows by 0.2 of the line's rate
LATEST = 8 * FRAME / (0.2 * 100e9 / 8)
SHARED = """
controller: { name: fixed, rate: 60 % }
tuner: { name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.2 }
time: { duration: 1 ms, warmup: 500 us } # at a fifth of the line both are full after 340 us
traffic:
  pattern: flows
  dscp: 3
  flows: [{ src: h3, dst: h1 }, { src: h4, dst: h1 }, { src: h5, dst: h2 }, { src: h6, dst: h2 }]
rack:
  hosts: 6
  switch:
    pool: { size: 3 MB }
    classes:
      three: { dscp: [3, 26], queue: 3 }
      answers: { dscp: [0, 48], queue: 7 }
    queues:
      3: { alpha: 0.5, reserved: 100 kB }
"""


def test_two_congested_queues_share_the_pool(runs: Runs, tmp_path: Path) -> None:
    """Each has its reserve, and alpha / (1 + 2 alpha) of the pool. Calibration has found what one alone may have."""
    (file := tmp_path / "shared.yaml").write_text(SHARED)
    folder = runs.clean(str(file), "--dilation", "4000", *UNDRAWN, latest=LATEST).folder
    series = results.read_table(folder / QUEUE_SERIES).to_pydict()
    time, names = np.array(series["time"]), np.array(series["queue_of"])
    for port in ("s1-eth1 q3", "s1-eth2 q3"):
        queue = np.array(series["queue"])[(names == port) & (time > 0.5e-3)]
        assert queue.max() == pytest.approx(RESERVED + POOL / 4, abs=8 * FRAME)
    groups = results.read_table(folder / GROUPS).to_pydict()
    peak = dict(zip(groups["group"], groups["peak"], strict=True))
    assert peak["s1-eth3 g3"] + peak["s1-eth4 g3"] == pytest.approx(RESERVED + POOL / 4, rel=0.3)
    assert peak["s1-eth1 g3"] == 0  # nothing but ACKs comes in there
    assert sum(groups["dropped_packets"]) == 0  # queues refuse first


LINE, DURATION = 25e9, 2.5e-3
SPREAD = """
controller: { name: fixed, rate: 100 % }
tuner: { name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.2 }
time: { duration: 2.5 ms, warmup: 1 ms }
traffic:
  pattern: flows
  dscp: 3
  flows:
    - { src: h1, dst: h5 }
    - { src: h2, dst: h5 }
    - { src: h3, dst: h5 }
    - { src: h4, dst: h6, label: four }
    - { src: h1, dst: h7, label: four }
packets: [{ of: { labels: [four] }, dscp: 4 }]
rack:
  kind: leaf-spine
  leaves: 2
  spines: 1
  hosts_per_leaf: 4
  link: { rate: 25 Gbit/s, delay: 1 us }
  uplink: { rate: 100 Gbit/s, delay: 1 us }
  switch:
    classes:
      three: { dscp: 3, queue: 3 }
      four: { dscp: 4, queue: 4 }
      answers: { dscp: [0, 26, 48], queue: 7 }
    groups: { 3: { pfc: on, xoff: 100 kB }, 4: { pfc: on } }
"""


def test_pauses_spread_priority_by_priority(runs: Runs, tmp_path: Path) -> None:
    """Three flows of priority 3 share a host's link: the pauses reach their hosts, and hold nothing of priority 4.

    Not even at the host that sends both: what priority 3 leaves of its line is the other's.
    """
    (file := tmp_path / "spread.yaml").write_text(SPREAD)
    folder = runs.clean(str(file), "--dilation", "3000", *UNDRAWN, will_do=(LATE_PAUSE,)).folder
    tables = results.load(folder).tables
    flows, series = tables["flows"].to_pydict(), tables["flow_series"].to_pydict()
    flow, time, sent = (np.array(series[name]) for name in ("flow", "time", "wire_bytes"))
    share = {}
    for name in flows["flow"]:
        mine = (flow == name) & (time > 1e-3)
        share[name] = np.ptp(sent[mine]) * 8 / np.ptp(time[mine]) / LINE
    third = pytest.approx(1 / 3, rel=0.08)
    assert [share["h1-h5"], share["h2-h5"], share["h3-h5"]] == [third, third, third]
    assert share["h4-h6"] == pytest.approx(1, rel=0.02)
    assert share["h1-h7"] == pytest.approx(2 / 3, rel=0.05)

    queues = results.read_table(folder / QUEUE_SERIES).to_pydict()
    held = dict(zip(queues["queue_of"], queues["paused"], strict=True))  # the last of each
    assert held["leaf1-eth5 q3"] > 0.2 * DURATION < held["spine1-eth2 q3"]
    assert held["leaf1-eth5 q4"] == held["spine1-eth2 q4"] == 0
    assert sum(dict(zip(queues["queue_of"], queues["dropped_packets"], strict=True)).values()) == 0
    groups = results.read_table(folder / GROUPS).to_pydict()
    paused = dict(zip(groups["group"], groups["paused"], strict=True))
    assert [paused[f"leaf1-eth{port} g3"] for port in (2, 3)] == [pytest.approx(2 / 3 * DURATION, rel=0.15)] * 2
    assert sum(paused[name] for name in paused if name.endswith("g4")) == 0
