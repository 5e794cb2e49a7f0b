"""Closed loops for training and evaluation: many incasts side by side under one network, in C (rollout.c)."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_uint64, c_void_p
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.compiler import LIBRARY_FLAGS, Unit

from .observation import FEATURES, HIGHEST_X, LEAST_RATE

LIBRARY = Unit("adpg-rollout", (Path(__file__).with_name("rollout.c"),), ".so", (*LIBRARY_FLAGS, "-ffp-contract=off"))
_library = cache(partial(LIBRARY.library, advance=(c_int64, [c_void_p, c_int64, c_int64])))
SETTINGS = ("flows", "environments", "half")
TIMES = (
    "step",
    "now",
    "base_rtt",
    "buffer",
    "beta",
    "target",
    "highest_x",
    "start_rate",
    "least_rate",
    "ramp",
    "delay",
    "reach",
)
COUNTS = ("phase", "fresh", "decisions", "episode", "idle")
PER_FLOW = ("start", "rate", "due", "wait", "oldest", "newest", "signal", "sent", *COUNTS)
PER_ENVIRONMENT = ("queue", "ring", "area", "square", "dropped", "reset_at")


class _Model(ctypes.Structure):
    """struct model, field by field."""

    _fields_ = [
        *((name, c_int64) for name in SETTINGS),
        *((name, c_double) for name in TIMES),
        *(
            (name, c_void_p)
            for name in ("environment", "policy", "parameters", "controller", "state", *PER_FLOW, *PER_ENVIRONMENT)
        ),
        ("at", c_int64),
        *((name, c_double) for name in ("window", "shortest", "longest")),
        ("random", c_uint64),
        *((name, c_int64) for name in ("most", "length")),
        *((name, c_void_p) for name in ("features", "sequence")),
    ]


class InC(Protocol):
    """A policy that C can call."""

    def in_c(self) -> tuple[int, Floats]:
        """Address of ``double policy(const void *parameters, const double *features)``, and the parameters."""
        ...


class Recorded(NamedTuple):
    """Decisions, in the order of time: features of shape (k, 4), and which sequence each belongs to.

    A sequence is one flow in one episode: what comes after a restart was not caused by what came before.
    """

    features: Floats
    sequence: Ints


class Rollout:
    """Environments with ``flows_of[e]`` flows each, which go on from one call to the next."""

    def __init__(
        self,
        flows_of: Ints,
        *,
        step: float = 0.512e-6,
        base_rtt: float = 8.192e-6,
        buffer: float = 400e-6,
        beta: float = 1.5,
        target: float = 0.064,
        highest_x: float = HIGHEST_X,
        start_rate: float = 1.0,
        ramp: float = 0.0,
        decision_delay: float = 0.0,
        reach: float = np.inf,
        restarts: tuple[float, float, float] | None = None,
        seed: int = 1,
    ) -> None:
        """Times in s, the buffer in s of line time. ``restarts``: start window, shortest and longest episode.

        ``reach``: a rate of the first flow at which `advance` ends.
        """
        self.environment = np.repeat(np.arange(len(flows_of)), flows_of).astype(np.int64)
        n, m = len(self.environment), len(flows_of)
        self._keep: dict[str, NDArray[Any]] = {}
        self.c = c = _Model(flows=n, environments=m, half=round(base_rtt / 2 / step), step=step, base_rtt=base_rtt)
        c.buffer, c.beta, c.target, c.start_rate = buffer, beta, target, start_rate
        c.highest_x, c.least_rate, c.ramp, c.delay, c.reach = highest_x, LEAST_RATE, ramp, decision_delay, reach
        c.window, c.shortest, c.longest = restarts or (0.0, 0.0, 0.0)
        c.random = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) % 2**64 or 1
        self._point("environment", self.environment)
        for name in PER_FLOW:
            self._point(name, np.zeros(n, np.int64 if name in COUNTS else float))
        for name in PER_ENVIRONMENT:
            self._point(name, np.zeros(m * (c.half + 1) if name == "ring" else m))
        self["due"][:] = np.inf
        self["reset_at"][:] = 0.0 if restarts else np.inf
        if restarts:
            self["start"][:] = np.inf
        self._lib = _library()

    def _point(self, name: str, column: NDArray[Any]) -> None:
        self._keep[name] = column
        setattr(self.c, name, column.ctypes.data)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._keep[name]

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return float(self.c.now)

    def advance(self, policy: InC, *, steps: int, enough: int = 0, record: int = 0) -> Recorded:
        """Go on for ``steps``, or until each flow has decided ``enough`` times; keep up to ``record`` decisions."""
        self.c.policy, parameters = policy.in_c()
        self._point("parameters", parameters)
        features, sequence = np.empty((record, FEATURES)), np.empty(record, np.int64)
        self._point("features", features)
        self._point("sequence", sequence)
        self.c.most, self.c.length = record, 0
        self["decisions"][:] = 0
        self._lib.advance(ctypes.addressof(self.c), enough, steps)
        kept = int(self.c.length)
        return Recorded(features[:kept].copy(), sequence[:kept].copy())


def network_in_c() -> int:
    """Address of the network with the weights as parameters."""
    return ctypes.cast(_library().network, c_void_p).value or 0


def int8_in_c() -> int:
    """Address of the network in 8 bits with scales and weights as parameters."""
    return ctypes.cast(_library().int8_network, c_void_p).value or 0


def trees_in_c() -> int:
    """Address of the trees with their questions and leaves as parameters."""
    return ctypes.cast(_library().trees, c_void_p).value or 0
