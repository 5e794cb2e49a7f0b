"""The suites: which experiments are run, and which parts of the score each gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testbed.results.record import EngineName

SPREAD = 0.2  # a seed moves link delays by at most this share: what fits one base RTT alone does not score
MOST_STAGGER = 0.5e-6  # s between the starts of two flows of an incast
ENDLESS = ("utilisation", "fairness", "queue", "loss")
FINITE = ("slowdown_mean", "slowdown_p99", "loss")


@dataclass(frozen=True)
class Trial:
    """One run."""

    experiment: str
    parts: tuple[str, ...]
    settings: tuple[str, ...]
    delay: float  # s, of a link, which the seed moves
    staggered: bool = False  # whether the seed also moves the starts

    def seeded(self, seed: int, number: int, engine: EngineName = "virtual") -> list[str]:
        """The settings of trial ``number`` of a suite under a seed."""
        random = np.random.default_rng((seed, number))
        delay, stagger = self.delay * random.uniform(1 - SPREAD, 1 + SPREAD), random.uniform(0, MOST_STAGGER)
        return [
            *self.settings,
            f"seed={seed}",
            f"rack.link.delay={delay!r} s",
            *([f"traffic.stagger={stagger!r} s"] if self.staggered else []),
            f"engine={engine}",
            *(["time.dilation=auto"] if engine == "kernel" else []),
            "record.decisions=0",
        ]


def _time(duration: str, warmup: str) -> tuple[str, str]:
    return f"time.duration={duration}", f"time.warmup={warmup}"


QUICK = (  # the longest first: two run at the same time
    Trial("incast-128", ENDLESS, _time("10 ms", "4 ms"), 2e-6, staggered=True),
    Trial("websearch", FINITE, (*_time("25 ms", "0"), "traffic.load=50 %"), 2e-6),
    Trial("incast-16", ENDLESS, _time("10 ms", "4 ms"), 2e-6, staggered=True),
    Trial("incast-2", ENDLESS, _time("10 ms", "4 ms"), 2e-6, staggered=True),
    Trial("parking-lot", ENDLESS, _time("10 ms", "4 ms"), 1e-6),
    Trial(
        "long-short",
        ("recovery", "loss"),
        (*_time("10 ms", "2 ms"), "traffic.interruptions=[3 ms, 6 ms]"),
        2e-6,
    ),
)
SUITES = {"quick": QUICK}
