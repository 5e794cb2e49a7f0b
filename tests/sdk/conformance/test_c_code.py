"""What is found in the code of a controller in C."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.base.compiler import can_sanitize
from testbed.registry import find
from testbed.sdk.conformance import c_code
from testbed.sdk.conformance.c_code import Answer, questions

TEXT = """\
#include "testbed_cc.h"

CC_NO_OPTIONS

struct cc_flow {
	CC_FLOW;
	int32_t count[2];
};

static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	flow->window = (double)(ack->packets + 1000);
	%s
}

CC_CONTROLLER(.signals = CC_RTT, .on_ack = on_ack)
"""


def asked(folder: Path, statement: str, question: str) -> Answer:
    (folder / "mine.c").write_text(TEXT % statement)
    plugin = find("controller", str(folder / "mine.c"))
    return dict(questions(plugin.form.native, plugin.configure(None, {})))[question]()


def test_warnings_are_told(tmp_path: Path) -> None:
    assert asked(tmp_path, "", "compiles without warnings")[0]
    passed, why = asked(tmp_path, "int unused;", "compiles without warnings")
    assert not passed
    assert "mine.c:13:" in why
    assert "unused" in why


@pytest.mark.skipif(not can_sanitize(), reason="no compiler here has the sanitizers")
@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("flow->count[0] += 1 << 30;", "runtime error: signed integer overflow"),
        ("flow->count[0] = 1 / (int32_t)(ack->packets - 1);", "runtime error: division by zero"),
        ("((char *)flow)[ack->packets + 120] = 1;", "AddressSanitizer"),
        ("flow->window = (double)ack->packets - 1;", "window 0 bytes"),
    ],
)
def test_sanitizers_find_what_events_reach(statement: str, found: str, tmp_path: Path) -> None:
    passed, why = asked(tmp_path, statement, "sanitizers find nothing")
    assert not passed
    assert found in why


def test_instructions_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_code, "COUNTED", 100)  # all take the same loop, and a step takes microseconds
    loop = "for (volatile int i = 0; i < %d; i++) flow->count[0] = i;"
    few, many = (asked(tmp_path, loop % turns, "instructions per event") for turns in (5, 25))
    if few[0] is None:
        pytest.skip(few[1])
    counts = [int(why.split("on_ack ")[1].split(",")[0]) for _, why in (few, many)]
    assert 60 <= counts[1] - counts[0] <= 300  # a turn is 3 to 15 instructions
    assert counts[0] < 300


@pytest.mark.skipif(not can_sanitize(), reason="no compiler here has the sanitizers")
def test_a_million_extremes_find_what_usual_events_do_not(tmp_path: Path) -> None:
    """Such as packets whose number no run would reach."""
    hidden = "flow->count[1] = (int32_t)(ack->bytes / ack->packets) * 3;"
    passed, why = asked(tmp_path, hidden, "extremes do no harm")
    assert not passed
    assert "runtime error: " in why
    passed, why = asked(tmp_path, "flow->count[1] = (int32_t)(ack->seq & 1023) * 3;", "extremes do no harm")
    assert passed, why
