"""Runs experiments through the command line, as a user does, and reads their summaries.

Physics is asserted of runs that the tool itself calls clean: the machine that runs the tests may be busy for a while.
Where it is a virtual one whose host gives its cores to others, as the kernel counts it, nothing can be asserted: tests
that fail then are skipped (conftest.py).
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest
from _pytest.outcomes import Failed

from testbed.experiment.load import load
from tests.support.commands import command

ATTEMPTS, LEAST = 6, 2  # at most and, once all tests together have spent `SPARE_SECONDS` on attempts, at least
SPARE_SECONDS = 600.0
REFUSED = "the rack is not as configured"
UNDRAWN = ("--set", "record.report=off")  # most tests read the tables: a report would cost each run a second
UNCALIBRATED = ("--set", "rack.calibrate=off")  # where links are not tested: a busy machine must not refuse them
# A little deeper than the default Kmax: calibration still sees all of RED, and fills and drains it 0.6 s sooner.
SHALLOW = ("--set", "rack.switch.buffer=1.8 MB")
# Without root, in virtual time: for what controllers, tuners and records do, whoever carries the packets.
VIRTUAL = ("--engine", "virtual", "--metrics-addr", "none")
# What others took from the cores. Where it made anything late, another reason says so.
BUSY = "CPU overload"
LATE_PAUSE = "late PFC pause"  # beyond the headroom packets may be dropped: for who asserts that none is


class Pace:
    """How much slower than asked for this machine runs racks cleanly now.

    At twice the dilation a stall is half as long. It rises with what a verdict says would cure the run, and falls by
    half: a machine that is busy stays so for a while, but most stalls come alone.
    """

    STEP, LONGEST, EASE = 1.5, 4.0, 0.5
    CURE = re.compile(r"a --dilation ([\d.]+) times as high")

    def __init__(self) -> None:
        self.slower = 1.0
        self.spare = SPARE_SECONDS

    def failed(self, knobs: Iterable[str] = ()) -> None:
        """The next run is slower: by as much as the verdict's knobs ask for and a little, or by a step."""
        cures = [1.2 * float(found[1]) for found in map(self.CURE.match, knobs) if found]
        self.slower = min(self.slower * max([self.STEP, *cures]), self.LONGEST)

    def kept_up(self) -> None:
        """The next run may be faster."""
        self.slower = max(self.slower * self.EASE, 1.0)


PACE = Pace()


Asked = tuple[float, tuple[str, ...], tuple[str, ...]]  # latest, will_do, arguments


class Run(NamedTuple):
    """A clean run."""

    summary: dict[str, Any]
    folder: Path


class Runs:
    """Clean runs that tests of several files look at: each is made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[Asked, Run | Failed] = {}
        self._asked: set[Asked] = set()  # by the test that is under way

    def clean(self, *arguments: str, latest: float = math.inf, will_do: tuple[str, ...] = ()) -> Run:
        """The run with these arguments, see `run_clean`; what failed once is not tried again."""
        key = latest, will_do, arguments
        self._asked.add(key)
        if key not in self._made:
            self._made[key] = self._make(*key)
        made = self._made[key]
        if not isinstance(made, Run):
            raise made
        return made

    def begin(self, again: bool) -> None:
        """The next test, or the same one ``again``: then what it asked for is made again."""
        for key in self._asked if again else ():
            self._made.pop(key, None)
        self._asked.clear()

    def _make(self, latest: float, will_do: tuple[str, ...], arguments: tuple[str, ...]) -> Run | Failed:
        folder = Path(mkdtemp(dir=self._folder))
        try:
            return Run(run_clean(folder, *arguments, latest=latest, will_do=will_do), folder / "clean")
        except Failed as error:
            return error


class Refused(Exception):
    """Calibration found a link that is not as configured: this machine was busy."""


class Aborted(Exception):
    """The run came to no end: whatever others do on this machine."""


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """The summary of one run, clean or not."""
    done = command("run", *UNDRAWN, *arguments, "--format", "json", "--out", str(folder), timeout=300)
    if done.returncode == 1 and REFUSED in done.stderr:
        raise Refused(done.stderr)
    if done.returncode not in (0, 3):
        raise Aborted(done.stderr)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def run_clean(folder: Path, *arguments: str, latest: float = math.inf, will_do: Iterable[str] = ()) -> dict[str, Any]:
    """The summary of the first clean run of a few attempts, as slow as needed: results do not depend on the dilation.

    A busy core alone will do: nothing was late. So do the reasons that ``will_do``, where a test asserts itself what
    they warn of. ``latest``: by how much no packet may have left late, nominal seconds; for figures that one stall
    would change, which a verdict allows. The results are in ``folder / "clean"``.
    """
    seen = []
    asked = _dilation(arguments)
    for attempt in range(ATTEMPTS):
        began = time.monotonic()
        dilation = ("--dilation", f"{PACE.slower * asked:g}")
        try:
            summary = run(folder / f"attempt-{attempt}", *arguments, *dilation)
        except Refused as refused:
            PACE.failed()
            seen.append(f"{dilation[1]}: {refused}")
        else:
            late = summary["pacing_lag_max"] or 0.0
            reasons = {reason["what"]: reason["remedy"] for reason in summary["verdict"]["reasons"]}
            if reasons.keys() <= {BUSY, *will_do} and late <= latest:
                PACE.kept_up()
                (folder / f"attempt-{attempt}").rename(folder / "clean")
                return summary
            PACE.failed(reasons.values())
            seen.append(f"{dilation[1]}: {summary['verdict']}; packets were up to {late * 1e6:.1f} us late")
        PACE.spare -= time.monotonic() - began
        if attempt + 1 >= LEAST and PACE.spare < 0:
            break
    pytest.fail("no clean run at --dilation\n" + "\n".join(seen))


def _dilation(arguments: tuple[str, ...]) -> float:
    if "--dilation" in arguments:
        return float(arguments[arguments.index("--dilation") + 1])
    return float(load(arguments[0]).experiment.time.dilation)
