from __future__ import annotations

import io
from typing import Any

from testbed.live.progress import Progress
from tests.live.made import scene, snapshot


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def goes_on(progress: Progress, time: float, utilisation: float, queue: float, rtt: float | None) -> None:
    told: dict[str, Any] = {
        "time": time,
        "ports": {"utilisation": [0.0, 0.0, utilisation], "queue": [0.0, 0.0, queue]},
        "rtt": {"p50": rtt, "p99": None},
    }
    progress.on_progress(snapshot(time, scene()), told)


def test_plain_lines() -> None:
    """At 8 Gbit/s, a queue of 4.04 KB is 4.04 us."""
    stream = io.StringIO()
    progress = Progress(stream)
    progress.on_stage("building 9 hosts")
    progress.on_begin(scene())
    goes_on(progress, 3e-3, 0.951, 4040, 12.3456e-6)
    goes_on(progress, 4e-3, 0.9, 0, None)  # too soon for another line
    progress.on_stop()
    assert stream.getvalue().splitlines() == [
        "building 9 hosts",
        "running 30 ms of rack time, about 30 s",
        " 10%  30 s left  utilisation 95%  queue 4.04 us  RTT 12.3 us",
    ]


def test_bar_on_a_terminal() -> None:
    stream = Terminal()
    progress = Progress(stream)
    goes_on(progress, 1e-3, 0.5, 1000, 8e-6)  # before the start: no harm
    progress.on_begin(scene())
    goes_on(progress, 15e-3, 0.5, 1000, None)
    progress.on_stage("a word in between")
    progress.on_stop()
    progress.on_stop()
    assert "50%" in stream.getvalue()
    assert "a word in between" in stream.getvalue()
    assert "\x1b[?25h" in stream.getvalue()  # the cursor is back
