"""Links as the kernel gets them: in wall-clock units. The only place where a rack's rates and delays are converted."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.clock import Clock, WallRate, WallSeconds
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.paths import netem_delay
from testbed.experiment.topology.shape import Link, Shape


@dataclass(frozen=True)
class WallLink:
    """A link of the rack on this machine's clock; ``nominal`` is the same link in the experiment's units."""

    nominal: Link
    rate: WallRate  # bit/s, both directions
    delay: WallSeconds  # one way
    netem: WallSeconds | None = None  # what netem delays, see `netem_delay`; None where the agents delay feedback


def wall_links(shape: Shape, clock: Clock, netem: Framing | None = None) -> tuple[WallLink, ...]:
    """All links of a shape in its order; with ``netem``, the framing of its packets, links delay by themselves."""
    return tuple(
        WallLink(
            nominal=link,
            rate=clock.wall_rate(link.rate),
            delay=clock.wall_seconds(link.delay),
            netem=clock.wall_seconds(netem_delay(link, netem)) if netem else None,
        )
        for link in shape.links
    )
