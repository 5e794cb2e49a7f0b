"""Makes the plugins of an experiment once before anything is built: what they refuse costs nothing then."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from testbed.controller import Paths, build
from testbed.errors import BadInput
from testbed.plugin import Plugin, failed

if TYPE_CHECKING:
    from testbed.loading import Resolved


def rehearse(resolved: Resolved, kind: str) -> None:
    """Make the controller for one flow, or the tuner with its first thresholds.

    Raises BadInput if an option does not fit (a policy file that is missing, thresholds beyond the buffer), and
    PluginFailed if the plugin raises anything else.
    """
    plugin, make = {
        "controller": (resolved.controller, lambda: _controller(resolved)),
        "tuner": (resolved.tuner, lambda: _tuner(resolved)),
    }[kind]
    _made(plugin, make)


def _made(plugin: Plugin, make: Callable[[], object]) -> None:
    try:
        make()
    except BadInput:
        raise
    except Exception as error:
        raise failed(plugin, error) from error


def _controller(resolved: Resolved) -> object:
    experiment = resolved.experiment
    link = experiment.rack.link
    payload = round(experiment.traffic.payload)
    path = Paths(np.array([link.rate]), np.array([4 * link.delay]), np.ones(1, np.int64), payload, payload + 200)
    return build(resolved.controller.form, resolved.controller_config, path)


def _tuner(resolved: Resolved) -> object:
    from testbed.tuning import ports_of

    return resolved.tuner.form(resolved.tuner_config, ports_of(resolved)).initial()
