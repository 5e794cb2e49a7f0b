"""An experiment whose plugins are loaded and configured: all that an engine needs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import yaml

from testbed.base.inputs import Input
from testbed.compiled.choosers import Choosers
from testbed.compiled.flows import build
from testbed.compiled.receivers import Receivers
from testbed.controller import Paths, RateController, Signal
from testbed.experiment.choice import PluginChoice
from testbed.experiment.ecn_order import EcnOrder
from testbed.experiment.layout import Layout
from testbed.experiment.model import Experiment
from testbed.experiment.sharing import Sharing
from testbed.experiment.topology.settings import Star
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.units import SIZE_UNITS, exactly


@dataclass(frozen=True)
class Decider:
    """A controller, configured."""

    plugin: Plugin
    config: PluginConfig
    compiled: bool = True  # machine code, if the controller can be compiled
    isolate: bool = False  # C in a process of its own

    def make(self, paths: Paths) -> RateController:
        """For flows with these paths. Raises BadInput, or whatever the plugin raises."""
        return build(self.plugin.form, self.config, paths, self.compiled, self.isolate)


@dataclass(frozen=True)
class Resolved:
    """An experiment whose plugins are loaded and configured: all that `testbed.runs.run` needs."""

    experiment: Experiment
    controller: Plugin
    controller_config: PluginConfig
    tuner: Plugin
    tuner_config: PluginConfig
    others: tuple[Decider, ...] = ()  # of the flows that `controllers` names
    chooser: Plugin | None = None  # where senders choose paths
    chooser_config: PluginConfig | None = None
    receiver: Plugin | None = None  # where receivers grant what is sent
    receiver_config: PluginConfig | None = None
    told: str = ""  # what came with a controller or tuner that was chosen, what stayed, what a configuration has

    @cached_property
    def deciders(self) -> tuple[Decider, ...]:
        """All controllers, in the order of `Experiment.decider`'s numbers."""
        first = self.experiment.controller
        return (Decider(self.controller, self.controller_config, first.compiled, first.isolate), *self.others)

    @property
    def deciding(self) -> list[str]:
        """Name of each flow's controller; a number tells those apart that have the same."""
        names = [one.plugin.name for one in self.deciders]
        told = [
            name if names.count(name) == 1 else f"{name} {names[:at].count(name) + 1}" for at, name in enumerate(names)
        ]
        return [told[number] for number in self.experiment.decider]

    @property
    def title(self) -> str:
        """All of its controllers."""
        return " + ".join(dict.fromkeys(one.plugin.name for one in self.deciders))

    @property
    def signals(self) -> Signal:
        """What any of its controllers wants to hear."""
        heard = Signal(0)
        for one in self.deciders:
            heard |= one.plugin.form.signals
        return heard

    @property
    def cnp_interval(self) -> float:
        """Seconds between the CNPs for one flow: the shortest that a controller asks for that listens to them."""
        listening = [one for one in self.deciders if Signal.CNP in one.plugin.form.signals] or self.deciders
        asked: list[float] = [one.plugin.form.cnp_interval(one.config) for one in listening]
        return min(asked)

    @cached_property
    def src_threshold(self) -> int:
        """Bytes in a port's queue from which on switches send SRCs; 0 if nobody wants any."""
        listening = [one for one in self.deciders if Signal.SRC in one.plugin.form.signals]
        packets = [one.plugin.form.src_threshold(one.config) for one in listening]
        return round(min(packets, default=0.0) * self.layout.framing.wire_size)

    @cached_property
    def ecn_order(self) -> EcnOrder:
        """Up to which Kmin marks can come before pauses."""
        hearing = [bool(one.plugin.form.signals & (Signal.CE | Signal.CNP)) for one in self.deciders]
        return EcnOrder.of(self.layout, np.array(hearing)[self.experiment.decider])

    @cached_property
    def layout(self) -> Layout:
        """What follows from rack and traffic; with INT, packets have room for the longest path."""
        layout = Layout(self.experiment)
        return layout.with_int(layout.most_hops) if Signal.INT in self.signals else layout

    @property
    def traced_hops(self) -> int:
        """Hops for which a record of decisions needs room: those of INT, or an SRC's port."""
        return max(self.layout.framing.int_hops, int(Signal.SRC in self.signals))

    def as_dict(self) -> dict[str, Any]:
        """Everything spelled out, with units, the plugins' options included. It loads again as it is."""
        data = self.experiment.model_dump(mode="json")
        if isinstance(self.experiment.rack, Star):
            data["rack"]["hosts"] = self.experiment.hosts
        data["rack"]["switch"]["buffer"] = exactly(self.experiment.buffer, SIZE_UNITS)
        experiment = self.experiment
        data["controller"] = _as_dict(experiment.controller, self.controller, self.controller_config)
        data["controllers"] = [
            _as_dict(choice, one.plugin, one.config)
            for choice, one in zip(experiment.controllers, self.others, strict=True)
        ]
        data["tuner"] = _as_dict(experiment.tuner, self.tuner, self.tuner_config)
        if self.chooser and self.chooser_config:
            data["routing"] = _as_dict(experiment.routing, self.chooser, self.chooser_config)
        if self.receiver and self.receiver_config and experiment.receiver:
            data["receiver"] = _as_dict(experiment.receiver, self.receiver, self.receiver_config)
        return data

    def make_controller(self, paths: Paths, first: int = 0) -> RateController:
        """What decides about some of its flows, from number ``first`` on.

        Raises BadInput, PluginFailed, or whatever its one plugin raises.
        """
        decider = self.experiment.decider[first : first + len(paths)]
        numbers = np.unique(decider)
        if len(numbers) == 1:
            return self.deciders[int(numbers[0])].make(paths)
        return Sharing([(self.deciders[one].plugin, self.deciders[one].make) for one in numbers], decider, paths)

    def make_choosers(self, paths: Paths, first: int = 0) -> Choosers | None:
        """What chooses paths for flows from number ``first`` on; None where switches do. Raises as the former."""
        if self.chooser is None or self.chooser_config is None:
            return None
        numbers, experiment = np.arange(first, first + len(paths)), self.experiment
        return Choosers(
            self.chooser.form, self.chooser_config, paths, numbers,
            seed=experiment.seed, compiled=experiment.routing.compiled,
        )  # fmt: skip

    def make_receivers(self, paths: Paths) -> Receivers | None:
        """What grants to flows with these paths; None where nobody does. Raises as the former."""
        if self.receiver is None or self.receiver_config is None or self.experiment.receiver is None:
            return None
        compiled = self.experiment.receiver.compiled
        return Receivers(self.receiver.form, self.receiver_config, paths, compiled=compiled)

    def inputs(self, *, tuned: bool = True) -> list[Input]:
        """Files that it reads besides the plugins' code; of the tuner if it runs. Raises BadInput if one has gone."""
        found = [file.within("traffic") for file in self.experiment.traffic.inputs()] + self.experiment.rack.inputs()
        plugins = {"controller": (self.controller, self.controller_config)}
        plugins |= {f"controllers.{number}": (one.plugin, one.config) for number, one in enumerate(self.others)}
        if self.chooser and self.chooser_config:
            plugins["routing"] = (self.chooser, self.chooser_config)
            found.append(Input.of("routing.name", self.chooser.file))
        if self.receiver and self.receiver_config:
            plugins["receiver"] = (self.receiver, self.receiver_config)
            found.append(Input.of("receiver.name", self.receiver.file))
        if tuned:
            plugins["tuner"] = (self.tuner, self.tuner_config)
        for key, (plugin, config) in plugins.items():
            found += [Input.of(f"{key}.{option}", file) for option, file in plugin.form.inputs(config).items()]
        return found

    def as_yaml(self) -> str:
        """`as_dict` as an experiment file."""
        return yaml.safe_dump(self.as_dict(), sort_keys=False, allow_unicode=True)

    def as_json(self) -> str:
        """`as_dict` as JSON."""
        return json.dumps(self.as_dict(), indent=2)


def _as_dict(choice: PluginChoice, plugin: Plugin, config: PluginConfig) -> dict[str, Any]:
    preset = choice.preset or next(iter(plugin.form.presets), None)
    own = choice.model_dump(mode="json", include=set(type(choice).model_fields) - {"name", "preset"})
    return {"name": choice.name, "preset": preset, **own, **json.loads(config.model_dump_json())}
