"""Starting agents: one process per core, each serving some of the hosts.

An agent is a forked child: it inherits the rack's namespaces, the maps and the shared columns. It opens its sockets,
builds its controller, reports ready, and begins on the start message, which carries the time of nominal time 0.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.agent.agent import Agent, Timing
from testbed.agent.batch_agent import BatchAgent
from testbed.agent.columns import Flows
from testbed.agent.credits import CreditState, Granted
from testbed.agent.datapath import Datapath
from testbed.agent.flow_agent import FlowAgent
from testbed.agent.identity import Identity
from testbed.agent.meter import Meter
from testbed.agent.pace import DelayRing, Pace, PacingStats, Pauses
from testbed.agent.paths import PathState
from testbed.agent.recovery import TransportState
from testbed.agent.sockets import Route, Sockets
from testbed.agent.structs import library
from testbed.agent.tasks import TaskGraph
from testbed.base import denied, linux
from testbed.base.arrays import Ints
from testbed.clock import Clock
from testbed.compiled.askable import is_askable
from testbed.compiled.choosers import Choosers
from testbed.compiled.receivers import Receivers
from testbed.controller import Paths, RateController
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import RACK, Tag
from testbed.errors import PluginFailed, TestbedError
from testbed.experiment.sharing import configured
from testbed.experiment.topology.framing import Framing
from testbed.experiment.transport import Transport
from testbed.registry import Blaming, Plugin

log = logging.getLogger(__package__)
FIFO_PRIORITY = 1
END_SECONDS = 0.5  # for an agent to leave its callback
MESSAGE_BYTES = 16_384  # less than any pipe holds
Move = Callable[[Collection[str]], None]

Placed = Callable[[Collection[str]], tuple[list[Route], Ints]]
"""Routes of an agent's flows and the number of each one's host, while these NICs are known not to work."""


@dataclass(frozen=True)
class AgentSpec:
    """What one agent serves: flows ``first`` .. ``first + len(routes) - 1`` of the rack."""

    number: int
    core: int
    first: int
    routes: list[Route]
    host: Ints  # number of each flow's host within the spec
    rings: list[tuple[int, float]]  # descriptor, and s by which the delay line delays feedback
    ring_size: int
    flows: Flows  # the spec's part of the columns
    paths: Paths
    timing: Timing
    meter: Meter
    arrivals: NDArray[np.void]  # of all interfaces of the rack
    interface: Ints  # of each host of the spec, in there
    uplink: Ints | None  # the switch ends of their links, in there; None if links delay packets, too
    messages: Ints | None = None  # see `TransportState`
    pair: Ints | None = None  # see `Pace`
    pauses: Pauses | None = None  # with priority flow control
    tasks: TaskGraph | None = None  # where flows wait for others
    granted: Granted | None = None  # where receivers grant what is sent
    placed: Placed | None = None  # where hosts have bonds


@dataclass(frozen=True)
class ManyPaths:
    """Who chooses the paths of a flow's packets."""

    choosers: Callable[[Paths, int], Choosers | None]  # with the number of the first flow; None: the switches choose
    plugin: Plugin | None


@dataclass(frozen=True)
class AgentConfig:
    """What is the same for all agents."""

    plugin: Plugin  # the controller
    dilation: float
    framing: Framing
    burst: int
    at_once: int  # packets that a host's shaper lets through together
    bucket: int  # bytes that it may queue without lagging
    controller: Callable[[Paths, int], RateController]  # with the number of the first flow
    segment: bool  # several packets per system call
    wake_by_ring: bool  # feedback is due at once (netem): the ring wakes the agent
    own_ports: bool = False  # each flow has a source port of its own, for ECMP: where there are several paths
    tag: Tag = RACK
    many_paths: ManyPaths | None = None  # None: each flow has one
    transport: Transport = field(default_factory=Transport)  # how it recovers
    receivers: Callable[[Paths], Receivers | None] = lambda _paths: None  # who grants
    receiver: Plugin | None = None  # their plugin


class Pipes(NamedTuple):
    """An agent's ends: it reports, and reads when time begins and what options change to."""

    report: int
    start: int
    options: int


class Ended(BaseException):
    """The agent was asked to end early."""


