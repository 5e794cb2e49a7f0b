"""What several figures of one run are made of, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.results.figures import (
    fairness,
    fct,
    jobs,
    latency,
    long_short,
    loss,
    operations,
    pauses,
    sharing,
    throughput,
)
from testbed.results.figures.spans import Window, window
from testbed.results.record import RunRecord


class Measurements:
    """A run's record, and what is derived from it on demand."""

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.flows = record.flows

    @cached_property
    def window(self) -> Window:
        """What figures are about unless they say otherwise."""
        return window(self.record)

    @property
    def whole_run(self) -> Window:
        """With the warm-up."""
        return Window(0.0, self.window.end)

    @cached_property
    def goodput(self) -> Floats:
        """Of every flow, bit/s."""
        return throughput.flow_goodput(self.record, self.window)

    @cached_property
    def steady(self) -> NDArray[np.bool_]:
        """The flows that fairness is about."""
        return fairness.steady_flows(self.record, self.window)

    @cached_property
    def rates(self) -> Floats:
        """Goodput of the steady flows, bit/s; none where they are not what the run was about."""
        rates = fairness.steady_rates(self.record, self.window)[self.steady]
        return rates if fairness.can_be_told(self.steady, self.goodput) else rates[:0]

    @cached_property
    def host_rates(self) -> Floats:
        """The same, summed by sending host."""
        hosts = [src for src, kept in zip(self.flows.src, self.steady, strict=True) if kept]
        return fairness.per_host(self.rates, hosts[: len(self.rates)])

    @cached_property
    def queue(self) -> latency.QueueLength:
        """Of the bottleneck."""
        return latency.queue_length(self.record, self.window)

    @cached_property
    def queues(self) -> latency.QueueLength:
        """Of all ports that sent."""
        return latency.queue_length(self.record, self.window, all_ports=True)

    @cached_property
    def packets(self) -> loss.Packets:
        """Dropped and marked ones."""
        return loss.packets(self.record, self.window)

    @cached_property
    def completion(self) -> fct.Completion:
        """Of all finite flows."""
        return fct.completion(self.record)

    @cached_property
    def mice(self) -> fct.Completion:
        """Of the small ones."""
        return fct.completion(self.record, self.flows.size <= fct.ELEPHANT)

    @cached_property
    def short(self) -> fct.Completion:
        """Of the shortest, which are some of the mice."""
        return fct.completion(self.record, self.flows.size <= fct.SHORT)

    @cached_property
    def elephants(self) -> fct.Completion:
        """Of the large ones."""
        return fct.completion(self.record, self.flows.size > fct.ELEPHANT)

    @cached_property
    def interruptions(self) -> long_short.Recovery:
        """Of long flows by short ones."""
        return long_short.recovery(self.record, self.window)

    @cached_property
    def most_paused(self) -> tuple[str, float]:
        """The port between switches that was paused for longest, and its share of the whole run."""
        return pauses.most_paused_port(self.record, self.whole_run)

    @cached_property
    def shared(self) -> list[sharing.Shared]:
        """What each of several controllers got."""
        return sharing.by_controller(self.flows, self.goodput)

    @cached_property
    def jobs(self) -> list[jobs.JobFigures]:
        """What became of each."""
        return jobs.of_jobs(self.record.steps, self.record.jobs, self.record.alone)

    @cached_property
    def messages(self) -> list[operations.Messages]:
        """By kind, the largest last."""
        return operations.messages(self.flows)
