"""Plugins that fail where a test wants them to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.support.outside import run

CONTROLLER = """
from testbed.controller import RateController

class Mine(RateController):
    name = "mine"
    count = 0

    def __init__(self, config, paths):
        super().__init__(config, paths)
        self.rate /= 4
        {init}

    def on_start(self, now, flows):
        self.timer[flows] = now + 100e-6

    def on_feedback(self, now, flows, feedback):
        self.count += 1
        if self.count > 20:
            {feedback}

    def on_timer(self, now, flows):
        self.timer[flows] = float("inf")
        {timer}
"""
FLOW_CONTROLLER = """
from testbed.controller import CompiledController

class Mine(CompiledController):
    name = "mine"
    count: int

    def on_ack(self, ack):
        self.count += 1
        if self.count > 20:
            {ack}
"""
TUNER = """
import numpy as np
from testbed.tuner import Thresholds, Tuner

class Mine(Tuner):
    name = "mine"

    def __init__(self, config, ports):
        super().__init__(config, ports)
        self.slot = 100e-6

    def initial(self):
        return {initial}

    def on_slot(self, now, sample):
        return {slot}
"""
GOOD_THRESHOLDS = "Thresholds.uniform(len(self.ports), 1e5, 4e5, 0.2)"
BAD_THRESHOLDS = "Thresholds.uniform(len(self.ports), 4e5, 1e5, 0.2)"


def plugin(folder: Path, template: str, **parts: str) -> tuple[Path, str]:
    """A plugin file; every part that is not given does nothing."""
    names = re.findall(r"\{(\w+)\}", template)
    file = folder / "mine.py"
    file.write_text(template.format(**{**dict.fromkeys(names, "pass"), **parts}))
    return file, file.read_text()


def failed(
    folder: Path, command: Sequence[str], template: str, parts: Mapping[str, str], marker: str
) -> tuple[CompletedProcess[str], str]:
    """A run under a plugin whose line with ``marker`` fails, and how its message must begin to name that line."""
    file, source = plugin(folder, template, **parts)
    kind = "tuner" if template is TUNER else "controller"
    done = run(folder, *command, f"--{kind}", str(file))
    assert done.returncode == 1, done.stderr
    return done, f"{kind} 'mine' ({file}, line {line_of(source, marker)}): "


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def assert_blamed(done: CompletedProcess[str], kept: Mapping[str, Any], blame: str, says: str, duration: float) -> None:
    """The run ended before ``duration`` (s), with one message that begins with ``blame``; ``kept`` is its summary."""
    assert done.returncode == 1, done.stderr
    (message,) = [line for line in done.stderr.splitlines() if line.startswith("testbed: ")]
    assert message.startswith(f"testbed: {blame}")
    assert says in message
    assert message.endswith("; what was measured until then is kept")
    assert kept["verdict"]["word"] == "degraded"
    assert kept["verdict"]["reasons"][0]["how_much"].startswith(blame)
    assert 0 < kept["duration"] < duration
    assert kept["packets_sent"] > 0
