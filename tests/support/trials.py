"""Trials of controllers on the virtual engine, as `testbed check` makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testbed.controller import ControllerBase
from testbed.experiment.topology.framing import Framing
from testbed.plugin import PluginConfig
from testbed.registry import Plugin, find
from testbed.sdk.conformance.trial import USUAL, Trial, experiment

WIRE = Framing(1000).wire_size  # of a trial's packets without INT


def tried(
    controller: str | type[ControllerBase], flows: int, duration: float, *, options: dict[str, Any] | None = None,
    preset: str | None = None, config: PluginConfig | None = None, disorder: bool = False, **world: Any,
) -> Trial:  # fmt: skip
    """``world`` as in `testbed.sdk.conformance.trial.experiment`."""
    if isinstance(controller, str):
        plugin = find("controller", controller)
    else:
        plugin = Plugin("controller", controller.name, controller, "tests", Path(__file__))
    config = config or plugin.configure(preset, options or {})
    fabric = world.get("fabric", USUAL)
    return Trial(plugin, config, experiment(flows, duration, **world), disorder=disorder, fabric=fabric).ran()
