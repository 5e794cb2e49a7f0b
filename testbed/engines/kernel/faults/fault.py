"""Where `testbed selftest` reaches into a run to break it. A run of its own has `NO_FAULT`, which does nothing."""

from __future__ import annotations

from testbed.agent.launch import Common, Crew, Share
from testbed.dataplane.programs import RING_SIZE
from testbed.engines.kernel.assembly import Assembly


class Fault:
    """Subclasses override the moments at which they do harm. They run inside the sandbox."""

    ring_size: int = RING_SIZE

    def on_built(self, rack: Assembly) -> None:
        """The rack is up, and will be calibrated next."""

    def on_share(self, share: Share) -> Share:
        """What an agent is about to be given."""
        return share

    def on_common(self, common: Common) -> Common:
        """What all agents are about to be given."""
        return common

    def on_sample(self, rack: Assembly, crew: Crew, now: float) -> None:
        """Every recorder's sample while the run goes on."""


NO_FAULT = Fault()
