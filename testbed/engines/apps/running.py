"""The apps of a run: started and stopped when they are due, watched, and at the end what became of them."""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from testbed.base import linux
from testbed.clock import Clock
from testbed.engines.apps.app_process import AppProcess
from testbed.engines.apps.inside import become
from testbed.errors import BadInput
from testbed.experiment.apps import OWN_NAMES, Instance, instances
from testbed.experiment.model import Experiment
from testbed.results.app_output import figures
from testbed.results.apps import AppRecord
from testbed.results.tcp_timers import TcpTimers

log = logging.getLogger(__package__)
PATIENCE = 2.0  # wall seconds that they have to end when they are asked to
TURN = 0.5  # wall seconds that the last has to end before the one before it is asked


def check_folders(experiment: Experiment) -> None:
    """Raises BadInput if the working folder of an app is not there."""
    for app in experiment.apps:
        if app.folder and not Path(app.folder).is_dir():
            raise BadInput(f"app '{app.name}': folder: there is no folder {app.folder}; make it, or leave it out")


class RunningApps:
    """``netns`` tells the network namespace of a host, ``hosts`` is what they find as `/etc/hosts`."""

    def __init__(self, experiment: Experiment, clock: Clock, netns: Callable[[str], int], hosts: str) -> None:
        self.end_of_run, self.clock = experiment.time.end, clock
        self._netns, self._hosts = netns, hosts
        self._to_start = instances(experiment.apps)
        self.processes: list[AppProcess] = []

    def begin(self) -> None:
        """Start what must be ready before the run begins. Raises TestbedError."""
        for one in [one for one in self._to_start if one.app.ready]:
            self._start(one, 0.0)
            self.processes[-1].wait_ready()
            log.info("app ready", extra={"app": one.name, "host": one.host})

    def step(self, now: float) -> None:
        """Start and stop what is due."""
        for one in [one for one in self._to_start if one.app.start <= now]:
            self._start(one, now)
        for process in self.processes:
            process.poll(now)
            if not process.asked and process.one.app.stop is not None and process.one.app.stop <= now:
                process.ask_to_end()

    @property
    def next(self) -> float:
        """When `step` has something to do; inf if never again."""
        starts = [one.app.start for one in self._to_start]
        stops = [one.one.app.stop for one in self.processes if one.one.app.stop is not None and not one.asked]
        return min([*starts, *stops], default=math.inf)

    @property
    def going_on(self) -> bool:
        """Whether something is to be waited for: those that must be ready first serve others, and do not count."""
        unended = (one.one for one in self.processes if one.process.returncode is None)
        return any(not one.app.ready for one in [*self._to_start, *unended])

    def failure(self) -> str:
        """Of the first that ended as it must not; empty if none did."""
        return next((one.failed for one in self.processes if one.failed), "")

    def end(self, now: float) -> list[AppRecord]:
        """Ask all to end, wait, and end what is left. How they ended.

        The last is asked first: a client whose server has gone can say nothing of what it has done.
        """
        for process in reversed(self.processes):
            process.ask_to_end()
            _wait_for([process], now, TURN)
        _wait_for(self.processes, now, PATIENCE)
        for process in self.processes:
            process.kill()
            process.poll(now)
        return [self._record(one) for one in self.processes]

    def tcp(self, rtt: float, now: float) -> TcpTimers | None:
        """What TCP's timers did in all hosts with apps, where ``rtt`` is a base RTT; None if there are no apps."""
        hosts = dict.fromkeys(one.one.host for one in self.processes)
        if not hosts:
            return None
        wall, seconds = self.clock.wall_seconds(rtt), self.clock.wall_seconds(now)
        usual = map(self._congestion_control, hosts)
        return TcpTimers.of(map(self._counters, hosts), usual, wall, self.clock.dilation, seconds)

    def _counters(self, host: str) -> str:
        with linux.inside(self._netns(host)):
            return "".join(Path(f"/proc/thread-self/net/{name}").read_text() for name in ("snmp", "netstat"))

    def _congestion_control(self, host: str) -> str:
        with linux.inside(self._netns(host)):
            return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()

    def _record(self, process: AppProcess) -> AppRecord:
        one, printed = process.one, process.stdout()
        return AppRecord(
            name=one.name,
            host=one.host,
            begun=process.begun,
            ended=process.ended,
            code=process.poll(process.ended) or 0,
            stopped=process.asked,
            unended=process.asked and one.app.exit is not None,
            stdout=printed,
            stderr=process.stderr(),
            figures=figures(one.app, printed.decode(errors="replace"), self.clock.dilation),
        )

    def _start(self, one: Instance, now: float) -> None:
        self._to_start.remove(one)
        inside = partial(become, self._netns(one.host), one.host, self._hosts)
        self.processes.append(AppProcess(one, inside, self._environment(one, now), now))
        log.info("app started", extra={"app": one.name, "host": one.host, "pid_inside": self.processes[-1].process.pid})

    def _environment(self, one: Instance, now: float) -> dict[str, str]:
        stop = self.end_of_run if one.app.stop is None else one.app.stop
        own = {
            "HOST": one.host,
            "NUMBER": str(one.number),
            "DILATION": f"{self.clock.dilation:g}",
            "SECONDS": str(max(1, round(self.clock.wall_seconds(stop - now)))),
            "PYTHON": sys.executable,
        }
        return {**os.environ, **{OWN_NAMES + key: value for key, value in own.items()}, **one.app.environment}


def _wait_for(processes: Sequence[AppProcess], now: float, most: float) -> None:
    deadline = time.monotonic() + most
    while any(one.poll(now) is None for one in processes) and time.monotonic() < deadline:
        time.sleep(0.01)