class AgentPool:
    """The agents of a run."""

    def __init__(self) -> None:
        self.members: list[AgentProcess] = []

    def launch(self, spec: AgentSpec, config: AgentConfig) -> None:
        """Fork one agent."""
        self.members.append(AgentProcess(spec, config))

    def wait_ready(self) -> None:
        """Wait until all are ready. Raises PluginFailed if one failed instead."""
        for member in self.members:
            member.wait_ready()

    def begin(self, dilation: float) -> Clock:
        """Start nominal time: all must be ready."""
        clock = Clock(dilation).started()
        for member in self.members:
            with suppress(BrokenPipeError):  # it has just ended: `failure` says why
                os.write(member.start_pipe, clock.epoch_ns.to_bytes(8, "little"))
        return clock

    def configure(self, decider: int, options: Mapping[str, Any]) -> None:
        """A controller has other options from now on, in all agents."""
        self._tell({"controller": decider, "options": options})

    def place(self, down: Collection[str]) -> None:
        """These NICs of bonded hosts are known not to work, and flows take the others."""
        self._tell({"down": sorted(down)})

    def _tell(self, what: Mapping[str, Any]) -> None:
        for member in self.members:
            if not member.poll():
                member.tell(json.dumps(what))

    def failure(self) -> str:
        """Why an agent ended early; empty if none did."""
        for member in self.members:
            if member.poll() and member.failure:
                return member.failure
        return ""

    def finished(self) -> bool:
        """Whether all have ended."""
        polled = [member.poll() for member in self.members]  # all of them, to collect their exit codes
        return all(polled)

    def end(self) -> None:
        """End the agents that still run; their counts stay in shared memory."""
        for member in self.members:
            if not member.poll():
                os.kill(member.pid, signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS
        while not self.finished() and time.monotonic() < deadline:
            time.sleep(0.01)
        for member in self.members:
            if not member.poll():
                os.kill(member.pid, signal.SIGKILL)
                os.waitpid(member.pid, 0)


class AgentProcess:
    """One agent process, seen from outside."""

    def __init__(self, spec: AgentSpec, config: AgentConfig) -> None:
        self.spec, self.config = spec, config
        self.failure = ""
        self.identities: list[Identity] = []  # of its controllers, once it is ready
        self._ended = False
        self._begun = b""  # of a message, if the first byte was one
        self._reports, report = os.pipe()
        start, self.start_pipe = os.pipe()
        options, self._option_pipe = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._reports)
            os.close(self.start_pipe)
            os.close(self._option_pipe)
            _child(spec, config, Pipes(report, start, options), parent)
        os.close(report)
        os.close(start)
        os.close(options)

    def tell(self, what: str) -> None:
        """A controller, by its number, has other options from now on; or NICs are down. It is JSON."""
        os.write(self._option_pipe, f"{what}\n".encode())
        os.kill(self.pid, signal.SIGUSR1)

    def wait_ready(self) -> None:
        """Blocks until the agent is ready. Raises TestbedError if it failed instead."""
        self._begun = os.read(self._reports, 1)
        if self._begun == b"+":
            self._begun = b""
            self.identities = [Identity(**one) for one in json.loads(self._read_line())]
        else:
            self.poll(wait=True)
            raise PluginFailed(self.failure or f"agent {self.spec.number} ended before it started")

    def _read_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            part = os.read(self._reports, 1)
            if not part:
                raise TestbedError(f"agent {self.spec.number} ended while it reported its controller")
            line += part
        return line

    def poll(self, wait: bool = False) -> bool:
        """Whether the agent has ended; then ``failure`` says why, or is empty."""
        if self._ended:
            return True
        pid, status = os.waitpid(self.pid, 0 if wait else os.WNOHANG)
        if pid == 0:
            return False
        self._ended = True
        if status:
            with os.fdopen(self._reports, "rb") as reports:
                self.failure = (self._begun + reports.read()).decode(errors="replace")
            code = os.waitstatus_to_exitcode(status)
            why = denied.MEMORY if code == denied.NO_MEMORY else f"agent {self.spec.number} ended with {code}"
            self.failure = self.failure or why
        return True


def _child(spec: AgentSpec, config: AgentConfig, pipes: Pipes, parent: int) -> None:
    """The agent's process; never returns."""
    status = 1
    try:
        linux.die_with_parent(parent)
        _prepare_process(spec.core)
        controller, moves, build = _prepare(spec, config)
        signal.signal(signal.SIGUSR1, lambda _number, _frame: _told(controller, moves, pipes.options))
        log.info("agent ready", extra={"agent": spec.number, "controller": type(controller).__name__})
        os.write(
            pipes.report, b"+" + json.dumps([one.as_dict() for one in Identity.all_of(controller)]).encode() + b"\n"
        )
        epoch = os.read(pipes.start, 8)
        if len(epoch) == 8:
            build(Clock(config.dilation, int.from_bytes(epoch, "little"))).run()
            status = 0
    except Ended:
        status = 0
    except TestbedError as error:
        _report_failure(pipes.report, str(error))
    except BaseException as error:  # noqa: BLE001 - a bug of ours must reach the user as well
        _report_failure(pipes.report, f"agent {spec.number} failed: {denied.told(error)}")
    finally:
        os._exit(status)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise Ended


