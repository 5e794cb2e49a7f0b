"""Synthetic runs whose figures follow from theory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from testbed.results.record import Decisions, FlowSeries, FlowTable, Histogram, Lag, Lateness, PortSeries, RunRecord

B = 100e9  # bit/s
RTT = 8e-6
PAYLOAD, WIRE = 1000, 1100


def histogram(edges: Sequence[float], counts: Sequence[int]) -> Histogram:
    return Histogram(np.array(edges, float), np.array(counts, np.int64))


def lag(seconds: float) -> Lag:
    """All samples in one narrow bin around ``seconds``."""
    return Lag(histogram([0.99 * seconds, 1.01 * seconds], [1000]), 1.01 * seconds)


def without_series(record: RunRecord, kept: Sequence[int]) -> None:
    """Leave only the flows of these numbers their series, as ``record.flows`` does."""
    record.series_flows = np.array(kept)
    for name in ("acked_bytes", "wire_bytes", "rate", "window", "rtt", "inflight"):
        setattr(record.flow_series, name, getattr(record.flow_series, name)[:, kept])


def run(
    shares: Sequence[float] = (0.6, 0.4),
    *,
    sources: Sequence[str] | None = None,
    duration: float = 10e-3,
    warmup: float = 2e-3,
    samples: int = 201,
    queue: float = 50e3,
    start: Sequence[float] | None = None,
    finished: Sequence[float] | None = None,
    sizes: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> RunRecord:
    """Flows that hold constant ``shares`` of the bottleneck's payload rate, and a queue of constant size.

    The bottleneck is the second of two ports and carries wire bytes at 0.95 B.
    """
    n = len(shares)
    share = np.array(shares, float)
    time = np.linspace(0, duration, samples)
    begin = np.zeros(n) if start is None else np.array(start, float)
    end = np.full(n, np.nan) if finished is None else np.array(finished, float)
    payload_rate = 0.95 * B / 8 * PAYLOAD / WIRE
    active = np.clip(np.minimum(time[:, None], np.where(np.isnan(end), np.inf, end)) - begin, 0, None)
    acked = active * share * payload_rate
    packets = np.maximum(np.nan_to_num(acked[-1] / PAYLOAD), 1).astype(np.int64)
    zero = np.zeros(n, np.int64)

    def ports(value: float) -> np.ndarray:
        return np.column_stack([np.zeros(samples), np.full(samples, value)])

    def growing(rate: float) -> np.ndarray:
        return np.column_stack([np.zeros(samples), rate * time])

    return RunRecord(
        duration=duration,
        warmup=warmup,
        wall_seconds=duration * 1000,
        ports=["s1-eth1", "s1-eth2"],
        port_neighbour=["h1", "h99"],
        port_rate=np.array([B, B]),
        port_buffer=np.array([5e6, 5e6]),
        bottleneck=1,
        flows=FlowTable(
            src=list(sources) if sources else [f"h{i + 1}" for i in range(n)],
            dst=["h99"] * n,
            controller=["swift"] * n,
            label=list(labels) if labels else [""] * n,
            group=np.full(n, -1),
            start=begin,
            size=np.full(n, np.inf) if sizes is None else np.array(sizes, float),
            finished=end,
            line_rate=np.full(n, B),
            path_rate=np.full(n, B),
            hops=np.ones(n, np.int64),
            base_rtt=np.full(n, RTT),
            sent_packets=packets + 10,
            resent_packets=zero,
            naks=zero,
            acked_packets=packets,
            lost_packets=zero,
            late_acks=zero,
            timeouts=zero,
            cnps=zero,
            ce_packets=zero,
            delivered_packets=packets,
            rtt_mean=np.full(n, RTT),
        ),
        flow_series=FlowSeries(
            time=time,
            acked_bytes=acked,
            wire_bytes=acked * WIRE / PAYLOAD,
            rate=np.tile(share * B, (samples, 1)),
            window=np.full((samples, n), np.inf),
            rtt=np.where(time[:, None] > 0, RTT + 8 * queue / B, np.nan) * np.ones(n),
            inflight=np.full((samples, n), 1e4),
        ),
        series_flows=np.arange(n),
        port_series=PortSeries(
            time=time,
            tx_bytes=growing(0.95 * B / 8),
            tx_packets=growing(0.95 * B / 8 / WIRE),
            queue=ports(queue),
            peak_queue=ports(2 * queue),
            queue_area=growing(queue),
            marked_packets=growing(0.1 * 0.95 * B / 8 / WIRE),
            dropped_packets=growing(1e5),
            kmin=ports(100e3),
            kmax=ports(400e3),
            pmax=ports(0.2),
            ingress=ports(0.0),
            pause_frames=ports(0.0),
            paused=ports(0.0),
        ),
        queue_histogram=histogram([0, 0.99 * queue, 1.01 * queue, 1e7], [0, 10_000, 0]),
        rtt_histogram=histogram([8e-6, 10e-6, 12e-6, 16e-6], [50, 49, 1]),
        message_histogram=histogram([8e-6, 16e-6], [0]),
        decisions=Decisions(calls=100, rows=6400, seconds=0.0128),
        late=Lateness(lag(1e-7), lag(1e-7), stalled_bytes=0.0),
        payload=PAYLOAD,
        wire_size=WIRE,
        counters={"ring_overflow": 0, "drops_outside_model": 0},
    )
