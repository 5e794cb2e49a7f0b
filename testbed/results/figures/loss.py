"""Lost and marked packets. Three denominators are in use for loss (sheet 8, 9 row 48); all three are here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.results.figures.spans import Window, growth, window
from testbed.results.figures.unknown import NAN, mean, ratio
from testbed.results.record import RunRecord


@dataclass(frozen=True)
class Packets:
    """Packets at the switch ports. Dropped means by the model: tail drop at the buffer, or loss that was asked for."""

    dropped: float  # in the window, all ports
    dropped_in_run: float  # whole run, all ports: a start at line rate drops in the warm-up
    marked: float  # in the window, all ports
    marked_share: float  # of the packets through the bottleneck, in the window


def packets(record: RunRecord, span: Window) -> Packets:
    """Drops and CE marks. Trap: drops that are *not* the model's are a fault of the run, see the verdict."""
    ports, bottleneck = record.port_series, record.bottleneck
    marked = growth(ports.time, ports.marked_packets, span)
    through = growth(ports.time, ports.tx_packets, span)[bottleneck]
    return Packets(
        dropped=float(growth(ports.time, ports.dropped_packets, span).sum()),
        dropped_in_run=float(ports.dropped_packets[-1].sum()) if len(ports.time) else NAN,
        marked=float(marked.sum()),
        marked_share=ratio(float(marked[bottleneck]), float(through)),
    )


def loss_share(record: RunRecord) -> float:
    """Packets lost / packets sent, over the whole run (DECC's text, section 2.1).

    Lost means dropped by a port: what senders declare lost includes packets that were only late.
    """
    sent = float(record.flows.sent_packets.sum())
    return ratio(packets(record, window(record)).dropped_in_run, sent)


def resent_share(record: RunRecord) -> float:
    """Packets sent under numbers that had been sent before / packets sent, over the whole run."""
    return ratio(float(record.flows.resent_packets.sum()), float(record.flows.sent_packets.sum()))


def loss_per_flow(record: RunRecord) -> float:
    """Mean over the flows of (packets lost / packets delivered), over the whole run (DECC's reward, Eq. 3).

    Every flow counts alike, so that small flows that lose all weigh as much as big ones that lose nothing. A port
    does not count drops per flow: a flow's are those that its sender declared lost, less those acknowledged later.
    A flow of which nothing arrived would divide by zero; one packet stands in. Flows that sent nothing do not count.
    """
    flows = record.flows
    lost = np.maximum(flows.lost_packets - flows.late_acks, 0)
    shares = lost / np.maximum(flows.acked_packets, 1)
    return mean(shares[flows.sent_packets > 0])


def drop_rate(record: RunRecord, span: Window) -> float:
    """DR, bit/s: wire bits dropped by the model at all ports / time, in the window (ADPG's appendix E).

    The paper does not define the heading; its values fit Gbit/s (sheet 4.6). Dropped packets are taken as full ones.
    """
    return ratio(8 * record.wire_size * packets(record, span).dropped, span.length)
