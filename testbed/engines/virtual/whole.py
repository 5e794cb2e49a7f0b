"""Racks that are not cut, for what one node does reaches another in no time, or Python is asked."""

from __future__ import annotations

import os

from testbed.agent.flow_agent import FlowAgent
from testbed.agent.identity import Identity
from testbed.engines.virtual.limits import MOST_PARTS
from testbed.engines.virtual.sender import Sender
from testbed.engines.virtual.world import World
from testbed.experiment.resolved import Resolved

LARGE = 512  # hosts, from which on threads and parts save time
MOST = 8  # threads, if nobody asks for more
PER_PART = 64  # hosts whose state stays in the caches of a core; threads take on parts of others that are behind


def useful(resolved: Resolved) -> int:
    """Threads that help: one for small racks."""
    return min(len(os.sched_getaffinity(0)), MOST) if len(resolved.layout.shape.hosts) >= LARGE else 1


def useful_parts(resolved: Resolved, threads: int) -> int:
    """Into how many a rack is cut, for so many threads."""
    hosts = len(resolved.layout.shape.hosts)
    return min(max(threads, hosts // PER_PART if hosts >= LARGE else 1), MOST_PARTS)


def why_whole(world: World, agent: Sender) -> str:
    """Why it runs on one thread; empty if it need not."""
    if not isinstance(agent, FlowAgent):
        return "its controller decides in batches"
    experiment = world.experiment
    asked = [one.runs_as for one in Identity.all_of(agent.controller)]
    if (paths := agent.datapath.many_paths) and paths.choosers:
        asked.append(paths.choosers.runs_as)
    if credits := agent.datapath.credits:
        asked.append(credits.receivers.runs_as)
    costs = [one.decision_cost for one in (experiment.controller, *experiment.controllers)]
    waits = world.c.queued or world.classes  # packets, for their line
    reasons = {
        "Python is asked about flows, paths or credits": "Python" in asked,
        "flows start when others are done": len(world.layout.plan.tasks.edges),
        "flows may change between the NICs of a bond": experiment.bonds,
        "switches with Bolt count what they tell senders": world.bolt,
        "its tuner asks for flows, which all switches count in one table": world.maps.flow_table,
        "a watchdog of pauses keeps one list": experiment.rack.switch.watchdog,
        "decisions take time on one core": any(costs),
        "a link on which packets wait has no delay": waits and not world.wires.lines["delay"].all(),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
