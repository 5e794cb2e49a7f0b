"""From the `rack:` block of an experiment to the shape of the rack."""

from __future__ import annotations

from testbed.experiment.topology import settings
from testbed.experiment.topology.shape import LinkKind, Shape, dumbbell, star, two_level


def shape_of(rack: settings.AnyRack, hosts: int) -> Shape:
    """The rack of the experiment, in nominal units; ``hosts`` is used in a star only."""
    link = _link_kind("link", rack.link)
    if isinstance(rack, settings.LeafSpine):
        leaves, spines = _named("leaf", rack.leaves), _named("spine", rack.spines)
        uplink = _link_kind("uplink", rack.uplink)
        return two_level(rack.kind, leaves, spines, hosts=rack.hosts_per_leaf, link=link, trunk=uplink)
    if isinstance(rack, settings.FatTree):
        uplink = LinkKind("uplink", link.rate * rack.hosts_per_tor / rack.cores, link.delay, link.loss)
        tors, cores = _named("tor", rack.tors), _named("core", rack.cores)
        return two_level(rack.kind, tors, cores, hosts=rack.hosts_per_tor, link=link, trunk=uplink)
    if isinstance(rack, settings.Dumbbell):
        return dumbbell(rack.left, rack.right, link, _link_kind("bottleneck", rack.bottleneck))
    return star(hosts, link.rate, link.delay, link.loss)


def _link_kind(kind: str, link: settings.LinkSettings) -> LinkKind:
    return LinkKind(kind, link.rate, link.delay, link.loss)


def _named(kind: str, count: int) -> list[str]:
    return [f"{kind}{number}" for number in range(1, count + 1)]
