"""What happened to rack and jobs is in the plots over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.experiment.events import Event
from testbed.results.report import vector
from testbed.results.report.moments import MOST, Moments, links
from testbed.results.report.plots import plots
from tests.support.synthetic_runs import run

DOWN, UP = "link down leaf1-spine1", "link up leaf1-spine1"


def steps(iterations: int = 2) -> dict[str, Any]:
    """Two ranks of one job; the second is 1 ms behind."""
    place = [(number, rank) for number in range(iterations) for rank in (0, 1)]
    return {
        "job": np.array(["one"] * len(place)),
        "iteration": np.array([number for number, _ in place]),
        "kind": np.array(["done"] * len(place)),
        "begin": np.array([1e-3 + 2e-3 * number + 1e-3 * rank for number, rank in place]),
    }


def test_links_are_marked_when_they_fail_and_come_back_however_often() -> None:
    events = [Event(1e-3, f"{DOWN}; no path from leaf1 to leaf2"), Event(2e-3, UP), Event(3e-3, DOWN), Event(4e-3, UP)]
    marks = links(events)
    assert [(name.strip(), at) for name, at in marks.items()] == [
        ("leaf1-spine1 down", 1), ("leaf1-spine1 up", 2), ("leaf1-spine1 down", 3), ("leaf1-spine1 up", 4),
    ]  # fmt: skip


def test_a_new_route_is_marked_only_if_it_came_later() -> None:
    at_once = [Event(1e-3, DOWN), Event(1e-3, "link reroute leaf1-spine1")]
    later = [Event(1e-3, DOWN), Event(2e-3, "link reroute leaf1-spine1")]
    assert (len(links(at_once)), list(links(later))) == (1, ["leaf1-spine1 down", "leaf1-spine1 reroute"])


def test_many_links_have_a_short_name() -> None:
    assert list(links([Event(0.0, f"{DOWN}, leaf2-spine1, leaf3-spine2")])) == ["leaf1-spine1 and 2 more down"]


def test_iterations_end_with_their_last_rank_and_many_are_not_marked() -> None:
    record = run((0.5,))
    assert Moments.of(record, {}, steps()).marks == {"one 1 done": pytest.approx(2), "one 2 done": pytest.approx(4)}
    assert Moments.of(record, {}, steps(MOST + 1)).marks == {}


def test_where_no_message_of_a_job_is_on_its_way_is_shaded() -> None:
    record = run(
        (0.3, 0.3, 0.3), start=[1e-3, 1.5e-3, 6e-3], finished=[2e-3, 3e-3, 7e-3], sizes=[1e5] * 3, labels=["one"] * 3
    )
    (span,) = Moments.of(record, {}, steps()).spans
    assert (span.start, span.end) == (pytest.approx(3), pytest.approx(6))
    others = run((0.3, 0.3), start=[1e-3, 6e-3], finished=[2e-3, 7e-3], sizes=[1e5] * 2, labels=["background"] * 2)
    assert Moments.of(others, {}, steps()).spans == ()


def test_they_are_in_every_plot_over_time_and_on_paper() -> None:
    record = run((0.6, 0.4))
    record.events = [Event(5e-3, DOWN)]
    happened = Moments.of(record, {})
    for plot in plots(record):
        shown = happened.on(plot)
        assert ("leaf1-spine1 down" in shown.x.marks) == plot.x.is_time
        if plot.x.is_time:
            assert vector.svg(shown).count(">leaf1-spine1 down<") == 1


def test_phases_of_traffic_are_marked_where_they_begin() -> None:
    parts = [{"start": start, "traffic": {"pattern": name}} for start, name in (("0 s", "incast"), ("2 ms", "poisson"))]
    record = run((0.5,))
    assert Moments.of(record, {"pattern": "phases", "parts": parts}).marks == {"phase 2: poisson": pytest.approx(2)}
    assert Moments.of(record, {"pattern": "mix", "parts": [{"pattern": "incast"}]}).marks == {}
