"""What a lab run's verdict needs beyond the limits: counts of both ends of every host, who decided, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from testbed.agent.identity import Identity
from testbed.base.arrays import Ints
from testbed.controller import Paths
from testbed.engines.lab.mirror import Mirror
from testbed.fidelity.counters import Counts, FlowCounts, PortCounts
from testbed.fidelity.invariants import agents_and_nics_agree, the_named_controller_ran
from testbed.results import decisions
from testbed.results.decisions import Served
from testbed.results.record import RunRecord

if TYPE_CHECKING:
    from testbed.engines.lab.overview import Overview
    from testbed.engines.lab.run import Crowd

SENT = {"nic_sent": "packets", "nic_acks": "acks", "nic_cnps": "cnps", "nic_ce": "ce_echoes"}


def complete(record: RunRecord, overview: Overview, crowd: Crowd) -> None:
    """Add to the record what only the hosts together can tell."""
    counts = _counts(overview, crowd)
    complete_hosts = all(mirror.final for mirror in overview.mirrors)
    checks = [the_named_controller_ran, *([agents_and_nics_agree] if complete_hosts else [])]
    record.broken = [(one.what, one.how_much) for check in checks for one in check(counts)]
    record.broken += [("a host is not as it was before", one) for one in crowd.differs]
    record.loaded_plugins = [one.as_dict() for one in crowd.loaded_plugins]
    record.clock_jump = max(float(meter.clock_jump[0]) for meter in overview.meters)
    record.start_spread = crowd.start_spread
    record.hosts = [
        {**about, "drops": mirror.seen.get("drops"), "least_idle": mirror.least_idle}
        for about, mirror in zip(crowd.about, overview.mirrors, strict=True)
    ]
    if overview.experiment.record.decisions:
        served = [
            Served(part.start, _paths(overview, part), mirror.trace())
            for mirror, part in zip(overview.mirrors, overview.parts, strict=True)
            if mirror.flows is not None
        ]
        record.decisions_file = decisions.encode(overview.experiment.controller, served)
        record.decisions_kept = decisions.kept(served)


def _paths(overview: Overview, part: slice) -> Paths:
    paths, framing = overview.layout.paths, overview.framing
    return Paths(
        paths.line_rate[part], paths.base_rtt[part], paths.hops[part], framing.payload, framing.wire_size
    )  # fmt: skip


def _counts(overview: Overview, crowd: Crowd) -> Counts:
    flows = overview.flows
    none = np.zeros(len(flows), np.int64)
    nobody = np.empty(0, np.int64)
    wanted = Identity.wanted(overview.resolved.controller)
    return Counts(
        flows=FlowCounts(
            src_port=none,
            dst_port=none,
            agent_sent=flows.sent,
            agent_acked=flows.acked,
            agent_cnps=flows.cnps,
            agent_ce=flows.ce,
            **{name: _of_senders(overview.mirrors, counter) for name, counter in SENT.items()},
            received=overview.network.delivered(),
            received_ce=none,
            cnps_made=none,
            ring_full=_of_senders(overview.mirrors, "ring_full"),
            unread=_of_senders(overview.mirrors, "unread"),
        ),
        ports=PortCounts([], nobody, nobody, nobody, np.empty(0), np.empty(0), [], nobody, nobody),
        duration=overview.experiment.time.duration,
        loaded_plugins=[
            replace(one, file=wanted.file) for one in crowd.loaded_plugins
        ],  # other hosts have it elsewhere
        wanted=wanted,
        int_faults=0,
        queue_difference=0.0,
        queue_tolerance=0.0,
    )


def _of_senders(mirrors: list[Mirror], counter: str) -> Ints:
    """A counter of the senders' NICs, one entry per flow of the run."""
    parts = []
    for mirror in mirrors:
        if mirror.flows is not None:
            parts.append(mirror.part("tx.").get(counter, np.zeros(len(mirror.flows), np.int64)))
    return np.concatenate(parts)
