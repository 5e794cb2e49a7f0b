"""A controller in C in a process of its own decides the same, and ends alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testbed_controllers.swift import Swift

from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import Ack, Paths
from testbed.errors import BadInput, UnusableDecision
from testbed.registry import find
from tests.support.commands import command

PATHS = Paths(np.array([1e11, 1e11]), np.array([8e-6, 8e-6]), np.array([1, 1]), 1000, 1122)
TEXT = """\
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "testbed_cc.h"

#define OPTIONS(option) option(double, gain, 0.5, "(0, 1)", "", "What an RTT counts for.")
CC_OPTIONS(OPTIONS)

struct cc_flow {
	CC_FLOW;
	int64_t acks;
};

static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	flow->window = 1e4 + 1e9 * flow->options->gain * ack->rtt;
	if (++flow->acks == 4) {
		FAILS
	}
}

CC_CONTROLLER(.signals = CC_RTT, .on_ack = on_ack)
"""
WAITING = """
int getpid(void), pause(void);
static int loader;

static void wait_for_threads(void)
{
	if (getpid() != loader)
		pause();
}

__attribute__((constructor)) static void loaded(void)
{
	loader = getpid();
	atexit(wait_for_threads);
}
"""


def ack(now: float, rtt: float) -> Ack:
    return Ack(now, 1, 1122, 0, 1, 0, rtt, 0, ())


def flows(folder: Path, fails: str = ";", more: str = "", *, isolate: bool = True, **options: Any) -> CompiledFlows:
    (folder / "mine.c").write_text(TEXT.replace("FAILS", fails) + more)
    plugin = find("controller", str(folder / "mine.c"))
    made = CompiledFlows(plugin.form, plugin.configure(None, options), PATHS, True, isolate)
    made.on_start(0.0, np.arange(2))
    return made


def test_it_decides_the_same(tmp_path: Path) -> None:
    windows = []
    for isolate in (False, True):
        made = flows(tmp_path, isolate=isolate)
        for at in range(6):
            made.tell_one("on_ack", ack(now=at * 1e-6, rtt=(9 + at) * 1e-6))
        windows.append(made.window.tolist())
    assert windows[0] == windows[1]
    assert windows[0][0] == 1e4 + 1e9 * 0.5 * 14e-6


def test_options_can_change_meanwhile(tmp_path: Path) -> None:
    made = flows(tmp_path)
    made.tell_one("on_ack", ack(now=1e-6, rtt=1e-5))
    plugin = find("controller", str(tmp_path / "mine.c"))
    made.configure(plugin.configure(None, {"gain": 0.25}))
    made.tell_one("on_ack", ack(now=2e-6, rtt=1e-5))
    assert made.window[0] == 1e4 + 1e9 * 0.25 * 1e-5


@pytest.mark.parametrize(
    ("fails", "how"),
    [
        ("*(volatile int *)8 = 1;", r"SIGSEGV \(Segmentation fault\)"),
        ("raise(SIGKILL);", r"SIGKILL \(Killed\)"),
        ("exit(0);", "it ended its process"),
    ],
)
def test_whatever_it_does_is_its_own_end(tmp_path: Path, fails: str, how: str) -> None:
    """Also where a library that this process has loaded would wait for its threads when the other exits."""
    made = flows(tmp_path, fails, WAITING)
    for at in range(1, 4):
        made.tell_one("on_ack", ack(now=at * 1e-6, rtt=1e-5))
    with pytest.raises(UnusableDecision, match=rf"{how}.* in on_ack of flow 0; the last that it was told: ") as failed:
        made.tell_one("on_ack", ack(now=4e-6, rtt=1e-5))
    told = "on_start at 0 ns, " + ", ".join(f"on_ack at {at} us with an RTT of 10 us" for at in range(1, 5))
    assert told in str(failed.value)


def test_python_needs_no_process_of_its_own() -> None:
    with pytest.raises(BadInput, match="isolate is for controllers in C, and Swift is Python"):
        build(Swift, Swift.Config(), PATHS, isolate=True)


def test_a_run_ends_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text(TEXT.replace("FAILS", "raise(SIGKILL);"))
    run = ["run", "incast-2", "--engine", "virtual", "--controller", "./mine.c", "--isolate", "--duration", "1 ms"]
    done = command(*run, "--set", "record.report=false", "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    (said,) = [line for line in done.stderr.splitlines() if "SIGKILL" in line]
    assert "in on_ack of flow" in said
    assert "with an RTT of" in said