def _told(controller: RateController, move: Move, options: int) -> None:
    """What `AgentProcess.tell` has written; C is not running now, for Python handles signals."""
    for line in os.read(options, MESSAGE_BYTES).decode().splitlines():
        told = json.loads(line)
        if "down" in told:
            move(told["down"])
        else:
            configured(controller, told["controller"], told["options"])


def _report_failure(report: int, text: str) -> None:
    """Write a message that the other side reads when this process has ended; more than a pipe takes would block."""
    os.write(report, text.encode(errors="replace")[:MESSAGE_BYTES])


def _prepare_process(core: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    os.sched_setaffinity(0, {core})
    linux.sharpen_timers()
    linux.real_time(FIFO_PRIORITY)


def _prepare(spec: AgentSpec, config: AgentConfig) -> tuple[RateController, Move, Callable[[Clock], Agent]]:
    with Blaming(config.plugin):
        controller = config.controller(spec.paths, spec.first)
    many_paths = config.many_paths
    sockets = Sockets(spec.routes, config.framing, config.segment, config.own_ports, config.tag)
    pace = Pace(
        host=spec.host,
        line_rate=spec.paths.line_rate,
        wire_size=config.framing.wire_size,
        payload=config.framing.payload,
        burst=config.burst,
        at_once=config.at_once,
        credit=spec.timing.credit,
        quantum=spec.timing.quantum,
        hops=spec.paths.hops,
        first=spec.first,
        segment=config.segment,
        wake_by_ring=config.wake_by_ring,
        int_on=config.framing.int_hops > 0,
        arrivals=spec.arrivals,
        interface=spec.interface,
        uplink=spec.uplink,
        bucket=config.bucket,
        pair=spec.pair,
        pauses=spec.pauses,
    )
    meter = spec.meter
    lags = PacingStats(meter.rtt, meter.pacing_lag, meter.feedback_lag, meter.timer_lag, meter.messages, meter.given_up)
    rings = [DelayRing(Ring(fd, spec.ring_size), delay) for fd, delay in spec.rings]
    state = None
    if many_paths:
        choosers = many_paths.choosers(spec.paths, spec.first)
        state = PathState(spec.timing.timeout, spec.paths.base_rtt, choosers, many_paths.plugin)
    datapath = Datapath(
        spec.flows, sockets, rings, pace, lags,
        code=library(many_paths is not None), tasks=spec.tasks, number=spec.number, many_paths=state,
        transport=TransportState.of(config.transport, spec.timing.timeout, spec.paths, spec.messages),
        credits=_credits(spec, config),
    )  # fmt: skip
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection would delay packets by milliseconds

    def build(clock: Clock) -> Agent:
        if is_askable(controller):
            return FlowAgent(config.plugin, clock, controller, datapath, timing=spec.timing, meter=meter)
        return BatchAgent(config.plugin, clock, controller, datapath, timing=spec.timing, meter=meter)

    def move(down: Collection[str]) -> None:
        """Flows of bonds take the NICs that are not down."""
        if not spec.placed:
            return
        routes, hosts = spec.placed(down)
        for flow in sockets.connect(routes):
            datapath.move(flow, int(hosts[flow]), int(sockets.fds[flow]))

    return controller, move, build


def _credits(spec: AgentSpec, config: AgentConfig) -> CreditState | None:
    granted = spec.granted
    receivers = config.receivers(granted.paths) if granted else None
    if granted is None or receivers is None or config.receiver is None:
        return None
    sockets = Sockets(granted.routes, config.framing, False, config.own_ports, config.tag)
    fds = np.full(len(granted.paths), -1)
    fds[granted.flows] = sockets.fds
    return CreditState(receivers, config.receiver, granted.hosts, fds, sockets)


def split_by_host(hosts: Ints, agents: int) -> list[tuple[int, int]]:
    """Cut flows, ordered by host, into at most ``agents`` ranges [first, end) at host borders, of about equal size."""
    borders = np.concatenate(([0], np.flatnonzero(np.diff(hosts)) + 1, [len(hosts)]))
    wanted = np.linspace(0, len(hosts), agents + 1)
    cuts = sorted({int(borders[np.abs(borders - want).argmin()]) for want in wanted})
    return list(pairwise(cuts))
