"""Controllers in C, as everything else sees them: a class, its options, its decisions, and how it crashes."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from testbed import controller as cc
from testbed.base.compiler import compile_to
from testbed.compiled.c_library import FLAGS
from testbed.compiled.flows import CompiledFlows
from testbed.errors import BadInput, PluginFailed, UnusableDecision
from testbed.registry import Plugin, failed, find
from tests.support.rows import feedback, paths

PATH = cc.Path(line_rate=100e9, base_rtt=8e-6, longest_rtt=9e-6, hops=3, payload=1000, wire_size=1100)
ALL = """\
#include "testbed_cc.h"

#define OPTIONS(option) \\
	option(double, period, 50e-6, "(0, 1]", "s", "A time.") \\
	option(int64_t, steps, 5, "[1, inf)", "", "A number.") \\
	option(bool, fast, 1, "", "", "Yes or no.") \\
	option(cc_choice, law, 1, "first|second", "", "Which law.") \\
	option(double, cnp_interval, 30e-6, "", "s", "Between CNPs.")
CC_OPTIONS(OPTIONS)

struct cc_flow {
	CC_FLOW;
	int64_t seen;
};

static void on_start(struct cc_flow *flow, double now)
{
	flow->window = flow->path.bdp + now;
	flow->timer = flow->options->period * (double)flow->options->steps;
}

static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	flow->seen += ack->packets + 10 * ack->hop_count;
	flow->window = (double)flow->seen + ack->hops[1].queue;
}

static void on_cnp(struct cc_flow *flow, double now) { flow->timer = now; }
static void on_loss(struct cc_flow *flow, double now, int64_t packets) { flow->timer = now + (double)packets; }
static void on_timeout(struct cc_flow *flow, double now, int64_t packets) { flow->rate = 1e9 + now + (double)packets; }
static void on_timer(struct cc_flow *flow, double now) { flow->timer = 2 * now; }
static void on_sent(struct cc_flow *flow, double now, int64_t bytes) { flow->window = now + (double)bytes; }
static void on_src(struct cc_flow *flow, double now, double age, double queue, double rate)
{
	flow->rate = now + age + queue + rate + (flow->options->law == 1 && flow->options->fast);
}

CC_CONTROLLER(.name = "every-event", .text = "Hears everything.", .thresholds = "dctcp",
	.signals = CC_RTT | CC_CNP | CC_INT | CC_TX | CC_SRC, .unresponsive = 1,
	.on_start = on_start, .on_ack = on_ack, .on_cnp = on_cnp, .on_loss = on_loss, .on_timeout = on_timeout,
	.on_timer = on_timer, .on_sent = on_sent, .on_src = on_src)
"""
BODY = """\
#include "testbed_cc.h"
#include <signal.h>
#include <stdlib.h>

CC_NO_OPTIONS

struct cc_flow {
	CC_FLOW;
};

static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	(void)flow;
	%s
}

