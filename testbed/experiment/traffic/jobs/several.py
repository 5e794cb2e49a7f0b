"""Several jobs in one rack, each on hosts of its own."""

from __future__ import annotations

from itertools import accumulate
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.experiment.block import ChosenBy, HostName, refuse
from testbed.experiment.traffic.flow import Payload
from testbed.experiment.traffic.jobs import OneJob
from testbed.experiment.traffic.jobs.job import JOB_PAYLOAD
from testbed.experiment.traffic.pattern import Context, Keys, Pattern, one_payload
from testbed.experiment.traffic.plan import Plan


class Jobs(Pattern):
    """Jobs at once, one rank to a host, placed on as many hosts as they have ranks."""

    pattern: Literal["jobs"] = Field(description="`jobs`")
    payload: Payload = JOB_PAYLOAD
    placement: Literal["packed", "spread", "random"] | list[HostName] = Field(
        default="packed",
        description="`packed`: one job after the other, switch by switch; `spread`: ranks take the switches in turn; "
        "`random`: any host, by the seed; or a list of hosts, one for each rank.",
    )
    alone: str = Field(
        default="",
        description="One of the jobs: the others are left out, and it stays on its hosts; see `testbed run --alone`.",
    )
    jobs: Annotated[list[Annotated[OneJob, ChosenBy("pattern")]], Field(min_length=1)] = Field(
        description="The jobs, each with its own keys; `payload` is given once for all."
    )

    def hosts_needed(self) -> int:
        """One per rank; up to the last one of the list, if there is one."""
        return max([sum(job.hosts_needed() for job in self.jobs), *(host + 1 for host in self._listed)])

    @property
    def _listed(self) -> list[int]:
        """Hosts from 0."""
        return [int(host[1:]) - 1 for host in self.placement] if isinstance(self.placement, list) else []

    def flow_count(self, context: Context) -> float:
        """All together."""
        return sum(job.flow_count(context) for job in self.jobs)

    def plan(self, context: Context) -> Plan:
        """Each on its hosts."""
        hosts = self._hosts(context)
        ends = list(accumulate(job.hosts_needed() for job in self.jobs))
        plan = Plan.joined(
            [
                job.marked(
                    job.placed([f"h{host + 1}" for host in hosts[end - job.hosts_needed() : end]], context.part(number))
                )
                for number, (job, end) in enumerate(zip(self.jobs, ends, strict=True))
            ]
        )
        return plan.only(self.alone)

    def _hosts(self, context: Context) -> list[int]:
        """Hosts from 0, in the order in which jobs take them."""
        if self._listed:
            return self._listed
        if self.placement == "random":
            return [int(host) for host in context.random().permutation(context.hosts)]
        if self.placement == "packed":
            return list(range(context.hosts))
        edge = np.array(context.edges)
        at_switch = np.array([int((edge[:host] == one).sum()) for host, one in enumerate(edge)])
        return [int(host) for host in np.lexsort((edge, at_switch))]

    @property
    def blamed(self) -> Keys:
        """All of them need hosts."""
        return Keys("jobs", "jobs", "jobs")

    @model_validator(mode="before")
    @classmethod
    def _payload_of_all(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("jobs"), list):
            return data
        payload = data.get("payload", "4096 B")
        return {**data, "jobs": [one_payload(job, payload, f"jobs.{i}") for i, job in enumerate(data["jobs"])]}

    @model_validator(mode="after")
    def _all_are_placed(self) -> Self:
        ranks = sum(job.hosts_needed() for job in self.jobs)
        if isinstance(self.placement, list) and (
            len(set(self.placement)) != len(self.placement) or len(self.placement) != ranks
        ):
            refuse("placement", f"expected {ranks} different hosts, as many as the jobs have ranks")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [job.called for job in self.jobs]
        for number, name in enumerate(names):
            if name in names[:number]:
                refuse(f"jobs.{number}.name", f"another job is called '{name}' already; give it a name of its own")
        return self
