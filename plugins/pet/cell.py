"""One workload at one load, on the virtual engine: the same arrivals under any tuner, felt against SECN1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.engines.virtual.run import VirtualRun
from testbed.experiment.resolved import Resolved
from testbed.plugin import PluginConfig
from testbed.registry import find
from testbed.results.figures.fct import ideal_fct
from testbed.results.record import RunRecord
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from testbed.tuner import Need, Ports, PortSample, Thresholds, Tuner

from ..learned.observation import Observation
from ..learned.tuner import SLOTS
from .beginning import FIRST
from .decision import Heads
from .felt import felt, mean_waits, waited
from .ppo import Ppo

SLOT_RTTS = 10  # as `plugins.learned.tuner.LearnedConfig.slot`
INCASTS = ("traffic.incast.degree=12", "traffic.incast.size=64 kB", "traffic.incast.period=500 us")
QUIET = ("engine=virtual", "record.decisions=0", "record.flows=1", "record.interval=1 ms")


@dataclass
class Seen:
    """A slot of the switch: what it saw, what was drawn, and when that became active."""

    now: float
    features: Floats
    actions: Ints
    log_prob: Floats
    values: Floats


COLUMNS = ("features", "actions", "log_prob", "values")


class Cell:
    """DCQCN with a window of one BDP at ``hosts`` hosts of one switch, for so many ``slots``, maybe with incasts."""

    def __init__(self, workload: str, load: float, seed: int, hosts: int, slots: int, *, incasts: bool = False) -> None:
        options = [*QUIET, "controller.window=bdp", f"rack.hosts={hosts}", f"traffic.load={load}", f"seed={seed}",
                   "tuner.preset=secn1", "time.warmup=0", *(INCASTS if incasts else ())]  # fmt: skip
        base_rtt = resolve(workload, {}, {}, options).layout.tuner_ports()[0].base_rtt
        self.duration = SLOT_RTTS * base_rtt * (slots + 0.5)
        self.resolved = resolve(workload, {}, {}, [*options, f"time.duration={self.duration!r} s"])
        plan, ports = self.resolved.layout.plan, self.resolved.layout.shape.ports
        self.buffer = np.array([port.link.buffer for port in ports])
        to = {port.neighbour: number for number, port in enumerate(ports)}
        self.port = np.array([to[host] for host in plan.dst])
        self.whole = np.array([0.0, self.duration])
        self.reference = mean_waits(self._waits(_ran(self.resolved), self.whole), plan.size)

    def felt(self, tuner: str, options: dict[str, Any]) -> float:
        """Of SECN1's slowdown, mean of that of mice and that of elephants."""
        plugin = find("tuner", tuner)
        record = _ran(replace(self.resolved, tuner=plugin, tuner_config=plugin.configure(None, options)))
        return -float(self._reward(self._waits(record, self.whole)).sum())

    def drawn(self, learner: Ppo) -> tuple[list[Any], Floats]:
        """One run under draws of the learner's policy: columns of shape (t, ports, ...), and what was felt."""
        seen: list[Seen] = []
        form = exploring(learner, seen)
        plugin = replace(self.resolved.tuner, form=form)
        record = _ran(replace(self.resolved, tuner=plugin, tuner_config=form.Config()))
        edges = np.array([*(one.now for one in seen), self.duration])
        columns = [np.array([getattr(one, name) for one in seen]) for name in COLUMNS]
        return columns, self._reward(self._waits(record, edges))

    def _reward(self, waits: Floats) -> Floats:
        return felt(waits, self.resolved.layout.plan.size, self.port, len(self.buffer), self.reference)

    def _waits(self, record: RunRecord, edges: Floats) -> Floats:
        flows = record.flows
        end = np.where(np.isnan(flows.finished), self.duration, flows.finished)
        return waited(flows.start, end, ideal_fct(record), edges)


def _ran(resolved: Resolved) -> RunRecord:
    return VirtualRun(resolved, [], Unwatched()).follow()


def exploring(learner: Ppo, seen: list[Seen]) -> type[Tuner]:
    """A tuner that draws from the learner's policy, and keeps what it saw and did."""

    class Exploring(Tuner):
        name = "pet"
        needs = Need.FLOWS

        def __init__(self, config: PluginConfig, ports: Ports) -> None:
            super().__init__(config, ports)
            self.slot = SLOT_RTTS * ports.base_rtt
            self.heads = Heads(learner.grid, ports.buffer)
            self.observation = Observation(ports, SLOTS, flows=True)

        def initial(self) -> Thresholds:
            return Thresholds(*learner.grid.values(np.tile(FIRST, (len(self.ports), 1))))

        def on_slot(self, now: float, sample: PortSample) -> Thresholds:
            features = self.observation.append(sample)
            actions, log_prob, values = learner.act(features, self.heads)
            seen.append(Seen(now, features, actions, log_prob, values))
            return Thresholds(*learner.grid.values(actions))

    return Exploring
