"""The virtual engine is no second implementation: queue, RED, INT, CNP, ACK, PFC and pacing are the rack's own C."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from testbed.agent.build import SOURCE as AGENT
from testbed.agent.build import SOURCES as AGENT_SOURCES
from testbed.base.compiler import PACKAGE
from testbed.dataplane.build import SOURCE as DATAPLANE
from testbed.engines.virtual.build import SHORT, SOURCE, WORLD, plain, usual_unit
from testbed.runs.overrides import from_user, overridden

LEAST = 24  # characters: shorter lines are any C
RUN = 5  # lines on end that are nobody's by chance
SIMILAR = 12  # declarations of what both implement, and a heap is a heap: no function's body


def code(file: Path, least: int) -> list[str]:
    """Its lines of at least so many characters, without what every file has."""
    text = [line.strip() for line in file.read_text().splitlines()]
    return [
        line for line in text if len(line) >= least and not line.startswith(("#include", "//", "/*", "*", "for (int"))
    ]


def lines(folder: Path) -> set[str]:
    """Of all C in a folder."""
    return {line for file in folder.glob("*.[ch]") for line in code(file, LEAST)}


def runs(files: Iterable[Path]) -> dict[tuple[str, ...], Path]:
    """Everything of five lines on end that is in them."""
    found = {}
    for file in files:
        own = code(file, least=4)  # braces are no line
        found |= {tuple(own[at : at + RUN]): file for at in range(len(own) - RUN + 1)}
    return found


def copies(package: Path) -> set[tuple[Path, Path]]:
    """Files elsewhere in the package that share something with one of data plane or agents."""
    files = set(package.rglob("*.[ch]"))
    own = {file for file in files if file.parent.name in {"dataplane", "agent"}}
    theirs, elsewhere = runs(own), runs(files - own)
    return {(elsewhere[run], theirs[run]) for run in theirs.keys() & elsewhere.keys()}


def test_programs_and_agent_are_compiled_from_where_they_are() -> None:
    agent = (SOURCE / "agent.c").read_text()
    assert all(f'#include "../../agent/{name}"' in agent for name in AGENT_SOURCES)
    assert {one.name for one in WORLD.includes if one.parent == AGENT} == set(AGENT_SOURCES)
    assert {one.name for one in WORLD.includes if one.parent == DATAPLANE} == {"nic.bpf.c", "port.bpf.c"}
    world = (SOURCE / "world.c").read_text()
    assert all(f'#include "../../dataplane/{name}.bpf.c"' in world for name in ("nic", "port"))


def test_nothing_of_them_is_copied() -> None:
    copied = lines(SOURCE) & (lines(DATAPLANE) | lines(AGENT))
    assert len(copied) <= SIMILAR, sorted(copied)
    assert copies(PACKAGE) == set()


def test_a_function_that_is_copied_is_found(tmp_path: Path) -> None:
    """Wherever it is put, among other code, and indented otherwise."""
    text = (AGENT / "core.c").read_text()
    function = text[text.index("void apply_served") :]
    ours = PACKAGE / "engines" / "virtual" / "include" / "linux" / "bpf.h"
    for folder, content in (("agent", text), ("engines/virtual/include/linux", ours.read_text() + function)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "core.h").write_text(content.replace("\t", "    "))
    assert copies(tmp_path) == {(tmp_path / "engines/virtual/include/linux/core.h", tmp_path / "agent/core.h")}


def test_a_short_run_waits_for_no_optimising(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path))

    def unit(duration: str, engine: str = "virtual") -> object:
        settings = [f"engine={engine}", f"time.duration={duration}"]
        return usual_unit(
            overridden(from_user("incast-8"), {"controller": "fixed", "tuner": ""}, {}, settings).experiment
        )

    packets = 9 * 100e9 / 8 / 1000  # of nine hosts in a second
    assert unit(f"{0.99 * SHORT / packets} s") == plain(WORLD)
    assert unit(f"{1.01 * SHORT / packets} s") == WORLD
    assert unit("1 ms", "live") == WORLD  # keeps pace with a clock
    WORLD.target().touch()
    assert unit("1 ms") == WORLD
