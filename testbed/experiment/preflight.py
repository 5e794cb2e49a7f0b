"""Makes the plugins of an experiment once before anything is built, so that their errors come early."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator

import numpy as np

from testbed.base.watchdog import watched
from testbed.errors import PluginFailed, TestbedError
from testbed.experiment.resolved import Decider, Resolved
from testbed.experiment.topology.queues import OwnRed
from testbed.registry import Blaming, Plugin, refused
from testbed.tuner import Thresholds, Tuner, wrong
from testbed.units import SIZE_UNITS, exactly, show_rate, show_size

log = logging.getLogger(__package__)


def try_controller(resolved: Resolved, one: Decider) -> None:
    """Make a controller for one flow.

    Raises BadInput if an option does not fit (a policy file that is missing), PluginFailed if the plugin raises
    anything else or does not return, or TestbedError if there is no compiler.
    """
    if not len(resolved.layout.plan):
        return  # without flows nobody decides
    _made(one.plugin, lambda: one.make(resolved.layout.controller_paths(slice(1))))


def try_tuner(resolved: Resolved) -> None:
    """Make the tuners and have their first thresholds, and warn if pauses come before marks. Raises as the former."""
    _made(resolved.tuner, lambda: _tuner(resolved))


def try_chooser(resolved: Resolved) -> None:
    """Make a path chooser for one flow, if there is one. Raises as `try_controller`."""
    if resolved.chooser:
        _made(resolved.chooser, lambda: resolved.make_choosers(resolved.layout.controller_paths(slice(1))))


def try_receiver(resolved: Resolved) -> None:
    """Make a credit controller for one flow, if there is one. Raises as `try_controller`."""
    if resolved.receiver:
        _made(resolved.receiver, lambda: resolved.make_receivers(resolved.layout.controller_paths(slice(1))))


def _made(plugin: Plugin, make: Callable[[], object]) -> None:
    with Blaming(plugin, but=TestbedError), watched(plugin.whence, PluginFailed):
        make()


def marking(resolved: Resolved) -> str:
    """Which thresholds hold at the bottleneck when a run begins: what options and presets come to there."""
    port = resolved.layout.shape.ports[resolved.layout.bottleneck]
    where = f"{port.name} at {show_rate(port.link.rate)} with {show_size(port.link.buffer)} of buffer"
    told = []
    for tuner, first in _begun(resolved):
        later = "" if math.isinf(tuner.slot) else " to begin with"
        for row, name in enumerate(tuner.ports.name):
            here, _, queue = name.partition(" ")
            if here == port.name:
                told.append(f"{queue} {first.told(row)}{later}".lstrip())
    return f"ECN at the bottleneck, {where}: {'; '.join(told) or 'as its queues say'}"


def first_red(resolved: Resolved) -> dict[int, OwnRed]:
    """The thresholds with which a run begins at the bottleneck, of the queues that a tuner sets."""
    port = resolved.layout.shape.ports[resolved.layout.bottleneck].name
    found = {}
    for tuner, first in _begun(resolved):
        for row, name in enumerate(tuner.ports.name):
            here, _, queue = name.partition(" q")
            if here == port:
                kmin, kmax, pmax = (float(np.asarray(one, float)[row]) for one in (first.kmin, first.kmax, first.pmax))
                sizes = {"kmin": exactly(kmin, SIZE_UNITS), "kmax": exactly(kmax, SIZE_UNITS)}
                found[int(queue or 0)] = OwnRed.model_validate({**sizes, "pmax": pmax})
    return found


def _tuner(resolved: Resolved) -> None:
    kmin: dict[str, float] = {}
    for tuner, first in _begun(resolved):
        if why := wrong(first, tuner.ports):
            raise refused(resolved.tuner, tuner.initial, why)
        kmin |= dict(zip(tuner.ports.name, np.asarray(first.kmin, float).tolist(), strict=True))
    if resolved.experiment.rack.switch.pfc and (problem := resolved.ecn_order.problem(kmin)):
        log.warning("%s", problem)


def _begun(resolved: Resolved) -> Iterator[tuple[Tuner, Thresholds]]:
    for ports in resolved.layout.tuner_ports():
        tuner: Tuner = resolved.tuner.form(resolved.tuner_config, ports)
        yield tuner, tuner.initial()
