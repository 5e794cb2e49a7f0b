"""The virtual engine is no second implementation: queue, RED, INT, CNP, ACK, PFC and pacing are the rack's own C."""

from __future__ import annotations

from pathlib import Path

from testbed.agent.build import SOURCE as AGENT
from testbed.agent.build import SOURCES as AGENT_SOURCES
from testbed.dataplane.build import SOURCE as DATAPLANE
from testbed.engines.virtual.build import SOURCE, WORLD

LEAST = 24  # characters: shorter lines are any C
SIMILAR = 12  # loops, declarations of what both implement, and a heap is a heap: no function's body


def lines(folder: Path) -> set[str]:
    """Of all C in a folder, without what every file has."""
    text = [line.strip() for file in sorted(folder.glob("*.[ch]")) for line in file.read_text().splitlines()]
    return {line for line in text if len(line) >= LEAST and not line.startswith(("#include", "//", "/*", "*"))}


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
