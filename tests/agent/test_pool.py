"""Sharing hosts out among agents, and hearing from agents that fail."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.agent.agent import Timing
from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.agent.pool import AgentConfig, AgentPool, AgentSpec, split_by_host
from testbed.controller import Paths, RateController
from testbed.dataplane.wire import ARRIVALS
from testbed.errors import PluginFailed
from testbed.experiment.topology.framing import Framing
from testbed.registry import Plugin
from tests.support.waiting import PATIENCE

FLOWS_PER_HOST = st.lists(st.integers(1, 40), min_size=1, max_size=70)


@given(FLOWS_PER_HOST, st.integers(1, 16))
def test_shares_cover_everything_and_split_no_host(flows: list[int], agents: int) -> None:
    hosts = np.repeat(np.arange(len(flows)), flows)
    shares = split_by_host(hosts, agents)
    assert 1 <= len(shares) <= agents
    assert [first for first, _ in shares] == [0, *(end for _, end in shares[:-1])]
    assert shares[-1][1] == len(hosts)
    served = [set(hosts[first:end].tolist()) for first, end in shares]
    assert all(served)
    assert sum(len(one) for one in served) == len(flows)


@given(FLOWS_PER_HOST, st.integers(1, 16))
def test_shares_are_about_equal(flows: list[int], agents: int) -> None:
    """A border is moved to the nearest host's, so a spec is off by at most one host."""
    shares = split_by_host(np.repeat(np.arange(len(flows)), flows), agents)
    equal = sum(flows) / agents
    assert all(end - first <= equal + max(flows) for first, end in shares)
    if len(shares) == agents:
        assert all(end - first >= equal - max(flows) for first, end in shares)


def test_equal_hosts_are_shared_equally() -> None:
    hosts = np.repeat(np.arange(64), 128)
    assert split_by_host(hosts, 2) == [(0, 4096), (4096, 8192)]
    assert split_by_host(hosts, 8) == [(1024 * i, 1024 * (i + 1)) for i in range(8)]
    assert split_by_host(np.zeros(5, int), 4) == [(0, 5)]


def launched(controller: Callable[[Paths, int], RateController]) -> AgentPool:
    """A pool of one agent without flows of its own to send; it fails before it needs its ring."""
    paths = Paths(np.full(1, 1e9), np.full(1, 1e-5), np.full(1, 1), 1000, 1078)
    spec = AgentSpec(
        number=0,
        core=min(os.sched_getaffinity(0)),
        first=0,
        routes=[],
        host=np.zeros(1, np.int64),
        rings=[(-1, 0.0)],
        ring_size=4096,
        flows=Flows(1),
        paths=paths,
        timing=Timing(np.zeros(1), 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        meter=Meter(16),
        arrivals=np.zeros(1, ARRIVALS),
        interface=np.zeros(1, np.int64),
        uplink=None,
    )
    plugin = Plugin("controller", "named", RateController, "here", Path(__file__))
    pool = AgentPool()
    pool.launch(spec, AgentConfig(plugin, 1000.0, Framing(1000), 1, 1, 0, controller, True, False))
    return pool


def raising(error: BaseException) -> Callable[[Paths], RateController]:
    def controller(_paths: Paths, _first: int) -> RateController:
        raise error

    return controller


def test_a_controller_that_cannot_be_built_is_named() -> None:
    pool = launched(raising(ValueError("no such constant")))
    with pytest.raises(PluginFailed, match=r"controller 'named' \(.*test_pool\.py, line \d+\): ValueError: no such"):
        pool.wait_ready()
    pool.end()


def test_a_long_message_arrives() -> None:
    pool = launched(raising(ValueError("x" * 300_000)))
    with pytest.raises(PluginFailed, match="ValueError: xxx"):
        pool.wait_ready()
    pool.end()


def test_an_agent_that_was_killed_is_missed() -> None:
    pool = launched(lambda _paths, _first: os.kill(os.getpid(), signal.SIGKILL))  # type: ignore[arg-type, return-value]
    with pytest.raises(PluginFailed, match="agent 0 ended with -9"):
        pool.wait_ready()
    pool.end()


def test_an_agent_that_dies_before_the_start_is_missed_by_then() -> None:
    pool = launched(lambda _paths, _first: time.sleep(PATIENCE))  # type: ignore[arg-type, return-value]
    pid = pool.members[0].pid
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    pool.begin(1.0)
    assert "agent 0 ended with -9" in pool.failure()
    pool.end()
