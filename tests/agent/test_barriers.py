"""Flows that wait for groups, as two agents see them."""

from __future__ import annotations

import numpy as np

from testbed.agent.barriers import Barriers
from testbed.experiment.traffic.osu import OsuAllToAll
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.plan import Plan

HOSTS, PER_GROUP = 4, 12


def test_a_group_starts_when_the_one_before_has_finished_everywhere() -> None:
    pattern = OsuAllToAll(pattern="osu-all-to-all", hosts=HOSTS, sizes=["1 kB"], iterations=3, pause="1 us")
    plan = Plan.of(pattern.expand(Context(HOSTS, 100e9, 1.0, (1,))))
    finished = np.full(len(plan), np.nan)
    half = len(plan) // 2
    agents = [Barriers(plan, finished, 0, half), Barriers(plan, finished, half, len(plan))]
    for group in range(3):
        members = np.flatnonzero(plan.group == group)
        for flow in members:
            assert all(not len(agent.released()) for agent in agents)
            finished[flow] = 1.0
        started = np.concatenate((agents[0].released(), agents[1].released() + half))
        assert started.tolist() == np.flatnonzero(plan.after == group).tolist()
        assert len(started) == (PER_GROUP if group < 2 else 0)
        assert all(not len(agent.released()) for agent in agents)
    assert (agents[1].delay[plan.after[half:] >= 0] == 1e-6).all()
