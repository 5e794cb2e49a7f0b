"""The curves of a comparison over what was swept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testbed.results.compare import gather
from testbed.results.compare.trends import trends
from testbed.results.report.plot import Plot
from tests.support.folders import results


def drawn(folder: Path) -> dict[str, Plot]:
    return {plot.slug: plot for plot in trends(gather.compare([folder]))}


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    """Two controllers at 4, 8 and 64 senders, three repeats; the second has a hundred times the queue."""
    for senders in (4, 8, 64):
        for number, controller in enumerate(("dcqcn", "swift")):
            for seed in (1, 2, 3):
                figures: dict[str, Any] = {"su": 90 - number + seed, "ql_mean": (100**number) * senders * 1e-7}
                figures |= {"slowdown_p50": 2.0 * senders, "slowdown_p99": 9.0 * senders + seed, "loss": 0.0}
                name = f"{controller}{senders}{seed}"
                results(tmp_path / name, controller, seed, f"traffic.senders={senders}", **figures)
    return tmp_path


def test_a_curve_per_controller_with_its_intervals_and_its_name_at_the_end(swept: Path) -> None:
    plot = drawn(swept)["su-over-traffic.senders"]
    assert (plot.x.label, plot.x.log, list(plot.x.ticks)) == ("traffic.senders", True, ["4", "8", "64"])
    curves = {line.name: line for line in plot.lines if line.label}
    assert list(curves) == ["dcqcn", "swift"]
    assert curves["dcqcn"].x.tolist() == [4, 8, 64]
    assert curves["swift"].y.tolist() == [91, 91, 91]
    assert len({line.symbol for line in curves.values()}) == 2
    bars = next(line for line in plot.lines if line.name == "dcqcn" and not line.label)
    assert bars.y[:2].tolist() == [91, 93]
    assert np.isnan(bars.y[2])
    assert plot.legend == []  # the names are at the curves


def test_a_queue_over_decades_is_logarithmic_and_utilisation_is_not(swept: Path) -> None:
    plots = drawn(swept)
    assert plots["ql_mean-over-traffic.senders"].panels[0].y.log
    assert not plots["su-over-traffic.senders"].panels[0].y.log
    assert "loss-over-traffic.senders" not in plots  # 0 everywhere


def test_slowdowns_quantiles_are_in_one_logarithmic_plot_and_told_apart(swept: Path) -> None:
    plot = drawn(swept)["slowdown_p99-over-traffic.senders"]
    assert plot.panels[0].y.log
    looks = {line.name: (line.colour, line.dash, line.symbol) for line in plot.lines if line.label}
    assert list(looks) == ["dcqcn p50", "dcqcn p99", "swift p50", "swift p99"]
    assert looks["dcqcn p50"][0] == looks["dcqcn p99"][0]
    assert looks["dcqcn p50"][1:] != looks["dcqcn p99"][1:]


def test_what_has_no_number_is_a_level(tmp_path: Path) -> None:
    for g in (0.01, 0.1):
        results(tmp_path / f"{g}", "dcqcn", 1, f"controller.g={g}", su=90)
    results(tmp_path / "swift", "swift", 1, su=80)
    plot = drawn(tmp_path)["su-over-controller.g"]
    level = next(line for line in plot.lines if line.label == "swift")
    assert (level.dash, level.x.tolist(), level.y.tolist()) == ("dot", [plot.x.low, plot.x.high], [80, 80])
    assert "dotted: without the option" in plot.note


def test_scenarios_without_a_number_are_side_by_side(tmp_path: Path) -> None:
    results(tmp_path / "a", experiment="incast-8")
    results(tmp_path / "b", experiment="leaf-spine")
    plots = drawn(tmp_path)
    assert list(plots["su-over-scenarios"].x.ticks) == ["incast-8", "leaf-spine"]
