"""Panels about switch ports: how full the link is, how long the queue, what the thresholds do."""

from __future__ import annotations

from testbed.live.monitor.panels import HALF, Link, Panel, Query, curves, heat, rows
from testbed.live.monitor.queries import Scope, finite

INFO = "testbed_port_info"
TX_BYTES = "testbed_port_tx_bytes_total"
TX_PACKETS = "testbed_port_tx_packets_total"
MARKED = "testbed_port_marked_packets_total"
DROPPED = "testbed_port_dropped_packets_total"
PAUSE_FRAMES, PAUSED = "testbed_port_pause_frames_total", "testbed_port_paused_seconds_total"
INGRESS = "testbed_port_ingress_bytes"
CAPACITY = "testbed_port_capacity_bytes_per_second"
BUFFER = "testbed_port_buffer_bytes"
QUEUE = "testbed_port_queue_bytes"
QUEUE_FOUND = "testbed_port_arrival_queue_bytes"
KMIN, KMAX, PMAX = "testbed_port_kmin_bytes", "testbed_port_kmax_bytes", "testbed_port_pmax_ratio"


def where(ports: Scope, *, width: int = HALF) -> Panel:
    return rows(
        "Ports",
        "Where the ports are: the switch of each, and the host or switch that its cable leads to.",
        f"max by (port, switch, to) ({ports.of(INFO)})",
        ("port", "switch", "to"),
        width=width,
    )


def utilisation(ports: Scope, *, width: int = HALF, link: Link | None = None) -> Panel:
    return curves(
        "Utilisation",
        "Bytes that left a port / what its link can carry, both in nominal time. The bottleneck of an incast is the "
        "port to the receiver: a good controller keeps it near 100 %.",
        "percentunit",
        [Query(used(ports), ports.or_called("utilisation"))],
        width=width,
        top=1,
        link=link,
    )


def used(ports: Scope) -> str:
    """Utilisation as a ratio."""
    return f"{ports.rate(TX_BYTES)} / {ports.total(ports.of(CAPACITY))}"


def queue(ports: Scope, *, width: int = HALF, link: Link | None = None) -> Panel:
    return curves(
        "Queue now",
        "What waits at a port at the moment of the scrape, with the lowest Kmin and the highest Kmax in force "
        "(dashed). One look per second of wall time: peaks between two looks are in the heat map.",
        "bytes",
        [Query(ports.total(ports.of(QUEUE), "max"), ports.or_called("queue")), *_thresholds(ports)],
        width=width,
        link=link,
    )


def queue_found(ports: Scope) -> Panel:
    return curves(
        "Queue that packets found",
        "Quantiles of the queue length that arriving packets met, with Kmin and Kmax (dashed). RED starts to mark at "
        "Kmin and marks everything from Kmax on: p50 near Kmin means that the thresholds hold the queue.",
        "bytes",
        [
            *(Query(ports.quantile(q, QUEUE_FOUND), ports.called(f"p{q * 100:g}")) for q in (0.5, 0.99)),
            *_thresholds(ports),
        ],
    )


def queue_heat(ports: Scope, *, width: int = HALF) -> Panel:
    return heat(
        "Queue that packets found, heat map",
        "Every arriving packet is counted in the bucket of the queue length that it found, over all chosen ports; "
        "choose the bottleneck alone to see it undiluted. A dark band that stays low is a short, stable queue.",
        "bytes",
        ports.counts(QUEUE_FOUND),
        width=width,
    )


def marks(ports: Scope) -> Panel:
    return curves(
        "Marked packets",
        "Share of a port's packets that got CE there. Marks are the price of a queue above Kmin and the signal that "
        "DCQCN works on; a port without traffic has no value.",
        "percentunit",
        [Query(ports.share(MARKED, TX_PACKETS), ports.or_called("marked"))],
    )


def drops(ports: Scope) -> Panel:
    return curves(
        "Dropped packets",
        "Packets per nominal second dropped by full buffers, the loss model and cut cables. RoCE hopes for none.",
        "pps",
        [Query(ports.rate(DROPPED), ports.or_called("dropped"))],
    )


def pauses(ports: Scope) -> Panel:
    return curves(
        "Paused by the port",
        "Priority flow control: the share of the time for which the far end of a port's cable held its lossless "
        "packets, and PFC frames per nominal microsecond (dashed). Always 0 where it is off.",
        "percentunit",
        [
            Query(ports.rate(PAUSED), ports.or_called("paused")),
            Query(f"{ports.rate(PAUSE_FRAMES)} / 1e6", ports.or_called("frames"), dashed=True),
        ],
    )


def ingress(ports: Scope) -> Panel:
    return curves(
        "Ingress account",
        "Priority flow control: lossless bytes that came in at a port and have not left the switch. Above xoff the "
        "port pauses the far end of its cable, down to xon it lets it go on.",
        "bytes",
        [Query(ports.total(ports.of(INGRESS), "max"), ports.or_called("ingress"))],
    )


def thresholds(ports: Scope) -> Panel:
    return curves(
        "Thresholds and buffer",
        "Kmin and Kmax as the tuner last set them, and the port's buffer. Steps are decisions of the tuner.",
        "bytes",
        [
            Query(finite(ports.total(ports.of(KMIN), "min")), ports.called("Kmin")),
            Query(finite(ports.total(ports.of(KMAX), "max")), ports.called("Kmax")),
            Query(finite(ports.total(ports.of(BUFFER), "max")), ports.called("buffer"), dashed=True),
        ],
    )


def steepness(ports: Scope) -> Panel:
    return curves(
        "Pmax",
        "Probability of a mark just below Kmax, as the tuner last set it: how hard RED pushes between the thresholds.",
        "percentunit",
        [Query(ports.total(ports.of(PMAX), "max"), ports.or_called("Pmax"))],
    )


def _thresholds(ports: Scope) -> list[Query]:
    return [
        Query(finite(f"min({ports.of(KMIN)})"), "Kmin", dashed=True),
        Query(finite(f"max({ports.of(KMAX)})"), "Kmax", dashed=True),
    ]
