"""The portable export that was just written, compiled and compared with what it was made of.

The tests hold it to much more; this is for policies that they have not seen.
"""

from __future__ import annotations

import ctypes
import tempfile
from ctypes import POINTER, byref, c_double, c_int
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import compile_to

from ..observation import LEAST_RATE, AdpgConfig, History, limited, no_congestion, ramped, signal
from ..tree import Trees

FLOWS, ROUNDS = 200, 100
BASE_RTT = 8.192e-6  # s
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-shared", "-fPIC")


class _Flow(ctypes.Structure):
    """struct adpg_flow of portable/adpg.h."""

    _fields_ = [
        *((name, c_double) for name in ("rate", "oldest", "newest", "signal")), ("fresh", c_int), ("idle", c_int),
    ]  # fmt: skip


class _Config(ctypes.Structure):
    """struct adpg_config."""

    _fields_ = [(name, c_double) for name in ("beta", "target", "reference_rtt", "ramp")]


def portable(folder: Path, trees: Trees, config: AdpgConfig) -> str:
    """What is wrong with the portable export, or nothing. Raises TestbedError if it cannot be compiled."""
    library = _compiled(folder, ("adpg.c", "adpg_trees.c"), "-lm", "-ffp-contract=off")
    library.adpg_decide.restype = c_double
    library.adpg_decide.argtypes = [POINTER(_Flow), POINTER(_Config), c_double, c_double]
    settings = _Config(config.beta, config.target, config.reference_rtt, config.ramp)
    rtts, flows = np.multiply(_rtts(), 1e-9, dtype=np.float64), [_Flow() for _ in range(FLOWS)]
    for flow in flows:
        library.adpg_start(byref(flow), c_double(config.start_rate))
    found = np.empty(rtts.shape)
    for number, row in enumerate(rtts.tolist()):
        for index, (flow, rtt) in enumerate(zip(flows, row, strict=True)):
            library.adpg_apply(byref(flow), c_double(library.adpg_decide(flow, settings, rtt, BASE_RTT)))
            found[number, index] = flow.rate
    wrong = int((~np.isclose(found, _reference(trees, config, rtts), rtol=1e-9)).sum())
    return f"{wrong:,} of {found.size:,} rates are not the library's" if wrong else ""


def _rtts() -> Ints:
    """Random round-trip times (ns) that keep rates between their bounds, shape (rounds, flows).

    Half of the flows have an idle line in the end: long enough for the steepest ramp.
    """
    rng = np.random.default_rng(1)
    queueing = rng.exponential(20_000, (ROUNDS, FLOWS)) * rng.integers(0, 2, (ROUNDS, FLOWS))
    queueing[ROUNDS // 4 :, : FLOWS // 2] = 0.0
    return np.asarray(queueing + BASE_RTT * 1e9, np.int64)


def _reference(trees: Trees, config: AdpgConfig, rtts: Floats) -> Floats:
    """Rates that the controller in numpy decides."""
    history, every, idle = History(FLOWS), np.arange(FLOWS), np.zeros(FLOWS, np.int64)
    share, base, rates = np.full(FLOWS, config.start_rate), np.full(FLOWS, BASE_RTT), np.empty(rtts.shape)
    for number, rtt in enumerate(rtts):
        x = signal(rtt, base, share, config)
        decided = limited(trees.decide(history.features(every, x)))
        history.remember(every, x, decided)
        idle = np.where(x > no_congestion(config), 0, idle + 1)
        rates[number] = share = np.clip(share * decided * ramped(idle, config), LEAST_RATE, 1.0)
    return rates


def _compiled(folder: Path, sources: tuple[str, ...], *flags: str) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as made:
        target = Path(made) / "export.so"
        compile_to(target, tuple(folder / name for name in sources), (*FLAGS, f"-I{folder}", *flags))
        return ctypes.CDLL(str(target))
