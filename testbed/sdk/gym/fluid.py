"""The fluid model as a session."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats
from testbed.engines.fluid.engine import options_of
from testbed.engines.fluid.fluid import Fluid
from testbed.engines.fluid.layout import of_experiment
from testbed.engines.fluid.switch import ModelSwitch
from testbed.experiment.resolved import Resolved
from testbed.registry import Blaming
from testbed.sdk.gym.session import is_over
from testbed.sdk.gym.steered import Steered
from testbed.tuner import Need
from testbed.tuning.loop import Tunings


class FluidSession:
    """See `testbed.sdk.gym.session.Session`."""

    def __init__(self, resolved: Resolved) -> None:
        self.plugin = resolved.controller
        layout = of_experiment(resolved.layout)
        self.controller = cast(Steered, resolved.make_controller(layout.paths))
        self.fluid = Fluid(layout, self.controller, options_of(resolved, layout), self.controller.signals)
        (ports,) = resolved.layout.tuner_ports()
        port_of = np.unique(resolved.layout.plan.dst_number) - 1
        switch = ModelSwitch(self.fluid, len(ports), port_of, monitor=Need.FLOWS in resolved.tuner.form.needs)
        self.tuning = Tunings(resolved, [(switch, ports)])
        self.tuning.step(0.0, 0)

    @property
    def now(self) -> float:
        return self.fluid.now

    @property
    def live(self) -> NDArray[np.bool_]:
        return self.fluid.sending

    @property
    def finished(self) -> Floats:
        return self.fluid.finished

    def steer(self, actions: Floats) -> None:
        with Blaming(self.plugin):
            self.fluid.answer(self.controller.steer(self.fluid.now, actions))
            self.fluid.apply_decisions()

    def advance(self, until: float) -> bool:
        fluid, tuning, end = self.fluid, self.tuning, until - self.fluid.options.step / 2
        began, late, flows = fluid.now, False, 0
        while fluid.now < end:
            if is_over(self.controller, fluid.sending, late):
                return True
            before, flows = flows, int(np.count_nonzero(fluid.sending))
            if flows > before:  # nobody is late because another one starts
                began = fluid.now
            with Blaming(self.plugin):
                late = fluid.gather(min(end, tuning.next_slot), max(flows, 1), began)
            if fluid.now >= tuning.next_slot:
                tuning.step(fluid.now, round(fluid.now * 1e9))
        return False

    def close(self) -> None:
        """Nothing is to be given back."""
