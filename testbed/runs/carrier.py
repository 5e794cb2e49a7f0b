"""The engine of a name, for whoever does not bring one of their own. It is imported only if it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.errors import BadInput

if TYPE_CHECKING:
    from testbed.engines.engine import Engine
    from testbed.experiment.model import Experiment
    from testbed.results.record import EngineName


def begin(experiment: Experiment) -> None:
    """What its engine can do while plugins are loaded and tried."""
    if experiment.simulates_packets:
        from testbed.engines.virtual.engine import compile_beside

        compile_beside(experiment)


def carrier(name: EngineName, threads: int | None = 1) -> Engine:
    """An engine that needs no inventory. ``threads`` of the virtual one; None for what helps. Raises BadInput."""
    if name != "virtual" and (threads or 1) > 1:
        raise BadInput(
            f"--threads: only the virtual engine runs on several, not '{name}'; leave it out, or use --engine virtual"
        )
    if name == "virtual":
        from testbed.engines.virtual.engine import VirtualEngine

        return VirtualEngine(threads=threads)
    if name == "live":
        from testbed.engines.virtual.live import LiveEngine

        return LiveEngine()
    if name == "fluid":
        from testbed.engines.fluid.engine import FluidEngine

        return FluidEngine()
    assert name == "kernel", name
    from testbed.engines.kernel.engine import KernelEngine

    return KernelEngine()
