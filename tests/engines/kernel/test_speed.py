"""The smallest clean dilation: the formula by hand, and one measurement on this machine."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from testbed.engines.kernel import features, speed
from testbed.engines.kernel.speed import Needs, Speed, Suggestion, two_digits
from testbed.errors import TestbedError
from testbed.experiment.load import load, resolve
from testbed.experiment.resolved import Resolved
from tests.support.runs import UNCALIBRATED, run
from tests.support.synthetic_runs import lag
from tests.support.synthetic_runs import run as run_of

QUICK = Speed(1e6, measured_packets_per_second=5e5, busy=0.5, late_p50=0.0, late_p99=0.0, tick=0.0)
SHARP = Speed(20_000, measured_packets_per_second=10_000, busy=0.5, late_p50=10e-6, late_p99=25e-6, tick=1e-3)
LATE = Speed(1e6, measured_packets_per_second=5e5, busy=0.5, late_p50=1e-4, late_p99=924e-6, tick=1e-3)


def auto(*settings: str) -> Resolved:
    return resolve(load("incast-64").apply(["time.dilation=auto", *settings]))


def test_needs_of_incast_64() -> None:
    """One stream into one host: 100 Gbit/s of 1,078-byte frames, and 8 us of links plus serialisation."""
    needs = Needs.of(auto())
    assert needs.packets_per_second == pytest.approx(100e9 / (8 * 1078))
    assert needs.base_rtt == pytest.approx(8e-6 + 2 * (1078 + 78) * 8 / 100e9)
    assert needs.limits == (10, 1e6)


def test_packets_may_take_nearly_a_quarter_of_a_core() -> None:
    """11.6 million packets per nominal second, 4,600 per wall second: 2,522, rounded up."""
    assert Needs.of(auto()).dilation(SHARP) == 2600


def test_cost_and_packets_are_of_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """DCQCN sends most in the first half second, and loses half: 48,000 packets took 0.5 of a core for 1.2 s."""
    record = run_of([1 / 8] * 8)
    record.wall_seconds = 1.2
    record.flows.sent_packets[:], record.flows.delivered_packets[:] = 6000, 3000
    record.late.cpu_idle, record.late.cpu_idle_mean, record.late.timer_lag = 0.05, 0.5, lag(1e-7)
    monkeypatch.setattr(speed, "follow", lambda *_: record)
    monkeypatch.setattr(speed, "use_netem", lambda _: False)
    found = speed._measure(auto(), 500.0)
    assert found.busy == 0.5
    assert found.measured_packets_per_second == pytest.approx(40_000)
    assert found.packets_per_second == pytest.approx(80_000)


def test_lag_may_be_an_eighth_of_a_round_trip() -> None:
    """100 us of sleep and 924 us too much are 1,024 us; 1 / 8 of 8.18 us is 1.023 us: 1,001, rounded up."""
    assert Needs.of(auto()).dilation(LATE) == 1100
    assert Needs.of(auto("rack.link.delay=20 us")).dilation(LATE) == pytest.approx(110)  # 80 us: a tenth, about


def test_a_sleep_may_end_two_ticks_and_a_half_late() -> None:
    """2.5 ticks of 4 ms are two round trips of 8.18 us: 611, rounded up; a kernel with ticks of 1 ms has a fourth."""
    assert Needs.of(auto()).dilation(replace(QUICK, tick=4e-3)) == 620
    assert Needs.of(auto("rack.link.delay=10 us")).dilation(replace(QUICK, tick=4e-3)) == 130


def test_a_faster_link_needs_more() -> None:
    slow, fast = Needs.of(auto("rack.link.rate=10 Gbit/s")), Needs.of(auto("rack.link.rate=200 Gbit/s"))
    assert fast.dilation(SHARP) == pytest.approx(20 * slow.dilation(SHARP), rel=0.1)


def test_every_receiver_has_a_link() -> None:
    pairs = [{"src": "h1", "dst": "h3"}, {"src": "h2", "dst": "h4"}, {"src": "h1", "dst": "h4"}]
    flows = auto(f"traffic={json.dumps({'pattern': 'flows', 'flows': pairs})}")
    assert Needs.of(flows).packets_per_second == pytest.approx(2 * Needs.of(auto()).packets_per_second)


def test_no_slower_than_links_can_be_shaped() -> None:
    """Between 10 Gbit/s and 100 kbit/s of wall time, on any machine."""
    assert Needs.of(auto("rack.link.delay=10 ms")).dilation(QUICK) == 51
    assert Needs.of(auto("rack.link.delay=10 ms", "rack.link.rate=200 Gbit/s")).dilation(QUICK) == 110
    tight = Needs(packets_per_second=1e3, base_rtt=1.0, limits=(10, 1e6))
    assert tight.dilation(QUICK) == 10
    with pytest.raises(TestbedError, match=r"auto would be 2600 on this machine .* up to 500 only; give a number"):
        Needs(packets_per_second=11.6e6, base_rtt=8e-6, limits=(1, 500)).dilation(SHARP)


@pytest.mark.parametrize(
    ("value", "rounded"), [(1.0, 1.0), (9.99, 10.0), (101.0, 110.0), (640.0, 640.0), (641.0, 650.0), (99_001.0, 1e5)]
)
def test_rounded_up_to_two_digits(value: float, rounded: float) -> None:
    assert two_digits(value) == rounded


def test_the_measured_rack_is_small_and_checked_like_any() -> None:
    resolved = auto("rack.link.delay=5 ms", "traffic.payload=4 kB", "traffic.senders=60", "rack.link.loss=1 %")
    small = speed._small(resolved.experiment, 500.0)
    assert small.hosts == speed.SENDERS + 1
    assert small.time.factor * small.time.duration == pytest.approx(speed.SECONDS)
    assert small.traffic.payload == 4000
    assert small.rack.link.rate == resolved.experiment.rack.link.rate
    assert 4 * small.rack.link.delay * small.rack.link.rate == pytest.approx(speed.BDP)
    assert math.isinf(small.plan.size[0])


def test_doctor_says_how_to_get_it() -> None:
    without = Suggestion("incast-64", why_not=features.NEEDS_ROOT).probe
    assert (without.status, without.get) == ("unknown", "run it with sudo")
    settled = speed.Settled(resolve(load("incast-64").apply(["time.dilation=640"])), SHARP)
    probe = Suggestion("incast-64", settled).probe
    assert probe.status == "ok"
    assert probe.detail == (
        "incast-64 should be clean from dilation 640 on; 20,000 packets/s per busiest core, sleeps end 10 us late "
        "(median), 25 us (p99)"
    )
    found = Suggestion("incast-64", settled).as_dict()
    assert found["measured"]["dilation"] == 640
    assert found["measured"]["packets_per_second"] == 20_000


@pytest.mark.parametrize(("busy", "measurements"), [(0.5, 1), (0.95, 2), (0.1, 2)])
def test_a_load_that_says_little_is_changed(monkeypatch: pytest.MonkeyPatch, busy: float, measurements: int) -> None:
    """Too calm or too busy: measured again where a core is about half busy."""
    tried: list[float] = []

    def once(_resolved: Resolved, dilation: float) -> Speed:
        tried.append(dilation)
        return Speed(20_000, 20_000 * busy, busy, 0.0, 0.0, 0.0)

    monkeypatch.setattr(speed, "_measure", once)
    monkeypatch.setattr(speed, "compile_all", lambda: None)
    speed.measure(auto())
    assert len(tried) == measurements
    assert tried[-1] / tried[0] == pytest.approx(1.0 if measurements == 1 else busy / speed.AIM)


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_auto_measures_runs_and_reports(tmp_path: Path) -> None:
    summary = run(tmp_path / "run", "incast-2", "--dilation", "auto", "--duration", "300 us", *UNCALIBRATED)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    used = manifest["experiment"]["time"]["dilation"]
    assert 10 <= used <= 1e6
    assert manifest["speed"]["dilation"] == used == two_digits(used)
    assert manifest["speed"]["packets_per_second"] > 1000
    assert 0 < manifest["speed"]["late_p50"] <= manifest["speed"]["late_p99"]
    assert summary["wall_seconds"] == pytest.approx(used * summary["duration"])
