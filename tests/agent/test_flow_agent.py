"""An agent that asks a controller per flow: in C, compiled or not, and in the same way."""

from __future__ import annotations

import math
from pathlib import Path
from resource import RUSAGE_THREAD, getrusage
from typing import Any

import pytest

from testbed.controller import Ack, CompiledController, Signal
from testbed.errors import PluginFailed
from testbed.registry import find
from testbed.results.trace import FEEDBACK, KINDS, SENT, START, TIMEOUT, TIMER, DecisionTrace
from tests.support.agents import SLOT, Bench
from tests.support.serving import TIMEOUT as SILENCE
from tests.support.serving import everything_happens, serving, turn

FORMS = pytest.mark.parametrize("compiled", [True, False], ids=["machine code", "Python"])


class Counting(CompiledController):
    """Its rate says what it was told: a digit for each kind of event."""

    name = "counting"
    signals = Signal.RTT | Signal.TX | Signal.CNP | Signal.INT
    acks: int
    losses: int
    cnps: int
    timeouts: int
    timers: int
    sent: int
    seen: float

    def on_start(self, now: float) -> None:
        self.timer = now + 3e-6
        self.publish()

    def on_ack(self, ack: Ack) -> None:
        self.acks += ack.packets
        for hop in ack.int_stack:
            self.seen += hop.queue
        self.publish()

    def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.losses += packets
        self.publish()

    def on_cnp(self, now: float) -> None:  # noqa: ARG002 - part of the interface
        self.cnps += 1
        self.publish()

    def on_timeout(self, now: float, packets: int) -> None:  # noqa: ARG002 - part of the interface
        self.timeouts += 1
        self.publish()

    def on_timer(self, now: float) -> None:  # noqa: ARG002 - part of the interface
        self.timers += 1
        self.timer = math.inf
        self.publish()

    def on_sent(self, now: float, sent_bytes: int) -> None:  # noqa: ARG002 - part of the interface
        self.sent += sent_bytes
        self.publish()

    def publish(self) -> None:
        """Counts as decimal digits, times a thousand."""
        counts = self.acks + 10 * self.losses + 100 * self.cnps + 1000 * self.timers + 10_000 * self.timeouts
        self.rate = 1e9 + 1000.0 * counts + self.seen
        self.window = 5000.0 + self.sent


def counts(bench: Bench, flow: int = 0) -> int:
    return round((bench.flows.rate[flow] - 1e9) / 1000)


@FORMS
def test_every_event_reaches_its_flow(compiled: bool) -> None:
    with serving(Counting, hosts=(0, 1), compiled=compiled) as (agent, bench):
        turn(agent, 0.0)
        assert counts(bench) == 0
        turn(agent, 3.5)
        assert counts(bench) == counts(bench, 1) == 1000  # the timer of both
        bench.ack(2, flow=1, rx=4)  # packets 0 and 1 are lost
        turn(agent, 12.5)
        assert counts(bench, 1) == 1000 + 20 + 1
        bench.cnp(flow=1, rx=13)
        turn(agent, 22.0)
        assert (counts(bench), counts(bench, 1)) == (1000, 1000 + 100 + 20 + 1)
        for later in range(25, int(1.5 * SILENCE), 50):
            turn(agent, later)
        assert counts(bench) == 11_000
        assert bench.flows.window[1] >= 5000 + 3 * bench.wire_size  # it has heard of what was sent


class Ticking(CompiledController):
    """Its timer is due whenever a packet is."""

    name = "ticking"
    signals = Signal.RTT
    ticks: int

    def on_start(self, now: float) -> None:
        self.rate = self.path.line_rate
        self.timer = now + 1e-6

    def on_timer(self, now: float) -> None:  # noqa: ARG002 - part of the interface
        self.ticks += 1
        self.timer += 1e-6
        self.window = 1e6 + self.ticks


def test_who_wakes_up_to_send_decides_as_well() -> None:
    """On the machine's clock; it may be late, but not twice as busy."""
    with serving(Ticking) as (agent, bench):
        now = agent.clock.now()
        agent.restart(now)
        sleeps = getrusage(RUSAGE_THREAD).ru_nvcsw
        agent.wait(now, now + 40 * SLOT)
        sleeps = getrusage(RUSAGE_THREAD).ru_nvcsw - sleeps
        ticks = bench.flows.window[0] - 1e6
        assert ticks > 10
        assert sleeps <= ticks + 4


@FORMS
def test_a_second_start_has_the_first_state(compiled: bool) -> None:
    with serving(Counting, compiled=compiled) as (agent, bench):
        turn(agent, 0.0)
        turn(agent, 4.0)
        assert counts(bench) == 1000
        agent.restart(5.0 * SLOT)
        assert counts(bench) == 0


