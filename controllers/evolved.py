"""A window from in-band telemetry that a search over small programs has found.

Of HPCC it has what is measured. What is made of it was searched for, beginning with HPCC, PowerTCP and some variants:

    window = (reference * eta / U + W_AI) / (1 + yields * reference / W_init)

Every RTT is multiplicative, and who has a wide window aims at less than who has a narrow one: that makes flows fair
without an increase that the queue would pay for. A flow starts at a part of the line rate. The search saw three
experiments of `testbed score`, seeds 1 and 2; `scripts/program_search.py` comes to other programs by the same rules.
What yielding adds to HPCC with such constants is not shown (docs/findings/controllers.md).
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from testbed.controller import Ack, Path
from testbed.units import Ratio

from .hpcc import Hpcc, HpccConfig


class EvolvedConfig(HpccConfig):
    """Options of `Evolved`; the defaults are what was found."""

    eta: Ratio = Field(default=0.98, gt=0, le=1, description="Utilisation that a flow without a window would aim at.")
    max_stage: int = Field(default=0, ge=0, le=0, description="HPCC's; always 0.")
    flows: int = Field(default=177, ge=1, description="N of W_AI = W_init (1 - eta) / N.")
    yields: float = Field(default=0.029, ge=0, description="What a flow with a full window leaves to others per RTT.")
    start: Ratio = Field(default=0.3765, gt=0, le=1, description="First rate, of the line.")


class Evolved(Hpcc):
    """HPCC's telemetry, and a window that a search found: wide ones yield to narrow ones."""

    name = "evolved"
    Config = EvolvedConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {"found": {}}

    config: EvolvedConfig

    def __init__(self, config: EvolvedConfig, path: Path) -> None:
        super().__init__(config, path)
        self.reference = max(config.start * self.initial, self.least)
        self.publish(self.reference)

    def react(self, ack: Ack, u: float, tau: float) -> None:
        """The window of every acknowledgement, and the reference once per RTT."""
        self.utilisation += (u - self.utilisation) * tau / self.base_rtt
        wanted = self.reference * self.config.eta / max(self.utilisation, 0.01) + self.additive
        window = wanted / (1 + self.config.yields * self.reference / self.initial)
        window = min(max(window, self.least), self.initial)
        self.publish(window)
        if ack.seq > self.update_after:
            self.reference = window
            self.update_after = ack.next_seq
