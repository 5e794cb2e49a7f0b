"""A run over real hosts as it is recorded and shown: a `testbed.live.observed.Observed`."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats
from testbed.clock import Clock
from testbed.dataplane.wire import P_KEY
from testbed.engines.lab.operator.host_report import HostReport
from testbed.engines.lab.operator.inventory import Inventory
from testbed.engines.lab.operator.network import LabNetwork
from testbed.engines.lab.operator.series import LabSeries, sample_interval
from testbed.engines.lab.protocol.host_config import HostConfig
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.live.recorder import largest

PATIENCE = 5.0  # s without a message, after which either side takes the control channel for lost
SPARE_SECONDS = 60.0  # beyond the experiment, for all that comes before and after it
FULL_MEMBER = 0x8000  # a P_Key's highest bit


class ObservedRun:
    """Columns of all hosts, as they were last reported. Host ``hN`` of the experiment is the inventory's N-th."""

    def __init__(self, resolved: Resolved, inventory: Inventory) -> None:
        self.resolved, self.inventory = resolved, inventory
        self.experiment = experiment = resolved.experiment
        self.clock = Clock(experiment.time.factor)
        self.layout = resolved.layout.with_int(inventory.common.testbed_int_hops)
        self.plan, self.shape, self.framing = self.layout.plan, self.layout.shape, self.layout.framing
        self.flows = Flows(len(self.plan))
        self.tasks = None  # the lab refuses traffic that waits
        self.chosen = largest(self.plan.size, experiment.record.flows)
        self.hosts = list(self.shape.hosts)
        self.flows_of = [self._part(number) for number in range(1, len(self.hosts) + 1)]
        self.reports = [self._report(name, part) for name, part in zip(self.hosts, self.flows_of, strict=True)]
        self.network = LabNetwork(self.reports, len(self.plan))
        duration = experiment.time.duration
        self.interval = sample_interval(experiment.record.interval, duration)
        self.series = LabSeries(self.reports, self.chosen, self.interval, duration)
        self.port_rate = np.full(len(self.hosts), np.nan)  # bit/s, of the wire to each host: `set_port_rates`
        self.p_key = FULL_MEMBER | secrets.randbelow(P_KEY - FULL_MEMBER)

    def _part(self, number: int) -> slice:
        """Flows are ordered by the hosts that send them."""
        return slice(*np.searchsorted(self.plan.src_number, (number, number + 1)).tolist())

    def _series(self, part: slice) -> list[int]:
        within = (self.chosen >= part.start) & (self.chosen < part.stop)
        found: list[int] = (self.chosen[within] - part.start).tolist()
        return found

    def _report(self, name: str, part: slice) -> HostReport:
        flows = self.flows.part(part.start, part.stop) if part.stop > part.start else None
        return HostReport(name, flows, len(self.plan), len(self._series(part)))

    @property
    def meters(self) -> list[Meter]:
        """One per host that sends."""
        return [report.meter for report in self.reports if report.meter is not None]

    @property
    def idle(self) -> list[float]:
        """In the busiest half second of all hosts."""
        return [min(report.least_idle for report in self.reports)]

    @property
    def stolen(self) -> float:
        """Of all hosts."""
        return max(report.stolen for report in self.reports)

    def host_config(self, number: int) -> tuple[HostConfig, dict[str, NDArray[Any]]]:
        """Of the host at this position, with the columns of its flows."""
        experiment, part, variables = self.experiment, self.flows_of[number], self.inventory.hosts[number].variables
        controller, plan = self.resolved.controller, self.plan
        by_path = experiment.controller.name != controller.name
        config = HostConfig(
            host=number,
            hosts=self.hosts,
            interface=variables.roce_interface,
            address=variables.roce_address,
            controller=f"{controller.file.name}:{controller.form.__name__}" if by_path else controller.name,
            source=controller.file.read_text(encoding="utf-8") if by_path else "",
            options=self.resolved.controller_config.model_dump(mode="json"),
            compiled=experiment.controller.compiled,
            isolate=experiment.controller.isolate,
            flows=len(plan),
            first=part.start,
            payload=self.framing.payload,
            int_hops=self.framing.int_hops,
            burst=experiment.pacing.burst,
            line_rate=self.shape.line_rate(self.hosts[number]),
            hops=max(1, self.framing.int_hops),
            duration=experiment.time.duration,
            warmup=experiment.time.warmup,
            interval=self.interval,
            series=self._series(part),
            decisions=experiment.record.decisions // max(1, len(self.meters)),
            port=variables.testbed_udp_port,
            p_key=self.p_key,
            feedback_delay=variables.testbed_feedback_delay,
            patience=PATIENCE,
            deadline=experiment.time.duration + SPARE_SECONDS,
        )
        position = {name: number for number, name in enumerate(self.hosts)}
        dst = np.array([position[one] for one in plan.dst[part]], np.int64)
        return config, {"dst": dst, "size": plan.size[part], "start": plan.start[part]}

    def set_port_rates(self, speeds: list[float]) -> None:
        """From the speeds of the hosts' interfaces, bit/s, and the inventory. Raises BadInput if one is unknown.

        `testbed_rate` is no such rate: it is what each of several senders may send.
        """
        given = [host.variables.testbed_port_rate for host in self.inventory.hosts]
        self.port_rate = np.array([rate or speed for rate, speed in zip(given, speeds, strict=True)], np.float64)
        unknown = [self.inventory.hosts[number] for number in np.flatnonzero(self.port_rate <= 0)]
        if unknown:
            raise BadInput(
                "nothing was run\n  "
                + "\n  ".join(
                    f"{host.name}: {host.variables.roce_interface} does not tell its speed; give that of the switch's "
                    'port in the inventory, as in testbed_port_rate: "10 Gbit/s"'
                    for host in unknown
                )
            )

    def set_base_rtts(self, number: int, base_rtt: dict[str, float]) -> Floats:
        """From what a host has measured towards the others. Returns the base RTT of each of its flows."""
        part = self.flows_of[number]
        delay = self.inventory.common.testbed_feedback_delay
        found = np.array([base_rtt[dst] + delay for dst in self.plan.dst[part]], np.float64)
        self.layout.paths.base_rtt[part] = found
        return found
