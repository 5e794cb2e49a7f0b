"""Advice about a real switch: two senders of DCTCP through SONiC's thresholds, in small virtual runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from testbed.advise import evidence
from testbed.advise.advice import Advice, advise
from testbed.advise.budget import Budget
from testbed.advise.evidence import virtual
from testbed.advise.question import Question, Task
from tests.support.checkout import ROOT
from tests.support.simulated import Here

SWITCH = ROOT / "topologies" / "sonic-switch.json"
SETTINGS = ("traffic.dscp=3", "time={duration: 600 us, warmup: 300 us}", "controller=dctcp")


@cache
def dctcp() -> Advice:
    """A tenth of a second of one core."""
    asked = Question(traffic=("incast-2",), switch=str(SWITCH), settings=SETTINGS, draws=1, checks=6)
    task = Task.of(asked, Path(mkdtemp()))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evidence, "VirtualEngine", Here)
        return advise(task, virtual(task.workloads, 1), Budget(None, 80), lambda _line: None, compared=False)
