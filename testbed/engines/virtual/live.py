"""The live engine: the virtual one, which keeps pace with the wall clock."""

from __future__ import annotations

from testbed.engines.virtual.engine import VirtualEngine
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.results.record import EngineName


class LiveEngine(VirtualEngine):
    """What happens is the same as in virtual time; a nominal second takes ``time.dilation`` seconds."""

    name: EngineName = "live"

    def check(self, resolved: Resolved) -> None:
        """Raises BadInput for what does not fit."""
        super().check(resolved)
        if resolved.experiment.time.dilation == "auto":
            raise BadInput(
                "time.dilation: 'auto' is of the kernel engine, and 'live' wants a number; say --dilation 100"
            )

    def _dilation(self, resolved: Resolved) -> float | None:
        return resolved.experiment.time.factor
