"""What NICs do not have is found in C, with its line, and nothing else is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testbed.registry import find
from testbed.sdk.conformance.integers import question

TEXT = """\
#include <math.h>
#include "testbed_cc.h"
CC_NO_OPTIONS
struct cc_flow {
	CC_FLOW;
	uint32_t count;
	double kept;
};
static void on_ack(struct cc_flow *flow, const struct cc_ack *ack)
{
	%s
}
CC_CONTROLLER(.signals = CC_RTT, .on_ack = on_ack)
"""
FIRMWARE = Path(__file__).parents[2] / "compiled" / "firmware" / "rtt_aimd"

pytestmark = pytest.mark.skipif(shutil.which("clang") is None, reason="clang looks at it")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("flow->count = (flow->count + (uint32_t)ack->packets) * 3 / 7 %% 10;", ""),
        ("flow->kept = ack->rtt; flow->window = 1e5;", ""),
        ("flow->count /= (uint32_t)ack->packets;", "line 11, on_ack: divides by a variable (udiv)"),
        ("flow->count = (uint32_t)(-5 %% ack->packets);", "line 11, on_ack: divides by a variable (srem)"),
        ("flow->window = (double)ack->packets;", "line 11, on_ack: computes with fractions (sitofp)"),
        ("if (ack->rtt > 1e-5) flow->count++;", "line 11, on_ack: computes with fractions (fcmp)"),
        ("flow->window = fmax(ack->rtt, flow->kept);", "line 11, on_ack: computes with fractions (maxnum)"),
    ],
)
def test_what_nics_do_not_have(tmp_path: Path, statement: str, found: str) -> None:
    (tmp_path / "mine.c").write_text(TEXT % statement.replace("%%", "%"))
    passed, why = question(find("controller", str(tmp_path / "mine.c")).form.native)
    assert passed == (not found)
    assert found in why


def test_a_program_for_a_card_has_none_of_it() -> None:
    assert question(find("controller", str(FIRMWARE)).form.native)[0]
