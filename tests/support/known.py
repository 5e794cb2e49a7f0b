"""The runs that tests of several files share, by their arguments; `conftest.runs` makes each once."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.dataplane.shaper import BURST_FRAMES
from tests.support import theory
from tests.support.runs import Run, Runs

BDP = 100e9 * 8e-6 / 8  # bytes, without serialisation
PACKET = 1000 + 122  # payload and headers with one INT hop
# Eight first windows less what drains meanwhile are 7 BDP, and windows are whole packets: no byte more is needed.
HPCC_BUFFER = round(7.2 * BDP + 8 * PACKET)

SLACK = (BURST_FRAMES + 2) * theory.WIRE * 8 / theory.LINE  # s; see testbed/dataplane/wire.h

# Settings beside the controller's name, for eight senders to one. In virtual time the windows that begin twice as late
# show the same: mean queues differ by 0.1 %.
EIGHT = {
    "hpcc": ("time.duration=3 ms", "time.warmup=1 ms", "controller.flows=100", f"rack.switch.buffer={HPCC_BUFFER} B"),
    "swift": ("time.duration=2.5 ms", "time.warmup=1 ms"),
    "adpg": ("time.duration=5 ms", "time.warmup=1.5 ms", "controller.start_rate=10 %"),
}


# Of the paper but for g: alpha takes 55 us / g to settle, and its mean does not depend on g. Over 20 seeds in virtual
# time, queue and marks from 6 ms on are 0.5 and 1.5 % below those from 8 ms on. Marks are as many per ms whatever
# packets carry, and chance moves the queue as far: larger packets are fewer. Pmax rises with them, for SECN1's queue.
DCQCN_PAYLOAD, DCQCN_PMAX = 4096, 0.04
DCQCN = (
    "tuner.preset=secn1", f"tuner.pmax={DCQCN_PMAX}", f"traffic.payload={DCQCN_PAYLOAD} B",
    "controller.g=0.015625", "controller.initial_alpha=0.15", "time.duration=18 ms", "time.warmup=6 ms",
)  # fmt: skip


def settings(controller: str) -> list[str]:
    """Of the run with eight senders."""
    return ["tuner.preset=secn1", *EIGHT[controller]]


def eight(runs: Runs, controller: str) -> Run:
    """Eight senders to one."""
    return runs.clean("incast-8", "--controller", controller, *options(settings(controller)))


def dcqcn_at_rest(runs: Runs) -> Run:
    """DCQCN's. A burst after a longer stall than an RTT would pass RED's upper threshold: all of it would be marked."""
    return runs.clean("incast-8", *options(DCQCN), "--dilation", "500", latest=10e-6)


def options(settings: Sequence[str]) -> list[str]:
    """For the command line."""
    return [word for setting in settings for word in ("--set", setting)]
