"""Settings that change while traffic goes on do what they would have done from the start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testbed.engines.virtual.run import VirtualRun
from testbed.experiment.events import Value
from testbed.fidelity.verdict import judge
from testbed.live import snapshots
from testbed.live.edit import Edit, Edited
from testbed.results.folder import load, read_table
from testbed.results.measured import restore
from testbed.results.record import RunRecord
from testbed.results.tables import QUEUE_SERIES
from testbed.runs.overrides import resolve
from tests.support.commands import command
from tests.support.simulated import simulated

FRAME = 1078  # bytes of a packet with 1000 of payload
TWO_QUEUES = """
engine: virtual
controller: {name: fixed, rate: 100 %}
tuner: {name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.1}
time: {duration: 1500 us, warmup: 700 us}
record: {report: false, decisions: 0}
traffic: {pattern: flows, dscp: 3, flows: [{src: h2, dst: h1}, {src: h3, dst: h1, label: other}]}
packets: [{of: {labels: [other]}, dscp: 4}]
rack:
  hosts: 3
  switch:
    pool: {size: 4 MB}
    classes: {three: {dscp: 3, queue: 3}, four: {dscp: 4, queue: 4}}
"""
ONE_SWITCH = """
engine: virtual
controller: {name: dcqcn, g: 0.5}
tuner: {name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.1}
time: {duration: 200 us, warmup: 0}
record: {report: false, decisions: 0}
rack: {hosts: 3}
traffic: {pattern: incast, senders: 2}
"""


def at(time: str, settings: str) -> str:
    return f"events: [{{at: {time}, set: {{{settings}}}}}]\n"


def run(text: str, event: str) -> RunRecord:
    record = simulated(text + event)
    assert judge(record).word == "clean"
    return record


def test_queues_share_by_the_new_weights() -> None:
    record = run(TWO_QUEUES, at("700 us", "q3.weight: 3"))
    series = record.flow_series
    for begin, end, share in ((200e-6, 700e-6, 1 / 2), (800e-6, 1500e-6, 3 / 4)):
        first, last = np.searchsorted(series.time, (begin, end - 1e-9))
        three, four = series.wire_bytes[last] - series.wire_bytes[first]
        assert three / (three + four) == pytest.approx(share, abs=0.02)


def test_a_queue_takes_its_new_share_of_the_pool() -> None:
    record = run(TWO_QUEUES, at("700 us", "s1-eth1.q3.alpha: 0.25, q4.alpha: 0.25"))
    assert record.queues
    queue = record.queues.series.queue[:, [record.queues.name.index(f"s1-eth1 q{number}") for number in (3, 4)]]
    before, after = np.searchsorted(record.queues.series.time, (690e-6, 1490e-6))
    assert queue[before].max() > queue[after].max()
    assert queue[after] == pytest.approx([4e6 * 0.25 / (1 + 2 * 0.25)] * 2, abs=3 * FRAME)


def test_thresholds_losses_and_options_hold_from_then_on() -> None:
    nothing = run(ONE_SWITCH, "")
    assert nothing.port_series.marked_packets[-1].sum() == nothing.port_series.dropped_packets[-1].sum() == 0
    record = run(ONE_SWITCH, at("100 us", "s1-eth3.kmin: 5 kB, s1-eth3.kmax: 6 kB, h3-s1.loss: 10 %"))
    series, half = record.port_series, int(np.searchsorted(record.port_series.time, 100e-6))
    assert series.marked_packets[half - 1].sum() == series.dropped_packets[half - 1].sum() == 0
    assert series.kmin[-1].tolist() == [3e6, 3e6, 5e3]
    assert series.marked_packets[-1, 2] > 0
    sent = series.tx_packets[-1, 2] - series.tx_packets[half, 2]
    assert series.dropped_packets[-1, 2] / sent == pytest.approx(0.1, abs=0.04)


def test_what_cannot_be_is_refused_and_told() -> None:
    record = run(ONE_SWITCH, at("100 us", "kmin: 5 MB, h3-s1.loss: 10 %"))
    assert [event.what for event in record.events] == [
        "set kmin=5 MB, h3-s1.loss=10 %: refused, s1-eth1: Kmin 5 MB would be above Kmax 4 MB; set both"
    ]
    assert record.port_series.kmin[-1].max() == 3e6
    assert record.port_series.dropped_packets[-1].sum() == 0


TRUNK = """
engine: {engine}
controller: {{name: fixed, rate: 45 %}}
tuner: {{name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.1}}
time: {{duration: {duration}, warmup: 0}}
record: {{report: false, decisions: 0, interval: 10 us}}
rack: {{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 2{switch}}}
traffic: {{pattern: flows, flows: [{{src: h1, dst: h3}}, {{src: h2, dst: h4}}]}}
events: [{{at: 100 us, set: {{leaf1-spine1.rate: 50 Gbit/s}}}}, {{at: 300 us, set: {{leaf1-spine1.rate: 100 Gbit/s}}}}]
"""
SEVERAL = ", switch: {classes: {one: {dscp: [0, 26], queue: 3}, two: {dscp: 48, queue: 7}}}"


@pytest.mark.parametrize("switch", ["", SEVERAL])
def test_a_link_sends_at_its_new_rate(switch: str) -> None:
    """For 200 us 90 Gbit/s come where 50 leave; then 100 leave, and the queue grows shorter."""
    record = simulated(TRUNK.format(engine="virtual", duration="500 us", switch=switch))
    assert judge(record).word == "clean"  # the bottleneck's queue and its line agree to a packet
    series, port = record.port_series, record.ports.index("leaf1-eth3")
    assert port == record.bottleneck
    at = {moment: int(np.searchsorted(series.time, moment - 1e-9)) for moment in (100e-6, 300e-6, 400e-6)}
    sent = np.diff([series.tx_bytes[at[moment], port] for moment in (100e-6, 300e-6, 400e-6)]) * 8
    assert sent == pytest.approx([50e9 * 200e-6, 100e9 * 100e-6], rel=0.01)
    queue = [series.queue[row, port] for row in at.values()]
    assert queue[1:] == pytest.approx([40e9 * 200e-6 / 8, 40e9 * 200e-6 / 8 - 10e9 * 100e-6 / 8], abs=4 * FRAME)
    area = series.queue_area[at[300e-6], port] - series.queue_area[at[100e-6], port]
    assert area == pytest.approx(queue[1] * 200e-6 / 2, rel=0.02)


def test_a_link_gets_longer_and_shorter_and_nothing_overtakes_anything() -> None:
    """RTTs follow by twice the difference; what comes out of order would be counted as lost by the senders."""
    events = "events: [{at: 100 us, set: {leaf1-spine1.delay: 22 us}}, {at: 300 us, set: {leaf1-spine1.delay: 2 us}}]\n"
    text = TRUNK.format(engine="virtual", duration="500 us", switch="")
    base = simulated(text[: text.index("events:")])
    record = simulated(text[: text.index("events:")] + events)
    assert judge(record).word == "clean"
    assert record.flows.lost_packets.sum() == record.flows.late_acks.sum() == 0
    rtt, usual = (one.flow_series.rtt.max(axis=1) for one in (record, base))
    at = [int(np.searchsorted(record.flow_series.time, moment)) for moment in (90e-6, 290e-6, 490e-6)]
    assert rtt[at] - usual[at] == pytest.approx([0, 40e-6, 0], abs=1e-6)  # what came at once waits for a while


@pytest.mark.root
@pytest.mark.measures
def test_the_kernels_links_do_as_well(tmp_path: Path) -> None:
    file, out = tmp_path / "trunk.yaml", tmp_path / "run"
    file.write_text(TRUNK.format(engine="kernel", duration="400 us, dilation: 3000", switch=""))
    done = command("run", str(file), "--out", str(out), "--metrics-addr", "none")
    assert done.returncode in (0, 3), done.stderr
    measured = restore(load(out))
    series, port = measured.port_series, measured.ports.index("leaf1-eth3")
    rows = [int(np.searchsorted(series.time, moment)) for moment in (120e-6, 280e-6)]
    first, last = rows
    sent = (series.tx_bytes[last, port] - series.tx_bytes[first, port]) * 8 / (series.time[last] - series.time[first])
    assert sent == pytest.approx(50e9, rel=0.05)
    assert series.queue[last, port] - series.queue[first, port] > 0.3e6


OBEDIENT = """
from testbed.controller import CompiledController, Ack
from testbed.plugin import PluginConfig

