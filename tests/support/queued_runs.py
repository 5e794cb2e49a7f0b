"""A made run whose ports have several queues."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from testbed.results.record import PortSeries, Queues, RunRecord
from tests.support.synthetic_runs import run


def with_queues() -> RunRecord:
    """Two queues of every port: at the bottleneck one sends half of the line, the other one nothing."""
    record = run()
    time, ports = record.port_series.time, len(record.ports)
    columns = {one.name: np.zeros((len(time), 2 * ports)) for one in fields(PortSeries) if one.name != "time"}
    busy = 2 * record.bottleneck
    columns["tx_bytes"][:, busy] = time * record.port_rate[record.bottleneck] / 16
    columns["tx_packets"][:, busy] = columns["tx_bytes"][:, busy] / 1000
    columns["queue"][:, busy], columns["peak_queue"][:, busy] = 5e4, 9e4
    columns["queue_area"][:, busy] = time * 5e4
    columns["marked_packets"][:, busy] = 1e6 * time
    return replace(
        record,
        queues=Queues(
            name=[f"{port} q{number}" for port in record.ports for number in (3, 5)],
            port=np.repeat(np.arange(ports), 2),
            number=np.tile([3, 5], ports),
            classes=["rdma", "cnp"] * ports,
            found=np.zeros((2 * ports, len(record.queue_histogram.counts)), np.int64),
            series=PortSeries(time=time, **columns),
        ),
    )
