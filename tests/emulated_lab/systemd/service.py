"""One service: its life from start to end, restarts included."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.emulated_lab.systemd import execution, journal, processes
from tests.emulated_lab.systemd.processes import Processes
from tests.emulated_lab.systemd.unitfile import UnitFile, signal_number

RESTARTS = {  # Restart= by how it ended: well, with a code, by a signal
    "no": (), "always": ("success", "exit-code", "signal"), "on-success": ("success",),
    "on-failure": ("exit-code", "signal"), "on-abnormal": ("signal",), "on-abort": ("signal",),
}  # fmt: skip
CLEAN = {-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM, -signal.SIGPIPE, 0}


class Service:
    """``state``, ``sub`` and ``result`` are ActiveState, SubState and Result of `systemctl show`.

    ``over`` hears that it is down for good.
    """

    def __init__(
        self, unit: UnitFile, running: Processes, over: Callable[[str], None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.unit, self.name = unit, unit.name
        self.state, self.sub, self.result = "inactive", "dead", "success"
        self.pid, self.code, self.restarts = 0, 0, 0
        self.entered = 0.0
        self._running, self._over, self._loop = running, over, loop
        self._starts: list[float] = []
        self._life: asyncio.Task[None] | None = None
        self._stopping = False
        self._settled = asyncio.Event()

    async def start(self) -> bool:
        """Returns when it is up (oneshot: when it is done); whether that went well."""
        if self.state in ("active", "activating", "reloading"):
            await self._settled.wait()
            return self.result == "success"
        for condition in self.unit.all("Unit.ConditionPathExists"):
            if Path(condition.lstrip("!")).exists() == condition.startswith("!"):
                journal.write(self.name, f"{self.name}: skipped, unmet condition check ConditionPathExists={condition}")
                return True
        if self._life is not None:
            await self._life
        self.restarts, self._stopping = 0, False
        self._settled.clear()
        self._life = self._loop.create_task(self._live())
        await self._settled.wait()
        return self.result == "success"

    async def stop(self) -> None:
        """Returns when it is down."""
        if self._life is None or self._life.done():
            self._set("failed" if self.state == "failed" else "inactive", "dead")
            return
        self._stopping = True
        if self.pid:
            await self._end(self.pid)
        else:
            self._life.cancel()
        await asyncio.wait([self._life])
        self._set("inactive", "dead")

    async def reload(self) -> bool:
        """ExecReload=."""
        return all([await self._run(command) == 0 for command in self.unit.all("Service.ExecReload")])

    def reset_failed(self) -> None:
        self._starts.clear()
        if self.state == "failed":
            self._set("inactive", "dead")
            self.result = "success"

    async def _live(self) -> None:
        try:
            while True:
                if self._too_often():
                    self.result = "start-limit-hit"
                    journal.write(self.name, f"{self.name}: Start request repeated too quickly.")
                    self._set("failed", "failed")
                    return
                await self._once()
                why = RESTARTS[self.unit.get("Service.Restart", "no")]
                if self._stopping or self.result not in why:
                    return
                self._set("activating", "auto-restart")
                await asyncio.sleep(self.unit.seconds("Service.RestartSec", "100ms"))
                self.restarts += 1
                journal.write(self.name, f"{self.name}: Scheduled restart job, restart counter is at {self.restarts}.")
        finally:
            self._settled.set()
            self._over(self.name)

    async def _once(self) -> None:
        """From ExecStartPre= to ExecStopPost=."""
        self.result = "success"
        self._set("activating", "start-pre")
        oneshot = self.unit.get("Service.Type", "simple") == "oneshot"
        for command in self.unit.all("Service.ExecStartPre"):
            if await self._run(command) != 0 and "-" not in execution.prefixes(command):
                return await self._down("exit-code")
        for command in self.unit.all("Service.ExecStart"):
            self._set("activating", "start")
            self.pid, ended = self._spawn(command)
            if not oneshot:
                journal.write(self.name, f"Started {self.name}.")
                self._set("active", "running")
                for after in self.unit.all("Service.ExecStartPost"):
                    await self._run(after)
                self._settled.set()
            self.code = await ended
            leader, self.pid = self.pid, 0
            if self._kills_all() and self.unit.flag("Service.SendSIGKILL", True):
                processes.kill(processes.in_session(leader), signal.SIGKILL)
            if self.code != 0 and "-" not in execution.prefixes(command):
                how = "signal" if self.code < 0 else "exit-code"
                journal.write(self.name, f"{self.name}: Main process exited, code={how}, status={abs(self.code)}")
                well = self.code in CLEAN or str(self.code) in self.unit.get("Service.SuccessExitStatus").split()
                return await self._down("success" if well and not oneshot else how)
        if oneshot and self.unit.flag("Service.RemainAfterExit", False):
            self._set("active", "exited")
            return None
        return await self._down("success")

    async def _down(self, result: str) -> None:
        self.result = result
        for command in self.unit.all("Service.ExecStopPost"):
            await self._run(command)
        execution.remove_runtime_folders(self.unit)
        failed = result != "success" and not self._stopping
        self._set("failed" if failed else "inactive", "failed" if failed else "dead")
        journal.write(self.name, f"{self.name}: {'Failed with result ' + repr(result) if failed else 'Deactivated'}.")

    async def _end(self, pid: int) -> None:
        """As KillMode=, KillSignal=, TimeoutStopSec= and SendSIGKILL= say."""
        self._set("deactivating", "stop-sigterm")
        for command in self.unit.all("Service.ExecStop"):
            await self._run(command)
        mode = self.unit.get("Service.KillMode", "control-group")
        ended = self._running.ended.get(pid)
        if ended is None or mode == "none":
            return
        number = signal_number(self.unit.get("Service.KillSignal", "SIGTERM"))
        processes.kill(processes.with_session(pid) if mode == "control-group" else [pid], number)
        limit = self.unit.seconds("Service.TimeoutStopSec", "90s")
        await asyncio.wait([ended], timeout=None if limit == float("inf") else limit)
        if self.unit.flag("Service.SendSIGKILL", True):
            processes.kill(processes.with_session(pid) if self._kills_all() else [pid], signal.SIGKILL)
        elif not ended.done() and self._life is not None:
            journal.write(self.name, f"{self.name}: Unit process {pid} remains running after unit stopped.")
            self._life.cancel()

    def _kills_all(self) -> bool:
        return self.unit.get("Service.KillMode", "control-group") in ("control-group", "mixed")

    async def _run(self, command: str) -> int:
        return await self._spawn(command)[1]

    def _spawn(self, command: str) -> tuple[int, asyncio.Future[int]]:
        output = journal.pipe(self.name, self._loop)
        try:
            pid = execution.spawn(command, self.unit, output, {"MAINPID": str(self.pid)} if self.pid else {})
            return pid, self._running.watch(pid)
        finally:
            os.close(output)

    def _too_often(self) -> bool:
        """StartLimitBurst= starts within StartLimitIntervalSec= are enough."""
        within = self.unit.seconds("Unit.StartLimitIntervalSec", "10s")
        now = time.monotonic()
        self._starts = [*(start for start in self._starts if now - start < within), now]
        return within > 0 and len(self._starts) > int(self.unit.get("Unit.StartLimitBurst", "5"))

    def _set(self, state: str, sub: str) -> None:
        if state != self.state:
            self.entered = time.time()
        self.state, self.sub = state, sub
