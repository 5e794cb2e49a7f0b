"""Racks that run, found under /proc."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.engines.nodes import RackNode, RunningRack
from testbed.errors import BadInput
from tests.support.entered import published
from tests.support.waiting import until


def found(run: str) -> list[RunningRack]:
    """Others may run beside us."""
    return [rack for rack in RunningRack.all() if rack.name == run]


@pytest.mark.root
@pytest.mark.parallel
def test_a_rack_is_found_while_its_process_lives() -> None:
    assert found("nodes-a") == []
    with published("nodes-a"), published("nodes-b") as other:
        (rack,) = found("nodes-a")
        assert [(node.name, node.address) for node in rack.nodes] == [("h1", "10.0.0.1"), ("s1", "")]
        spaces = {os.stat(f"fd/{node.netns}", dir_fd=rack.process).st_ino for node in rack.nodes}
        assert len(spaces | {Path("/proc/self/ns/net").stat().st_ino}) == 3
        assert len(found("nodes-b")) == 1
        other.kill()  # as SIGKILL does, with no chance to tidy up
        until(lambda: not found("nodes-b"))
    until(lambda: not found("nodes-a"))


def test_the_nearest_name() -> None:
    rack = RunningRack("mine", (RackNode("h1", "10.0.0.1", 3), RackNode("leaf1", "", 4)), -1)
    assert rack.node("leaf1").netns == 4
    with pytest.raises(BadInput, match=r"'mine' has no host or switch 'lef1'; did you mean 'leaf1'\? \(allowed: h1"):
        rack.node("lef1")
