"""The controller in compiled form, for the rack: the C of the export, and a loop over a batch (rack.c).

Compiled once per policy, at its first use. Where there is no compiler CatBoost's own predict decides, and numpy where
there is no CatBoost either; `CompiledTrees` says which on stderr, once per process.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
import tempfile
from collections.abc import Callable
from ctypes import c_double, c_int64, c_void_p
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import cache_folder, compile_to
from testbed.controller import Feedback
from testbed.errors import BadInput, TestbedError

from .catboost_form import predictor
from .export import c
from .tree import Trees

if TYPE_CHECKING:
    from .controller import AdpgController

RACK = Path(__file__).with_name("rack.c")
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-ffp-contract=off", "-lm")
READ = ("base_rtt", "line_rate")
WRITTEN = ("share", "multipliers", "signal", "effect", "ready", "rate", "timer", "decided_seq", "fresh")


class _Columns(ctypes.Structure):
    """struct columns, field by field."""

    _fields_ = [
        *((name, c_double) for name in ("beta", "target", "reference_rtt", "decision_delay")),
        *((name, c_void_p) for name in (*READ, *WRITTEN)),
    ]


def library(trees: Trees) -> ctypes.CDLL:
    """The controller with these trees. Raises TestbedError if it cannot be compiled."""
    generated = c.trees_source(trees)
    sources = (RACK, c.SOURCE / "adpg.c")
    read = [file.read_bytes() for file in (*sources, c.SOURCE / "adpg.h")]
    digest = hashlib.sha256(b"\0".join([generated.encode(), *read, " ".join(FLAGS).encode()])).hexdigest()
    target = cache_folder() / f"adpg-{digest[:16]}.so"
    if not target.exists():
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write(generated)
            file.flush()
            compile_to(target, (*sources, Path(file.name)), (*FLAGS, f"-I{c.SOURCE}"))
    loaded = ctypes.CDLL(str(target))
    loaded.adpg_decide_all.restype, loaded.adpg_feedback.restype = None, None
    loaded.adpg_decide_all.argtypes = [c_void_p, c_void_p, c_int64]
    loaded.adpg_feedback.argtypes = [*[c_void_p] * 5, c_double, c_int64]
    return loaded


def decider(library: ctypes.CDLL) -> Callable[[Floats], Floats]:
    """`Trees.decide`, compiled."""
    function = library.adpg_decide_all

    def decide(features: Floats) -> Floats:
        features = np.ascontiguousarray(features, np.float64)
        out = np.empty(len(features))
        function(features.ctypes.data, out.ctypes.data, len(features))
        return out

    return decide


class CompiledTrees:
    """Trees in the fastest form that this machine can run; ``form`` names it."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees
        self.library: ctypes.CDLL | None = None
        try:
            self.library = library(trees)
            self.form, self.decide = "compiled", decider(self.library)
        except (TestbedError, OSError) as error:
            self.form, self.decide = _slower(trees)
            _say(f"adpg: {self.form} decides, which is slow: {str(error).splitlines()[0]}")

    def in_c(self) -> tuple[int, Floats]:
        """For `rollout.Rollout`."""
        compiled = self.library or library(self.trees)
        return ctypes.cast(compiled.adpg_policy, c_void_p).value or 0, np.zeros(1)


def _slower(trees: Trees) -> tuple[str, Callable[[Floats], Floats]]:
    try:
        return "CatBoost", predictor(trees)
    except BadInput:
        return "numpy", trees.decide


@cache
def _say(text: str) -> None:
    print(text, file=sys.stderr)


class Batch:
    """`AdpgController.on_feedback` in C, on the columns of one controller."""

    def __init__(self, library: ctypes.CDLL, controller: AdpgController) -> None:
        config, history = controller.config, controller.history
        self._columns = _Columns(config.beta, config.target, config.reference_rtt, config.decision_delay)
        self._kept = {
            **{name: np.ascontiguousarray(getattr(controller.paths, name), np.float64) for name in READ},
            **{name: getattr(history if hasattr(history, name) else controller, name) for name in WRITTEN},
        }
        for name, column in self._kept.items():
            assert column.flags.c_contiguous
            setattr(self._columns, name, column.ctypes.data)
        n = len(controller.paths)
        self._told = np.empty((3, n), np.int64), np.empty(n)  # flows, acked_seq, next_seq; rtt
        pointers = [*(row.ctypes.data for row in self._told[0]), self._told[1].ctypes.data]
        self._feedback = partial(library.adpg_feedback, ctypes.addressof(self._columns), *pointers)

    def __call__(self, now: float, flows: Ints, feedback: Feedback) -> None:
        """What came back for distinct ``flows``. Copying them costs less than asking numpy for their addresses."""
        n = len(flows)
        (mine, acked, following), rtt = self._told
        mine[:n], acked[:n], following[:n], rtt[:n] = flows, feedback.acked_seq, feedback.next_seq, feedback.rtt
        self._feedback(now, n)
