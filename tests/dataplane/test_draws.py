"""What the kernel's programs draw follows the run's seed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from testbed.dataplane import libbpf, wire
from tests.support.checkout import ROOT
from tests.support.packets import Bench, data, run

UNSEEDED = re.compile(r"bpf_get_prandom_u32\(\)")


def test_no_program_draws_without_the_seed() -> None:
    """But faults of the self-test, which may hit any packet."""
    found = {one.name for one in (ROOT / "testbed/dataplane").glob("*.bpf.*") if UNSEEDED.search(one.read_text())}
    assert found == {"faults.bpf.c"}


def paths(seed: int) -> list[int]:
    """Hashes of the first flowlets of eight flows."""
    rig = Bench(routing=wire.BY_FLOWLET, seed=seed)
    for flow in range(8):
        run(rig.nic.tx_fd, data(flow=flow), 1)
    flowlets = rig.nic._object.map_fd("flowlets")
    size = wire.FLOWLET.itemsize
    return [int(np.frombuffer(libbpf.lookup(flowlets, flow, size), wire.FLOWLET)["hash"][0]) for flow in range(8)]


@pytest.mark.root
@pytest.mark.parallel
def test_one_seed_gives_one_set_of_paths() -> None:
    first = paths(7)
    assert len(set(first)) == 8
    assert paths(7) == first
    assert not set(paths(8)) & set(first)
