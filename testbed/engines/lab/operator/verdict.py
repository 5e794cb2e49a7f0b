"""What a lab run's verdict needs beyond the limits: counters of both ends of every flow, loaded plugins, hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from testbed.agent.identity import Identity
from testbed.base.arrays import Ints
from testbed.controller import Paths
from testbed.engines.lab.operator.host_group import HostGroup
from testbed.engines.lab.operator.host_report import HostReport
from testbed.engines.lab.operator.observed_run import ObservedRun
from testbed.fidelity.counters import Counts, FlowCounts, PortCounts
from testbed.fidelity.invariants import agents_and_nics_agree, the_named_controllers_ran
from testbed.results import decisions
from testbed.results.decisions import Served
from testbed.results.figures.spans import window
from testbed.results.figures.throughput import port_utilisation
from testbed.results.record import RunRecord
from testbed.results.verdict import Reason
from testbed.units import show_rate

CHANGED = "a host is not as it was before"
RESTORE = "restore that host before the next run, see docs/howto/lab.md"
MOST_USED = 105  # %: a shaper's burst, and samples that are a little late
SENT = {
    "nic_sent": "packets",
    "nic_acks": "acks",
    "nic_cnps": "cnps",
    "nic_ce": "ce_echoes",
    "lost": "lost",
    "answers_lost": "answers_lost",
}


def complete(record: RunRecord, observed: ObservedRun, group: HostGroup) -> None:
    """Add to the record what only the hosts together know."""
    counts = _counts(observed, group)
    complete_hosts = all(report.record for report in observed.reports)
    checks = [the_named_controllers_ran, *([agents_and_nics_agree] if complete_hosts else [])]
    record.broken = [one for check in checks for one in check(counts)]
    record.port_rate = observed.port_rate
    record.broken += _exceeded(record, observed)
    record.broken += [Reason(what=CHANGED, how_much=one, remedy=RESTORE) for one in group.differences]
    record.loaded_plugins = [one.as_dict() for one in group.loaded_plugins]
    record.clock_jump = max(float(meter.clock_jump[0]) for meter in observed.meters)
    record.start_spread = group.start_spread
    record.hosts = [
        {**about, "drops": report.status.get("drops"), "least_idle": report.least_idle}
        for about, report in zip(group.about, observed.reports, strict=True)
    ]
    if observed.experiment.record.decisions:
        served = [
            Served(part.start, _paths(observed, part), report.trace())
            for report, part in zip(observed.reports, observed.flows_of, strict=True)
            if report.flows is not None
        ]
        record.decisions_file = decisions.encode(served)
        record.decisions_kept = decisions.kept(served)


def _exceeded(record: RunRecord, observed: ObservedRun) -> Iterator[Reason]:
    """No wire carries more than it can: if one did, the rate that SU is a share of is not the wire's."""
    used = port_utilisation(record, window(record))
    for port in np.flatnonzero(used > MOST_USED):
        what = f"the wire to {observed.inventory.hosts[port].name} is faster than its rate"
        rate = show_rate(float(observed.port_rate[port]))
        remedy = f"correct testbed_port_rate in {observed.inventory.file}"
        yield Reason(what=what, how_much=f"{used[port]:.0f} % of {rate}", remedy=remedy)


def _paths(observed: ObservedRun, part: slice) -> Paths:
    paths, framing = observed.layout.paths, observed.framing
    columns = (paths.line_rate[part], paths.base_rtt[part], paths.hops[part])
    return Paths(*columns, framing.payload, framing.wire_size)


def _counts(observed: ObservedRun, group: HostGroup) -> Counts:
    flows = observed.flows
    none = np.zeros(len(flows), np.int64)
    empty = np.empty(0, np.int64)
    wanted = Identity.wanted(observed.resolved.controller)
    return Counts(
        flows=FlowCounts(
            src_port=none,
            dst_port=none,
            alike=none - 1,
            agent_sent=flows.sent,
            agent_acked=flows.acked,
            agent_cnps=flows.cnps,
            agent_ce=flows.ce,
            **{name: _of_senders(observed.reports, counter) for name, counter in SENT.items()},
            received=observed.network.delivered(),
            answered=observed.network.delivered(),
            received_ce=none,
            sent_ce=none,
            cnps_made=none,
            ring_full=_of_senders(observed.reports, "ring_full"),
            unread=_of_senders(observed.reports, "unread"),
        ),
        ports=PortCounts([], empty, empty, empty, np.empty(0), np.empty(0), [], empty, empty),
        duration=observed.experiment.time.duration,
        # other hosts have the file elsewhere
        loaded_plugins=[replace(one, file=wanted.file) for one in group.loaded_plugins],
        wanted=[wanted],
        int_faults=0,
        queue_difference=0.0,
        queue_tolerance=0.0,
    )


def _of_senders(reports: list[HostReport], counter: str) -> Ints:
    """A counter of the senders' NICs, one entry per flow of the run."""
    parts = []
    for report in reports:
        if report.flows is not None:
            parts.append(report.recorded("tx.").get(counter, np.zeros(len(report.flows), np.int64)))
    return np.concatenate(parts)
