"""One agent's decisions: what it asks of a controller, when, and what it does not accept."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from testbed.agent.agent import Timing
from testbed.clock import Clock
from testbed.errors import PluginFailed
from testbed.registry import find
from tests.support.agents import SLOT
from tests.support.serving import TIMEOUT, Counting, Scripted, Telemetry, everything_happens, serving, turn

# -- starting -------------------------------------------------------------------------------------------------------


def test_flows_start_at_their_time() -> None:
    with serving(hosts=(0, 1, 2, 3), start=(5.0, 0.0, 5.0, 9.0)) as (agent, bench):
        for now in (0.0, 4.9, 5.0, 7.0, 9.5):
            turn(agent, now)
        assert agent.controller.told == [("start", 0.0, [1]), ("start", 5.0, [0, 2]), ("start", 9.5, [3])]
        assert bench.flows.sent.tolist() == [5, 10, 5, 1]


def test_it_wakes_up_for_the_next_start() -> None:
    with serving(hosts=(0, 1), start=(0.0, 1.5)) as (agent, _):
        turn(agent, 0.5)
        assert min(agent.next_step, agent.next_decision(0.5 * SLOT)) == pytest.approx(1.5 * SLOT)
        turn(agent, 1.5)
        assert agent.next_decision(1.5 * SLOT) == pytest.approx(3.5 * SLOT)  # the longest sleep


# -- timers ---------------------------------------------------------------------------------------------------------


def test_timers_are_called_when_they_are_due() -> None:
    with serving(hosts=(0, 1, 2)) as (agent, _):
        agent.controller.timer[:] = np.array([3.0, np.inf, 4.0]) * SLOT
        for now in (0.0, 2.9):
            turn(agent, now)
        assert agent.next_decision(2.9 * SLOT) == pytest.approx(3.25 * SLOT)  # gathered with what comes soon
        for now in (3.0, 3.9, 4.5, 5.0, 6.0):
            turn(agent, now)
        assert agent.controller.told == [("start", 0.0, [0, 1, 2]), ("timer", 3.0, [0]), ("timer", 4.5, [2])]


def test_timers_that_are_due_together_are_one_call() -> None:
    with serving(hosts=(0, 1, 2)) as (agent, _):
        agent.controller.timer[:] = np.array([3.0, 8.0, 2.0]) * SLOT
        for now in (0.0, 5.0):
            turn(agent, now)
        assert agent.controller.told[-1] == ("timer", 5.0, [0, 2])


# -- decisions ------------------------------------------------------------------------------------------------------


def test_decisions_are_in_force_at_once() -> None:
    with serving() as (agent, bench):
        agent.controller.rate[0] = 0.25 * bench.line_rate
        agent.controller.window[0] = 3 * bench.wire_size
        for now in range(20):
            turn(agent, now + 0.5)
        assert bench.flows.rate[0] == 0.25 * bench.line_rate
        assert bench.flows.sent[0] == 3
        agent.controller.window[0] = 10 * bench.wire_size
        bench.ack(0, rx=20)
        turn(agent, 20.6)
        assert bench.flows.window[0] == 10 * bench.wire_size
        assert bench.flows.sent[0] == 4


def test_rates_end_at_the_line_and_above_nothing() -> None:
    with serving(hosts=(0, 1)) as (agent, bench):
        agent.controller.rate[:] = 7 * bench.line_rate, 1e-300
        turn(agent, 0.0)
        assert bench.flows.rate.tolist() == pytest.approx([bench.line_rate, 1.0])
        assert bench.datapath.above_line == 1
        agent.controller.rate[:] = bench.line_rate * (1 + 1e-12)
        agent.apply(np.arange(2), 0.0)
        assert bench.datapath.above_line == 1  # rounding
        assert np.isinf(bench.flows.window).all()  # no window at all is a decision as well


@pytest.mark.parametrize("value", [np.nan, 0.0, -1.0, np.inf, -np.inf])
@pytest.mark.parametrize("column", ["rate", "window"])
def test_what_is_no_rate_or_window_is_refused(column: str, value: float) -> None:
    with serving(hosts=(0, 1, 2)) as (agent, bench):
        turn(agent, 0.0)
        getattr(agent.controller, column)[1] = value
        bench.ack(0, flow=1)
        if column == "window" and value == np.inf:
            turn(agent, 1.0)
            return
        with pytest.raises(PluginFailed, match=r"controller 'scripted' \(.*serving\.py, line \d+\)") as raised:
            turn(agent, 1.0)
        assert f"{column} {value}" in str(raised.value)


@pytest.mark.parametrize("column", ["rate", "window", "timer"])
@pytest.mark.parametrize("value", [3.0, None, np.ones(2), np.ones(3, int), np.ones((3, 2))[:, 0]], ids=repr)
def test_columns_must_stay_columns(column: str, value: object) -> None:
    with serving(hosts=(0, 1, 2)) as (agent, bench):
        turn(agent, 0.0)
        setattr(agent.controller, column, value)
        bench.ack(0)
        with pytest.raises(PluginFailed, match=r"controller 'scripted'.*must stay arrays"):
            turn(agent, 1.0)


def test_a_column_may_be_replaced_by_another() -> None:
    with serving(hosts=(0, 1)) as (agent, bench):
        turn(agent, 0.0)
        agent.controller.rate = np.array([0.5, 0.25]) * bench.line_rate
        bench.ack(0, flow=0)
        bench.ack(0, flow=1)
        turn(agent, 1.0)
        assert bench.flows.rate.tolist() == [0.5 * bench.line_rate, 0.25 * bench.line_rate]


# -- what it is told ------------------------------------------------------------------------------------------------


def test_sent_bytes_are_told_once_with_the_signal() -> None:
    with serving(Counting, hosts=(0, 1)) as (agent, bench):
        bench.flows.to_send[1] = 2
        for now in np.arange(0.0, 20.0, 0.5):
            turn(agent, float(now))
        agent.step(30 * SLOT)
        told = np.zeros(2, int)
        for kind, flows, sizes in agent.controller.told:
            if kind == "sent":
                told[flows] += sizes
        assert bench.flows.sent.tolist() == [20, 2]
        assert told.tolist() == [20 * bench.wire_size, 2 * bench.wire_size]
        assert all(0 not in entry[2] for entry in agent.controller.told if entry[0] == "sent")


def test_sent_bytes_are_not_told_without_the_signal() -> None:
    with serving() as (agent, _):
        for now in range(20):
            turn(agent, now)
        assert {entry[0] for entry in agent.controller.told} == {"start"}


def test_int_is_handed_over_with_the_signal_only() -> None:
    for form, wanted in ((Scripted, False), (Telemetry, True)):
        with serving(form, int_hops=1) as (agent, bench):
            turn(agent, 0.0)
            bench.ack(0, rx=0.5, hops=1)
            turn(agent, 1.0)
            assert (agent.controller.feedback[0].int_stack is not None) == wanted


def test_decisions_are_counted() -> None:
    with serving(hosts=(0, 1)) as (agent, bench):
        turn(agent, 0.0)
        bench.ack(0, flow=0)
        bench.ack(0, flow=1)
        turn(agent, 1.0)
        bench.ack(1, flow=0)
        turn(agent, 2.0)
        agent.close()
        assert agent.meter.decisions.tolist() == [2, 3]
        assert agent.meter.counters[2] == 3


# -- silence --------------------------------------------------------------------------------------------------------


def test_silence_ends_in_a_timeout() -> None:
    """Not before the timeout, and at most an eighth of it later; then again after another one."""
    with serving(hosts=(0, 1)) as (agent, bench):
        agent.controller.window[:] = 5 * bench.wire_size
        heard: list[float] = []
        for now in np.arange(0.0, 2500.0, 10.0):
            if now <= 1500:
                bench.ack(*range(bench.flows.acked[1], bench.flows.sent[1]), flow=1, rx=now - 1)
            turn(agent, float(now))
            for kind, when, flows in agent.controller.told:
                if kind == "feedback" and 0 in flows and when == now:
                    heard.append(when)
        assert len(heard) == 2
        assert TIMEOUT <= heard[0] <= 1.125 * TIMEOUT + 20
        assert TIMEOUT <= heard[1] - heard[0] <= 1.125 * TIMEOUT + 20
        assert bench.flows.timeouts.tolist() == [2, 0]
        assert bench.flows.lost[0] == 10
        told, again = (one for one in agent.controller.feedback if one.timeouts.any())
        assert (told.lost_packets + again.lost_packets).tolist() == [10]
        assert (told.timeouts.tolist(), told.acked_packets.tolist(), told.inflight.tolist()) == ([1], [0], [0])
        assert np.isnan(told.rtt).all()
        assert told.acked_seq.tolist() == [4]
        assert bench.flows.sent[0] == 15  # it goes on, with new numbers


def test_nothing_in_flight_is_not_silence() -> None:
    with serving(size=300) as (agent, bench):
        for now in range(5):
            turn(agent, now)
        bench.ack(0, 1, 2, rx=5)
        for now in range(6, 4000, 50):
            turn(agent, now)
        assert bench.flows.timeouts[0] == 0


# -- a plugin that raises -------------------------------------------------------------------------------------------

BATCH = """\
import statistics
import numpy as np
from testbed.controller import RateController, Signal

