"""The kernel engine: an experiment on this machine, in a rack of namespaces, with real packets. Needs root."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from testbed.agent.build import compile_all
from testbed.capture.files import Capture
from testbed.engines.apps.delay import DELAY
from testbed.engines.apps.running import check_folders
from testbed.engines.engine import Prepared, Stoppable
from testbed.engines.kernel import speed
from testbed.engines.kernel.choices import check_gates, explain_delays, forwarding_by, use_netem
from testbed.engines.kernel.follow import follow
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.live.samples import SAMPLES
from testbed.results.record import EngineName, RunRecord

log = logging.getLogger(__package__)


class KernelEngine:
    """On this machine, in a rack of namespaces."""

    name: EngineName = "kernel"

    def check(self, resolved: Resolved) -> None:
        """Whether the kernel can do what the experiment insists on."""
        use_netem(resolved)
        forwarding_by(resolved)
        check_gates(resolved)
        check_folders(resolved.experiment)

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:
        """Compile the data plane; measure this machine if the dilation is left to it."""
        compile_all()
        SAMPLES.compiled()
        if resolved.experiment.apps:
            DELAY.compiled()
        settled = speed.settle(resolved, observer)
        log.info("delays", extra=explain_delays(resolved))
        features = {
            "delay_by": "netem" if use_netem(resolved) else "delay-line",
            "shaper": "tbf",
            "forwarding": forwarding_by(resolved),
        }
        return Prepared(settled.resolved, features, settled.as_dict())

    def follow(
        self, prepared: Prepared, observer: Observer, running: list[Stoppable], name: str, captures: Sequence[Capture]
    ) -> RunRecord:
        """One run in a sandbox of its own."""
        netem = use_netem(prepared.resolved)
        return follow(prepared.resolved, netem, observer, running=running, name=name, captures=captures)
