"""Makes the plugins of an experiment once before anything is built, so that their errors come early."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from testbed.base.watchdog import watched
from testbed.errors import PluginFailed, TestbedError
from testbed.experiment.resolved import Decider, Resolved
from testbed.registry import Plugin, failed, refused
from testbed.tuner import wrong

log = logging.getLogger(__package__)


def try_controller(resolved: Resolved, one: Decider) -> None:
    """Make a controller for one flow.

    Raises BadInput if an option does not fit (a policy file that is missing), PluginFailed if the plugin raises
    anything else or does not return, or TestbedError if there is no compiler.
    """
    _made(one.plugin, lambda: one.make(resolved.layout.controller_paths(slice(1))))


def try_tuner(resolved: Resolved) -> None:
    """Make the tuners and have their first thresholds, and warn if pauses come before marks. Raises as the former."""
    _made(resolved.tuner, lambda: _tuner(resolved))


def try_chooser(resolved: Resolved) -> None:
    """Make a path chooser for one flow, if there is one. Raises as `try_controller`."""
    if resolved.chooser:
        _made(resolved.chooser, lambda: resolved.make_choosers(resolved.layout.controller_paths(slice(1))))


def _made(plugin: Plugin, make: Callable[[], object]) -> None:
    try:
        with watched(plugin.whence, PluginFailed):
            make()
    except TestbedError:
        raise
    except Exception as error:
        raise failed(plugin, error) from error


def _tuner(resolved: Resolved) -> None:
    kmin: dict[str, float] = {}
    for ports in resolved.layout.tuner_ports():
        tuner = resolved.tuner.form(resolved.tuner_config, ports)
        first = tuner.initial()
        if why := wrong(first, ports):
            raise refused(resolved.tuner, tuner.initial, why)
        kmin |= dict(zip(ports.name, np.asarray(first.kmin, float).tolist(), strict=True))
    if problem := resolved.ecn_order.problem(kmin):
        log.warning("%s", problem)
