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

from testbed.experiment.topology.shape import Shape

LEAST, UP_TO = 5e6, 100e9  # bytes, bit/s


def usual_buffer(shape: Shape) -> float:
    """Bytes of each port, by the fastest link."""
    return LEAST * max(1.0, max(link.rate for link in shape.links) / UP_TO)


def buffered(shape: Shape, buffer: float) -> Shape:
    """With this buffer at every link that has none of its own."""
    links = [replace(link, buffer=buffer) if math.isinf(link.buffer) else link for link in shape.links]
    return replace(shape, links=tuple(links))
