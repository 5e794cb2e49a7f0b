"""What a policy does in incasts of the fluid engine, and which class of outcome that is (facts sheet, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from testbed.controller import CompiledController
from testbed.engines.fluid.fluid import Options
from testbed.plugin import PluginConfig

from ..learned.in_fluid import rested

BUFFER = 400e-6  # s of line time
STEP = 2e-6  # s: a quarter of the base RTT, the longest that the model allows
WARMUP, DURATION = 40e-3, 60e-3  # s: those of ADPG's Table 2 for many flows
CHECKED = (1, 2, 8, 128)  # flows
MOST_LOSS, MOST_QUEUE, IDLE, TIMID = 0.01, BUFFER / 2, 5.0, 80.0


@dataclass(frozen=True)
class Figures:
    """Of an incast, after the warm-up."""

    flows: int
    su: float  # %
    fr: float  # min / max of the flows' rates
    queue: float  # s, mean
    lost: float  # share of what was sent

    @property
    def kind(self) -> str:
        """``PL`` (losses, or a queue above half of the buffer), ``idle``, ``timid``, or ``fine``."""
        if self.lost > MOST_LOSS or self.queue > MOST_QUEUE:
            return "PL"
        return "idle" if self.su < IDLE else "timid" if self.su < TIMID else "fine"

    def as_dict(self) -> dict[str, Any]:
        """For logs."""
        figures = {name: round(value, 5) for name, value in asdict(self).items() if name != "queue"}
        return {**figures, "queue_us": round(self.queue * 1e6, 3), "kind": self.kind}


def measure(
    form: type[CompiledController],
    config: PluginConfig,
    flows: int,
    *,
    warmup: float = WARMUP,
    duration: float = DURATION,
    seed: int = 1,
) -> Figures:
    """Flows start within a base RTT."""
    found = rested(form, config, flows, Options(step=STEP, seed=seed), warmup=warmup, duration=duration)
    return Figures(flows, found.su, found.fr, found.queue, found.lost)


def table(figures: Sequence[Figures]) -> list[str]:
    """As text."""
    lines = [f"{'flows':>5} {'SU %':>6} {'FR':>5} {'queue us':>8} {'lost %':>7}  kind"]
    lines += [
        f"{one.flows:5} {one.su:6.1f} {one.fr:5.2f} {one.queue * 1e6:8.1f} {100 * one.lost:7.2f}  {one.kind}"
        for one in figures
    ]
    return lines
