"""The live engine: the virtual one, which keeps pace with the wall clock."""

from __future__ import annotations

import os

from testbed.engines.apps.running import check_folders
from testbed.engines.engine import Prepared
from testbed.engines.virtual.engine import VirtualEngine
from testbed.errors import BadInput, TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
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

        check_folders(resolved.experiment)

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:
        """Raises TestbedError without the rights that apps need."""
        if resolved.experiment.apps and os.geteuid() != 0:
            raise TestbedError("apps need root, for hosts with a network of their own: sudo testbed run ...")
        return super().prepare(resolved, observer)

    def _dilation(self, resolved: Resolved) -> float | None:
        return resolved.experiment.time.factor
