"""Panels about flows: what they get, how fair that is, what they hear, what the controller decides."""

from __future__ import annotations

from testbed.live.monitor.panels import HALF, Link, Panel, Query, curves, heat, rows
from testbed.live.monitor.queries import Scope, evenness, finite, jain

INFO = "testbed_flow_info"
ACKED_BYTES = "testbed_flow_acked_bytes_total"
SENT, ACKED = "testbed_flow_sent_packets_total", "testbed_flow_acked_packets_total"
CE, CNPS = "testbed_flow_ce_packets_total", "testbed_flow_cnps_total"
LOST, LATE = "testbed_flow_lost_packets_total", "testbed_flow_late_packets_total"
TIMEOUTS = "testbed_flow_timeouts_total"
RATE, WINDOW = "testbed_flow_rate_bytes_per_second", "testbed_flow_window_bytes"
INFLIGHT = "testbed_flow_inflight_bytes"
RTT, BASE_RTT = "testbed_flow_rtt_seconds", "testbed_base_rtt_seconds"


def whose(flows: Scope, *, width: int = HALF) -> Panel:
    return rows(
        "Flows",
        "Sender and receiver of the chosen flows; * stands for all flows of a sender together.",
        f"max by (flow, src, dst) ({flows.of(INFO)})",
        ("flow", "src", "dst"),
        width=width,
    )


def goodput(flows: Scope, *, width: int = HALF, link: Link | None = None) -> Panel:
    return curves(
        "Goodput",
        "Payload acknowledged per nominal second: what the application gets.",
        "bps",
        [Query(f"{flows.rate(ACKED_BYTES)} * 8", flows.or_called("all flows"))],
        width=width,
        link=link,
    )


def goodput_and_rate(flows: Scope) -> Panel:
    return curves(
        "Goodput and the rate set",
        "Payload acknowledged per nominal second, and the rate that the controller allows (dashed; none if it only "
        "sets a window). Goodput below the rate: the window, the line rate or the application holds the flow back.",
        "bps",
        [
            Query(f"{flows.rate(ACKED_BYTES)} * 8", flows.called("goodput")),
            Query(f"{finite(flows.total(flows.of(RATE)))} * 8", flows.called("rate set"), dashed=True),
        ],
    )


def window_and_inflight(flows: Scope) -> Panel:
    return curves(
        "In flight and the window",
        "Bytes sent and not yet acknowledged, and the window that the controller allows (dashed; none if it only sets "
        "a rate). In flight at the window: the window is what holds the flow back.",
        "bytes",
        [
            Query(flows.total(flows.of(INFLIGHT)), flows.called("in flight")),
            Query(finite(flows.total(flows.of(WINDOW))), flows.called("window"), dashed=True),
        ],
    )


def fairness(everything: Scope) -> Panel:
    return curves(
        "Fairness",
        "Of the goodput of all flows that have sent anything: Jain's index (1 when all get the same, 1/n when one of n "
        "gets all) and smallest / largest. A flow that has ended counts as one that gets nothing.",
        "none",
        [
            Query(jain(everything, ACKED_BYTES, SENT), everything.called("Jain")),
            Query(evenness(everything, ACKED_BYTES, SENT), everything.called("min / max")),
        ],
        top=1,
    )


def fairness_now(everything: Scope) -> Query:
    return Query(jain(everything, ACKED_BYTES, SENT), everything.or_called("Jain"))


def rtt(flows: Scope, *, width: int = HALF) -> Panel:
    return curves(
        "RTT",
        "Quantiles of the nominal round-trip time between the two NICs, one sample per acknowledgement, and the RTT of "
        "an empty rack (dashed). The distance between them is queueing. Prometheus interpolates within buckets of half "
        "an octave: a quantile may be off by a few tens of percent, even below the empty rack; the report is exact.",
        "s",
        [
            *(Query(flows.quantile(q, RTT), flows.called(f"p{q * 100:g}")) for q in (0.5, 0.99)),
            Query(f"min({flows.of_run(BASE_RTT)})", "empty rack", dashed=True),
        ],
        width=width,
    )


def rtt_heat(flows: Scope) -> Panel:
    return heat(
        "RTT, heat map",
        "Every acknowledgement is counted in the bucket of its nominal RTT. Two bands are two populations: packets "
        "that met a queue and packets that did not, or flows that are treated differently.",
        "s",
        flows.counts(RTT),
    )


def marked_share(flows: Scope) -> Panel:
    return curves(
        "CE ratio",
        "Share of the acknowledgements that echo CE: what an ECN-based controller hears of the queue.",
        "percentunit",
        [Query(flows.share(CE, ACKED), flows.or_called("all flows"))],
    )


def packets(flows: Scope) -> Panel:
    return curves(
        "Packets sent and acknowledged",
        "Data packets per nominal second, retransmissions included. Sent above acknowledged for longer than an RTT: "
        "packets are lost or a queue grows.",
        "pps",
        [
            Query(flows.rate(SENT), flows.called("sent")),
            Query(flows.rate(ACKED), flows.called("acknowledged")),
        ],
    )


def notifications(flows: Scope) -> Panel:
    return curves(
        "Congestion notifications",
        "CNPs per nominal second that reached the sender; the receiver's NIC sends at most one per flow and interval.",
        "pps",
        [Query(flows.rate(CNPS), flows.or_called("all flows"))],
    )


def losses(flows: Scope) -> Panel:
    return curves(
        "Losses and timeouts",
        "Packets per nominal second that the sender gave up on, those of them that were acknowledged late after all, "
        "and retransmission timeouts. A timeout costs a flow far more than a packet that a gap reveals.",
        "pps",
        [
            Query(flows.rate(LOST), flows.called("lost")),
            Query(flows.rate(LATE), flows.called("late")),
            Query(flows.rate(TIMEOUTS), flows.called("timeouts")),
        ],
    )