@FORMS
def test_what_was_told_and_decided_is_recorded(compiled: bool) -> None:
    with serving(Counting, compiled=compiled, trace=DecisionTrace(50, 2)) as (agent, bench):
        for now in (0.0, 3.5):
            turn(agent, now)
        bench.ack(1, rx=4)
        bench.cnp(rx=4.5)
        turn(agent, 13.0)
        sent = bench.flows.sent[0]
        turn(agent, 1.2 * SILENCE)
        trace = agent.meter.trace.columns()
    kinds = trace["kind"].tolist()
    assert set(kinds) == {START, FEEDBACK, TIMEOUT, SENT, TIMER}, [KINDS[kind] for kind in kinds]
    told = {name: trace[name][trace["kind"] == FEEDBACK].tolist() for name in ("acked_packets", "lost_packets", "cnps")}
    assert told == {"acked_packets": [1, 0], "lost_packets": [1, 0], "cnps": [0, 1]}
    assert trace["acked_seq"][trace["kind"] == FEEDBACK].tolist() == [1, 1]
    assert trace["rate"][kinds.index(FEEDBACK)] == 1e9 + 1000 * 1011
    assert trace["sent_bytes"][trace["kind"] == SENT].sum() == bench.wire_size * sent
    assert not agent.meter.trace.cut


def test_the_record_ends_where_memory_does() -> None:
    with serving(Counting, trace=DecisionTrace(2, 2)) as (agent, _):
        for now in (0.0, 3.5, 9.0):
            turn(agent, now)
        assert (agent.meter.trace.calls, agent.meter.trace.cut) == (2, True)


def test_decisions_are_counted_and_timed() -> None:
    with serving(Counting) as (agent, bench):
        turn(agent, 0.0)
        for number in range(200):
            bench.ack(number, rx=number)
            turn(agent, number + 9.0)
        calls, rows = agent.meter.decisions
        assert calls == rows > 250  # acknowledgements, and what was sent
        timed = agent.meter.decision_times.counts.sum()
        assert calls // 64 - 1 <= timed <= calls // 64 + 1  # the first sample only begins the measurement
        assert 0 < agent.meter.decision_seconds[0] < 1


MINE = """\
from testbed.controller import CompiledController, Signal

class Broken(CompiledController):
    name = "broken"
    signals = Signal.RTT | Signal.TX | Signal.CNP

    def __init__(self, config, path):
        super().__init__(config, path)
        self.timer = 0.0

    def on_timer(self, now):
        self.timer = float("inf")

    def {callback}:
        pass
        {statement}
"""
CALLBACKS = {
    "on_ack": "on_ack(self, ack)", "on_cnp": "on_cnp(self, now)", "on_loss": "on_loss(self, now, packets)",
    "on_timeout": "on_timeout(self, now, packets)", "on_timer": "on_timer(self, now)",
    "on_sent": "on_sent(self, now, sent_bytes)", "on_start": "on_start(self, now)",
}  # fmt: skip


def failure_of(folder: Path, callback: str, statement: str, compiled: bool) -> tuple[str, str, int]:
    """What ends the run, the text before the reason, and the line of ``statement``."""
    file = folder / "broken.py"
    file.write_text(MINE.format(callback=CALLBACKS[callback], statement=statement))
    line = 1 + file.read_text().splitlines().index(f"        {statement}")
    form: Any = find("controller", str(file)).form
    with serving(form, compiled=compiled) as (agent, bench), pytest.raises(PluginFailed) as raised:
        everything_happens(agent, bench)
    return str(raised.value), f"controller 'broken' ({file}, line ", line


@FORMS
@pytest.mark.parametrize("callback", CALLBACKS)
def test_an_exception_names_plugin_file_and_line(callback: str, compiled: bool, tmp_path: Path) -> None:
    message, head, line = failure_of(tmp_path, callback, "raise ValueError('no')", compiled)
    assert message == f"{head}{line}): ValueError: no"


@FORMS
def test_a_division_by_zero_does_so_too(compiled: bool, tmp_path: Path) -> None:
    message, head, line = failure_of(tmp_path, "on_ack", "self.rate = 1e9 / (self.path.hops - 1)", compiled)
    assert message.removesuffix(": float division by zero").removesuffix(": division by zero") == (
        f"{head}{line}): ZeroDivisionError"
    )


@FORMS
@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("self.rate = 0.0", "set rate 0.0 bit/s"),
        ("self.rate = float('nan')", "set rate nan bit/s"),
        ("self.rate = float('inf')", "set rate inf bit/s"),
        ("self.window = -1.0", "window -1.0 bytes"),
        ("self.timer = float('nan')", "timer nan s"),
    ],
)
def test_what_is_no_decision_is_refused(statement: str, says: str, compiled: bool, tmp_path: Path) -> None:
    message, head, line = failure_of(tmp_path, "on_ack", statement, compiled)
    assert message.startswith(
        f"{head}{line if compiled else line - 2}): set rate"
    )  # the statement's, or the callback's
    assert says in message
    assert message.endswith("for a flow; expected positive numbers, and a time or inf")
