"""PFC headroom: what a port needs beyond xoff, so that nothing is dropped until a pause takes effect.

A port that crosses xoff pauses its peer, which stops after one delay of the link; what it sent until then arrives
during another one. A frame may have just begun at either end and cannot be recalled. This is the bound of 802.1Qbb's
annex on buffer requirements, without the delays inside the hardware.

The emulation adds its own lateness: a sender that was not woken up in time sends at once what was due meanwhile, and a
pause frame that was sent too late to be honoured in time lets the sender go on for as long. Both are wall time, so
headroom in bytes grows as the dilation falls. A port between switches has a shaper, whose bucket may be full, and a
gate, through which a little passes after it was shut; and a process that builds or removes namespaces on this machine
can keep the gate from being shut in time. Headroom changes no result, as long as there is enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from testbed.errors import BadInput
from testbed.experiment.topology.pfc import Pfc
from testbed.units import rounded, show_size, show_time

FRAMES = 2  # one in either direction that has just begun


@dataclass(frozen=True)
class IngressLink:
    """A kind of link that leads into a switch: nominal bit/s and s."""

    kind: str  # "link", "uplink", "bottleneck"
    rate: float
    delay: float
    late: float  # s by which its sender may stop too late
    begun: int = 0  # bytes that its sender can no longer hold back

    def bare(self, frame: int) -> float:
        """Bytes that arrive from the crossing of xoff until the pause takes effect, if nothing is late."""
        return 2 * self.delay * self.rate / 8 + FRAMES * frame + self.begun

    def needed(self, frame: int, late: float) -> int:
        """The same where the sender may be late, and the pause frame by ``late`` seconds."""
        return round(self.bare(frame) + (self.late + late) * self.rate / 8)


@dataclass(frozen=True)
class Headroom:
    """Bytes, and nominal seconds."""

    size: int
    spare: float  # s by which a pause frame may be late before packets are dropped
    gate_spare: float  # s by which a port between switches may be shut too late; inf where there is none


@dataclass(frozen=True)
class IngressBuffer:
    """What a port buffers of the packets that come in there, in bytes."""

    xoff: int
    xon: int
    headroom: Headroom

    @property
    def limit(self) -> int:
        """Bytes beyond which packets are dropped."""
        return self.xoff + self.headroom.size


def headroom_of(
    configured: float | str, key: str, links: Sequence[IngressLink], frame: int, *, late: float, taken: int = 0
) -> Headroom:
    """Enough for the link that needs most, where pause frames may be ``late`` seconds late; 'auto' is no more.

    ``taken``: bytes of it that are in use when the pause begins. Raises BadInput, with the key, if less is configured.
    """
    worst = max(links, key=lambda link: link.needed(frame, late))
    needed = taken + worst.needed(frame, late)
    size = needed if isinstance(configured, str) else round(configured)
    if size < needed:
        raise BadInput(f"{key}: {show_size(size)} is too small; {_why(worst, frame, late, needed)}")
    spare = min((size - taken - link.bare(frame)) * 8 / link.rate - link.late for link in links)
    gates = [(size - taken - link.bare(frame)) * 8 / link.rate - late for link in links if link.begun]
    return Headroom(size, spare, min(gates, default=math.inf))


def ingress_buffer(pfc: Pfc, links: Sequence[IngressLink], buffer: float, frame: int, late: float) -> IngressBuffer:
    """The sizes on this machine, the same for all ports; see `headroom_of`.

    Raises BadInput as well if what is needed does not fit into ``buffer``.
    """
    headroom = headroom_of(pfc.headroom, "rack.switch.pfc.headroom", links, frame, late=late)
    if pfc.xoff + headroom.size > buffer:
        worst = max(links, key=lambda link: link.needed(frame, late))
        raise BadInput(
            f"rack.switch.pfc.xoff: {show_size(pfc.xoff)} and the headroom do not fit into rack.switch.buffer "
            f"({show_size(buffer)}); {_why(worst, frame, late, worst.needed(frame, late))}"
        )
    return IngressBuffer(round(pfc.xoff), round(pfc.xon), headroom)


def _why(link: IngressLink, frame: int, late: float, needed: int) -> str:
    port = f", {show_size(link.begun)} for the port that sends into it" if link.begun else ""
    in_flight = show_size(round(link.bare(frame) - link.begun))
    lates = " and ".join(show_time(rounded(one, 3)) for one in (link.late, late))
    return (
        f"at least {show_size(needed)} are needed: {in_flight} for the {link.kind}'s {show_time(link.delay)} both ways "
        f"and {FRAMES} frames{port}, the rest for senders and pause frames that are up to {lates} late; "
        "a higher time.dilation makes that less"
    )
