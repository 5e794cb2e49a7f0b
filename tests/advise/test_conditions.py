"""Other loads and failed links."""

from __future__ import annotations

from pathlib import Path

from testbed.advise.conditions import conditions
from testbed.advise.workload import Workload


def of(experiment: str) -> dict[str, tuple[tuple[str, ...], str]]:
    made = conditions(Workload.of(experiment, None, (), Path()))
    return {one.name: (one.settings, one.missing) for one in made}


def test_a_load_is_scaled() -> None:
    assert of("websearch")["a fifth more load"] == (("traffic.load=72 %",), "")
    assert of("websearch")["a fifth less load"] == (("traffic.load=48 %",), "")


def test_where_there_is_no_load_sizes_are_scaled() -> None:
    settings, _ = of("incast-storage")["a fifth more load"]
    assert settings == ("traffic.parts.0.size=2400000 B", "traffic.parts.1.size=2400000 B")


def test_endless_flows_get_more_senders() -> None:
    assert of("incast-16")["a fifth more load"] == (("traffic.senders=19",), "")


def test_a_link_fails_where_there_is_another_way() -> None:
    ((event,), missing) = of("link-failure")["a failed link"]
    assert missing == ""
    assert '"down": "leaf1-spine1"' in event
    assert event.count('"at"') == 3, "the experiment's own events stay"
    assert "no link" in of("websearch")["a failed link"][1]


def test_what_they_make_resolves() -> None:
    workload = Workload.of("link-failure", None, (), Path())
    for one in conditions(workload):
        workload.resolved(1, one.settings)
