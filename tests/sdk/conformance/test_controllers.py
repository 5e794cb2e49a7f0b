"""Controllers that are broken fail for the right reason."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from testbed.errors import BadInput
from testbed.registry import find
from testbed.sdk.conformance.controllers import Result, check
from tests.sdk.conformance.broken import checked, line_of


def of_controller(folder: Path, body: str, only: str | None = None) -> dict[str, Result]:
    """Check a batch controller whose methods are ``body``."""
    head = dedent(
        """
        import math, random
        import numpy as np
        from testbed.controller import CompiledController, RateController, Signal

        class Broken(RateController):
            name = "broken"
        """
    )
    return checked("controller", folder, head + indent(dedent(body), "    "), only)


def answer(folder: Path, body: str, only: str) -> Result:
    """The answer of a batch controller to one question."""
    return of_controller(folder, body, only)[only]


# A controller that works: a window of one BDP that is halved above twice the base RTT.
WORKING = """
    def on_start(self, now, flows):
        self.window[flows] = self.paths.bdp[flows]
        self.rate[flows] = self.paths.line_rate[flows]
        self.since = getattr(self, "since", np.zeros(len(self.paths)))
        self.since[flows] = 0

    def on_feedback(self, now, flows, feedback):
        base, wire = self.paths.base_rtt[flows], self.paths.wire_size
        above = (feedback.rtt > 1.5 * base) & (now - self.since[flows] > 2 * base)
        below = feedback.rtt <= 1.5 * base
        window = self.window[flows]
        window = np.where(above, window / 2, window + below * feedback.acked_packets * wire**2 / window)
        self.window[flows] = np.clip(window, wire, 2 * self.paths.bdp[flows])
        self.since[flows[above]] = now
