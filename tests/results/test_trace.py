"""The record of what a controller was told and decided: all of it, in order, and bounded."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from testbed.base.arrays import Ints
from testbed.controller import Feedback, IntStack, Signal
from testbed.errors import PluginFailed
from testbed.results.trace import FEEDBACK, SENT, START, TIMEOUT, TIMER, TOLD, DecisionTrace, Rows
from tests.support.agents import SLOT
from tests.support.serving import TIMEOUT as SILENCE
from tests.support.serving import Scripted, Telemetry, serving, turn


class Deciding(Scripted):
    """Every call decides something new."""

    signals = Signal.RTT | Signal.TX

    def decide(self, now: float, flows: Ints) -> None:
        self.rate[flows] = 1e9 + np.arange(len(flows)) + len(self.told)
        self.window[flows] = 1e6 * len(self.told)
        self.timer[flows] = np.where(flows == 1, now + 3 * SLOT, np.inf)

    def on_start(self, now: float, flows: Ints) -> None:
        super().on_start(now, flows)
        self.decide(now, flows)

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        super().on_feedback(now, flows, feedback)
        self.decide(now, flows)
        feedback.acked_packets[:] = -1  # its own business
        flows[:] = 0

    def on_timer(self, now: float, flows: Ints) -> None:
        super().on_timer(now, flows)
        self.decide(now, flows)


def recorded(agent: object, rows: int = 1000, hops: int = 0) -> DecisionTrace:
    agent._trace = trace = DecisionTrace(rows, hops)  # type: ignore[attr-defined]
    return trace


def rows_of(trace: DecisionTrace, *names: str) -> list[tuple[object, ...]]:
    columns = trace.columns()
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


def test_every_call_is_there_in_order_with_its_decision() -> None:
    with serving(Deciding, hosts=(0, 1)) as (agent, bench):
        trace = recorded(agent)
        turn(agent, 0.0)
        bench.ack(0, rx=1.0)
        turn(agent, 1.5)
        turn(agent, 4.0)
        told = agent.controller.told
        kinds = {START: "start", FEEDBACK: "feedback", TIMER: "timer", SENT: "sent"}
        columns = trace.columns()
        first = np.unique(columns["call"], return_index=True)[1]
        assert [kinds[kind] for kind in columns["kind"][first].tolist()] == [one[0] for one in told]
        assert {"start", "feedback", "sent", "timer"} <= {one[0] for one in told}
        assert rows_of(trace, "call", "kind", "time", "flow", "rate", "window")[:2] == [
            (0, START, 0.0, 0, 1e9 + 1, 1e6),
            (0, START, 0.0, 1, 1e9 + 2, 1e6),
        ]
        heard = columns["kind"] == FEEDBACK
        assert columns["acked_packets"][heard].tolist() == [1]  # as it was told
        assert columns["flow"][heard].tolist() == [0]
        assert columns["rtt"][heard].tolist() == agent.controller.feedback[0].rtt.tolist()
        assert columns["sent_bytes"].mask.tolist() == (columns["kind"] != SENT).tolist()
        assert trace.calls == len(told)
        assert trace.rows == len(heard)
        assert not trace.cut


def test_timeouts_are_feedback() -> None:
    with serving(hosts=(0, 1)) as (agent, _):
        trace = recorded(agent)
        turn(agent, 0.0)
        turn(agent, 2 * SILENCE)
        found = rows_of(trace, "kind", "flow", "acked_packets", "next_seq")
        sent = agent.controller.feedback[0].next_seq.tolist()
        assert found[2:] == [(TIMEOUT, 0, 0, sent[0]), (TIMEOUT, 1, 0, sent[1])]


def test_telemetry_is_there() -> None:
    with serving(Telemetry, hosts=(0, 1), int_hops=1) as (agent, bench):
        trace = recorded(agent, hops=1)
        turn(agent, 0.0)
        bench.ack(0, flow=1, rx=1.0, hops=1)
        turn(agent, 1.5)
        columns, stack = trace.columns(), agent.controller.feedback[0].int_stack
        for name in ("node", "ts", "tx_bytes", "queue", "rate"):
            assert columns[f"hop1_{name}"].tolist() == [None, None, *getattr(stack, name)[:, 0].tolist()]


def test_it_ends_with_the_first_call_that_does_not_fit() -> None:
    with serving(hosts=(0, 1)) as (agent, bench):
        trace = recorded(agent, rows=3)
        turn(agent, 0.0)
        bench.ack(0)
        bench.ack(0, flow=1)
        turn(agent, 1.0)  # two rows more
        bench.ack(1)
        turn(agent, 2.0)  # one row would fit, behind a gap
        assert (trace.calls, trace.rows, trace.cut) == (1, 2, True)
        assert len(agent.controller.told) == 3


def test_nothing_is_kept_if_nothing_was_asked_for() -> None:
    with serving() as (agent, _):
        trace = recorded(agent, rows=0)
        turn(agent, 0.0)
        assert (trace.calls, trace.rows, trace.cut) == (0, 0, False)
        assert len(trace.columns()["flow"]) == 0


def test_a_call_that_failed_is_not_there() -> None:
    class Failing(Scripted):
        def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:  # noqa: ARG002
            if len(self.told) == 1:
                self.rate[flows] = -1
            self.told.append(("feedback",))

    with serving(Failing) as (agent, bench):
        trace = recorded(agent)
        turn(agent, 0.0)
        bench.ack(0)
        with pytest.raises(PluginFailed, match="set rate -1"):
            turn(agent, 1.0)
        assert trace.calls == 1


def test_it_outlives_a_process_that_was_killed() -> None:
    trace = DecisionTrace(10, 0)
    pid = os.fork()
    if pid == 0:
        for number in range(3):
            trace.record(START, float(number), 2, np.array([4, 5]))
            trace.done()
        trace.record(START, 3.0, 2, np.array([4, 5]))  # and never decides
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert rows_of(trace, "time", "flow") == [(float(number), flow) for number in range(3) for flow in (4, 5)]


def test_calls_of_all_kinds_and_sizes_become_rows() -> None:
    kinds = np.repeat([START, FEEDBACK, SENT, FEEDBACK, TIMER], [5, 150, 70, 1, 3])
    flows = np.where(np.arange(len(kinds)) % 50 == 40, 3, 1)  # some calls are about several
    trace = DecisionTrace(1000, 2)
    for call, (kind, count) in enumerate(zip(kinds.tolist(), flows.tolist(), strict=True)):
        told = {START: 0, TIMER: 0, SENT: 1, FEEDBACK: len(TOLD) + 1}[kind]
        numbers = 1000 * call + np.arange((1 + told) * count).reshape(-1, count)
        hops = np.full(count, 2), *(10.0 * call + np.arange(2 * count).reshape(count, 2) + i for i in range(5))
        trace.record(kind, float(call), count, numbers, IntStack(*hops) if kind == FEEDBACK else None)
        trace.decided(*(np.full(count, call + i / 4) for i in range(3)))

    pieces, done = [], 0
    while done < trace.calls:  # in pieces that end within calls alike
        rows = Rows(104, 2)
        done += rows.fill(trace, done)
        pieces.append({name: (values.tolist(), valid) for name, values, valid in rows.block()})

    def column(name: str) -> list[object]:
        found: list[object] = []
        for values, valid in (one[name] for one in pieces):
            there = [True] * len(values) if valid is None else np.unpackbits(valid, bitorder="little").tolist()
            found += [value if known else None for value, known in zip(values, there, strict=False)]
        return found

    calls = np.repeat(np.arange(len(kinds)), flows)
    row = np.concatenate([np.arange(count) for count in flows])
    kind, count = kinds[calls], flows[calls]
    heard, first = kind == FEEDBACK, 1000 * calls + row
    assert len(pieces) > 2
    assert column("kind") == kind.tolist()
    assert column("call") == calls.tolist()
    assert column("time") == calls.tolist()
    assert column("timer") == (calls + 0.5).tolist()
    assert column("flow") == first.tolist()
    assert column("sent_bytes") == np.where(kind == SENT, first + count, None).tolist()
    assert column("inflight") == np.where(heard, first + len(TOLD) * count, None).tolist()
    for hop in (0, 1):
        assert column(f"hop{hop + 1}_queue") == np.where(heard, 10 * calls + 2 * row + hop + 3, None).tolist()
