"""The virtual engine as a session: its world and agent take turns, and nothing is recorded."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from testbed.agent.answers import Answers
from testbed.agent.batch_agent import BatchAgent
from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats
from testbed.engines.changes import Changes
from testbed.engines.virtual import sender
from testbed.engines.virtual.world import World
from testbed.experiment.events import EventSchedule
from testbed.experiment.resolved import Resolved
from testbed.registry import Blaming
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.trace import DecisionTrace
from testbed.sdk.gym.session import is_over
from testbed.sdk.gym.steered import Steered
from testbed.tuning.loop import in_rack


class VirtualSession:
    """See `testbed.sdk.gym.session.Session`."""

    def __init__(self, resolved: Resolved) -> None:
        self.plugin, layout = resolved.controller, resolved.layout
        self.world = World(resolved)
        self.flows = Flows(len(layout.plan))
        meter = Meter(RTT_BINS_PER_OCTAVE, DecisionTrace(0, layout.framing.int_hops))
        self.tuning = in_rack(resolved, self.world.queues, layout.queue_names)
        built = sender.build(self.world, self.flows, meter, sender.tasks_of(self.world))
        self.agent = cast(BatchAgent, built.agent)
        self.controller = cast(Steered, built.controller)
        self.answers = Answers(self.flows)
        changes = Changes(resolved, self.flows, self.world, (self.world.ports, self.world.queues), built)
        self.schedule = EventSchedule(resolved.experiment.steps(), changes)

    @property
    def now(self) -> float:
        return self.world.clock.now()

    @property
    def live(self) -> NDArray[np.bool_]:
        return (self.flows.start <= self.now) & np.isnan(self.flows.finished)

    @property
    def finished(self) -> Floats:
        return self.flows.finished

    def steer(self, actions: Floats) -> None:
        self.world.go_on()
        now = self.now
        with Blaming(self.plugin):
            due = self.controller.steer(now, actions)
        if len(due):
            self.agent.apply(due, now)
            self.answers.expect(due)

    def advance(self, until: float) -> bool:
        world, agent, tuning, schedule = self.world, self.agent, self.tuning, self.schedule
        world.go_on()
        began, late, flows = self.now, False, 0
        while (now := world.clock.now()) < until:
            live = self.live
            if is_over(self.controller, live, late):
                return True
            world.catch_up()
            schedule.step(now)
            tuning.step(now, world.c.now)
            agent.step(now)
            agent.postpone_check(now)
            before, flows = flows, int(np.count_nonzero(live))
            if flows > before:  # nobody is late because another one starts
                began = now
            soon = min(agent.next_step, tuning.next_slot, schedule.next, until)
            agent.gather(self.answers, soon, max(flows, 1), began)
            late = self.answers.late(self.now)
        return False

    def close(self) -> None:
        """What it took is given back."""
        self.world.abandon()
