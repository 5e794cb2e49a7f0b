"""Several controllers in one experiment: who decides about what, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.experiment.load import recorded
from testbed.experiment.load import resolve as resolved_again
from testbed.experiment.resolved import Resolved
from testbed.runs.overrides import resolve

TEXT = """
traffic: {pattern: incast, senders: 4, flows_per_sender: 2}
controller: hpcc
controllers:
"""


def resolved(tmp_path: Path, *lines: str) -> Resolved:
    file = tmp_path / "mixed.yaml"
    file.write_text(TEXT + "".join(f"  - {line}\n" for line in lines))
    return resolve(str(file), {}, {}, [])


def test_flows_are_named_by_host_or_number_and_the_first_decides(tmp_path: Path) -> None:
    mixed = resolved(tmp_path, "{name: swift, of: {hosts: [h1], flows: [7]}}", "{name: dcqcn, of: {hosts: [h1, h2]}}")
    assert mixed.experiment.decider.tolist() == [1, 1, 2, 2, 0, 0, 0, 1]
    assert [one.plugin.name for one in mixed.deciders] == ["hpcc", "swift", "dcqcn"]
    assert mixed.layout.int_hops == 1  # HPCC needs it, and all packets are of one size


def test_labels_name_flows() -> None:
    mixed = resolve("long-short", {}, {}, ["controllers=[{name: swift, of: {labels: [short]}}]"])
    named = np.array(mixed.experiment.plan.label)[mixed.experiment.decider == 1]
    assert set(named) == {"short"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{name: swift, of: {hosts: [h5]}}", "line 5: controllers.0.of.hosts: no flow has 'h5'; allowed: 'h1', 'h2'"),
        ("{name: swift, of: {flows: [8]}}", "line 5: controllers.0.of.flows: no flow has 8; allowed: 0 to 7"),
        ("{name: swift, of: {labels: [mice]}}", "line 5: controllers.0.of.labels: no flow has 'mice'; allowed: ''"),
        ("{name: swift}", "controllers.0.of: is required"),
        ("{name: swift, of: {}}", "controllers.0.of: no flow is left for it"),
        ("{name: swfit, of: {hosts: [h1]}}", "line 5: controllers.0.name: no controller"),
        ("{name: swift, ai: 1, of: {hosts: [h1]}}", "controllers.0"),
    ],
)
def test_what_fits_nothing_is_refused_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        resolved(tmp_path, line)
    assert said in str(refused.value)


def test_a_result_tells_all_of_it(tmp_path: Path) -> None:
    told = resolved(tmp_path, "{name: swift, preset: bolt, of: {hosts: [h1]}}").as_dict()["controllers"]
    assert told[0]["name"] == "swift"
    assert told[0]["of"] == {"hosts": ["h1"], "labels": [], "flows": []}


# -- routing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("routing", "said"),
    [
        ("sprai", "routing: nothing is named 'sprai'; did you mean 'spray'"),
        ("{name: spray, gap: 5 us}", "routing.gap: is of 'flowlet'; 'spray' has none"),
        ("{name: spray, entropies: 8}", "routing.entropies: is of path choosers; 'spray' has no such option"),
        ("{name: ecmp, preset: mine}", "routing.preset: is of path choosers"),
        (
            "{name: reps, entropis: 8}",
            "routing.entropis: path chooser 'reps' has no option 'entropis'; did you mean 'entropies'",
        ),
        ("{name: flowlet, gap: 0}", "routing.gap: "),
    ],
)
def test_what_no_routing_has_is_refused(routing: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        resolve("leaf-spine", {}, {}, [f"routing={routing}"])
    assert said in str(refused.value)


@pytest.mark.parametrize(("engine", "routing"), [("fluid", "spray"), ("fluid", "reps")])
def test_an_engine_that_cannot_route_so_says_it(engine: str, routing: str) -> None:
    with pytest.raises(BadInput, match=r"--set routing=.*: routing: "):
        resolve("leaf-spine", {}, {}, [f"routing={routing}", f"engine={engine}"])


@pytest.mark.parametrize("engine", ["kernel", "virtual"])
def test_adaptive_routing_knows_so_many_ports(engine: str) -> None:
    settings = ["rack.spines=65", "routing=adaptive", f"engine={engine}"]
    with pytest.raises(BadInput, match=r"routing: 'adaptive' compares up to 64 ports; a switch has 65; say 'spray'"):
        resolve("leaf-spine", {}, {}, settings)


def test_notices_of_switches_are_of_one_path() -> None:
    with pytest.raises(BadInput, match=r"routing: bolt needs notices of switches, .* say 'ecmp'"):
        resolve("leaf-spine", {"controller": "bolt"}, {}, ["routing=spray", "engine=virtual"])


@pytest.mark.parametrize("routing", ["ecmp", "{name: flowlet, gap: 5 us}", "{name: reps, freeze: 50 us}"])
def test_routing_that_was_resolved_loads_again(routing: str) -> None:
    first = resolve("leaf-spine", {}, {}, [f"routing={routing}", "engine=virtual"])
    again = resolved_again(recorded(first.as_dict(), "again", lambda _plugins, _apps: None))
    assert again.as_dict() == first.as_dict()
    assert (again.chooser is None) == ("reps" not in routing)