"""


def test_the_working_example_passes(tmp_path: Path) -> None:
    results = of_controller(tmp_path, WORKING)
    assert {result.outcome for result in results.values()} == {"passed"}
    assert len(results) == 9


def test_no_reaction_fails(tmp_path: Path) -> None:
    results = of_controller(tmp_path, "def on_feedback(self, now, flows, feedback): pass")
    failed = {name for name, result in results.items() if not result.passed}
    assert failed == {"reacts to congestion"}  # two flows at line rate do share: a full port drops of both alike
    assert "they ask for 800.0 % of its rate" in results["reacts to congestion"].why
    assert "lose 87.5 % of their packets" in results["reacts to congestion"].why


def test_no_reaction_on_purpose_is_skipped(tmp_path: Path) -> None:
    results = of_controller(tmp_path, "adaptive = False\ndef on_feedback(self, now, flows, feedback): pass")
    assert results["reacts to congestion"].outcome == "skipped"
    assert "adaptive = False" in results["reacts to congestion"].why
    assert all(result.passed for result in results.values())


def test_a_window_that_never_shrinks_fails_to_react(tmp_path: Path) -> None:
    body = WORKING.replace("window / 2", "window").replace("2 * self.paths.bdp", "9 * self.paths.bdp")
    assert not answer(tmp_path, body, "reacts to congestion").passed


def test_a_fixed_window_fails_to_react_though_nothing_is_lost(tmp_path: Path) -> None:
    """Its packets wait in the queue: per RTT as it then is, windows ask for what the port gives, whatever they are."""
    body = WORKING.replace("np.clip(window, wire, 2 * self.paths.bdp[flows])", "self.paths.bdp[flows]")
    result = answer(tmp_path, body, "reacts to congestion")
    assert not result.passed
    assert "lose 0.0 %" in result.why


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        ("self.rate[flows] = math.nan", "line 8): set rate nan bit/s"),
        ("self.rate[flows] = 0", "set rate 0.0 bit/s"),
        ("self.rate[flows] = -1e9", "set rate -1000000000.0 bit/s"),
        ("self.rate[flows] = 5e10", "rate of flow 0 of 1 is 5e+10 after on_feedback"),
        ("self.window[flows] = 0", "window 0.0 bytes"),
        ("self.window[flows] = math.nan", "window nan bytes"),
        ("self.timer[flows] = math.nan", "timer nan s"),
    ],
)
def test_what_no_agent_can_enforce_fails(tmp_path: Path, decision: str, why: str) -> None:
    body = f"def on_feedback(self, now, flows, feedback): {decision}"
    assert answer(tmp_path, body, "starts within bounds").passed  # nothing was heard yet
    result = answer(tmp_path, body, "fills the line")
    assert why in result.why
    assert not result.passed


def test_bad_start_fails_at_once(tmp_path: Path) -> None:
    body = WORKING.replace("self.rate[flows] = self.paths.line_rate[flows]", "self.rate[flows] = 0")
    start = answer(tmp_path, body, "starts within bounds")
    assert not start.passed
    assert "set rate 0.0 bit/s" in start.why
    assert f"line {line_of(tmp_path, 'def on_start')})" in start.why


def test_more_than_the_line_rate_at_the_start_fails(tmp_path: Path) -> None:
    body = WORKING.replace("self.rate[flows] = self.paths", "self.rate[flows] = 2 * self.paths")
    start = answer(tmp_path, body, "starts within bounds")
    assert "is 5e+10 after on_start at" in start.why
    assert "above 0 and at most the line rate, 25 Gbit/s" in start.why


def test_raising_names_file_and_line(tmp_path: Path) -> None:
    failure = answer(tmp_path, "def on_feedback(self, now, flows, feedback):\n    return 1 / 0", "fills the line")
    assert not failure.passed
    line = line_of(tmp_path, "1 / 0")
    assert (
        failure.why
        == f"controller 'broken' ({tmp_path / 'broken.py'}, line {line}): ZeroDivisionError: division by zero"
    )


def test_raising_only_on_a_timeout_is_found(tmp_path: Path) -> None:
    body = WORKING + "        assert not feedback.timeouts.any(), 'no idea what to do'\n"
    assert answer(tmp_path, body, "survives loss").passed
    assert "AssertionError: no idea what to do" in answer(tmp_path, body, "survives timeouts").why


def test_too_shy_fails_to_fill_the_line(tmp_path: Path) -> None:
    body = WORKING.replace("self.paths.line_rate[flows]", "self.paths.line_rate[flows] / 2")
    result = answer(tmp_path, body, "fills the line")
    assert not result.passed
    assert "one flow used 50" in result.why


def test_unfair_fails_to_share(tmp_path: Path) -> None:
    body = WORKING.replace("window / 2", "window * np.where(flows == 0, 0.97, 0.5)")
    result = answer(tmp_path, body, "two flows share")
    assert not result.passed
    assert "more than 0.95 is expected" in result.why


def test_giving_up_after_a_loss_fails(tmp_path: Path) -> None:
    body = WORKING + "        self.rate[flows[feedback.lost_packets > 0]] = 1e3\n"
    assert not answer(tmp_path, body, "survives loss").passed


def test_unseeded_randomness_fails(tmp_path: Path) -> None:
    body = WORKING.replace("window / 2", "window * random.uniform(0.4, 0.6)").replace("1.5 * base", "1.0001 * base")
    result = answer(tmp_path, body, "same seed, same decisions")
    assert not result.passed
    assert "gave other decisions" in result.why


def test_a_start_that_does_not_reset_fails(tmp_path: Path) -> None:
    body = WORKING.replace(
        "self.window[flows] = self.paths.bdp[flows]", "self.window = np.minimum(self.window, self.paths.bdp)"
    )
    assert not answer(tmp_path, body, "a restarted flow begins anew").passed
    assert answer(tmp_path, WORKING, "a restarted flow begins anew").passed


def test_a_timer_loop_is_found(tmp_path: Path) -> None:
    body = WORKING + "        self.timer[flows] = now\n"
    assert "on_timer leaves the timer of flow 0 in the past" in answer(tmp_path, body, "fills the line").why


@pytest.mark.parametrize("compiled", [True, False])
def test_a_timer_loop_of_a_flow_is_found(tmp_path: Path, compiled: bool) -> None:
    text = f"""
    from testbed.controller import CompiledController

    class Loop(CompiledController):
        name = "loop"
        compiled = {compiled}

        def on_ack(self, ack):
            self.timer = ack.now
    """
    result = checked("controller", tmp_path, dedent(text), "fills the line")["fills the line"]
    assert not result.passed
    assert "on_timer leaves the timer of flow 0 in the past: set the next time, or inf" in result.why


def test_per_flow_form_is_checked_too(tmp_path: Path) -> None:
    text = """
    from testbed.controller import CompiledController

    class Shy(CompiledController):
        name = "shy"
        compiled = False

        def on_ack(self, ack):
            self.rate = 0.5 * self.path.line_rate if ack.rtt < 2e-5 else ack.no_such_thing
    """
    results = checked("controller", tmp_path, dedent(text))
    assert "one flow used 50" in results["fills the line"].why
    line = line_of(tmp_path, "no_such_thing")
    assert (
        f"controller 'shy' ({tmp_path / 'broken.py'}, line {line}): AttributeError"
        in results["reacts to congestion"].why
    )


def test_what_cannot_be_compiled_is_told_with_its_line(tmp_path: Path) -> None:
    text = """
    from testbed.controller import CompiledController

    class Slip(CompiledController):
        name = "slip"

        def on_ack(self, ack):
            self.windw = ack.rtt
    """
    results = checked("controller", tmp_path, dedent(text))
    line = line_of(tmp_path, "windw")
    assert list(results) == ["machine code decides as Python does"]  # and not the same message ten times
    assert (
        f"{tmp_path / 'broken.py'}, line {line}: cannot be compiled: Slip declares no 'windw'; did you mean 'window'?"
        in (results["machine code decides as Python does"].why)
    )


def test_machine_code_that_differs_from_python_is_found(tmp_path: Path) -> None:
    """Whole numbers have 64 bits in machine code, and no end in Python."""
    text = """
    from testbed.controller import CompiledController

    class Large(CompiledController):
        name = "large"
        count: int = 3

        def on_ack(self, ack):
            self.count = self.count * 3
            self.rate = self.path.line_rate * (0.5 if self.count > 0 else 1.0)
    """
    result = checked("controller", tmp_path, dedent(text), "machine code decides as Python does")
    assert "decisions differ" in result["machine code decides as Python does"].why


def test_wrong_options_are_the_users_mistake() -> None:
    with pytest.raises(BadInput, match="has no preset 'papr'; did you mean 'paper'"):
        check(find("controller", "hpcc"), "papr")
