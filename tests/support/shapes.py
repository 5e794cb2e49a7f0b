"""Shapes that tests of several packages use."""

from __future__ import annotations

from testbed.experiment.topology.shape import LinkKind, Shape, two_level

LINK, UPLINK = LinkKind("link", 25e9, 1e-6), LinkKind("uplink", 100e9, 3e-6)


def leaf_spine(leaves: int = 3, spines: int = 2, hosts: int = 4) -> Shape:
    """Three leaves, two spines."""
    lower, upper = [f"leaf{n + 1}" for n in range(leaves)], [f"spine{n + 1}" for n in range(spines)]
    return two_level("leaf-spine", lower, upper, hosts=hosts, link=LINK, trunk=UPLINK)
