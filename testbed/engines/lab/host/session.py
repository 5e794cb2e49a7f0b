"""One host's part of a run: the interface, the NIC programs, the agent that sends, and their counters."""

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
from testbed.compiled.flows import build
from testbed.controller import Paths
from testbed.dataplane.programs import PROBE_FLOWS, NicPrograms
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import ROCE_PORT, Tag
from testbed.engines.lab.host.base_rtt import measure_base_rtt
from testbed.engines.lab.host.interface import Interface
from testbed.engines.lab.host.sampler import Sampler
from testbed.engines.lab.protocol.counters import RECEIVED, SENT
from testbed.engines.lab.protocol.host_config import HostConfig
from testbed.errors import TestbedError
from testbed.experiment.topology.framing import Framing
from testbed.fidelity.processors import Processors
from testbed.registry import Plugin, find
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import DecisionTrace

REAL_TIME = Clock(1.0)


class HostSession:
    """From `inspect` to `detach`, in this order. ``columns``: dst, size and start of the host's flows.

    The operator's side has a `HostConnection` to it.
    """

    def __init__(self, config: HostConfig, columns: dict[str, NDArray[Any]]) -> None:
        self.config = config
        self.dst, self.size, self.start_times = (columns[name] for name in ("dst", "size", "start"))
        self.framing = Framing(config.payload, config.int_hops)
        self.tag = Tag(config.port, config.p_key)
        self.flows = Flows(max(1, len(self.dst)))
        self.meter: Meter | None = None  # if it sends
        self.pool = AgentPool()
        self.clock = REAL_TIME
        self.processors: Processors | None = None
        self._window: dict[str, Ints] = {}
        self._nic: NicPrograms | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def inspect(self) -> dict[str, Any]:
        """Raises TestbedError with all reasons why this host cannot take part; changes nothing."""
        self.interface = Interface(self.config.interface)
        self.interface.inspect(self.framing.wire_size, self.config.line_rate)
        self.address = self.interface.address(self.config.address)
        self.plugin = self._plugin()
        self.options = self.plugin.configure(None, self.config.options)
        compile_all()
        self.interface.reserve()
        return {"address": self.address, "speed": self.interface.speed(), "kernel": os.uname().release}

    def _plugin(self) -> Plugin:
        if not self.config.source:
            return find("controller", self.config.controller)
        self._folder = tempfile.TemporaryDirectory(prefix="testbed-agent-")
        name, _, form = self.config.controller.partition(":")
        file = Path(self._folder.name) / Path(name).name
        file.write_text(self.config.source, encoding="utf-8")
        return find("controller", f"{file}:{form}" if form else str(file))

    def attach(self, addresses: Sequence[str]) -> None:
        """Put the NIC programs on the interface: from now on packets of this run are answered here."""
        self.addresses = addresses
        config, index = self.config, self.interface.index
        self._nic = NicPrograms(
            largest_ifindex=index,
            flows=config.flows,
            rings=1,
            cnp_interval_ns=REAL_TIME.wall_ns(self.plugin.form.cnp_interval(self.options)),
            wake_agents=False,  # a wake-up per packet would take all the time of a core
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
        config = self.config
        found = {}
        for position in np.unique(self.dst).tolist():
            flow = config.flows + config.host % PROBE_FLOWS
            here = f"{config.hosts[config.host]} ({self.address})"
            there = f"{config.hosts[position]} ({self.addresses[position]})"
            try:
                measured = measure_base_rtt(self.nic, self.addresses[position], self.framing, self.tag, flow)
            except OSError as error:  # no route, a firewall here, or an answer by ICMP
                raise TestbedError(
                    f"{here} cannot send to {there}, UDP port {config.port}: {error.strerror}; see: "
                    f"ip route get {self.addresses[position]}, and the firewalls of both"
                ) from None
            if math.isinf(measured):
                hint = "RoCE NICs keep this port to themselves" if config.port == ROCE_PORT else "may this port pass?"
                raise TestbedError(
                    f"{here} gets no answer from {there} to UDP port {config.port}: is there a way between them? {hint}"
                )
            found[config.hosts[position]] = measured
        return found

    def launch(self, base_rtt: NDArray[np.float64], timeout: float) -> Identity | None:
        """Start the agent, if there is something to send; returns when it is ready. Raises PluginFailed."""
        if len(self.dst):
            self._launch(base_rtt, timeout)
        if self._folder:
            self._folder.cleanup()  # it has been read, and must not stay if this process is killed
        return self.pool.members[0].identities[0] if self.pool.members else None

    def _launch(self, base_rtt: NDArray[np.float64], timeout: float) -> None:
        config, end = self.config, self.config.first + len(self.dst)
        self.meter = Meter(RTT_BINS_PER_OCTAVE, DecisionTrace(config.decisions, config.int_hops))
        self.nic.flows_tx["ring"][config.first : end] = 0
        paths = Paths(
            line_rate=np.full(len(self.dst), config.line_rate),
            base_rtt=base_rtt,
            hops=np.full(len(self.dst), config.hops),
            payload=self.framing.payload,
            wire_size=self.framing.wire_size,
        )
        packets = np.ceil(self.size / self.framing.payload)
        self.flows.to_send[:] = np.where(np.isfinite(packets), packets, ENDLESS)
        routes = [
            Route(config.first + number, None, self.address, self.addresses[dst], size)
            for number, (dst, size) in enumerate(zip(self.dst.tolist(), self.size.tolist(), strict=True))
        ]
        rtt = float(base_rtt.min())
        spec = AgentSpec(
            number=config.host,
            core=sorted(os.sched_getaffinity(0))[-1 - config.host % len(os.sched_getaffinity(0))],
            first=config.first,
            routes=routes,
            host=np.zeros(len(self.dst), np.int64),
            rings=[(self.nic.ring_fds[0], config.feedback_delay)],
            ring_size=self.nic.ring_size,
            flows=self.flows,
            paths=paths,
            timing=Timing.of(
                self.start_times,
                end=config.duration,
                timeout=timeout,
                rtt=rtt,
                packet=self.framing.wire_size * 8 / config.line_rate,
                clock=REAL_TIME,
            ),
            meter=self.meter,
            arrivals=self.nic.arrivals,
            interface=np.array([self.interface.index]),
            uplink=None,
        )
        form, options = self.plugin.form, self.options
        agent_config = AgentConfig(
            plugin=self.plugin,
            dilation=REAL_TIME.dilation,
            framing=self.framing,
            burst=config.burst,
            at_once=0,
            bucket=0,
            controller=lambda paths, _first: build(form, options, paths, config.compiled, config.isolate),
            segment=False,  # nic_tx must see single packets, and here it comes before the kernel cuts them apart
            wake_by_ring=False,
            own_ports=True,  # the lab's fabric may choose paths by them
            tag=self.tag,
        )
        self.pool.launch(spec, agent_config)
        self.pool.wait_ready()

    def start(self) -> None:
        """Time 0 is now, on this host's clock."""
        self.clock = self.pool.begin(REAL_TIME.dilation) if self.pool.members else REAL_TIME.started()
        self.sampler = Sampler(self.flows, self.config.series, self.framing.wire_size, self._interface_counters)
        self.processors = Processors()
        self.sampler.take(0.0)

    def _interface_counters(self) -> Sequence[float]:
        arrived = self.nic.arrivals[self.interface.index]
        return float(arrived["bytes"]), float(arrived["packets"]), float(self.nic.flows_rx["ce"].sum())

    def sample(self) -> float:
        """Take a sample; returns the time since the start."""
        now = self.clock.now()
        self.sampler.take(now)
        if self.processors:
            self.processors.sample()
        if now >= self.config.warmup and not self._window:
            self._window = {"acked": self.flows.acked_payload.copy()}
            if self.meter:
                self._window["rtt"] = self.meter.rtt.counts.copy()
        return now

    def failure(self) -> str:
        """Why the agent ended before its time; empty if it did not."""
        return self.pool.failure()

    def finished(self, now: float) -> bool:
        """Whether this host has ended."""
        return self.pool.finished() if self.pool.members else now >= self.config.duration

    def counters(self) -> dict[str, NDArray[Any]]:
        """All counters as of now."""
        rx = self.nic.flows_rx
        found = {f"rx.{name}": rx[name].astype(np.int64) for name in RECEIVED}
        found["interface"] = np.array(self._interface_counters())
        if self.meter:
            found |= {f"flows.{name}": column for name, column in self.flows.columns().items()}
            found |= {f"meter.{name}": column for name, column in self.meter.columns().items()}
        return found

    def status(self) -> dict[str, Any]:
        """Sent with the counters."""
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
        config = self.config
        tx = self.nic.flows_tx[config.first : config.first + len(self.dst)]
        found = self.counters() | {f"series.{name}": one for name, one in self.sampler.columns().items()}
        found |= {f"tx.{name}": tx[name].astype(np.int64) for name in SENT}
        found |= {f"window.{name}": one for name, one in self._window.items()}
        unread = np.zeros(len(self.dst), np.int64)
        waiting = Ring(self.nic.ring_fds[0], self.nic.ring_size).waiting()["flow"].astype(np.int64) - config.first
        np.add.at(unread, waiting[(waiting >= 0) & (waiting < len(unread))], 1)
        found["tx.unread"] = unread
        if self.meter:
            found |= {f"trace.{name}": one for name, one in self.meter.trace.packed().items()}
        return found

    def detach(self) -> list[str]:
        """End the agent, detach the programs. Returns what is not as it was; can be called at any time."""
        self.pool.end()
        if self._folder:
            self._folder.cleanup()
        return self.interface.detach() if hasattr(self, "interface") else []
