"""Tests mirror what they test: the test of testbed/a/b.py is tests/a/test_b.py, controllers/ and plugins/ alike.

Also right: one aspect of a module (test_b_aspect.py), a file that is no Python (port.bpf.c, wheelhouse.yml), the
package of the folder itself (tests/a/test_a.py), and in tests/cli a verb of the command. What crosses modules is named
for what it is about, and stands below with the reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from testbed.cli.main import app
from tests.support.checkout import ROOT

TESTS = ROOT / "tests"
# Of no module: helpers and their own tests, Ansible's roles, guests of user-mode Linux.
APART = {"ansible", "emulated_lab", "support", "uml"}
OWN_ROOTS = {"bench", "controllers", "plugins"}  # the others are testbed's
BEHAVIOURS = {
    "": {
        "mirror": "this",
        "package": "a wheel outside the checkout",
        "readme": "the README's steps",
    },
    "engines/kernel": {  # whole runs, of which each asks as much as it can
        "fixed_points": "where the controllers settle with real packets",
        "full_lines": "hosts that send as much as their lines carry",
        "lifecycle": "whatever ends a run, nothing is left",
        "many_flows": "the largest published incast",
        "missing": "what this machine lacks is said before anything is built",
        "plugin_failures": "a plugin that fails, hangs or prints",
        "theory": "closed forms, with real packets",
        "traffic": "flows that start, end and wait for each other",
    },
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
    if place == ROOT / "testbed" / "cli":
        found |= set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    return found | {place.name}


def problem(test: Path) -> str:
    """What is wrong with where a test is, or nothing."""
    place, name = mirrored(test.parent), test.stem.removeprefix("test_")
    if not place.is_dir():
        return f"there is no {place.relative_to(ROOT)}/"
    known = names_at(place)
    parts = name.split("_")
    if any("_".join(parts[:length]) in known for length in range(1, len(parts) + 1)):
        return ""
    if name in BEHAVIOURS.get(str(test.parent.relative_to(TESTS)), {}):
        return ""
    return f"{place.relative_to(ROOT)}/ has no {name}; move it to its module, or say in BEHAVIOURS what it is about"


TESTS_OF_MODULES = [test for test in sorted(TESTS.rglob("test_*.py")) if not is_apart(test)]


@pytest.mark.parametrize("test", TESTS_OF_MODULES, ids=lambda test: str(test.relative_to(TESTS)))
def test_is_where_its_name_says(test: Path) -> None:
    assert problem(test) == ""


def test_behaviours_are_there_and_are_no_modules() -> None:
    for folder, names in BEHAVIOURS.items():
        for name in names:
            test = TESTS / folder / f"test_{name}.py"
            assert test.is_file(), test
            assert name not in names_at(mirrored(test.parent)), f"{test} mirrors a module"


@pytest.mark.parametrize("test", ["results/test_parser.py", "rack/test_net.py", "agent/test_agents.py", "test_wire.py"])
def test_a_test_elsewhere_is_found(test: str) -> None:
    assert problem(TESTS / test) != ""


@pytest.mark.parametrize("test", ["dataplane/test_port_marking.py", "plugins/pet/test_pet.py", "cli/test_validate.py"])
def test_aspects_packages_and_verbs_are_names(test: str) -> None:
    assert problem(TESTS / test) == ""