class Config(PluginConfig):
    share: float = 1.0

class Obedient(CompiledController):
    name = "obedient"
    Config = Config

    def on_ack(self, ack: Ack) -> None:
        self.rate = self.config.share * self.path.line_rate
"""


@pytest.mark.parametrize("engine", ["virtual", pytest.param("kernel", marks=[pytest.mark.root, pytest.mark.measures])])
@pytest.mark.parametrize("compiled", ["true", "false"])
def test_controllers_read_their_new_options_in_every_process(tmp_path: Path, engine: str, compiled: str) -> None:
    (tmp_path / "obedient.py").write_text(OBEDIENT)
    controller = f"{{name: {tmp_path}/obedient.py, compiled: {compiled}}}"
    text = ONE_SWITCH.replace("engine: virtual", f"engine: {engine}").replace("{name: dcqcn, g: 0.5}", controller)
    file, out = tmp_path / "obedient.yaml", tmp_path / "run"
    text = text.replace(
        "200 us", "1 ms" if engine == "kernel" else "200 us"
    )  # its agents look every 50 ms of wall time
    file.write_text(text + at("100 us", "controller.share: 0.4"))
    done = command("run", str(file), "--out", str(out), "--metrics-addr", "none")
    assert done.returncode in (0, 3), done.stderr
    assert restore(load(out)).flow_series.rate[-1].tolist() == [40e9, 40e9]


@pytest.mark.root
@pytest.mark.measures
def test_the_kernels_rack_changes_as_well(tmp_path: Path) -> None:
    file, out = tmp_path / "changes.yaml", tmp_path / "run"
    event = at("700 us", "q3.weight: 3, q4.alpha: 0.25, q3.alpha: 0.25, s1-eth1.kmin: 5 kB, h1-s1.loss: 1 %")
    file.write_text(TWO_QUEUES.replace("engine: virtual", "engine: kernel") + event)
    done = command("run", str(file), "--out", str(out), "--metrics-addr", "none")
    assert done.returncode in (0, 3), done.stderr
    series = read_table(out / QUEUE_SERIES).to_pydict()
    time, names = np.array(series["time"]), np.array(series["queue_of"])
    told = {number: names == f"s1-eth1 q{number}" for number in (3, 4)}
    sent = np.array(series["tx_bytes"])
    three, four = (sent[rows][-1] - sent[rows & (time > 800e-6)][0] for rows in told.values())
    assert three / (three + four) == pytest.approx(3 / 4, abs=0.05)
    for rows in told.values():
        assert np.array(series["queue"])[rows][-1] < 4e6 * 0.25 / (1 + 2 * 0.25) + 10 * FRAME
        assert np.array(series["kmin"])[rows][-1] == 5e3
    assert restore(load(out)).port_series.dropped_packets[-1, 0] > 0


class Asking:
    """Who follows a run and asks for these edits, one in ten looks."""

    def __init__(self, *settings: Mapping[str, Value]) -> None:
        self.edits = [Edit(number, one) for number, one in enumerate(settings)]
        self.looks = 0
        self.answers: list[Edited] = []

    def send(self, obj: Any) -> None:
        kind, content = obj
        if kind == "edited":
            self.answers.append(content)

    def poll(self) -> bool:
        self.looks += 1
        return bool(self.edits) and self.looks % 10 == 0

    def recv(self) -> Edit:
        return self.edits.pop(0)


FAILING = """
engine: virtual
controller: dcqcn
time: {duration: 3 ms, warmup: 0}
record: {report: false, decisions: 0}
rack: {kind: leaf-spine, leaves: 2, spines: 3, hosts_per_leaf: 2}
traffic: {pattern: all-to-all, hosts: 4}
events: [{at: 2 ms, down: 40 %}, {at: 2.5 ms, up: all}]
"""


def test_a_run_with_the_edits_of_another_is_the_same_to_the_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "WALL_NS_BETWEEN", 0)
    monkeypatch.setattr(snapshots.Live, "most", 1000.0)
    edits: list[dict[str, Value]] = [
        {"kmin": "20 kB", "kmax": "30 kB", "leaf1-spine2.loss": "1 %"},
        {"down": "leaf1-spine1", "detected_after": "20 us"},
        {"down": "leaf1-spine1"},
        {"controller.g": 0.5, "leaf2.pmax": 1.0, "leaf2-spine3.rate": "30 Gbit/s"},
    ]
    asking, file = Asking(*edits), tmp_path / "edited.yaml"
    file.write_text(FAILING)
    edited = VirtualRun(resolve(str(file), {}, {}, []), (), asking).follow()
    assert [bool(answer.problem) for answer in asking.answers] == [False, False, True, False]
    assert "leaf1-spine1 is already down" in asking.answers[2].problem
    added = [one.model_dump(mode="json") for one in edited.edits]
    again = simulated(FAILING.replace("up: all}]", f"up: all}}, {', '.join(map(json.dumps, added))}]"))
    assert [event.what for event in again.events] == [event.what for event in edited.events]
    for name in ("flow_series", "port_series"):
        one, other = (vars(getattr(record, name)) for record in (edited, again))
        assert all(np.array_equal(one[column], other[column], equal_nan=True) for column in one)
    times = [event.time for event in edited.events]
    assert all(pytest.approx(answer.at) in times for answer in asking.answers if not answer.problem)


HOSTS = """
engine: virtual
controller: {name: fixed, rate: 30 %}
transport: {timeout: 50 us, recovery: RECOVERY}
time: {duration: 1 ms, warmup: 0}
record: {report: false, decisions: 0}
rack: {hosts: 4}
traffic: {pattern: flows, flows: [{src: h1, dst: h4}, {src: h2, dst: h4}, {src: h4, dst: h3}]}
"""
RECOVERIES = ["per-packet", "go-back-n", "selective-repeat"]


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_the_link_of_a_host_loses_what_it_sends_and_what_it_gets(recovery: str) -> None:
    """Of the flows to h4 data on the way down and acknowledgements on the way up, of its own the other way round."""
    record = simulated(HOSTS.replace("RECOVERY", recovery) + at("300 us", "h4-s1.loss: 0.1"))
    sent = record.flows.sent_packets * 0.7
    lost = record.flows.lost_packets
    assert (lost > 0.1 * sent).all()
    if recovery == "per-packet":
        assert lost == pytest.approx(sent * (1 - 0.9**2), rel=0.15)
    assert record.counters["lost_on_links"] > record.port_series.dropped_packets[-1].sum() > 0


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_the_link_of_a_host_fails_and_comes_back(recovery: str) -> None:
    """Nobody else notices. What it sends for 200 us is lost: 30 % of 100 Gbit/s."""
    events = "events: [{at: 300 us, down: h1-s1}, {at: 500 us, up: all}]\n"
    record = simulated(HOSTS.replace("RECOVERY", recovery) + events)
    assert record.flows.lost_packets[0] == pytest.approx(0.3 * 100e9 * 200e-6 / 8 / FRAME, rel=0.06)
    assert (record.flows.lost_packets[1:] == 0).all()
    assert record.flows.acked_packets[0] > 0.75 * record.flows.acked_packets[1]
    assert [event.what for event in record.events] == ["link down h1-s1", "link up h1-s1"]
