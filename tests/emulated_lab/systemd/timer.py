"""One timer: starts its service once, and again where OnUnitActiveSec= or OnUnitInactiveSec= say so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from tests.emulated_lab.systemd.unitfile import BadUnit, UnitFile, span

FIRST = ("OnActiveSec", "OnBootSec", "OnStartupSec")
AGAIN = ("OnUnitActiveSec", "OnUnitInactiveSec")


class Timer:
    """``fire`` starts a service by name; ``over`` hears that this one has elapsed."""

    pid = code = restarts = 0
    result = "success"

    def __init__(
        self,
        unit: UnitFile,
        fire: Callable[[str], Awaitable[bool]],
        over: Callable[[str], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.unit, self.name = unit, unit.name
        if unit.all("Timer.OnCalendar"):
            raise BadUnit(f"{unit.name}: OnCalendar= is not known to this lab")
        self.starts = unit.get("Timer.Unit", unit.name.replace(".timer", ".service"))
        self.state, self.sub, self.entered = "inactive", "dead", 0.0
        self.next = 0.0  # wall-clock time, 0 for never
        self._fire, self._over, self._loop = fire, over, loop
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> bool:
        if self.state != "active":
            self.state, self.sub, self.entered = "active", "waiting", time.time()
            self._task = self._loop.create_task(self._wait())
        return True

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self.state, self.sub, self.next = "inactive", "dead", 0.0

    async def reload(self) -> bool:
        return False

    def reset_failed(self) -> None:
        """It does not fail."""

    async def _wait(self) -> None:
        first = [span(value) for key in FIRST for value in self.unit.all(f"Timer.{key}")]
        again = [span(value) for key in AGAIN for value in self.unit.all(f"Timer.{key}")]
        delay = min(first or again)
        while True:
            self.next = time.time() + delay
            await asyncio.sleep(delay)
            self.sub, self.next = "running", 0.0
            await self._fire(self.starts)
            if not again:
                break
            self.sub, delay = "waiting", min(again)
        self.state, self.sub = "inactive", "elapsed"
        self._over(self.name)
