"""Where `testbed selftest` reaches into a run to break it. A run of its own has `NO_FAULT`, which does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from testbed.agent.pool import AgentConfig, AgentPool, AgentSpec
from testbed.dataplane.programs import RING_SIZE

if TYPE_CHECKING:
    from testbed.engines.kernel.assembly import Assembly  # which imports mininet: `testbed doctor` does without

SHORT = ("time.duration=1 ms", "tuner.preset=secn1")
CALIBRATED = (*SHORT, "rack.switch.buffer=700 kB")  # a little more than Kmax: it is filled again and again


class Fault:
    """Subclasses override the moments at which they do harm. They run inside the sandbox."""

    experiment: ClassVar[str] = "incast-8"
    settings: ClassVar[tuple[str, ...]] = (*SHORT, "rack.calibrate=off")
    """What is run, and broken. Calibration takes longer than the run: it is on where it finds the fault."""
    ring_size: int = RING_SIZE

    def on_built(self, rack: Assembly) -> None:
        """The rack is up, and will be calibrated next."""

    def on_spec(self, spec: AgentSpec) -> AgentSpec:
        """What an agent is about to be given."""
        return spec

    def on_config(self, config: AgentConfig) -> AgentConfig:
        """What all agents are about to be given."""
        return config

    def on_sample(self, rack: Assembly, pool: AgentPool, now: float) -> None:
        """Every recorder's sample while the run goes on."""


class NoFault(Fault):
    """Twice as long as a fault needs to be seen: a quiet run must stay clean."""

    settings = ("time.duration=2 ms", "tuner.preset=secn1")


NO_FAULT = NoFault()
