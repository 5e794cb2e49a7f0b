"""What a packet costs the kernel engine, beside what a timer's interrupt costs this machine.

At low load a packet waits for timers of its own: of the agent, of the shapers on its way and on its ACK's. On a virtual
machine setting one and its interrupt are exits to the host.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import command
from bench.blaster import compiled
from bench.measure import Row, spread

REPEATS = 3
PERIOD, PAIRS = 100_000, 9  # ns, as often as timers come at the dilations below
DILATIONS = (1000, 250)
SECONDS, BEGINS = 3.0, 1.0  # wall: of the window; of it, into the experiment
LEAST = 12.0  # core-us
TICK = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spent:
    """By all cores since the machine started: seconds, and the timers' interrupts."""

    processes: float
    system: float
    interrupts: float
    timers: int

    @classmethod
    def now(cls) -> Spent:
        """/proc/stat and /proc/interrupts; what another virtual machine took is in none."""
        user, nice, system, _, _, hard, soft, *_ = (
            TICK * int(one) for one in Path("/proc/stat").read_text().split()[1:9]
        )
        local = next(line for line in Path("/proc/interrupts").read_text().splitlines() if "LOC:" in line)
        return cls(user + nice, system, hard + soft, sum(int(one) for one in local.split() if one.isdigit()))


@dataclass(frozen=True)
class Cost:
    """Of a packet: core-us, and interrupts of timers."""

    processes: float
    system: float
    interrupts: float
    timers: float

    @property
    def all(self) -> float:
        """Core-us."""
        return self.processes + self.system + self.interrupts


def interrupt() -> list[float]:
    """Core-us that a timer's interrupt takes, several times."""
    program = compiled("wakeup.c", "wakeup", ("-O2",))
    said = subprocess.run([program, str(PERIOD), str(PAIRS)], capture_output=True, text=True, check=True).stdout
    return [float(line) for line in said.split()]


def packet(dilation: float) -> Cost:
    """`incast-8` with HPCC, of which a window of wall time is looked at. Raises CommandFailed."""
    duration = f"{(SECONDS + 2 * BEGINS) / dilation * 1e3:g} ms"
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [
                command.TESTBED, "run", "incast-8", "--controller", "hpcc", "--dilation", f"{dilation:g}",
                "--duration", duration, "--set", "time.warmup=0", "--set", "record.report=false", *command.UNCALIBRATED,
                "--metrics-addr", "none", "--out", f"{folder}/run", "--format", "json",
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        command.until_it_begins(process)
        time.sleep(BEGINS)
        began, before = time.monotonic(), Spent.now()
        time.sleep(SECONDS)
        seconds, after = time.monotonic() - began, Spent.now()
        said, complaints = process.communicate()
    if not said:
        raise command.CommandFailed(complaints[-500:])
    packets = seconds * float(json.loads(said)["packets_per_wall_second"])
    return Cost(
        1e6 * (after.processes - before.processes) / packets, 1e6 * (after.system - before.system) / packets,
        1e6 * (after.interrupts - before.interrupts) / packets, (after.timers - before.timers) / packets,
    )  # fmt: skip


def of_packet() -> Iterator[Row]:
    """In turns: the interrupt alone, and packets at each dilation."""
    alone: list[float] = []
    found: dict[int, list[Cost]] = {dilation: [] for dilation in DILATIONS}
    for _ in range(REPEATS):
        alone += interrupt()
        for dilation, costs in found.items():
            costs.append(packet(dilation))
    yield Row("a timer's interrupt, core-us", spread(alone, ".1f"), values={"interrupt": alone})
    for dilation, costs in found.items():
        whole, timers = [one.all for one in costs], [one.timers for one in costs]
        judged = dilation == min(DILATIONS)
        parts = ", ".join(
            f"{part} {spread([getattr(one, part) for one in costs], '.1f')}"
            for part in ("processes", "system", "interrupts")
        )
        yield Row(
            f"a packet in the kernel at dilation {dilation}, core-us", spread(whole, ".1f"),
            f"<= {LEAST:g}" if judged else "", median(whole) <= LEAST if judged else None,
            f"{parts}; {spread(timers, '.2f')} interrupts of timers per packet, "
            f"by themselves {median(timers) * median(alone):.1f}",
            {"costs": [vars(one) for one in costs]},
        )  # fmt: skip
