"""From the `rack:` block of an experiment to the shape of the rack."""

from __future__ import annotations

from dataclasses import replace

from testbed.experiment.block import refuse
from testbed.experiment.topology.any_rack import AnyRack, Regular
from testbed.experiment.topology.buffers import buffered, usual_buffer
from testbed.experiment.topology.links import DifferingLinks
from testbed.experiment.topology.shape import Shape


def shape_of(rack: AnyRack, hosts: int) -> Shape:
    """The rack of the experiment, in nominal units; ``hosts`` is for a star that does not say how many it has.

    Refuses links that are not there.
    """
    shape = (rack if rack.size else rack.model_copy(update={"hosts": hosts})).shape
    if isinstance(rack, Regular) and rack.links:
        shape = _differing(shape, rack.links)
    return buffered(shape, rack.switch.buffer or usual_buffer(shape))


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
            links[place] = links[place]._replace(**one.said())
    return replace(shape, links=tuple(links))
