"""A short run on the virtual engine of a plugin that is listened to, beside a controller that is ours."""

from __future__ import annotations

import ctypes
import hashlib
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from testbed.compiled.choosers import Choosers
from testbed.compiled.plain import DECIDE
from testbed.compiled.receivers import Receivers
from testbed.compiled.records import Records
from testbed.controller import CompiledController, Paths
from testbed.engines.virtual.run import VirtualRun
from testbed.errors import PluginFailed
from testbed.experiment.model import DEFAULT_TUNER, Experiment
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


class Heard:
    """What a plugin was asked of its flows, and what it decided: flow, event, s, number, bytes told and decided."""

    def __init__(self, told: int) -> None:
        """``told``: bytes behind the pointer that it is called with."""
        self.told = told
        self.calls: list[tuple[int, int, float, int, bytes, bytes]] = []

    def listen(self, plugin: Records) -> None:
        """To all calls from now on."""
        records, size = plugin.records.ctypes.data, plugin.records.dtype.itemsize
        decided, length = 8 * len(plugin.interface.decided), self.told
        inner, calls = DECIDE(plugin.c.decide), self.calls

        def decide(  # noqa: PLR0917 - as of C
            nothing: int, raised: int, record: int, event: int, now: float, number: int, told: int
        ) -> int:
            before = ctypes.string_at(told, length) if length else b""
            status: int = inner(nothing, raised, record, event, now, number, told)
            after = (ctypes.string_at(told, length) if length else b"") + ctypes.string_at(record, decided)
            calls.append(((record - records) // size, event, now, number, before, after))
            return status

        self._kept = inner, DECIDE(decide)  # for as long as C calls them
        plugin.c.decide = ctypes.cast(self._kept[1], ctypes.c_void_p).value

    @property
    def digest(self) -> str:
        """Of all of it."""
        return hashlib.sha256(repr(self.calls).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class _Overheard(Resolved):
    """An experiment whose chooser or credit controller is listened to."""

    heard: Heard = field(default_factory=partial(Heard, 0))

    def make_choosers(self, paths: Paths, first: int = 0) -> Choosers | None:
        choosers = super().make_choosers(paths, first)
        if choosers:
            self.heard.listen(choosers)
        return choosers

    def make_receivers(self, paths: Paths) -> Receivers | None:
        receivers = super().make_receivers(paths)
        if receivers:
            self.heard.listen(receivers)
        return receivers


class Listened(VirtualRun):
    """One run to its end of an experiment with a plugin, where ``sends`` is the controller."""

    told = 0  # see `Heard`

    def __init__(
        self, experiment: Experiment, sends: type[CompiledController], follower: Follower, **plugin: Any
    ) -> None:
        """Raises PluginFailed, and BadInput if something cannot be compiled."""
        self.heard = Heard(self.told)
        super().__init__(_Overheard(experiment, *Beside.of(sends), heard=self.heard, **plugin), [], follower)
        self.record = self.follow()
        if self.record.interrupted:
            raise PluginFailed(self.record.interrupted)

    def keep_decisions(self, record: RunRecord) -> None:
        """They are looked at as they are: a file would need packages that `testbed check` does without."""
