"""Makes the plugins of an experiment once before anything is built, so that their errors come early."""

from __future__ import annotations

from collections.abc import Callable

from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.registry import Plugin, failed, refused
from testbed.tuner import wrong


def preflight(resolved: Resolved, kind: str) -> None:
    """Make the controller for one flow, or the tuner with its first thresholds.

    Raises BadInput if an option does not fit (a policy file that is missing, thresholds beyond the buffer), and
    PluginFailed if the plugin raises anything else, or TestbedError if there is no C compiler.
    """
    plugin, make = {
        "controller": (resolved.controller, lambda: _controller(resolved)),
        "tuner": (resolved.tuner, lambda: _tuner(resolved)),
    }[kind]
    _made(plugin, make)


def _made(plugin: Plugin, make: Callable[[], object]) -> None:
    try:
        make()
    except TestbedError:
        raise
    except Exception as error:
        raise failed(plugin, error) from error


def _controller(resolved: Resolved) -> object:
    one_flow = resolved.layout.controller_paths(slice(1))
    return resolved.make_controller(one_flow)


def _tuner(resolved: Resolved) -> None:
    for ports in resolved.layout.tuner_ports():
        tuner = resolved.tuner.form(resolved.tuner_config, ports)
        if why := wrong(tuner.initial(), ports):
            raise refused(resolved.tuner, tuner.initial, why)
