"""A run of the fluid model as those see it who record and show it (`testbed.live.observed.Observed`)."""

from __future__ import annotations

import numpy as np

from testbed.agent.identity import Identity
from testbed.clock import Clock
from testbed.controller import RateController
from testbed.engines.fluid.fluid import Options
from testbed.engines.fluid.layout import FluidLayout
from testbed.engines.fluid.metered import MeteredFluid
from testbed.engines.fluid.network import FluidNetwork
from testbed.engines.fluid.switch import ModelSwitch
from testbed.experiment.resolved import Resolved
from testbed.registry import Blaming
from testbed.results.decisions import Served
from testbed.results.trace import DecisionTrace
from testbed.tuner import Need
from testbed.tuning.loop import Tunings


class FluidView:
    """The model of an experiment, its one switch and its tuner."""

    idle, stolen = (), 0.0  # of its time a core lost nothing that would matter to a model

    def __init__(self, resolved: Resolved, layout: FluidLayout, options: Options) -> None:
        """Raises BadInput or PluginFailed."""
        self.resolved, self.layout = resolved, resolved.layout
        self.paths = layout.paths
        self.clock = Clock(1.0)  # nothing here happens in wall time
        trace = DecisionTrace(resolved.experiment.record.decisions, self.layout.framing.int_hops)
        self.fluid = MeteredFluid(layout, self._controller(), options, resolved.controller, trace)
        self.flows, self.meters = self.fluid.flows, [self.fluid.meter]
        self.tasks = None  # the model refuses traffic that waits
        (ports,) = self.layout.tuner_ports()
        port_of = np.unique(self.layout.plan.dst_number) - 1
        switch = ModelSwitch(self.fluid, len(ports), port_of, monitor=Need.FLOWS in resolved.tuner.form.needs)
        self.tuning = Tunings(resolved, [(switch, ports)])
        self.network = FluidNetwork(self.fluid, switch, self.tuning, self.layout.bottleneck)

    def _controller(self) -> RateController:
        with Blaming(self.resolved.controller):
            return self.resolved.make_controller(self.paths)

    def served(self) -> Served:
        """What the one controller was told and decided."""
        return Served(0, self.paths, self.fluid.meter.trace)

    def identities(self) -> list[Identity]:
        """The classes that decided."""
        return Identity.all_of(self.fluid.controller)
