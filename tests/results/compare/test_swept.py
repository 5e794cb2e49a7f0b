"""What becomes an axis: options with numbers, of scenario, controller and tuner; none that only follows another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testbed.results.compare.runs import load
from testbed.results.compare.swept import Swept, swept
from testbed.results.compare.variants import variants
from testbed.results.figures.marking import Marking, Span
from tests.support.folders import results


def axes(folder: Path) -> list[Swept]:
    return swept(variants(load([folder], with_curves=False)))


def marked(kmin: float) -> dict[str, Any]:
    """Thresholds that held at the bottleneck."""
    return {"marking": Marking(Span(kmin, kmin), Span(8e5, 8e5), Span(0.2, 0.2))}


def test_an_option_of_the_tuner_is_an_axis_in_the_bytes_that_held(tmp_path: Path) -> None:
    for written, held in (("25 kB at 25 Gbit/s", 1e5), ("400 kB", 4e5), ("5 kB at 25 Gbit/s", 2e4)):
        for controller in ("dcqcn", "dctcp"):
            name = tmp_path / f"{controller}{held}"
            results(name, controller, 1, f"tuner.kmin={written}", "tuner.kmax=800 kB", **marked(held))
    (one,) = axes(tmp_path)
    assert (one.key, one.values, one.of_scenario) == ("tuner.kmin", [2e4, 1e5, 4e5], False)
    assert {series.name: series.at for series in one.series} == {"dcqcn": (2e4, 1e5, 4e5), "dctcp": (2e4, 1e5, 4e5)}
    assert one.axis.label == "tuner.kmin at the bottleneck, kB"
    assert one.axis.log
    assert list(one.axis.ticks) == ["20", "100", "400"]
    names = [variant.contender for variant in variants(load([tmp_path], with_curves=False))]
    assert "dcqcn, kmin=100 kB" in names


def test_two_ways_to_write_what_came_to_the_same_keep_their_names(tmp_path: Path) -> None:
    results(tmp_path / "a", "dcqcn", 1, "tuner.kmin=25 kB at 25 Gbit/s", "tuner.kmax=800 kB", **marked(1e5))
    results(tmp_path / "b", "dcqcn", 1, "tuner.kmin=100 kB", "tuner.kmax=800 kB", **marked(1e5))
    names = {variant.contender for variant in variants(load([tmp_path], with_curves=False))}
    assert names == {"dcqcn, kmin=25 kB at 25 Gbit/s", "dcqcn, kmin=100 kB"}


def test_options_of_the_rack_and_the_traffic_are_axes_each(tmp_path: Path) -> None:
    for senders in (4, 8):
        for delay in ("1 us", "2 us", "3 us"):
            results(
                tmp_path / f"{senders}{delay}", "dcqcn", 1, f"traffic.senders={senders}", f"rack.link.delay={delay}"
            )
    found = {one.key: one for one in axes(tmp_path)}
    assert list(found) == ["traffic.senders", "rack.link.delay"]  # and not rack.hosts
    delays = found["rack.link.delay"]
    assert [series.name for series in delays.series] == ["dcqcn, senders=4", "dcqcn, senders=8"]
    assert (delays.axis.label, delays.axis.log, list(delays.axis.ticks)) == (
        "rack.link.delay, us",
        False,
        ["1", "2", "3"],
    )


def test_who_has_no_number_of_an_option_is_beside_the_axis(tmp_path: Path) -> None:
    for g in (0.01, 0.1):
        results(tmp_path / f"{g}", "dcqcn", 1, f"controller.g={g}")
    results(tmp_path / "swift", "swift", 1)
    (one,) = axes(tmp_path)
    assert {series.name: len(series.at) for series in one.series} == {"dcqcn": 2, "swift": 0}


@pytest.mark.parametrize("settings", [("tuner.preset=secn1",), ("controller.hyper_growth=false",)])
def test_words_are_no_axis(tmp_path: Path, settings: tuple[str, ...]) -> None:
    results(tmp_path / "a", "dcqcn", 1, "controller.hyper_growth=true")
    results(tmp_path / "b", "dcqcn", 1, *settings)
    assert [one.key for one in axes(tmp_path) if one.key in ("tuner.preset", "controller.hyper_growth")] == []


def test_values_too_close_for_a_tick_each_leave_the_ticks_to_the_axis(tmp_path: Path) -> None:
    for senders in (4, 5, 30, 31):
        results(tmp_path / f"{senders}", "dcqcn", 1, f"traffic.senders={senders}")
    (one,) = axes(tmp_path)
    assert one.axis.ticks == {}
