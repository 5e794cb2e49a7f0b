"""How far a run is, with the live figures: a bar on a terminal, plain lines otherwise. Always on stderr."""

from __future__ import annotations

import time
from typing import TextIO

from testbed.base.progress import Bar
from testbed.live.observers import Observer
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import Update
from testbed.units import rounded, show_time

LINE_EVERY = 5.0  # s of wall time between plain lines


class Progress(Observer):
    """Every method may be called at any time, in any order."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.bar = Bar(stream)
        self.scene: Scene | None = None
        self.total = 0.0
        self.wall_total: float | None = None
        self._began = time.monotonic()
        self._last_line = float("-inf")

    def on_stage(self, text: str) -> None:
        self.bar.say(text)

    def on_begin(self, scene: Scene) -> None:
        self.scene = scene
        self.total, self.wall_total = scene.duration, scene.wall_seconds
        self._began = time.monotonic()
        self.bar.start(self.total)
        if not self.bar.shown:
            about = "" if self.wall_total is None else f", about {self.wall_total:.0f} s"
            self.on_stage(f"running {show_time(self.total)} of rack time{about}")

    def on_progress(self, now: Snapshot, changes: Update) -> None:  # noqa: ARG002 - what has happened is enough
        if self.scene is None:
            return
        port = self.scene.bottleneck
        queue, rtt = changes["ports"]["queue"][port], changes["rtt"]["p50"]
        wait = f"queue {show_time(rounded(queue * 8 / self.scene.ports[port].rate, 3))}  " if queue is not None else ""
        figures = (
            f"utilisation {changes['ports']['utilisation'][port] or 0.0:.0%}  {wait}"
            f"RTT {show_time(rounded(rtt, 3)) if rtt else '-'}"
        )
        nominal_now = changes["time"]
        if self.bar.shown:
            self.bar.update(min(nominal_now, self.total), figures)
            return
        moment = time.monotonic()
        if moment - self._last_line >= LINE_EVERY:
            self._last_line = moment
            share = nominal_now / self.total if self.total else 0.0
            self.on_stage(f"{share:4.0%}  {self._left(moment - self._began, share):.0f} s left  {figures}")

    def _left(self, gone: float, share: float) -> float:
        total = gone / max(share, 1e-9) if self.wall_total is None else self.wall_total
        return max(0.0, total - gone)

    def on_stop(self) -> None:
        self.bar.stop()