class Broken(RateController):
    name = "broken"
    signals = Signal.RTT | Signal.TX

    def __init__(self, config, paths):
        super().__init__(config, paths)
        self.timer[:] = {timer}

    def on_start(self, now, flows):
        {on_start}

    def on_feedback(self, now, flows, feedback):
        {on_feedback}

    def on_timer(self, now, flows):
        {on_timer}

    def on_sent(self, now, flows, sent_bytes):
        {on_sent}
"""


def failure_of(folder: Path, template: str, callback: str, statement: str) -> tuple[str, Path, int]:
    """Run a controller whose ``callback`` executes ``statement``: the message, the file and the statement's line."""
    quiet = dict.fromkeys(re.findall(r"\{(on_\w+)\}", template), "pass")
    timer = "0.0" if callback == "on_timer" else "float('inf')"
    text = template.format(**{**quiet, "timer": timer, callback: statement})
    file = folder / "broken.py"
    file.write_text(text)
    line = 1 + text.splitlines().index(f"        {statement}")
    with serving(find("controller", str(file)).form) as (agent, bench), pytest.raises(PluginFailed) as raised:
        everything_happens(agent, bench)
    return str(raised.value), file, line


@pytest.mark.parametrize("callback", ["on_start", "on_feedback", "on_timer", "on_sent"])
def test_an_exception_names_plugin_file_and_line(tmp_path: Path, callback: str) -> None:
    message, file, line = failure_of(tmp_path, BATCH, callback, "self.missing['key'] = 1 / 0")
    assert message == f"controller 'broken' ({file}, line {line}): ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    "statement", ["np.ones(3).reshape(2)", "np.concatenate([])", "statistics.mean([])", "np.stack([])"]
)
def test_the_line_is_the_plugins_own(tmp_path: Path, statement: str) -> None:
    """Also where the exception was raised by a library that the plugin called."""
    message, file, line = failure_of(tmp_path, BATCH, "on_feedback", statement)
    assert f"({file}, line {line})" in message


