"""Flows that wait for others, as two agents share them."""

from __future__ import annotations

import os

import numpy as np
import pytest

from testbed.agent.structs import library
from testbed.agent.tasks import NOBODY, TaskGraph
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Kind, Steps, Tasks, edges
from tests.support.agents import SLOT, Bench
from tests.support.serving import serving, turn

ONE_WAY = np.full(3, 5 * SLOT)


def plan(tasks: Tasks, flows: int = 3) -> Plan:
    made = Plan.of([Flow(f"h{i + 1}", "h9", 1e3, 0.5 * SLOT * i) for i in range(flows)])
    return Plan(made.src, made.dst, made.size, made.start, made.label, made.group, tasks)


def column(graph: TaskGraph, name: str) -> list[float]:
    address = getattr(graph.c, name)
    return next(one for one in graph._keep if one.ctypes.data == address).tolist()


def test_a_flow_starts_its_time_after_the_last_that_it_waits_for_whoever_serves_them() -> None:
    steps = Steps.of(2, Kind.COMPUTE, length=np.array([3.0, 4.0]) * SLOT)
    waiting = Tasks(steps, np.concatenate([edges(0, -1), edges(1, 2), edges(-1, -2), edges(-2, 2)]))
    graph = TaskGraph(plan(waiting), 1000, ONE_WAY, [(0, 2), (2, 3)], wake=True)
    graph.begin(library())
    assert np.isnan(graph.begun()).all()
    library().flow_done(graph.pointer, 0, 10 * SLOT)
    assert column(graph, "released") == [NOBODY] * 3
    assert graph.begun().tolist() == [10 * SLOT, 13 * SLOT]
    library().flow_done(graph.pointer, 0, 12 * SLOT)  # of which it knows already
    library().flow_done(graph.pointer, 1, 11 * SLOT)
    assert column(graph, "released") == [NOBODY, NOBODY, 2]
    assert column(graph, "ready")[2] == 17 * SLOT
    first, second = (int(fd) for fd in column(graph, "wake"))
    assert os.eventfd_read(second) == 1
    os.eventfd_write(first, 1)
    assert os.eventfd_read(first) == 1  # nobody had woken it


def test_steps_that_wait_for_nothing_take_their_time_from_their_start() -> None:
    steps = Steps.of(2, Kind.COMPUTE, length=2 * SLOT, start=5 * SLOT)
    waiting = Tasks(steps, np.concatenate([edges(-1, -2), edges(-2, 1)]))
    graph = TaskGraph(plan(waiting), 1000, ONE_WAY, [(0, 3)], wake=False)
    graph.begin(library())
    assert graph.begun() == pytest.approx([5 * SLOT, 7 * SLOT])
    assert column(graph, "released")[0] == 1


def test_an_agent_starts_what_was_released_when_it_was_due() -> None:
    graph = TaskGraph(plan(Tasks(edges=edges(0, np.array([1, 2])))), 1000, ONE_WAY, [(0, 3)], wake=False)
    start = (0.0, np.inf, np.inf)
    with serving(hosts=(0, 1, 2), start=start, size=1e3, tasks=graph) as (agent, bench):
        turn(agent, 0.0)
        assert agent.next_step > 10 * SLOT
        library().flow_done(graph.pointer, 0, 7 * SLOT)
        assert agent.next_step == pytest.approx(7.5 * SLOT)
        turn(agent, 7.6)
        assert agent.next_step == pytest.approx(8 * SLOT)
        turn(agent, 9.0)
        assert [one for one in agent.controller.told if one[0] == "start"] == [
            ("start", 0.0, [0]), ("start", 7.6, [1]), ("start", 9.0, [2]),
        ]  # fmt: skip
        assert bench.flows.start == pytest.approx([0.0, 7.5 * SLOT, 8 * SLOT])


@pytest.mark.parametrize(("late", "packets"), [(0.0, 1), (3.2, 4)])
def test_a_flow_that_starts_late_catches_up(late: float, packets: int) -> None:
    """Its first packet was due when it was to start, which was no sooner known: packets 0 to 3 are due by slot 3."""
    graph = TaskGraph(plan(Tasks(edges=edges(0, 1)), 2), 1000, ONE_WAY, [(0, 2)], wake=False)
    with Bench(credit=10.0, hosts=(0, 1), tasks=graph) as bench:
        bench.datapath.set_starts(np.array([np.inf, 2 * SLOT]))
        bench.start(now=(2 + late) * SLOT)
        assert sum(one.flow for one in bench.at(2 + late)) == packets


def test_a_flow_whose_window_was_closed_has_nothing_to_catch_up() -> None:
    graph = TaskGraph(plan(Tasks(edges=edges(0, 1)), 2), 1000, ONE_WAY, [(0, 2)], wake=False)
    with Bench(credit=10.0, hosts=(0, 1), tasks=graph) as bench:
        bench.datapath.set_starts(np.array([np.inf, 2 * SLOT]))
        bench.flows.inflight[1] = 1  # as if other messages of its queue pair had filled the window
        bench.start(window=1, now=2 * SLOT)
        assert sum(one.flow for one in bench.at(2)) == 0
        bench.flows.inflight[1] = 0
        bench.flows.window[:] = np.inf
        bench.change(now=5.2 * SLOT)
        assert sum(one.flow for one in bench.at(5.2)) == 1


def test_what_a_delay_line_delays_has_been_received_a_one_way_delay_after_it_left() -> None:
    """A flow of two packets: their acknowledgements come at 10 and 11 slots, the receiver has them 5 later, and their
    feedback is due 8 later.
    """
    graph = TaskGraph(plan(Tasks(edges=edges(0, 1))), 500, ONE_WAY, [(0, 3)], wake=False)
    with Bench(hosts=(0, 1, 2), size=1e3, payload=500, held=8 * SLOT, tasks=graph) as bench:
        bench.datapath.set_starts(np.array([0.0, np.inf, np.inf]))
        bench.start()
        assert len(bench.at(3.0)) == 6
        bench.ack(0, rx=10.0)
        bench.ack(1, rx=11.0)
        seen = bench.datapath.pointer
        assert library().next_received(seen) == pytest.approx(15 * SLOT)
        library().see_received(seen, 15.1 * SLOT)
        assert library().next_received(seen) == pytest.approx(16 * SLOT)
        assert bench.datapath.next_start() == 0.0
        library().see_received(seen, 16.1 * SLOT)
        bench.datapath.next_start()
        assert bench.flows.start[1] == pytest.approx(16.5 * SLOT)  # and 0.5 of its own
        assert bench.datapath.next_due() == pytest.approx(18 * SLOT)  # feedback is not
        bench.read_feedback(19.1)
        assert bench.flows.finished[0] == pytest.approx(19 * SLOT)
        assert column(graph, "count") == [1]
