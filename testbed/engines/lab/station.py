"""The parts of a run that are on one host: interface, NIC programs, the agent that sends, and what they counted."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.agent import Timing
from testbed.agent.build import compile_all
from testbed.agent.columns import ENDLESS, Flows
from testbed.agent.identity import Identity
from testbed.agent.meter import Meter
from testbed.agent.pool import AgentConfig, AgentPool, AgentSpec
from testbed.agent.sockets import Route
from testbed.base.arrays import Ints
from testbed.base.linux import input_queue_drops
from testbed.clock import Clock
from testbed.controller import Paths, build
from testbed.dataplane.programs import PROBE_FLOWS, NicPrograms
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import ROCE_PORT, Tag
from testbed.engines.lab import probe
from testbed.engines.lab.interface import Interface
from testbed.engines.lab.job import Job
from testbed.engines.lab.samples import Samples
from testbed.errors import TestbedError
from testbed.experiment.topology.framing import Framing
from testbed.fidelity.processors import Processors
from testbed.registry import Plugin, find
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import DecisionTrace

REAL_TIME = Clock(1.0)


class Station:
    """From `examine` to `leave`, in this order. ``columns``: dst, size and start of the host's flows."""

    def __init__(self, job: Job, columns: dict[str, NDArray[Any]]) -> None:
        self.job = job
        self.dst, self.size, self.start = (columns[name] for name in ("dst", "size", "start"))
        self.framing = Framing(job.payload, job.int_hops)
        self.tag = Tag(job.port, job.p_key)
        self.flows = Flows(max(1, len(self.dst)))
        self.meter: Meter | None = None  # if it sends
        self.pool = AgentPool()
        self.clock = REAL_TIME
        self.processors: Processors | None = None
        self._window: dict[str, Ints] = {}
        self._nic: NicPrograms | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def examine(self) -> dict[str, Any]:
        """Whether this host can do it. Changes nothing. Raises TestbedError: all that is in the way."""
        self.interface = Interface(self.job.interface)
        self.interface.examine(self.framing.wire_size, self.job.line_rate)
        self.address = self.interface.address(self.job.address)
        self.plugin = self._plugin()
        self.config = self.plugin.configure(None, self.job.options)
        compile_all()
        self.interface.reserve()
        return {"address": self.address, "speed": self.interface.speed(), "kernel": os.uname().release}

    def _plugin(self) -> Plugin:
        if not self.job.source:
            return find("controller", self.job.controller)
        self._folder = tempfile.TemporaryDirectory(prefix="testbed-agent-")
        name, _, form = self.job.controller.partition(":")
        file = Path(self._folder.name) / Path(name).name
        file.write_text(self.job.source, encoding="utf-8")
        return find("controller", f"{file}:{form}" if form else str(file))

    def attach(self, addresses: Sequence[str]) -> None:
        """Put the NIC programs on the interface: from now on packets of this run are answered here."""
        self.addresses = addresses
        job, index = self.job, self.interface.index
        self._nic = NicPrograms(
            largest_ifindex=index,
            flows=job.flows,
            rings=1,
            cnp_interval_ns=REAL_TIME.wall_ns(self.plugin.form.cnp_interval(self.config)),
            wake_agents=False,  # a wake-up per packet would leave no time for anything else
            tag=self.tag,
        )
        self._drops = self.interface.drops() + input_queue_drops()
        self.interface.attach(self._nic)

    @property
    def nic(self) -> NicPrograms:
        """Once it is attached."""
        assert self._nic is not None
        return self._nic

    def base_rtts(self) -> dict[str, float]:
        """From here to each host that it sends to, s, without the feedback delay. Raises TestbedError."""
        job = self.job
        found = {}
        for position in np.unique(self.dst).tolist():
            flow = job.flows + job.host % PROBE_FLOWS
            here = f"{job.hosts[job.host]} ({self.address})"
            there = f"{job.hosts[position]} ({self.addresses[position]})"
            try:
                taken = probe.base_rtt(self.nic, self.addresses[position], self.framing, self.tag, flow)
            except OSError as error:  # no route, a firewall here, or an answer by ICMP
                raise TestbedError(
                    f"{here} cannot send to {there}, UDP port {job.port}: {error.strerror}; see: "
                    f"ip route get {self.addresses[position]}, and the firewalls of both"
                ) from None
            if math.isinf(taken):
                hint = "RoCE NICs keep this port to themselves" if job.port == ROCE_PORT else "may this port pass?"
                raise TestbedError(
                    f"{here} gets no answer from {there} to UDP port {job.port}: is there a way between them? {hint}"
                )
            found[job.hosts[position]] = taken
        return found

    def launch(self, base_rtt: NDArray[np.float64], timeout: float) -> Identity | None:
        """Start the agent, if there is something to send; returns when it waits for `begin`. Raises PluginFailed."""
        if len(self.dst):
            self._launch(base_rtt, timeout)
        if self._folder:
            self._folder.cleanup()  # it has been read; should this process be killed, it must not stay
        return self.pool.members[0].identity if self.pool.members else None

    def _launch(self, base_rtt: NDArray[np.float64], timeout: float) -> None:
        job, end = self.job, self.job.first + len(self.dst)
        self.meter = Meter(RTT_BINS_PER_OCTAVE, DecisionTrace(job.decisions, job.int_hops))
        self.nic.flows_tx["ring"][job.first : end] = 0
        paths = Paths(
            line_rate=np.full(len(self.dst), job.line_rate),
            base_rtt=base_rtt,
            hops=np.full(len(self.dst), job.hops),
            payload=self.framing.payload,
            wire_size=self.framing.wire_size,
        )
        packets = np.ceil(self.size / self.framing.payload)
        self.flows.to_send[:] = np.where(np.isfinite(packets), packets, ENDLESS)
        routes = [
            Route(job.first + number, None, self.address, self.addresses[dst], size)
            for number, (dst, size) in enumerate(zip(self.dst.tolist(), self.size.tolist(), strict=True))
        ]
        rtt = float(base_rtt.min())
        spec = AgentSpec(
            number=job.host,
            core=sorted(os.sched_getaffinity(0))[-1 - job.host % len(os.sched_getaffinity(0))],
            first=job.first,
            routes=routes,
            host=np.zeros(len(self.dst), np.int64),
            rings=[(self.nic.ring_fds[0], job.feedback_delay)],
            ring_size=self.nic.ring_size,
            flows=self.flows,
            paths=paths,
            timing=Timing.of(self.start, end=job.duration, timeout=timeout, rtt=rtt, clock=REAL_TIME),
            meter=self.meter,
            arrivals=self.nic.arrivals,
            interface=np.array([self.interface.index]),
            uplink=None,
        )
        form, config = self.plugin.form, self.config
        agent_config = AgentConfig(
            plugin=self.plugin,
            dilation=REAL_TIME.dilation,
            framing=self.framing,
            burst=job.burst,
            at_once=0,
            bucket=0,
            controller=lambda paths: build(form, config, paths),
            segment=False,  # nic_tx must see single packets, and here it comes before the kernel cuts them apart
            wake_by_ring=False,
            own_ports=True,  # the lab's fabric may choose paths by them
            tag=self.tag,
        )
        self.pool.launch(spec, agent_config)
        self.pool.wait_ready()

    def begin(self) -> None:
        """Time 0 is now, on this host's clock."""
        self.clock = self.pool.begin() if self.pool.members else REAL_TIME.started()
        self.samples = Samples(self.flows, self.job.series, self.framing.wire_size, self._counted)
        self.processors = Processors()
        self.samples.take(0.0)

    def _counted(self) -> Sequence[float]:
        arrived = self.nic.arrivals[self.interface.index]
        return float(arrived["bytes"]), float(arrived["packets"]), float(self.nic.flows_rx["ce"].sum())

    def look(self) -> float:
        """Take a sample; returns the time since the beginning."""
        now = self.clock.now()
        self.samples.take(now)
        if self.processors:
            self.processors.sample()
        if now >= self.job.warmup and not self._window:
            self._window = {"acked": self.flows.acked_payload.copy()}
            if self.meter:
                self._window["rtt"] = self.meter.rtt.counts.copy()
        return now

    def failure(self) -> str:
        """Why the agent ended before its time; empty if it did not."""
        return self.pool.failure()

    def finished(self, now: float) -> bool:
        """Whether this host has nothing more to do."""
        return self.pool.finished() if self.pool.members else now >= self.job.duration

    def counted(self) -> dict[str, NDArray[Any]]:
        """All counters as of now."""
        rx = self.nic.flows_rx
        found = {f"rx.{name}": rx[name].astype(np.int64) for name in ("packets", "ce", "cnps", "reorders")}
        found["interface"] = np.array(self._counted())
        if self.meter:
            found |= {f"flows.{name}": column for name, column in self.flows.columns().items()}
            found |= {f"meter.{name}": column for name, column in self.meter.columns().items()}
        return found

    def seen(self) -> dict[str, Any]:
        """What is said along with the counters."""
        tx = self.nic.flows_tx
        return {
            "time": self.clock.now(),
            "drops": self.interface.drops() + input_queue_drops() - self._drops,
            "ring_full": int(tx["ring_full"].sum()),
            "idle": self.processors.least_idle if self.processors else 1.0,
            "stolen": self.processors.stolen if self.processors else 0.0,
        }

    def record(self) -> dict[str, NDArray[Any]]:
        """Everything, once the run is over and nothing is on its way any more."""
        job = self.job
        tx = self.nic.flows_tx[job.first : job.first + len(self.dst)]
        found = self.counted() | {f"series.{name}": one for name, one in self.samples.columns().items()}
        found |= {
            f"tx.{name}": tx[name].astype(np.int64) for name in ("packets", "acks", "cnps", "ce_echoes", "ring_full")
        }
        found |= {f"window.{name}": one for name, one in self._window.items()}
        unread = np.zeros(len(self.dst), np.int64)
        waiting = Ring(self.nic.ring_fds[0], self.nic.ring_size).waiting()["flow"].astype(np.int64) - job.first
        np.add.at(unread, waiting[(waiting >= 0) & (waiting < len(unread))], 1)
        found["tx.unread"] = unread
        if self.meter:
            found |= {f"trace.{name}": one for name, one in self.meter.trace.packed().items()}
        return found

    def leave(self) -> list[str]:
        """End the agent, take the programs away. Returns what is not as it was; can be called at any time."""
        self.pool.end()
        if self._folder:
            self._folder.cleanup()
        return self.interface.detach() if hasattr(self, "interface") else []
