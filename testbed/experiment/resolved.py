"""An experiment whose plugins are loaded and configured: all that an engine needs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from testbed.base.inputs import Input
from testbed.compiled.flows import build
from testbed.controller import Paths, RateController, Signal
from testbed.experiment.layout import Layout
from testbed.experiment.model import Experiment, PluginChoice
from testbed.experiment.topology.settings import Star
from testbed.plugin import PluginConfig
from testbed.registry import Plugin


@dataclass(frozen=True)
class Resolved:
    """An experiment whose plugins are loaded and configured: all that `testbed.run.run` needs."""

    experiment: Experiment
    controller: Plugin
    controller_config: PluginConfig
    tuner: Plugin
    tuner_config: PluginConfig

    @cached_property
    def layout(self) -> Layout:
        """What follows from rack and traffic; with INT, packets have room for the longest path."""
        layout = Layout(self.experiment)
        return layout.with_int(layout.most_hops) if Signal.INT in self.controller.form.signals else layout

    def as_dict(self) -> dict[str, Any]:
        """Everything spelled out, with units, the plugins' options included. It loads again as it is."""
        data = self.experiment.model_dump(mode="json")
        if isinstance(self.experiment.rack, Star):
            data["rack"]["hosts"] = self.experiment.hosts
        for kind, config in (("controller", self.controller_config), ("tuner", self.tuner_config)):
            choice: PluginChoice = getattr(self.experiment, kind)
            presets = getattr(self, kind).form.presets
            preset = choice.preset or next(iter(presets), None)
            own = choice.model_dump(mode="json", include=set(type(choice).model_fields) - {"name", "preset"})
            data[kind] = {"name": choice.name, "preset": preset, **own, **config.model_dump(mode="json")}
        return data

    def make_controller(self, paths: Paths) -> RateController:
        """Its controller for some of its flows. Raises BadInput, or whatever the plugin raises."""
        return build(self.controller.form, self.controller_config, paths, self.experiment.controller.compiled)

    def inputs(self, *, tuned: bool = True) -> list[Input]:
        """Files that it reads besides the plugins' code; of the tuner if it runs. Raises BadInput if one has gone."""
        found = [file.within("traffic") for file in self.experiment.traffic.inputs()]
        plugins = [(self.controller, self.controller_config), *([(self.tuner, self.tuner_config)] if tuned else [])]
        for plugin, config in plugins:
            found += [Input.of(f"{plugin.kind}.{key}", file) for key, file in plugin.form.inputs(config).items()]
        return found

    def as_yaml(self) -> str:
        """`as_dict` as an experiment file."""
        return yaml.safe_dump(self.as_dict(), sort_keys=False, allow_unicode=True)

    def as_json(self) -> str:
        """`as_dict` as JSON."""
        return json.dumps(self.as_dict(), indent=2)
