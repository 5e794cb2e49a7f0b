"""Priority flow control in virtual time: nobody is late here, so that headroom is what 802.1Qbb needs, and no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.engines.virtual.structs import TICK_SHIFT
from testbed.experiment.layout import Layout
from testbed.experiment.topology import headroom
from testbed.experiment.topology.headroom import IngressBuffer, IngressLink
from testbed.experiment.topology.receive import Receive

QUANTUM_BYTES = 64


def ingress_sizes(layout: Layout) -> IngressBuffer | None:
    """What each port buffers of what comes in there; None without priority flow control. Raises BadInput."""
    pfc = layout.experiment.rack.switch.pfc
    if pfc is None:
        return None
    links = {IngressLink(link.kind, link.rate, link.delay, late=0.0) for link in layout.shape.links}
    return headroom.ingress_buffer(pfc, list(links), layout.shape.largest_buffer, layout.framing.wire_size, late=0.0)


def headroom_needed(layout: Layout) -> int:
    """Bytes that still arrive at a port once it pauses its peer, over the link that needs most.

    The packet because of which it does is the first in the headroom.
    """
    frame = layout.framing.wire_size
    return frame + max(
        IngressLink(link.kind, link.rate, link.delay, late=0.0).needed(frame, 0.0) for link in layout.shape.links
    )


def intake_headroom(layout: Layout, receive: Receive) -> int:
    """The same of a slow host's receive buffer, or what it says. Raises BadInput if that is too small."""
    links = {
        IngressLink(link.kind, link.rate, link.delay, late=0.0) for link in layout.shape.links if not link.low.port
    }
    frame, key = layout.framing.wire_size, "rack.nic.receive.headroom"
    return headroom.headroom_of(receive.headroom, key, [*links], frame, late=0.0, taken=frame).size


def quantum_ps(lines: NDArray[np.void]) -> Floats:
    """512 bit times, in thousandths of a tick."""
    return np.rint(QUANTUM_BYTES * lines["per_byte"] * 1000 / (1 << TICK_SHIFT))
