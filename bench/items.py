"""The items of the bench: each measures, compares with its target, and yields rows."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import command, memory, rack_start, switch
from bench.measure import Row, spread
from testbed.experiment.topology.framing import Framing
from testbed.sdk import new

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 3

GOODPUT_SECONDS = 2.0  # wall
GOODPUT_DILATIONS = (1000, 500, 200, 100)  # 100 Mbit/s to 1 Gbit/s of a 100 Gbit/s line
GOODPUT_ERROR = 0.02
BLAST_SECONDS = 0.7
BLAST_REPEATS = 9
SWITCH_LEAST = 0.9
HELP_SECONDS = 0.3
MEMORY_BYTES = 1e9
START_SECONDS = 2.0
LARGE_SECONDS = 15.0  # issue 6
LINES = 60


def of_switch() -> Iterator[Row]:
    """The port program beside the bare bridge."""
    bridge, ours = switch.compare(BLAST_REPEATS, BLAST_SECONDS)
    ratios = [mine / theirs for theirs, mine in zip(bridge, ours, strict=True)]
    yield Row(
        "switch with queue model, ECN and INT / bare bridge", spread(ratios, ".2f"), f">= {SWITCH_LEAST}",
        median(ratios) >= SWITCH_LEAST,
        f"packets/s: {spread(ours)} / {spread(bridge)}; every packet queued, marked and stamped",
        {"bridge": bridge, "ours": ours},
    )  # fmt: skip


def of_goodput() -> Iterator[Row]:
    """One flow at line rate, at several speeds of the wire."""
    framing = Framing(1000)
    for dilation in GOODPUT_DILATIONS:
        summary = command.run(
            "incast-2", "--set", "traffic.senders=1", "--controller", "fixed", *command.UNCALIBRATED,
            "--dilation", str(dilation), "--duration", f"{GOODPUT_SECONDS / dilation * 1e3:g} ms",
        )  # fmt: skip
        asked = summary["bottleneck_rate"] * framing.payload / framing.wire_size
        error = summary["goodput"] / asked - 1
        wall = summary["bottleneck_rate"] / dilation
        yield Row(
            f"goodput delivered / asked, line at {wall / 1e6:,.0f} Mbit/s of wall time", f"{error:+.2%}",
            f"within {GOODPUT_ERROR:.0%}", abs(error) <= GOODPUT_ERROR, f"verdict: {summary['verdict']['word']}",
            {"asked": asked, "goodput": summary["goodput"], "dilation": dilation},
        )  # fmt: skip


def of_help() -> Iterator[Row]:
    """The CPU time of the shortest command."""
    seconds = [command.cost("--help").cpu for _ in range(2 * REPEATS + 1)]
    yield Row(
        "testbed --help, CPU", f"{spread(seconds, '.2f')} s", f"< {HELP_SECONDS} s",
        median(seconds) < HELP_SECONDS, values={"seconds": seconds},
    )  # fmt: skip


def of_memory() -> Iterator[Row]:
    """All processes of an incast with as many samples as the default run has."""
    most = memory.peak("incast-64", "--dilation", "500")
    yield Row(
        "memory of the whole run, 64 hosts", f"{most / 1e6:,.0f} MB", f"< {MEMORY_BYTES / 1e6:,.0f} MB",
        most < MEMORY_BYTES, "PSS of all processes, highest of all samples", {"bytes": most},
    )  # fmt: skip


def of_start() -> Iterator[Row]:
    """A rack of 65 hosts; and runs, a usual and a large one, when everything is installed and compiled."""
    missing = rack_start.mininet_missing()
    mine, theirs = [], []
    rack_start.ours()  # compiles, if need be
    for _ in range(REPEATS):
        mine.append(rack_start.ours())
        if not missing:
            theirs.append(rack_start.mininet())
    beside = f"stock Mininet, TCLink and static ARP: {spread(theirs, '.1f')} s" if theirs else (
        f"stock Mininet: not installed ({', '.join(missing)})"
    )  # fmt: skip
    yield Row(
        "rack of 65 hosts, from start to active", f"{spread(mine, '.2f')} s", f"<= {START_SECONDS:g} s",
        median(mine) <= START_SECONDS, beside, {"ours": mine, "mininet": theirs},
    )  # fmt: skip
    setup, until = [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run([ROOT / "scripts" / "setup"], check=True, capture_output=True)
        setup.append(time.perf_counter() - began)
        until.append(command.seconds_until_it_begins("incast-64", "--duration", "1 ms"))
    total = [one + other for one, other in zip(setup, until, strict=True)]
    yield Row(
        "second `make run` until the experiment begins", f"{spread(total, '.2f')} s", f"<= {START_SECONDS:g} s",
        median(total) <= START_SECONDS,
        f"scripts/setup {spread(setup, '.2f')} s, testbed run {spread(until, '.2f')} s",
        {"setup": setup, "run": until},
    )  # fmt: skip
    large = [
        command.seconds_until_it_begins("pet-288", "--duration", "1 ms", "--dilation", "1500") for _ in range(REPEATS)
    ]
    yield Row(
        "288 hosts and 18 switches until the experiment begins", f"{spread(large, '.1f')} s", f"<= {LARGE_SECONDS:g} s",
        median(large) <= LARGE_SECONDS, "testbed run pet-288, calibration included", {"run": large},
    )  # fmt: skip


def of_lines() -> Iterator[Row]:
    """What a user begins with when writing a controller."""
    with tempfile.TemporaryDirectory() as folder:
        files = new.new("controller", "bench_cc", Path(folder))
        lines = [sum(bool(line.strip()) for line in file.read_text().splitlines()) for file in files]
    yield Row(
        "lines of a new controller, with its test", str(sum(lines)), f"<= {LINES}", sum(lines) <= LINES,
        f"{lines[0]} and {lines[1]}, not counting blank ones", {"lines": lines},
    )  # fmt: skip
