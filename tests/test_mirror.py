"""Tests mirror what they test: the test of testbed/a/b.py is tests/a/test_b.py, controllers/ and plugins/ alike.

Also right: one aspect of a module (test_b_aspect.py), a file that is no Python (port.bpf.c, wheelhouse.yml), the
package of the folder itself (tests/a/test_a.py). What crosses modules is named for what it is about, and stands below
with the reason.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

TESTS = ROOT / "tests"
# Of no module: helpers and their own tests, Ansible's roles, damaged inputs, guests of user-mode Linux.
APART = {"ansible", "coverage", "emulated_lab", "fuzz", "support", "uml"}
OWN_ROOTS = {"bench", "controllers", "plugins", "release"}  # the others are testbed's
BEHAVIOURS = {
    ".": {
        "circles": "which C needs which",
        "data_runs_nothing": "what no source may call",
        "diagrams": "the drawn pictures of the pages",
        "findings": "the pages of what was measured",
        "gallery": "the page of small runs",
        "interface": "what a plugin and a script may use",
        "makefile": "`make run`, whose recipe is more than a command",
        "mirror": "this",
        "notebook": "the notebook of the docs",
        "pages": "the commands of all pages",
        "prose": "the words of all pages",
        "package": "a wheel outside the checkout",
        "site": "the pages as a site",
        "readme": "the README's steps",
        "reference": "the pages that are made of the code",
        "start": "the tutorials, line by line",
        "your_own_controller": "the steps of a page",
    },
    "controllers": {"both_ways": "machine code and plain Python"},
    "controllers/baselines": {"classes": "what kind of failure each one is", "training": "what they learn"},
    "engines/kernel": {  # whole runs, of which each asks as much as it can
        "apps": "the shipped experiments with real applications",
        "bolt": "notices of switches, with real packets",
        "classes": "ports of several queues, with real packets",
        "credits": "receivers that grant what is sent, with real packets",
        "fixed_points": "where the controllers settle with real packets",
        "full_lines": "hosts that send as much as their lines carry",
        "jobs": "a ring among agents, and a message after another",
        "lifecycle": "whatever ends a run, nothing is left",
        "many_flows": "the largest published incast",
        "missing": "what this machine lacks is said before anything is built",
        "plugin_failures": "a plugin that fails or hangs in an agent",
        "pool": "memory that ports share beside closed forms, with real packets",
        "racks": "racks whose links differ, and custom ones, with real packets",
        "routing": "packets of a flow over many paths, with real packets",
        "theory": "closed forms, with real packets",
        "ties": "senders that are alike, at a full port",
        "trim": "packets that are shortened on the wire",
    },
    "engines/lab/switch": {"any_packet": "packets of hosts that know nothing of the testbed"},
    "engines/virtual": {  # the same, where the kernel is not the point
        "classes": "ports of several queues beside closed forms",
        "pool": "memory that ports share beside closed forms",
        "bolt": "notices of switches, on their way",
        "credits": "receivers that grant what is sent",
        "fixed_points": "where the controllers settle",
        "plugin_failures": "a plugin that fails, hangs or prints",
        "three_tiers": "racks of three tiers",
        "racks": "racks whose links differ, and custom ones",
        "decisions": "the file that blocks become during a run",
        "jobs": "iterations and bandwidths beside closed forms",
        "queue_pairs": "what goes on from one message to the next",
        "tasks": "flows that wait for others, to the nanosecond",
        "traffic": "flows that start, end and wait for each other",
        "golden": "results that are known to the bit",
        "same_bits": "the same results whatever else is different",
        "theory": "closed forms, in virtual time",
        "ties": "senders that are alike, at a full port",
    },
    "sdk/export/doca_pcc": {"accepted": "all values of parameters that a card takes"},
    "sdk/gym": {"docs": "the page's script"},
    "release": {"action": "action.yml, whose script is in scripts/", "workflows": ".github/workflows"},
    "results": {"strange_names": "who shows what a stranger called it"},
    "live": {"real_run": "metrics and events of a run, seen from outside"},
}


def is_apart(test: Path) -> bool:
    return test.parent != TESTS and test.relative_to(TESTS).parts[0] in APART


def mirrored(folder: Path) -> Path:
    """Where the tests in this folder have their modules."""
    path = folder.relative_to(TESTS)
    return ROOT / path if path.parts and path.parts[0] in OWN_ROOTS else ROOT / "testbed" / path


def names_at(place: Path) -> set[str]:
    """What a test there may be named for."""
    found = {entry.name.partition(".")[0] for entry in place.iterdir() if not entry.name.startswith(("_", "."))}
    return found | {place.name}


def problem(test: Path) -> str:
    """What is wrong with where a test is, or nothing."""
    place, words = mirrored(test.parent), test.stem.split("_")[1:]
    if not place.is_dir():
        return f"{test.relative_to(ROOT)}: there is no {place.relative_to(ROOT)}/"
    names = names_at(place) | set(BEHAVIOURS.get(str(test.parent.relative_to(TESTS)), {}))
    if any("_".join(words[:length]) in names for length in range(1, len(words) + 1)):
        return ""
    return f"{test.relative_to(ROOT)}: {place.relative_to(ROOT)}/ has no such module; move it, or add it to BEHAVIOURS"


def test_every_test_is_where_its_name_says() -> None:
    found = [problem(test) for test in sorted(TESTS.rglob("test_*.py")) if not is_apart(test)]
    assert len(found) > 200
    assert [said for said in found if said] == []


def test_tests_share_helpers_and_not_each_other() -> None:
    imports = re.compile(r"^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)
    assert [file for file in TESTS.rglob("*.py") if imports.search(file.read_text())] == []


def test_behaviours_are_there_and_are_no_modules() -> None:
    tests = [TESTS / folder / f"test_{name}.py" for folder, names in BEHAVIOURS.items() for name in names]
    assert [test for test in tests if not test.is_file()] == []
    assert [test for test in tests if test.stem.removeprefix("test_") in names_at(mirrored(test.parent))] == []


@pytest.mark.parametrize("test", ["results/test_parser.py", "rack/test_net.py", "agent/test_agents.py", "test_wire.py"])
def test_a_test_elsewhere_is_found(test: str) -> None:
    assert problem(TESTS / test) != ""


@pytest.mark.parametrize("test", ["dataplane/test_port_marking.py", "plugins/pet/test_pet.py", "cli/test_validate.py"])
def test_aspects_packages_and_verbs_are_names(test: str) -> None:
    assert problem(TESTS / test) == ""


def test_every_package_is_in_the_wheel() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {"testbed": "testbed", **told["package-dir"]}
    there = {
        ".".join((name, *one.parent.relative_to(ROOT / folder).parts))
        for name, folder in folders.items()
        for one in (ROOT / folder).rglob("__init__.py")
    }
    assert there <= set(told["packages"])
