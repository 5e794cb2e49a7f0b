"""A short run on the virtual engine of a plugin that is listened to, beside a controller that is ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from testbed.controller import CompiledController
from testbed.engines.virtual.run import VirtualRun
from testbed.errors import PluginFailed
from testbed.experiment.model import DEFAULT_TUNER
from testbed.experiment.resolved import Resolved
from testbed.live.snapshots import Follower
from testbed.plugin import PluginConfig
from testbed.registry import Plugin, find
from testbed.results.record import RunRecord


class Beside(NamedTuple):
    """Who sends, and the usual tuner: what `Resolved` wants after an experiment."""

    plugin: Plugin
    config: PluginConfig
    tuner: Plugin
    tuner_config: PluginConfig

    @classmethod
    def of(cls, form: type[CompiledController]) -> Beside:
        """All with their defaults."""
        tuner = find("tuner", DEFAULT_TUNER)
        file = Path(str(sys.modules[form.__module__].__file__))
        sends = Plugin("controller", form.name, form, "testbed", file)
        return cls(sends, PluginConfig(), tuner, tuner.configure(None, {}))


class Listened(VirtualRun):
    """One run to its end."""

    def __init__(self, heard: Resolved, follower: Follower) -> None:
        """Raises PluginFailed, and BadInput if something cannot be compiled."""
        super().__init__(heard, [], follower)
        self.record = self.follow()
        if self.record.interrupted:
            raise PluginFailed(self.record.interrupted)

    def keep_decisions(self, record: RunRecord) -> None:
        """They are looked at as they are: a file would need packages that `testbed check` does without."""
