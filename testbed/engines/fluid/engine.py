"""The fluid engine: an experiment as rates and queues, without packets and root (`testbed run --engine fluid`)."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.capture.files import Capture
from testbed.controller import Signal
from testbed.engines.engine import Prepared, Stoppable
from testbed.engines.fluid.core import MODEL
from testbed.engines.fluid.fluid import Options
from testbed.engines.fluid.layout import FluidLayout, of_experiment
from testbed.engines.fluid.run import FluidRun
from testbed.engines.fluid.view import FluidView
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.live.samples import SAMPLES
from testbed.results.record import EngineName, RunRecord
from testbed.units import show_time

STEPS_PER_RTT = 16
LEAST_STEPS_PER_RTT = 4


class FluidEngine:
    """The same controller and tuner classes as with packets. ``time.dilation`` means nothing here."""

    name: EngineName = "fluid"

    def check(self, resolved: Resolved) -> None:
        """Raises BadInput for what the model does not have."""
        if Signal.SRC in resolved.signals:
            raise BadInput(f"controller: {resolved.title} wants SRCs, which only packets bring; use --engine virtual")
        _step(resolved, of_experiment(resolved.layout))

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:  # noqa: ARG002 - part of the interface
        """Compile the model."""
        for unit in (MODEL, SAMPLES):
            unit.compiled()
        return Prepared(resolved, {})

    def follow(
        self, prepared: Prepared, observer: Observer, running: list[Stoppable], name: str, captures: Sequence[Capture]
    ) -> RunRecord:
        """In this process."""
        assert not captures, "they are refused on the command line"
        observer.on_fork()
        resolved = prepared.resolved
        layout = of_experiment(resolved.layout)
        try:
            run = FluidRun(FluidView(resolved, layout, options_of(resolved, layout)), observer, name)
            running.append(run)
            return run.follow()
        finally:
            running.clear()
            observer.on_stop()


def options_of(resolved: Resolved, layout: FluidLayout) -> Options:
    """How the model of an experiment is made. Raises BadInput for an impossible step."""
    return Options(
        step=_step(resolved, layout),
        probes=resolved.experiment.fluid.probes,
        cnp_interval=resolved.cnp_interval,
        seed=resolved.experiment.seed,
    )


def _step(resolved: Resolved, layout: FluidLayout) -> float:
    asked, base_rtt = resolved.experiment.fluid.step, float(layout.base_rtt.min())
    if isinstance(asked, str):
        return base_rtt / STEPS_PER_RTT
    if not 0 < asked <= base_rtt / LEAST_STEPS_PER_RTT:
        raise BadInput(
            f"fluid.step: {show_time(asked)} was asked for; expected a positive time up to "
            f"{show_time(base_rtt / LEAST_STEPS_PER_RTT)}, a quarter of the shortest base RTT"
        )
    return asked
