"""How much room a port needs beyond xoff, so that nothing is dropped until a pause is felt.

A port that crosses xoff tells the far end of its cable, which stops after one delay of the cable; what it sent until
then arrives during another one. A frame may have just begun at either end and cannot be taken back. This is the bound
of 802.1Qbb's annex on buffer requirements without the delays inside of hardware.

The emulation adds what a sender may be late: one that was not woken up in time sends what was due meanwhile at once.
And a pause frame that was sent too late to be honoured in time keeps the sender going for so long. Both are wall time,
so headroom in bytes grows as the dilation falls. It changes no result, as long as there is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from testbed.errors import BadInput
from testbed.pfc.settings import Pfc
from testbed.rack.settings import Link
from testbed.units import show_size, show_time

FRAMES = 2  # one in either direction that has just begun


@dataclass(frozen=True)
class Room:
    """What a port has for the packets that come in there. Bytes, and nominal seconds."""

    xoff: int
    xon: int
    headroom: int
    spare: float  # s by which a pause frame may be late before packets are dropped

    @property
    def limit(self) -> int:
        """What a packet must fit into."""
        return self.xoff + self.headroom


def bare(link: Link, frame: int) -> float:
    """Bytes that a link delivers from the crossing of xoff until the pause is felt, in a perfect emulation."""
    return 2 * link.delay * link.rate / 8 + FRAMES * frame


def room(pfc: Pfc, link: Link, buffer: float, frame: int, late: float) -> Room:
    """What the settings come to on this machine, where senders and pause frames may be ``late`` seconds each.

    Raises BadInput if a headroom was asked for that is too small, or if what is needed does not fit into ``buffer``.
    """
    needed = round(bare(link, frame) + 2 * late * link.rate / 8)
    headroom = needed if isinstance(pfc.headroom, str) else round(pfc.headroom)
    if headroom < needed:
        raise BadInput(
            f"rack.switch.pfc.headroom: {show_size(headroom)} is too small; {_why(link, frame, late, needed)}"
        )
    if pfc.xoff + headroom > buffer:
        raise BadInput(
            f"rack.switch.pfc.xoff: {show_size(pfc.xoff)} and the headroom do not fit into rack.switch.buffer "
            f"({show_size(buffer)}); {_why(link, frame, late, needed)}"
        )
    spare = (headroom - bare(link, frame)) * 8 / link.rate - late
    return Room(round(pfc.xoff), round(pfc.xon), headroom, spare)


def _why(link: Link, frame: int, late: float, needed: int) -> str:
    return (
        f"at least {show_size(needed)} are needed: {show_size(round(bare(link, frame)))} for the cable's "
        f"{show_time(link.delay)} both ways and {FRAMES} frames, the rest for senders and pause frames that are up to "
        f"{show_time(float(f'{late:.3g}'))} late each; a higher time.dilation makes that less"
    )
