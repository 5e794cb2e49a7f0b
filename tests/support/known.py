"""The runs that tests of several files share, by their arguments; `conftest.runs` makes each once."""

from __future__ import annotations

from testbed.dataplane.shaper import BURST_FRAMES
from tests.support import theory
from tests.support.runs import Run, Runs

BDP = 100e9 * 8e-6 / 8  # bytes, without serialisation
PACKET = 1000 + 122  # payload and headers with one INT hop
# Eight first windows less what drains meanwhile are 7 BDP, and windows are whole packets: no byte more is needed.
HPCC_BUFFER = round(7.2 * BDP + 8 * PACKET)

SLACK = (BURST_FRAMES + 2) * theory.WIRE * 8 / theory.LINE  # s; see testbed/dataplane/wire.h

EIGHT = {  # settings beside the controller's name, for eight senders to one
    "hpcc": ("time.duration=3 ms", "time.warmup=1 ms", "controller.flows=100", f"rack.switch.buffer={HPCC_BUFFER} B"),
    "swift": ("time.duration=3 ms", "time.warmup=1.5 ms"),
    "adpg": ("time.duration=7 ms", "time.warmup=3.5 ms", "controller.start_rate=10 %"),
}


def settings(controller: str) -> list[str]:
    """Of the run with eight senders."""
    return ["tuner.preset=secn1", *EIGHT[controller]]


def eight(runs: Runs, controller: str) -> Run:
    """Eight senders to one."""
    options = [word for setting in settings(controller) for word in ("--set", setting)]
    return runs.clean("incast-8", "--controller", controller, *options)
