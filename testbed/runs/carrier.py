"""The engine of a name, for whoever does not bring one of their own. It is imported only if it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testbed.engines.engine import Engine
    from testbed.results.record import EngineName


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
