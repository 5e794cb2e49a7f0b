"""All units of a node, and the orders that `systemctl` and `systemd-run` send."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tests.emulated_lab import control
from tests.emulated_lab.systemd import journal, udev, unitfile
from tests.emulated_lab.systemd.processes import Processes
from tests.emulated_lab.systemd.service import Service
from tests.emulated_lab.systemd.timer import Timer
from tests.emulated_lab.systemd.udev import Event
from tests.emulated_lab.systemd.unitfile import BadUnit

TRANSIENT = Path("/run/systemd/transient")
WANTED = Path("/etc/systemd/system/multi-user.target.wants")
Unit = Service | Timer


class Manager:
    """Files are read when a unit is first asked for, and again after a daemon-reload only."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running = Processes(loop)
        self._units: dict[str, Unit] = {}
        self._starting: dict[str, asyncio.Task[bool]] = {}  # what After= waits for

    async def serve(self) -> None:
        """Listen for orders."""
        Path(control.SOCKET).parent.mkdir(parents=True, exist_ok=True)
        TRANSIENT.mkdir(exist_ok=True)
        await asyncio.start_unix_server(self._connected, control.SOCKET)

    def boot(self, devices: list[Event]) -> None:
        """Start what devices want, as they are found, and what is enabled; all at once but for After=."""
        for event in devices:
            self.happened(event)
        self._together([link.name for link in sorted(WANTED.iterdir())])

    def happened(self, event: Event) -> None:
        """A uevent. Raises BadUnit for a rule that is not understood."""
        self._together(udev.wanted(event))

    def _together(self, names: list[str]) -> None:
        new = [name for name in names if name not in self._starting]
        for name in new:
            task = self._loop.create_task(self._start_after_others(name))
            self._starting[name] = task
            task.add_done_callback(lambda _task, name=name: self._starting.pop(name, None))

    async def _start_after_others(self, name: str) -> bool:
        await asyncio.sleep(0)  # until all that are started together are known
        try:
            unit = self.unit(name)
            after = unit.unit.all("Unit.After") if unit else []
            earlier = [self._starting[one] for line in after for one in line.split() if one in self._starting]
            await asyncio.gather(*earlier)
            return await self.start_by_name(name)
        except BadUnit as error:
            journal.write(name, f"Failed to start {name}: {error}")
            return False

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        order = json.loads(await reader.readline())
        try:
            answer = await self._obey(order)
            writer.write(json.dumps(answer).encode() + b"\n")
        except BadUnit as error:
            writer.write(json.dumps({"error": str(error)}).encode() + b"\n")
        finally:
            writer.close()  # whatever happened: nobody waits for an answer that does not come

    async def _obey(self, order: dict[str, Any]) -> dict[str, Any]:
        what, name = order["do"], order.get("unit", "")
        if not name:
            return self._obey_at_large(what, order)
        if what == "transient":
            self._write_transient(order["files"])
        unit = self.unit(name)
        if unit is None:
            return {"missing": True}
        if what == "show":
            return self._properties(unit)
        job = getattr(self, f"_{what.replace('-', '_')}")(unit)
        if order.get("block", True):
            return {"ok": await job}
        self._tasks = [*getattr(self, "_tasks", []), self._loop.create_task(job)]  # kept, or it may be collected
        return {"ok": True}

    def _obey_at_large(self, what: str, order: dict[str, Any]) -> dict[str, Any]:
        """What is not about one unit."""
        if what == "halt":
            os._exit(0)
        if what == "list":
            return {"units": [self._properties(unit) for unit in self._units.values()]}
        if what == "uevent":
            self.happened(Event(**{**order["event"], "parents": tuple(order["event"]["parents"])}))
        elif what == "daemon-reload":
            for loaded in self._units.values():
                loaded.unit = unitfile.load(loaded.name) or loaded.unit
            self._units = {n: u for n, u in self._units.items() if u.state != "inactive" or unitfile.find(n)}
        return {}

    def unit(self, name: str) -> Unit | None:
        """None if it has no file. Raises BadUnit."""
        if name not in self._units:
            file = unitfile.load(name)
            if file is None:
                return None
            self._units[name] = self._make(file)
        return self._units[name]

    def _make(self, file: unitfile.UnitFile) -> Unit:
        if file.name.endswith(".timer"):
            return Timer(file, self.start_by_name, self._forget_transient, self._loop)
        return Service(file, self._running, self._forget_transient, self._loop)

    async def start_by_name(self, name: str) -> bool:
        unit = self.unit(name)
        if unit is None:
            journal.write(name, f"Failed to start {name}: Unit {name} not found.")
            return False
        return await self._start(unit)

    async def _start(self, unit: Unit) -> bool:
        wants = [name for line in unit.unit.all("Unit.Wants") for name in line.split()]
        self._together([name for name in wants if unitfile.find(name)])
        return await unit.start()

    async def _stop(self, unit: Unit) -> bool:
        await unit.stop()
        self._forget_transient(unit.name)
        return True

    async def _restart(self, unit: Unit) -> bool:
        await unit.stop()
        return await unit.start()

    async def _reload(self, unit: Unit) -> bool:
        return await unit.reload()

    async def _reset_failed(self, unit: Unit) -> bool:
        unit.reset_failed()
        return True

    async def _transient(self, unit: Unit) -> bool:
        return await unit.start()

    def _write_transient(self, files: dict[str, str]) -> None:
        """Raises BadUnit for a name that is taken."""
        for name, text in files.items():
            if unitfile.find(name) is not None:
                raise BadUnit(f"Unit {name} was already loaded or has a fragment file.")
            (TRANSIENT / name).write_text(text)

    def _forget_transient(self, name: str) -> None:
        """Of a transient timer and its service nothing is left once both are over."""
        stem = name.rpartition(".")[0]
        pair = [stem + ".timer", stem + ".service"]
        units = [self._units.get(one) for one in pair]
        if (TRANSIENT / name).exists() and not any(unit and unit.state in ("active", "activating") for unit in units):
            for one in pair:
                (TRANSIENT / one).unlink(missing_ok=True)
                self._units.pop(one, None)

    def _properties(self, unit: Unit) -> dict[str, Any]:
        file = unit.unit
        common = {
            "Id": unit.name, "Names": unit.name, "LoadState": "loaded", "ActiveState": unit.state,
            "SubState": unit.sub, "Result": unit.result, "FragmentPath": str(file.path), "MainPID": unit.pid,
            "Description": file.get("Unit.Description", unit.name), "StateChangeTimestamp": unit.entered,
            "Transient": "yes" if file.path.is_relative_to(TRANSIENT) else "no",
        }  # fmt: skip
        if isinstance(unit, Timer):
            return common | {"Unit": unit.starts, "NextElapseUSecRealtime": unit.next}
        settings = {
            key: file.get(f"Service.{key}", default)
            for key, default in (
                ("Type", "simple"), ("Restart", "no"), ("KillMode", "control-group"), ("KillSignal", "SIGTERM"),
                ("SendSIGKILL", "yes"), ("TimeoutStopSec", "90s"), ("User", ""), ("ExecStart", ""),
            )
        }  # fmt: skip
        return common | settings | {"ExecMainStatus": abs(unit.code), "NRestarts": unit.restarts}
