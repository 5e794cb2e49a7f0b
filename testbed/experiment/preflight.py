"""Makes the plugins of an experiment once before anything is built: what they refuse costs nothing then."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from testbed.controller import Paths, Signal, build
from testbed.dataplane.wire import Framing
from testbed.errors import BadInput, PluginFailed
from testbed.experiment.topology.kinds import shape_of
from testbed.experiment.topology.paths import PathTimes
from testbed.experiment.topology.routes import Routes
from testbed.registry import Plugin, failed, refused

if TYPE_CHECKING:
    from testbed.experiment.load import Resolved


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
    except (BadInput, PluginFailed):
        raise
    except Exception as error:
        raise failed(plugin, error) from error


def _controller(resolved: Resolved) -> object:
    experiment, form = resolved.experiment, resolved.controller.form
    plan = experiment.plan
    cables = Routes(shape_of(experiment.rack, experiment.hosts)).path(plan.src[0], plan.dst[0])
    hops = len(cables) - 1
    framing = Framing(round(experiment.traffic.payload), hops if Signal.INT in form.signals else 0)
    base_rtt = np.array([PathTimes(cables, framing).base_rtt])
    paths = Paths(np.array([cables[0].rate]), base_rtt, np.full(1, hops), framing.payload, framing.wire_size)
    return build(form, resolved.controller_config, paths)


def _tuner(resolved: Resolved) -> None:
    from testbed.tuner import wrong
    from testbed.tuning.loop import ports_of

    for ports in ports_of(resolved):
        tuner = resolved.tuner.form(resolved.tuner_config, ports)
        if why := wrong(tuner.initial(), ports):
            raise refused(resolved.tuner, tuner.initial, why)
