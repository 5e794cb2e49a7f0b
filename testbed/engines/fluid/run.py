"""An experiment in the fluid model: the same controller and tuner classes as in the rack, without a packet."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from testbed.controller import FlowController, RateController, build
from testbed.engines.fluid.figures import Figures, figures
from testbed.engines.fluid.fluid import Fluid, Options, UnusableDecision
from testbed.engines.fluid.layout import FluidLayout, of_experiment
from testbed.engines.fluid.switch import ModelSwitch
from testbed.engines.fluid.trace import FluidTrace, run
from testbed.errors import BadInput, PluginFailed, TestbedError
from testbed.experiment.resolved import Resolved
from testbed.registry import failed, refused
from testbed.tuner import Need
from testbed.tuning.loop import Tunings
from testbed.units import show_time

PROBES = 8
STEPS_PER_RTT = 16
LEAST_STEPS_PER_RTT = 4
MOST_PROBES = 64
MOST_SAMPLES = 2000


@dataclass(frozen=True)
class Modelled:
    """A run of the model."""

    figures: Figures
    trace: FluidTrace
    layout: FluidLayout


def simulate(
    resolved: Resolved, *, step: float = 0.0, probes: int = PROBES, told: Callable[[float], None] = lambda _now: None
) -> Modelled:
    """Run it to its end; ``told`` hears the time now and then. ``step`` in s, 0: a sixteenth of the base RTT.

    Raises BadInput if step or probes make no sense, TestbedError if a plugin fails.
    """
    experiment, plugin = resolved.experiment, resolved.controller
    layout = apart(of_experiment(resolved.layout), experiment.seed)
    options = Options(
        step=_step(step, float(layout.base_rtt.min())),
        probes=probes,
        cnp_interval=plugin.form.cnp_interval(resolved.controller_config),
        seed=experiment.seed,
    )
    if not 1 <= probes <= MOST_PROBES:
        raise BadInput(f"--probes {probes}: expected a number from 1 to {MOST_PROBES}")
    began = time.monotonic()
    try:
        fluid = Fluid(layout, lambda: _controller(resolved, layout), options, plugin.form.signals)
        tuning = _tuning(resolved, fluid)

        def each_step(number: int) -> None:
            if number % STEPS_PER_RTT == 0:
                tuning.step(fluid.now, round(fluid.now * 1e9))
            if number % every == 0:
                told(fluid.now)

        steps = experiment.time.duration / options.step
        every = max(1, min(STEPS_PER_RTT, int(steps / 20)), round(steps / MOST_SAMPLES))
        trace = run(fluid, experiment.time.duration, every, each_step)
        for log in (one.log for one in tuning.all if one.log.refusals):
            raise PluginFailed(f"{resolved.tuner.title}: {log.first_refusal}")
    except TestbedError:
        raise
    except UnusableDecision as error:
        form = plugin.form
        raise refused(
            plugin, form.on_ack if issubclass(form, FlowController) else form.on_feedback, str(error)
        ) from None
    except Exception as error:  # whatever the plugin raises is its author's to see, in one line
        raise failed(plugin, error) from error
    shown = figures(
        fluid,
        trace,
        experiment.time.warmup,
        experiment=experiment.name,
        controller=plugin.name,
        tuner=resolved.tuner.name,
        wall_seconds=time.monotonic() - began,
    )
    return Modelled(shown, trace, layout)


def apart(layout: FluidLayout, seed: int) -> FluidLayout:
    """The same with every start up to a base RTT later.

    Flows that start at one instant stay in step for good in a model, which nothing in a rack does, and swing together.
    """
    late = np.random.default_rng(seed).uniform(0.0, layout.base_rtt)
    return replace(layout, start=layout.start + late)


def _controller(resolved: Resolved, layout: FluidLayout) -> RateController:
    return build(resolved.controller.form, resolved.controller_config, layout.paths)


def _step(asked: float, base_rtt: float) -> float:
    step = asked or base_rtt / STEPS_PER_RTT
    if not 0 < step <= base_rtt / LEAST_STEPS_PER_RTT:
        raise BadInput(
            f"--step {show_time(step)}: expected a positive time up to {show_time(base_rtt / LEAST_STEPS_PER_RTT)}, "
            f"a quarter of the shortest base RTT"
        )
    return step


def _tuning(resolved: Resolved, fluid: Fluid) -> Tunings:
    plan = resolved.experiment.plan
    (ports,) = resolved.layout.tuner_ports()
    switch = ModelSwitch(
        fluid, len(ports), np.unique(plan.dst_number) - 1, monitor=Need.FLOWS in resolved.tuner.form.needs
    )
    return Tunings(resolved, [(switch, ports)])
