"""Bins of the port program's histogram."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.dataplane import histogram
from tests.support.packets import (
    Bench,
    data,
)

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def test_histogram_bins_are_those_of_python(rig: Bench) -> None:
    edges = histogram.edges()
    rig.port(buffer=0)  # nothing is taken in, everything is counted
    inner = edges[1:-1].astype(np.int64)
    sizes = np.unique(np.concatenate([[0], inner - 1, inner, inner + 1, [int(edges[-1]) - 1]]))
    for size in sizes.tolist():
        before = rig.count["histogram"].copy()
        rig.freeze(size)
        rig.egress(data())
        grown = np.flatnonzero(rig.count["histogram"] - before)
        assert grown.tolist() == [int(np.searchsorted(edges, size, side="right")) - 1], size
    assert rig.count["histogram"].sum() == len(sizes)


def test_histogram_leaves_out_what_is_too_long(rig: Bench) -> None:
    rig.port(buffer=0)
    rig.freeze(int(histogram.edges()[-1]))
    rig.egress(data())
    assert rig.count["histogram"].sum() == 0
    assert rig.count["dropped_packets"] == 1
