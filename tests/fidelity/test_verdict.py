"""What makes a run degraded, and how it is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.fidelity.verdict import LIMITS, judge, limits_of
from testbed.results.record import Lateness, RunRecord
from testbed.results.tcp_timers import TcpTimers
from testbed.results.tuner_log import TunerLog
from testbed.results.verdict import Exit, Reason
from tests.support.synthetic_runs import RTT, lag, run

TIMEOUTS = TcpTimers.of(["TcpExt: TCPTimeouts\nTcpExt: 5\n"], ["cubic"], rtt=8e-3, dilation=1000, seconds=10)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda r: setattr(r.late, "pacing_lag", lag(0.5 * RTT)), "pacing lag: p99 is 50% .*--dilation 2.1 times"),
        (lambda r: setattr(r.late, "feedback_lag", lag(0.5 * RTT)), "feedback lag: p99 is 50% .*--dilation 2.1 times"),
        (
            lambda r: r.counters.update(ring_overflow=3),
            "ring buffer overflow: 3 feedback records lost; raise",
        ),
        (lambda r: r.counters.update(drops_outside_model=5), "outside the model: 5 packets; raise --dilation"),
        (
            lambda r: setattr(r.late, "line_given_up", 0.03),
            "idle line of a sender: 3.0% of the time; a --dilation 3.* times",
        ),
        (lambda r: r.counters.update(rates_above_line=7), "above line rate: 7 decisions .*; bound .* line_rate"),
        (lambda r: setattr(r, "unmarked_pauses", 0.88), "PFC before ECN: 88% of the pause frames .*; lower Kmin, or"),
        (lambda r: setattr(r, "tcp", TIMEOUTS), "TCP timeouts: RTOs of 200 ms .* are 10% of the run; raise rack"),
        (lambda r: setattr(r, "interrupted", "Ctrl-C"), "ended early: Ctrl-C after 10 ms"),
        (lambda r: setattr(r, "warmup", 1.0), "empty measurement window: 10 ms run, 1000 ms warm-up; raise --duration"),
        (lambda r: r.flows.delivered_packets.fill(0), "no packets delivered: 0 packets"),
    ],
)
def test_each_distortion_is_named_with_its_remedy(harm: Callable[[RunRecord], None], said: str) -> None:
    record = run()
    assert judge(record).word == "clean"
    harm(record)
    verdict = judge(record)
    assert len(verdict.reasons) == 1
    assert str(verdict).startswith("degraded: ")
    assert verdict.exit_code == Exit.DEGRADED == 3
    assert re.search(said, str(verdict))


REMEDY = re.compile(r"\b(run|raise|lower|mend|bound|leave|start|restore|a --dilation [\d.]+ times as high)\b")


@pytest.mark.parametrize("engine", ["kernel", "virtual", "live", "fluid", "lab"])
def test_every_limit_names_what_to_do(engine: Any) -> None:
    record = run()
    record.engine = engine
    record.tuners = [TunerLog("s1")]
    limits = limits_of(record)
    assert "no packets delivered" in [limit.what for limit in limits]
    without = [limit.what for limit in limits if not REMEDY.search(limit.reason(record).remedy)]
    assert without == []


def test_every_reason_that_is_no_limit_names_what_to_do() -> None:
    record = run()
    record.interrupted, record.warmup = "Ctrl-C", 1.0
    record.broken = [Reason(what="queues differ", how_much="by 1 byte", remedy="raise --dilation")]
    reasons = judge(record).reasons
    assert [one.what for one in reasons] == ["the run ended early", "empty measurement window", "queues differ"]
    assert [one.what for one in reasons if not REMEDY.search(one.remedy)] == []
    assert reasons[-1].remedy == "the result is not the experiment's (docs/reference/verdicts.md); raise --dilation"


@pytest.mark.parametrize(("warmup", "used"), [(4e-3, 0.5), (0.0, 2.0)])
def test_hosts_that_start_apart_are_compared_with_the_warm_up_or_a_tenth_of_the_run(warmup: float, used: float) -> None:
    record = run(duration=10e-3, warmup=warmup)
    record.start_spread = 2e-3
    (limit,) = [one for one in LIMITS if one.what == "start time skew"]
    assert limit.used(record) == pytest.approx(used)
    record.duration, record.start_spread = 0.0, 0.0  # ended before it began
    assert limit.used(record) == 0


def test_where_others_took_the_time_a_higher_dilation_is_not_promised_to_cure_it() -> None:
    record = run()
    record.stolen = 0.12  # alone it harms nothing
    assert judge(record).word == "clean"
    record.late.stalled_share = 0.03
    assert "shaper lag: 3.0% of the bytes sent late; other virtual machines took 12% of a core's time" in str(
        judge(record)
    )
    record.stolen = 0.002
    assert "a --dilation 3 times as high would cure it" in str(judge(record))
    record.stolen, record.late.stalled_share, record.late.cpu_idle = 0.12, 0.0, 0.0  # steal fills no core
    (overload,) = judge(record).reasons
    assert overload.remedy == "raise --dilation, or stop what else runs here"


def test_counters_that_are_not_there_are_not_held_against_the_run() -> None:
    record = run()
    record.counters = {"spurious_retransmissions": 9}
    assert judge(record).word == "clean"


def test_the_verdict_says_that_thresholds_were_refused() -> None:
    (limit,) = [one for one in LIMITS if one.what == "rejected thresholds"]
    log = TunerLog("s1")
    log.decided(1e-3, 1e-5, {})
    log.refuse("nan")
    record: Any = SimpleNamespace(tuners=[log], engine="kernel")
    assert limit.used(record) > 1
    assert "1 decisions of the tuner" in str(limit.reason(record))


def test_the_verdict_says_that_slots_were_lost() -> None:
    """Of 99 slots of 1 ms in 100 ms (the last may end after the run) 80 came: below a fifth lost; 60: above."""
    (limit,) = [one for one in LIMITS if one.what == "missed tuner slots"]
    used = []
    for slots in (80, 60):
        log = TunerLog("s1", slot=1e-3, time=[1e-3] * slots)
        record: Any = SimpleNamespace(tuners=[TunerLog("static"), log], duration=0.1, engine="kernel")
        used.append(limit.used(record))
    assert used[0] < 1 < used[1]
    assert "missed tuner slots: 39% of a switch's slots" in str(limit.reason(record))


def test_a_model_is_judged_by_what_a_model_has() -> None:
    record = run()
    record.engine = "fluid"
    record.late.pacing_lag, record.late.cpu_idle = lag(0.5 * RTT), 0.0
    assert judge(record).word == "clean"
    assert [one.what for one in limits_of(record)] == [
        "rejected thresholds",
        "rate above line rate",
        "missed tuner slots",
        "no packets delivered",
    ]
    record.flows.delivered_packets.fill(0)
    assert "0 packets; start the flows before the end of the run" in str(judge(record))


def test_a_late_start_is_told_apart_from_the_window_that_figures_are_of() -> None:
    record = run()
    record.late_at_start = Lateness(lag(1.5 * RTT), lag(1e-7), cpu_idle=0.02)
    verdict = judge(record)
    assert verdict.word == "clean"
    assert [one.what for one in verdict.start] == ["pacing lag before the window", "CPU overload before the window"]
    assert verdict.lines[0] == "in no figure: pacing lag before the window: p99 is 151% of the base RTT"
    record.late.feedback_lag = lag(0.5 * RTT)
    assert [one.what for one in judge(record).reasons] == ["feedback lag"]


def test_a_late_start_counts_where_flows_of_it_have_completion_times() -> None:
    """Of flows that began at 0 and at 5 ms one finished, of those after the warm-up of 2 ms the other."""
    late = Lateness(lag(1.5 * RTT), lag(1e-7))
    record = run(sizes=[1e6, 1e6], start=[0.0, 5e-3], finished=[1e-3, 6e-3])
    record.late_at_start = late
    verdict = judge(record)
    assert verdict.start == ()
    assert "before the window: p99 is 151% of the base RTT; completion times of 1 flows include it: " in str(verdict)
    record = run(sizes=[1e6, 1e6], start=[3e-3, 5e-3], finished=[4e-3, 6e-3])
    record.late_at_start = late
    assert (judge(record).word, len(judge(record).start)) == ("clean", 1)


def test_what_is_never_right_counts_whenever_it_was() -> None:
    record = run()
    record.late_at_start = record.late
    record.counters["drops_outside_model"] = 1
    assert judge(record).word == "degraded"
