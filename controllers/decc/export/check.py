"""The export that was just written, compiled and compared with the controller that it was made of."""

from __future__ import annotations

import ctypes
import tempfile
from ctypes import POINTER, c_double, c_int
from pathlib import Path

import numpy as np

from testbed.base.compiler import compile_to
from testbed.controller import Ack
from testbed.controller import Path as Line

from ..controller import DeccForm

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wdouble-promotion")
FLAGS = ("-std=c99", "-O2", *WARNINGS, "-ffp-contract=off", "-shared", "-fPIC")
LINE = Line(line_rate=100e9, base_rtt=8.192e-6, longest_rtt=8.192e-6, hops=1, payload=1000, wire_size=1078)
FLOWS, ACKS = 4, 300
CLOSE = 1e-9  # of a rate and a window


class CPath(ctypes.Structure):
    """struct decc_path."""

    _fields_ = [(name, c_double) for name in ("line_rate", "base_rtt", "packet")]


class CFlow(ctypes.Structure):
    """struct decc_flow."""

    _fields_ = [
        *((name, c_double) for name in (
            "rate", "window", "cwnd", "rtt_average", "begun", "until", "turn", "acked", "rtts", "packets", "lost",
            "halved",
        )),
        ("seen", c_double * 25), ("fresh", c_int),
    ]  # fmt: skip


def compiled(folder: Path) -> ctypes.CDLL:
    """The export as a library. Raises TestbedError if it cannot be compiled."""
    with tempfile.TemporaryDirectory() as made:
        target = Path(made) / "export.so"
        compile_to(target, tuple(folder / name for name in ("decc.c", "decc_policy.c")), (*FLAGS, f"-I{folder}", "-lm"))
        library = ctypes.CDLL(str(target))
    flow, path = POINTER(CFlow), POINTER(CPath)
    library.decc_start.argtypes = [flow, path]
    library.decc_ack.argtypes = [flow, path, c_double, c_double, c_int, c_double]
    library.decc_loss.argtypes = [flow, c_int]
    library.decc_timeout.argtypes = [flow, path, c_double]
    return library


def wrong(folder: Path, form: type[DeccForm], policy: str) -> tuple[int, int]:
    """How many decisions of some flows are not the controller's, and of how many.

    ``policy``: its file, or "" for the shipped one.
    """
    library, path = compiled(folder), CPath(LINE.line_rate, LINE.base_rtt, LINE.wire_size)
    rng, bad, decisions = np.random.default_rng(1), 0, 0
    for _ in range(FLOWS):
        mine, other = CFlow(), form(form.Config.model_validate({"policy": policy}), LINE)
        library.decc_start(mine, path)
        now, busy = 0.0, rng.uniform(0, 2)
        for _ in range(ACKS):
            rtt = LINE.base_rtt * (1 + rng.exponential(busy))
            now += rtt * rng.uniform(0.2, 0.8)
            if rng.random() < 0.05:
                library.decc_loss(mine, 1)
                other.on_loss(now, 1)
            if rng.random() < 0.01:
                library.decc_timeout(mine, path, now)
                other.on_timeout(now)
            packets = int(rng.integers(0, 1 + max(1, round(other.cwnd / LINE.wire_size / 2))))
            size = packets * LINE.wire_size
            decisions += library.decc_ack(mine, path, now, rtt, packets, size)
            other.on_ack(Ack(now, packets, size, 0, 0, 0, rtt, 0, ()))
            bad += not np.allclose((mine.rate, mine.window), (other.rate, other.window), rtol=CLOSE, atol=0)
    return bad, decisions
