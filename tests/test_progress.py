from __future__ import annotations

import io

from testbed.telemetry.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.stage("building 9 hosts")
    progress.start(30e-3, 30.0)
    progress.update(3e-3, 0.951, 4.04e-6, 12.3456e-6)
    progress.update(4e-3, 0.9, 0, float("nan"))  # too soon for another line
    progress.finish()
    assert stream.getvalue().splitlines() == [
        "building 9 hosts",
        "running 30 ms of rack time, about 30 s",
        " 10%  30 s left  utilisation 95%  queue 4.04 us  RTT 12.3 us",
    ]


def test_bar_on_a_terminal() -> None:
    stream = Terminal()
    progress = Progress(stream)
    progress.update(1e-3, 0.5, 1e-6, 8e-6)  # before the start: no harm
    progress.start(30e-3, 30.0)
    progress.update(15e-3, 0.5, 1e-6, float("nan"), note="degraded")
    progress.stage("a word in between")
    progress.finish()
    progress.finish()
    assert "50%" in stream.getvalue()
    assert "a word in between" in stream.getvalue()
    assert "\x1b[?25h" in stream.getvalue()  # the cursor is back
