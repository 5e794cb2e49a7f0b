"""The virtual engine: an experiment in a simulation that runs the rack's own programs. Needs no root and no kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from testbed.base.compiler import compile_ahead
from testbed.base.shared import Shared
from testbed.base.watchdog import PATIENCE
from testbed.capture.files import Capture
from testbed.controller import CompiledController
from testbed.dataplane.port_reader import READER
from testbed.engines.engine import Prepared, Stoppable
from testbed.engines.messages import followed
from testbed.engines.virtual.build import unit_of, usual_unit
from testbed.engines.virtual.lossless import ingress_sizes
from testbed.engines.virtual.process import WatchedProcess
from testbed.engines.virtual.whole import useful
from testbed.errors import BadInput
from testbed.experiment.model import Experiment
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.live.samples import SAMPLES
from testbed.results import arrow
from testbed.results.record import EngineName, RunRecord
from testbed.results.trace import ROWS
from testbed.units import show_time


def compile_beside(experiment: Experiment) -> None:
    """In the background what it will need, while its plugins are compiled."""
    compile_ahead((usual_unit(experiment), READER, SAMPLES, ROWS))


class VirtualEngine:
    """In a process of this machine, in time of its own. ``time.dilation`` means nothing here."""

    name: EngineName = "virtual"

    def __init__(self, patience: float = PATIENCE, threads: int | None = 1) -> None:
        """``threads``: None for what helps. Figures are the same for any number."""
        self.patience, self.threads = patience, threads

    def check(self, resolved: Resolved) -> None:
        """Raises BadInput for what does not fit."""
        ingress_sizes(resolved.layout)
        experiment = resolved.experiment
        cost = max(one.decision_cost for one in (experiment.controller, *experiment.controllers))
        batches = [one.plugin.name for one in resolved.deciders if not issubclass(one.plugin.form, CompiledController)]
        if cost and batches:
            raise BadInput(
                f"controller.decision_cost: {show_time(cost)}: only decisions per flow can take time, and "
                f"'{batches[0]}' decides in batches; leave it out"
            )

    def _dilation(self, resolved: Resolved) -> float | None:  # noqa: ARG002 - of who has one
        """Wall seconds per nominal second, if it is to keep pace with the wall clock."""
        return None

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:  # noqa: ARG002 - part of the interface
        """Compile the programs."""
        for unit in (unit_of(resolved), READER, SAMPLES):
            unit.compiled()
        return Prepared(resolved, {"simulated with": "the rack's programs"})

    def follow(
        self, prepared: Prepared, observer: Observer, running: list[Stoppable], name: str, captures: Sequence[Capture]
    ) -> RunRecord:
        """In a process of its own, which a watchdog ends if a plugin never returns."""
        from testbed.engines.virtual.run import follow

        arrow.load()  # before the fork, so that the next one has it as well
        resolved = prepared.resolved
        turn = Shared.ints(1)
        asked = [one.plugin for one in resolved.deciders]
        asked += [one for one in (resolved.chooser, resolved.receiver) if one]
        plugins = (asked, [resolved.tuner])

        def silent() -> str:
            """C asks these too often to note each time whom: any of them."""
            return " or ".join(dict.fromkeys(one.whence for one in plugins[turn[0]]))

        threads = useful(resolved) if self.threads is None else self.threads
        work = partial(follow, resolved, captures, turn, self._dilation(resolved), name=name, threads=threads)
        process = WatchedProcess(work, self.patience, silent, observer.descriptors)
        return followed(process, observer, running, name)
