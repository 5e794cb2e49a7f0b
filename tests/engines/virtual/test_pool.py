"""The memory that the ports of a switch share, beside closed forms: congested queues, and lossless priorities."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.dataplane.wire import SCARCE
from testbed.fidelity.verdict import judge
from testbed.results.record import RunRecord
from testbed.results.tables import GROUPS
from tests.support.commands import command
from tests.support.simulated import simulated

FRAME = 1078  # bytes of a packet with 1000 of payload
POOL = 4e6
RACK = """
engine: virtual
controller: {{name: fixed, rate: 100 %}}
tuner: {{name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.1}}
time: {{duration: 1500 us, warmup: 700 us}}
record: {{report: false, decisions: 0}}
traffic:
  pattern: flows
  dscp: 3
  flows: [{flows}]
{packets}rack:
  hosts: 8
  switch:
    pool: {{size: 4 MB}}
    classes:
      three: {{dscp: 3, queue: 3}}
      four: {{dscp: 4, queue: 4}}
{switch}
"""


def text(flows: list[tuple[int, int, int]], *switch: str) -> str:
    """Flows from host to host with DSCP 3 or 4."""
    told = ", ".join(f"{{src: h{src}, dst: h{dst}, label: dscp{dscp}}}" for src, dst, dscp in flows)
    four = any(dscp == 4 for *_, dscp in flows)
    packets = "packets: [{of: {labels: [dscp4]}, dscp: 4}]\n" if four else ""
    return RACK.format(flows=told, packets=packets, switch="\n".join(f"    {one}" for one in switch))


def run(flows: list[tuple[int, int, int]], *switch: str) -> RunRecord:
    record = simulated(text(flows, *switch))
    assert judge(record).word == "clean"
    return record


def longest(record: RunRecord, name: str) -> float:
    assert record.queues
    return float(record.queues.series.peak_queue[-1, record.queues.name.index(name)])


def shares(record: RunRecord) -> dict[str, float]:
    """Share of a line that each flow got in the second half: ``h3-h1 dscp3``."""
    series, flows = record.flow_series, record.flows
    half = len(series.time) // 2
    grown = (series.wire_bytes[-1] - series.wire_bytes[half]) * 8 / (series.time[-1] - series.time[half]) / 100e9
    names = [f"{src}-{dst} {label}" for src, dst, label in zip(flows.src, flows.dst, flows.label, strict=True)]
    return dict(zip(names, grown.tolist(), strict=True))


def of(dscp: int, found: dict[str, float]) -> float:
    return sum(share for name, share in found.items() if name.endswith(f"dscp{dscp}"))


@pytest.mark.parametrize("alpha", [0.25, 1.0, 4.0])
def test_one_congested_queue_takes_alpha_in_one_plus_alpha_of_the_pool(alpha: float) -> None:
    record = run([(src, 1, 3) for src in (2, 3, 4)], f"queues: {{3: {{alpha: {alpha}}}}}")
    assert longest(record, "s1-eth1 q3") == pytest.approx(POOL * alpha / (1 + alpha), abs=1.5 * FRAME)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_of_two_each_takes_alpha_in_one_plus_two_alpha(alpha: float) -> None:
    record = run([(3, 1, 3), (4, 1, 3), (5, 2, 3), (6, 2, 3)], f"queues: {{3: {{alpha: {alpha}}}}}")
    for port in ("s1-eth1 q3", "s1-eth2 q3"):
        assert longest(record, port) == pytest.approx(POOL * alpha / (1 + 2 * alpha), abs=3 * FRAME)


def test_a_queue_has_its_reserve_beside_its_static_share() -> None:
    record = run([(src, 1, 3) for src in (2, 3, 4)], "queues: {3: {static: 300 kB, reserved: 200 kB}}")
    assert 500e3 - SCARCE * FRAME < longest(record, "s1-eth1 q3") <= 500e3


def test_a_group_is_bounded_where_its_packets_come_in() -> None:
    """Each of three senders may have a fifth of what is free; its queue might have nearly all of it."""
    record = run([(src, 1, 3) for src in (2, 3, 4)], "queues: {3: {alpha: 64}}", "groups: {3: {alpha: 0.2}}")
    assert record.groups
    assert longest(record, "s1-eth1 q3") == pytest.approx(POOL * 0.6 / 1.6, abs=4 * FRAME)
    assert int(record.groups.peak.max()) <= POOL * 0.2  # the first packets find all of it free
    assert record.groups.dropped_packets.sum() == record.queues.series.dropped_packets[-1].sum() > 0  # type: ignore[union-attr]
    assert not record.groups.lossless.any()


def test_a_lossless_group_loses_nothing_and_pauses_no_other_priority() -> None:
    flows = [(3, 1, 3), (4, 1, 3), (5, 1, 3), (3, 2, 4)]
    record = run(flows, "groups: {3: {pfc: on, alpha: 0.125}}")
    assert record.queues
    assert record.lossless
    assert record.queues.series.dropped_packets[-1].sum() == 0
    found = shares(record)
    assert of(3, found) == pytest.approx(1, abs=0.01)
    assert found["h3-h1 dscp3"] + found["h3-h2 dscp4"] == pytest.approx(1, abs=0.02)  # nobody pauses the other
    groups = record.groups
    assert groups
    own = {name: number for number, name in enumerate(groups.name)}
    assert groups.pauses[own["s1-eth3 g3"]] > 10
    assert groups.pauses[own["s1-eth3 g4"]] == 0
    assert groups.paused[own["s1-eth4 g3"]] == pytest.approx(record.duration * 2 / 3, rel=0.1)
    needed = 2 * 8e-6 / 4 * 100e9 / 8 + 2 * FRAME  # both ways of a link with a quarter of the base RTT, and two frames
    assert 0 < groups.peak_headroom.max() <= needed
    held = record.queues.series.paused[-1]
    assert held[record.queues.name.index("s1-eth1 q3")] == 0  # nobody pauses the switch


def test_two_lossless_priorities_share_a_port_by_weight() -> None:
    flows = [(3, 1, 3), (4, 1, 3), (3, 1, 4), (4, 1, 4)]
    record = run(flows, "groups: {3: {pfc: on}, 4: {pfc: on}}", "queues: {3: {weight: 3}, 4: {weight: 1}}")
    found = shares(record)
    assert of(3, found) == pytest.approx(0.75, abs=0.01)
    assert of(4, found) == pytest.approx(0.25, abs=0.01)
    assert record.queues
    assert record.queues.series.dropped_packets[-1].sum() == 0


def test_a_lossy_queue_beside_a_lossless_one_loses() -> None:
    flows = [(3, 1, 3), (4, 1, 3), (3, 1, 4), (4, 1, 4)]
    record = run(flows, "groups: {3: {pfc: on, xoff: 200 kB}}")
    assert record.queues
    lost = dict(zip(record.queues.name, record.queues.series.dropped_packets[-1].tolist(), strict=True))
    assert lost["s1-eth1 q3"] == 0 < lost["s1-eth1 q4"]
    assert of(3, shares(record)) == pytest.approx(0.5, abs=0.01)


def test_headroom_that_is_too_small_is_told(tmp_path: Path) -> None:
    flows = [(src, 1, 3) for src in (2, 3, 4)]
    file = tmp_path / "small.yaml"
    file.write_text(text(flows, "groups: {3: {pfc: on, xoff: 100 kB, headroom: 20 kB}}"))
    done = command("run", str(file), "--metrics-addr", "none", "--out", str(tmp_path / "run"))
    assert done.returncode == 3, done.stderr
    assert "packet drops despite PFC at s1-eth2" in done.stdout
    assert (tmp_path / "run" / GROUPS).is_file()


def test_pauses_spread_to_the_next_switch_priority_by_priority() -> None:
    """Two leaves: what is paused at the spine's port towards leaf2 holds priority 3 at leaf1, and lets 4 pass."""
    two = text([(1, 5, 3), (2, 5, 3), (3, 6, 4)], "groups: {3: {pfc: on, xoff: 100 kB}}")
    two = two.replace(
        "  hosts: 8\n",
        "  kind: leaf-spine\n  leaves: 2\n  spines: 1\n  hosts_per_leaf: 4\n  uplink: {rate: 400 Gbit/s}\n",
    )
    record = simulated(two)
    assert judge(record).word == "clean"
    assert record.queues
    paused = dict(zip(record.queues.name, record.queues.series.paused[-1].tolist(), strict=True))
    assert paused["spine1-eth2 q3"] > 0 == paused["spine1-eth2 q4"]
    found = shares(record)
    assert (of(3, found), of(4, found)) == (pytest.approx(1, abs=0.02), pytest.approx(1, abs=0.02))
