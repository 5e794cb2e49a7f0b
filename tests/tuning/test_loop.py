"""The engine's side of tuners: what they are told, and what becomes of their answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from testbed.errors import PluginFailed
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.tuner import Need, Ports, PortSample, Thresholds, Tuner
from testbed.tuning.loop import Tuning, Tunings, observed

PORTS = Ports(("s1-eth1", "s1-eth2"), np.full(2, 100e9), np.full(2, 5e6), 8e-6)


class Made:
    """A switch whose ports send a megabyte per second of nominal time and mark a quarter of it."""

    def __init__(self) -> None:
        self.thresholds: list[list[float]] = []
        self.now = 0.0

    def sample(self, now_ns: int) -> dict[str, Any]:
        total = np.array([now_ns / 1e9 * 1e6, 0.0])
        columns = {"tx_bytes": total, "marked_bytes": total / 4, "queue_area": total * 0 + now_ns / 1e9 * 500}
        columns |= {"dropped_packets": total * 0, "queue": np.array([700.0, 0.0])}
        return columns | dict(zip(("kmin", "kmax", "pmax"), np.array(self.thresholds[-1]), strict=True))

    def set_thresholds(self, kmin: Any, kmax: Any, pmax: Any) -> None:
        self.thresholds.append([kmin.tolist(), kmax.tolist(), pmax.tolist()])


class Told(Tuner):
    """Answers with what it is told to, and remembers what it saw."""

    name = "told"
    answers: list[Any] = []  # noqa: RUF012 - set by the tests

    def __init__(self, config: PluginConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.slot = 1.0
        self.seen: list[PortSample] = []

    def initial(self) -> Thresholds:
        return Thresholds.uniform(2, 1e3, 2e3, 0.1)

    def on_slot(self, now: float, sample: PortSample) -> Thresholds | None:
        self.seen.append(sample)
        self.report = {"slot": now}
        answer = self.answers[len(self.seen) - 1]
        return answer() if callable(answer) else answer


def tuning(*answers: Any) -> tuple[Tuning, Made]:
    form = type("Told", (Told,), {"answers": list(answers)})
    switch = Made()
    plugin = Plugin("tuner", "told", form, "here", Path(__file__))
    return Tuning(plugin, PluginConfig(), switch, PORTS), switch


def play(one: Tuning, slots: int) -> None:
    for number in range(slots + 1):
        one.step(float(number), number * 10**9)


def test_a_slot_is_the_difference_of_two_samples() -> None:
    one, _ = tuning(None)
    play(one, 1)
    (seen,) = one.tuner.seen
    assert seen.tx_rate.tolist() == [8e6, 0.0]
    assert seen.marked_rate.tolist() == [2e6, 0.0]  # bytes that were counted
    assert seen.mean_queue.tolist() == [500.0, 500.0]
    assert np.isnan(seen.incast_degree).all()
    assert np.isnan(seen.mice_share).all()
    assert (seen.kmin[0], seen.kmax[0], seen.pmax[0]) == (1e3, 2e3, 0.1)


def test_what_the_monitor_tells_comes_through() -> None:
    before = {name: np.zeros(1) for name in ("tx_bytes", "marked_bytes", "queue_area", "dropped_packets", "queue")}
    before |= {"kmin": np.ones(1), "kmax": np.ones(1), "pmax": np.ones(1)}
    after = before | {"incast_degree": np.array([7.0]), "mice_share": np.array([0.9])}
    sample = observed(before, after, 1.0)
    assert (sample.incast_degree[0], sample.mice_share[0]) == (7, 0.9)


@pytest.mark.parametrize(
    "bad",
    [
        Thresholds(np.array([1e3, np.nan]), np.full(2, 2e3), np.full(2, 0.1)),
        Thresholds.uniform(2, 3e3, 2e3, 0.1),
        Thresholds.uniform(2, 1e3, 6e6, 0.1),
        Thresholds.uniform(3, 1e3, 2e3, 0.1),
        "much",
    ],
)
def test_an_answer_that_cannot_be_used_leaves_the_last_good_thresholds(bad: object) -> None:
    good = Thresholds.uniform(2, 5e3, 9e3, 0.3)
    one, switch = tuning(good, bad, good)
    play(one, 3)
    assert [entry[0][0] for entry in switch.thresholds] == [1e3, 5e3, 5e3]
    assert one.log.refusals == 1
    assert one.log.first_refusal.startswith("at s1, 2000 ms: ")
    assert one.log.time == [1.0, 2.0, 3.0]
    assert one.log.reported("slot").tolist() == [1.0, 2.0, 3.0]


def test_an_exception_names_the_plugin() -> None:
    one, _ = tuning(lambda: 1 / 0)
    with pytest.raises(PluginFailed, match=r"tuner 'told' .*ZeroDivisionError"):
        play(one, 1)


@pytest.mark.parametrize(
    ("report", "why"),
    [({"reward": np.zeros(2)}, r"report\['reward'\] is \(2,\), expected one number"), (None, "report is a NoneType")],
)
def test_a_report_that_is_no_numbers_by_name_is_the_plugins_fault(report: object, why: str) -> None:
    """A value per port would be mixed up in tuners.parquet, and would end every scrape with an exception."""
    one, _ = tuning(None)
    one.tuner.on_slot = lambda now, sample: setattr(one.tuner, "report", report)  # noqa: ARG005
    with pytest.raises(PluginFailed, match=f"tuner 'told' .*TypeError: {why}"):
        play(one, 1)


def test_slots_of_monitored_flows_end_together() -> None:
    """The flow table is read once for all switches."""

    def initialised(self: Told, config: PluginConfig, ports: Ports) -> None:
        Told.__init__(self, config, ports)
        self.slot = float(ports.buffer[0])

    form = type("Uneven", (Told,), {"__init__": initialised, "needs": Need.FLOWS})
    resolved: Any = SimpleNamespace(
        tuner=Plugin("tuner", "uneven", form, "here", Path(__file__)), tuner_config=PluginConfig()
    )
    with pytest.raises(PluginFailed, match=r"slot is 1e\+06 s at one switch and 5e\+06 s at another"):
        Tunings(resolved, [(Made(), PORTS), (Made(), replace(PORTS, buffer=np.full(2, 1e6)))])


def test_first_thresholds_must_be_usable() -> None:
    form = type("Bad", (Told,), {"initial": lambda _self: Thresholds.uniform(2, 3e3, 2e3, 0.1)})
    with pytest.raises(PluginFailed, match=r"port s1-eth1 breaks 0 <= Kmin <= Kmax"):
        Tuning(Plugin("tuner", "told", form, "here", Path(__file__)), PluginConfig(), Made(), PORTS)


def test_a_first_slot_that_begins_late_is_as_long_as_the_others() -> None:
    """On a busy machine the engine may be asked for the first time when the first slot should have ended."""
    good = Thresholds.uniform(2, 5e3, 9e3, 0.3)
    one, switch = tuning(good)
    one.step(1.5, int(1.5e9))
    assert one.log.time == []
    assert one.next_slot == 2.5
    one.step(2.5, int(2.5e9))
    assert one.log.time == [2.5]
    assert len(switch.thresholds) == 2