CC_CONTROLLER(.signals = CC_RTT, .on_ack = on_ack)
"""


def plugin(folder: Path, text: str = ALL, name: str = "mine.c") -> Plugin:
    (folder / name).write_text(text)
    return find("controller", str(folder / name))


def flows(one: Plugin, number: int = 2, **options: object) -> CompiledFlows:
    made = CompiledFlows(one.form, one.configure(None, options), paths(number), True)
    made.on_start(0.0, np.arange(number))
    return made


def test_it_is_a_plugin_like_any_other(tmp_path: Path) -> None:
    one = plugin(tmp_path)
    assert (one.name, one.summary, one.file) == ("every-event", "Hears everything.", tmp_path / "mine.c")
    assert one.form.thresholds == "dctcp"
    assert not one.form.adaptive
    assert one.form.signals == cc.Signal.RTT | cc.Signal.CNP | cc.Signal.INT | cc.Signal.TX | cc.Signal.SRC
    config = one.configure(None, {"period": "20 us", "law": "first"})
    assert dict(config) == {"period": 20e-6, "steps": 5, "fast": True, "law": "first", "cnp_interval": 30e-6}
    assert one.form.cnp_interval(config) == 30e-6


def test_options_are_refused_as_those_of_python(tmp_path: Path) -> None:
    one = plugin(tmp_path)
    for options, said in (
        ({"perid": "1 us"}, "has no option 'perid'; did you mean 'period'?"),
        ({"period": "2 s"}, "option 'period': must be at most 1, got 2.0"),
        ({"period": 2e-6}, "has no unit"),
        ({"steps": 1.5}, "expected a whole number"),
        ({"law": "secnd"}, "did you mean 'second'?"),
    ):
        with pytest.raises(BadInput, match=said.replace("?", r"\?")):
            one.configure(None, options)


def test_every_event_reaches_it(tmp_path: Path) -> None:
    one = plugin(tmp_path)
    flow = one.form(one.configure(None, {"steps": 2}), PATH)
    assert (flow.rate, flow.window, flow.timer) == (PATH.line_rate, PATH.bdp, 100e-6)
    hops = (cc.Hop(1, 0.0, 0.0, 5.0, 1e9), cc.Hop(2, 0.0, 0.0, 7.0, 1e9))
    flow.on_ack(cc.Ack(1.0, 3, 3300, 4, 5, 6, 1e-5, 0, hops))
    assert flow.window == 3 + 20 + 7
    flow.on_cnp(2.0)
    assert flow.timer == 2.0
    flow.on_loss(3.0, 4)
    assert flow.timer == 7.0
    flow.on_timer(5.0)
    assert flow.timer == 10.0
    flow.on_sent(1.0, 1500)
    assert flow.window == 1501.0
    flow.on_timeout(1.0, 5)
    assert flow.rate == 1e9 + 6
    flow.on_src(1.0, 2.0, 3.0, 1e9)
    assert flow.rate == 1e9 + 7


def test_a_flow_that_starts_again_has_forgotten_everything(tmp_path: Path) -> None:
    one = flows(plugin(tmp_path))
    both = np.array([0, 1])
    one.on_feedback(1.0, both, feedback(2, rtt=1e-5, acked_packets=4))
    assert one.window.tolist() == [4.0, 4.0]
    one.on_start(2.0, both[:1])
    one.on_feedback(3.0, both, feedback(2, rtt=1e-5, acked_packets=4))
    assert one.window.tolist() == [4.0, 8.0]


def test_two_of_one_file_have_their_own_options(tmp_path: Path) -> None:
    one = plugin(tmp_path)
    made = [flows(one, steps=number) for number in (1, 3)]
    assert [float(each.timer[0]) for each in made] == pytest.approx([50e-6, 150e-6])


CRASHES = {  # the pointer is volatile, or gcc drops a call that can only crash
    "volatile int *volatile to = NULL; *to = (int)ack->seq;": "SIGSEGV (Segmentation fault) in on_ack of flow 1",
    "(void)ack; raise(SIGFPE);": "SIGFPE (Floating point exception) in on_ack of flow 1",
    "(void)ack; abort();": "SIGABRT (Aborted) in on_ack of flow 1",
}


@pytest.mark.parametrize("statement", CRASHES)
def test_a_crash_is_named(statement: str, tmp_path: Path) -> None:
    one = plugin(tmp_path, BODY % statement)
    made = flows(one)
    with pytest.raises(UnusableDecision) as caught:
        made.on_feedback(1.0, np.array([1]), feedback(1, rtt=1e-5))
    error = failed(one, caught.value)
    assert isinstance(error, PluginFailed)
    line = 14 if "SIGSEGV" in str(error) and shutil.which("addr2line") else 11
    assert str(error) == f"controller 'mine' ({tmp_path / 'mine.c'}, line {line}): {CRASHES[statement]}"


def test_what_cannot_be_a_decision_is_refused_with_its_line(tmp_path: Path) -> None:
    one = plugin(tmp_path, BODY % "flow->window = -(double)ack->packets;")
    with pytest.raises(UnusableDecision, match=r"set rate .*, window -1.0 bytes") as caught:
        flows(one).on_feedback(1.0, np.array([0]), feedback(1, rtt=1e-5, acked_packets=1))
    assert f"({tmp_path / 'mine.c'}, line 11)" in str(failed(one, caught.value))


def test_a_shared_object_is_one_as_well_and_new_when_its_content_is(tmp_path: Path) -> None:
    for window in (1000.0, 2000.0):
        (tmp_path / "mine.c").write_text(BODY % f"(void)ack; flow->window = {window};")
        compile_to(tmp_path / "mine.so", (tmp_path / "mine.c",), FLAGS)
        made = flows(find("controller", str(tmp_path / "mine.so")))
        made.on_feedback(1.0, np.array([0]), feedback(1, rtt=1e-5))
        assert made.window.tolist() == [window, math.inf]
        assert made.runs_as.startswith("C, compiled by ")


def test_it_has_no_form_in_python(tmp_path: Path) -> None:
    one = plugin(tmp_path)
    with pytest.raises(BadInput, match="is C and has no form in Python: leave out compiled=false"):
        CompiledFlows(one.form, one.configure(None, {}), paths(1), False)


OF_VERSION_1 = "#undef CC_VERSION\n#define CC_VERSION 1\nCC_NO_OPTIONS"
WRONG = {
    "does not compile": (BODY % "flow->rat = 1;", "no member named"),
    "no controller": ("int nothing;\n", "declares no controller; end it with CC_CONTROLLER(...)"),
    "another order": (BODY.replace("\tCC_FLOW;", "\tint first;\n\tCC_FLOW;") % "(void)ack;", "must begin with CC_FLOW"),
    "another file": ('#include "other.h"\n' + BODY % "(void)ack;", "a controller is one file"),
    "other arguments": (ALL.replace(".on_timeout = on_timeout", ".on_timeout = on_cnp"), "int64_t"),
    "another version": (BODY.replace("CC_NO_OPTIONS", OF_VERSION_1) % "(void)ack;", "version 1 of testbed_cc.h; this"),
    "a strange type": (ALL.replace("int64_t, steps", "float, steps"), "option 'steps': type 'float'; "),
    "a strange range": (ALL.replace('"[1, inf)"', '"from 1"'), "option 'steps': range 'from 1'; expected for example"),
    "a default out of range": (ALL.replace("steps, 5", "steps, 0"), "option 'steps': the default 0 is not in [1, inf)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_file_is_told(case: str, tmp_path: Path) -> None:
    (tmp_path / "other.h").write_text("")
    text, said = WRONG[case]
    with pytest.raises(BadInput) as caught:
        plugin(tmp_path, text)
    assert said in str(caught.value)
    assert "mine.c" in str(caught.value)
