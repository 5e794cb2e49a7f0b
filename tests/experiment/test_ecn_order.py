"""ECN before PFC: which Kmin can be reached before a pause, what is said where it cannot, and that packets agree."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from testbed.experiment.load import available, load, resolve
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.results.record import RunRecord
from tests.support.simulated import simulated

PFC = "rack.switch.pfc=on"  # xoff 200 kB
FRAME = 1078
EIGHT = 8 * 200_000 - FRAME


def of(name: str, *settings: str, controller: str = "dcqcn") -> Resolved:
    return resolve(load(name).choose("controller", controller, "--controller").apply(settings))


def step(kmin: float) -> list[str]:
    """All packets are marked above it."""
    return [PFC, f"tuner={{kmin: {kmin} B, kmax: {kmin} B, reference_rate: 0 bit/s, pmax: 100 %}}"]


def highest(resolved: Resolved) -> dict[str, float]:
    order = resolved.ecn_order
    bounds = zip(order.names, order.highest_kmin, order.ingresses, strict=True)
    return {name: bound for name, bound, count in bounds if count}


def test_each_ingress_that_feeds_a_port_admits_xoff() -> None:
    assert highest(of("incast-8", PFC)) == {"s1-eth9": EIGHT}
    assert highest(of("victim")) == {"leaf2-eth1": 100_000 - FRAME, "leaf2-eth2": 100_000 - FRAME}  # by the uplink


def test_a_port_that_cannot_be_overloaded_needs_no_marks() -> None:
    """leaf1's uplink is as fast as its four hosts, the spine's port as fast as the one uplink that feeds it."""
    slow = highest(of("victim", "rack.uplink.rate=50 Gbit/s"))
    assert slow["leaf1-eth5"] == 4 * 100_000 - FRAME
    assert "spine1-eth2" not in slow


def test_all_shortest_paths_count() -> None:
    rack = "rack={kind: leaf-spine, leaves: 2, spines: 3, hosts_per_leaf: 4, switch: {pfc: on}}"
    flows = "traffic={pattern: flows, flows: [{src: h1, dst: h5}, {src: h6, dst: h5}]}"
    assert highest(of("victim", rack, flows))["leaf2-eth1"] == 4 * 200_000 - FRAME  # three spines and h6


@pytest.mark.parametrize(("controller", "matters"), [("dcqcn", 1), ("dctcp", 1), ("hpcc", 0), ("fixed", 0)])
def test_only_controllers_that_react_to_marks_need_them(controller: str, matters: int) -> None:
    assert bool(highest(of("incast-8", PFC, controller=controller))) == matters


@pytest.mark.parametrize("name", available())
def test_no_shipped_experiment_falls_under_it(name: str, caplog: pytest.LogCaptureFixture) -> None:
    resolve(load(name))
    assert caplog.messages == []


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """Whatever another test in this process has made of logging, such as a command that was told to be verbose."""
    monkeypatch.setattr(logging.root.manager, "disable", 0)
    for name in ("testbed", "testbed.experiment"):
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
    caplog.set_level(logging.WARNING, logger="testbed.experiment")
    return caplog


def test_the_warning_has_both_numbers_and_the_highest_kmin(heard: pytest.LogCaptureFixture) -> None:
    of("incast-8", *step(EIGHT))
    assert heard.messages == []
    of("incast-8", *step(EIGHT + 1e3))
    (message,) = heard.messages
    assert heard.records[0].levelno == logging.WARNING
    assert message == (
        "ECN cannot come before PFC at s1-eth9: Kmin is 1.59992 MB there, and the 8 ingresses that feed it may have "
        "1.6 MB in its queue before xoff (200 kB each) pauses senders; the highest Kmin that works is 1.598922 MB: "
        "lower Kmin, or raise rack.switch.pfc.xoff (docs/reference/pfc.md, ECN before PFC)"
    )


def ran(settings: list[str]) -> RunRecord:
    times = ["time.duration=400 us", "time.warmup=0 s", "record.interval=200 ns"]
    return simulated("incast-8", ["controller.window=none", *settings, *times])


def first(column: np.ndarray) -> float:
    """The sample in which it is first above 0."""
    above = np.flatnonzero(column.sum(axis=1) > 0)
    return float(above[0]) if len(above) else np.inf


def test_packets_are_marked_before_the_first_pause_exactly_up_to_the_highest_kmin() -> None:
    below, above = ran(step(0.97 * EIGHT)), ran(step(EIGHT + 2 * FRAME))
    for record, marks_first in ((below, True), (above, False)):
        series = record.port_series
        assert np.isfinite(first(series.pause_frames))
        assert (first(series.marked_packets) < first(series.pause_frames)) == marks_first
    assert below.unmarked_pauses == 0
    assert above.unmarked_pauses > 0.9


def test_the_verdict_is_not_clean_where_pauses_are_the_congestion_control() -> None:
    (reason,) = judge(simulated("victim", ["time.duration=1 ms", "time.warmup=0 s"], controller="dcqcn")).reasons
    assert reason.what == "PFC before ECN"
    assert judge(simulated("victim", ["time.duration=1 ms", "time.warmup=0 s"], controller="fixed")).word == "clean"


def test_the_verdict_knows_what_a_tuner_set_during_the_run() -> None:
    late = "tuner={kmin: 20 kB, kmax: 20 kB, pmax: 100 %, at: [{time: 20 us, kmin: 100 kB, kmax: 100 kB}]}"
    record = simulated("victim", ["time.duration=1 ms", "time.warmup=0 s", late], controller="dcqcn")
    assert record.unmarked_pauses > 0.1
    assert [reason.what for reason in judge(record).reasons] == ["PFC before ECN"]
