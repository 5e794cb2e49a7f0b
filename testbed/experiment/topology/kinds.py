"""From the `rack:` block of an experiment to the shape of the rack."""

from __future__ import annotations

from dataclasses import replace

from testbed.experiment.block import refuse
from testbed.experiment.topology import settings
from testbed.experiment.topology.any_rack import AnyRack, Drawn, Regular
from testbed.experiment.topology.buffers import buffered, usual_buffer
from testbed.experiment.topology.custom import Custom
from testbed.experiment.topology.links import DifferingLinks, link_kind
from testbed.experiment.topology.shape import Shape, dumbbell, star, two_level


def shape_of(rack: AnyRack, hosts: int) -> Shape:
    """The rack of the experiment, in nominal units; ``hosts`` is used in a star only.

    Refuses links that are not there.
    """
    shape = rack.shape if isinstance(rack, Custom | Drawn) else _of_parameters(rack, hosts)
    if isinstance(rack, Regular) and rack.links:
        shape = _differing(shape, rack.links)
    return buffered(shape, rack.switch.buffer or usual_buffer(shape))


def _of_parameters(rack: AnyRack, hosts: int) -> Shape:
    link = link_kind("link", rack.link)
    if isinstance(rack, settings.LeafSpine):
        leaves, spines = _named("leaf", rack.leaves), _named("spine", rack.spines)
        uplink = link_kind("uplink", rack.uplink)
        return two_level(rack.kind, leaves, spines, hosts=rack.hosts_per_leaf, link=link, trunk=uplink)
    if isinstance(rack, settings.FatTree):
        uplink = replace(link, kind="uplink", rate=link.rate * rack.hosts_per_tor / rack.cores)
        tors, cores = _named("tor", rack.tors), _named("core", rack.cores)
        return two_level(rack.kind, tors, cores, hosts=rack.hosts_per_tor, link=link, trunk=uplink)
    if isinstance(rack, settings.Dumbbell):
        return dumbbell(rack.left, rack.right, link, link_kind("bottleneck", rack.bottleneck))
    return star(hosts, link)


def _differing(shape: Shape, said: list[DifferingLinks]) -> Shape:
    links = list(shape.links)
    for number, one in enumerate(said):
        for name in one.names():
            try:
                link = shape.link_of.get(name) or shape.find(name)
            except KeyError:
                last = shape.hosts[-1]
                refuse(
                    f"rack.links.{number}.of",
                    f"no link is named '{name}'; expected a host (h1 to {last}), a link such as "
                    f"{shape.links[-1].low.node}-{shape.links[-1].high.node}, or a switch's port",
                )
            place = shape.links.index(link)
            links[place] = replace(links[place], **one.said())
    return replace(shape, links=tuple(links))


def _named(kind: str, count: int) -> list[str]:
    return [f"{kind}{number}" for number in range(1, count + 1)]
