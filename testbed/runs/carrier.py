"""The engine of a name, for whoever does not bring one of their own. It is imported only if it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testbed.engines.engine import Engine
    from testbed.experiment.model import Experiment
    from testbed.results.record import EngineName


def begin(experiment: Experiment) -> None:
    """What its engine can do while plugins are loaded and tried."""
    if experiment.simulates_packets:
        from testbed.engines.virtual.engine import compile_beside

        compile_beside(experiment)


def carrier(name: EngineName) -> Engine:
    """An engine that needs no inventory."""
    if name == "virtual":
        from testbed.engines.virtual.engine import VirtualEngine

        return VirtualEngine()
    if name == "live":
        from testbed.engines.virtual.live import LiveEngine

        return LiveEngine()
    if name == "fluid":
        from testbed.engines.fluid.engine import FluidEngine

        return FluidEngine()
    assert name == "kernel", name
    from testbed.engines.kernel.engine import KernelEngine

    return KernelEngine()
