"""What a switch port buffers where the file does not say it.

5 MB up to 100 Gbit/s, and above as much time of the rack's fastest link, 400 us: 20 MB at 400 Gbit/s, 80 MB at
1.6 Tbit/s. It is what a single congested port can get of a switch that shares its memory among all ports:

* A leaf with 100 Gbit/s ports dropped what exceeded 5.2 MB at one of them (measured with ConnectX-5, September 2026).
* Juniper's "Understanding CoS Buffer Configuration" gives the shared memory of switches whose datasheets give the
  ports: 16 MB for 32 x 100 Gbit/s (QFX5200-32C), 64 MB for 32 x 400 Gbit/s (QFX5220), 165 MB for 64 x 800 Gbit/s
  (QFX5240). A port's 5, 20 and 40 MB are 31, 31 and 24 % of it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from testbed.experiment.block import refuse
from testbed.experiment.topology.pfc import Pfc
from testbed.experiment.topology.shape import Shape
from testbed.units import show_size

LEAST, UP_TO = 5e6, 100e9  # bytes, bit/s


def usual_buffer(shape: Shape) -> float:
    """Bytes of each port, by the fastest link."""
    return LEAST * max(1.0, max(link.rate for link in shape.links) / UP_TO)


def buffered(shape: Shape, buffer: float) -> Shape:
    """With this buffer at every link that has none of its own."""
    links = [link._replace(buffer=buffer) if math.isinf(link.buffer) else link for link in shape.links]
    return replace(shape, links=tuple(links))


def check_buffers(shape: Shape, buffer: float, packet: float, pfc: Pfc | None) -> None:
    """Refuses ports without room for a ``packet`` (bytes), or for what PFC lets in; ``buffer``: of most of them."""
    small = next((link for link in shape.links if link.buffer < packet), None)
    if small:
        where = "rack.switch.buffer" if small.buffer == buffer else f"rack.links: {small}: buffer"
        refuse(where, "must hold at least one full packet (traffic.payload and 200 B of headers)")
    if not pfc:
        return
    own = [str(link) for link in shape.links if link.buffer != buffer]
    if own:
        refuse("rack.switch.pfc", f"shares the ports' buffers, which must be equal; {own[0]} has one of its own")
    headroom = 0.0 if isinstance(pfc.headroom, str) else pfc.headroom
    if pfc.xoff + headroom > buffer:
        fits = f"xoff and headroom must fit into the port's buffer ({show_size(buffer)})"
        refuse("rack.switch.pfc.xoff", fits)