def test_a_flow_that_sends_rarely_does_not_time_out() -> None:
    """One packet in five timeouts, answered at once: the silence between them is its own."""
    with serving() as (agent, bench):
        agent.controller.rate[:] = bench.line_rate / (5 * TIMEOUT)
        for number in range(4):
            at = number * 5 * TIMEOUT + 1
            turn(agent, at)
            bench.ack(number, rx=at + 8)
            for later in (9, 100, TIMEOUT + 10, 4 * TIMEOUT):
                turn(agent, at + later)
        assert bench.flows.acked[0] == bench.flows.sent[0] == 4
        assert bench.flows.timeouts[0] == 0


# -- pacing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "quantum"), [(400e9, 22.4e-9), (100e9, 89.8e-9), (10e9, 10e-6 / 64)])
def test_no_more_packets_of_a_host_leave_together_than_its_shaper_lets_through(line: float, quantum: float) -> None:
    """Seven packets of 1122 bytes fit into 1/64 of an RTT of 10 us at 400 Gbit/s, and two into a shaper's bucket."""
    packet = 1122 * 8 / line
    timing = Timing.of(np.zeros(1), end=1.0, timeout=1.0, rtt=10e-6, packet=packet, clock=Clock(40_000, 0))
    assert timing.quantum == pytest.approx(quantum, rel=1e-2)
