"""Whether ECN can mark before PFC pauses: where it cannot, senders are held back and never told to slow down.

An ingress port pauses its peer when it is above xoff. So before the first pause the queue of an egress port holds at
most xoff of each ingress that feeds it, and packets are marked above Kmin only. (Zhu et al., SIGCOMM 2015, section 4,
ask for more: that ECN comes first even if one ingress alone feeds all egress queues.)
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.experiment.layout import Layout
from testbed.units import SIZE_UNITS, exactly, show_size


@dataclass(frozen=True)
class EcnOrder:
    """What PFC admits at each switch port, shape (p,). A port whose marks nobody needs has no ingress."""

    names: list[str]
    ingresses: Ints  # links that feed it
    xoff: float
    xon: float
    frame: int  # bytes of a full packet

    @classmethod
    def of(cls, layout: Layout, hears: NDArray[np.bool_]) -> EcnOrder:
        """``hears``: whether each flow's controller reacts to marks, shape (n,).

        Only ports count at which a queue can build up without a pause: their ingresses are faster than they are.
        """
        pfc = layout.experiment.rack.switch.pfc
        ingresses = np.zeros(len(layout.port_names), np.int64)
        if pfc is None or not hears.any():
            return cls(layout.port_names, ingresses, 0.0, 0.0, layout.framing.wire_size)
        everyone = feeders(layout, np.ones(len(hears), bool))
        for name in feeders(layout, hears) if not hears.all() else everyone:
            port = layout.shape.position[name]
            if sum(everyone[name].values()) > layout.shape.ports[port].link.rate:
                ingresses[port] = len(everyone[name])
        return cls(layout.port_names, ingresses, pfc.xoff, pfc.xon, layout.framing.wire_size)

    @property
    def highest_kmin(self) -> Floats:
        """Bytes: with a higher one no packet is marked before a pause; inf where that does not matter."""
        return np.where(self.ingresses > 0, self.ingresses * self.xoff - self.frame, np.inf)

    def problem(self, kmin: dict[str, float]) -> str:
        """What is wrong with thresholds, by port; empty if marks can come first at all of them."""
        highest = dict(zip(self.names, self.highest_kmin.tolist(), strict=True))
        late = [name for name in kmin if kmin[name] > highest[name]]
        if not late:
            return ""
        first, more = late[0], len(late) - 1
        count = int(self.ingresses[self.names.index(first)])
        fed = f"{count} ingresses that feed it" if count > 1 else "one ingress that feeds it"
        others = f" (and {more} other port{'s' * (more > 1)} like it)" * (more > 0)
        admits, xoff = show_size(count * self.xoff), show_size(self.xoff)
        return (
            f"ECN cannot come before PFC at {first}{others}: Kmin is {show_size(kmin[first])} there, and the {fed} may "
            f"have {admits} in its queue before xoff ({xoff} each) pauses senders; the highest Kmin that works is "
            f"{exactly(highest[first], SIZE_UNITS)}: lower Kmin, or raise rack.switch.pfc.xoff "
            "(docs/reference/pfc.md, ECN before PFC)"
        )

    def unmarked(self, kmin: Floats, queue: Floats, frames: Floats) -> float:
        """Share of the pause frames that were sent while a queue was long whose Kmin was too high; 0 without a frame.

        Of samples, shape (t, p): Kmin and queue, in bytes, and the frames so far.
        """
        sent = np.diff(frames.sum(axis=1), prepend=0.0)
        if not sent.sum():
            return 0.0
        long = np.maximum(queue, np.vstack((queue[:1], queue[:-1]))) >= self.xon
        return float(sent[((kmin > self.highest_kmin) & long).any(axis=1)].sum() / sent.sum())


def feeders(layout: Layout, chosen: NDArray[np.bool_]) -> dict[str, dict[str, float]]:
    """The links by which packets come into a port's switch that leave there, with their rates, by the port's name.

    Of the flows that are ``chosen``, on all shortest paths. A failed link leads to no others than these.
    """
    shape, plan = layout.shape, layout.plan
    between: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for number in np.flatnonzero(chosen):
        src, dst = plan.src[number], plan.dst[number]
        between[shape.edge(src), shape.edge(dst)].add((src, dst))
    fed: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (first, edge), pairs in between.items():
        waiting = {first: {src: shape.line_rate(src) for src, _ in pairs}}
        while edge not in waiting:
            following: defaultdict[str, dict[str, float]] = defaultdict(dict)
            for switch, links in waiting.items():
                for port in layout.routes.next_hops(switch, edge):
                    fed[port.name] |= links
                    following[port.neighbour][port.name] = port.link.rate
            waiting = dict(following)
        for src, dst in pairs:
            local = {src: shape.line_rate(src)} if first == edge else waiting[edge]
            fed[shape.port_of(dst).name] |= local
    return fed
