"""The language of --fail-if: what it means, and what it refuses."""

from __future__ import annotations

import math

import pytest

from testbed.errors import BadInput
from testbed.results.compare.gate import LONGEST, Scope, parse

OWN = {"su": 80.0, "ql_p99": 30e-6, "goodput": 75e9, "drops": 0.0, "fct_p99": math.nan}
BASE = {"su": 95.0, "ql_p99": 12e-6, "goodput": 90e9, "drops": 0.0, "fct_p99": 1e-3}


def scope() -> Scope:
    return Scope(OWN.__getitem__, BASE.__getitem__)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("su < 0.9*baseline", True),  # 80 < 85.5
        ("su < 0.8*baseline", False),  # 80 < 76
        ("0.9*baseline > su", True),
        ("  su<90 ", True),
        ("su <= 80", True),
        ("su >= 80.1", False),
        ("70 < su < 79", False),
        ("70 < su < 90", True),
        ("ql_p99 > 20*us", True),
        ("ql_p99 > 0.02*ms", True),
        ("goodput < 80*Gbit/s", True),
        ("ql_p99 > baseline + 10*us", True),
        ("ql_p99 / baseline > 2.6", False),  # 2.5
        ("-su > -(baseline - 10)", True),  # -80 > -85
        ("su < 0.9*baseline and ql_p99 > 2*baseline", True),  # each with its own baseline
        ("su < 0.5*baseline or ql_p99 > 2*baseline", True),
        ("not su < 0.9*baseline", False),
        ("not (su < 50 or drops > 0)", True),
        # what is not known stays so, unless the other part decides alone
        ("fct_p99 > 2*baseline", None),
        ("not fct_p99 > 1", None),
        ("fct_p99 > 1 or su < 90", True),
        ("fct_p99 > 1 or su > 90", None),
        ("fct_p99 > 1 and su > 90", False),
        ("fct_p99 > 1 and su < 90", None),
        ("su / drops > 1", None),
        ("drops / baseline > 1", None),
        ("su * 1e308 * 1e308 > 1", None),
    ],
)
def test_meaning(text: str, holds: bool | None) -> None:
    assert parse(text).holds(scope()) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected for example"),
        ("su <", "expected for example"),
        ("su < 90)", "expected for example"),
        ("su < 90\0", "--fail-if"),
        ("(" * 300 + "su" + ")" * 100, "--fail-if"),
        ("su < 1 " + "or su < 1 " * 100, f"longer than {LONGEST}"),
        ("su", "is not a comparison"),
        ("1 + su", "is not a comparison"),
        ("True", "is not a comparison"),
        ("utilisation < 90", "no metric is named 'utilisation'"),
        ("sux < 90", "did you mean 'su'?"),
        ("1 < 2", "compares no metric; there are su, "),
        ("baseline < 90", "exactly one metric"),
        ("su + drops < baseline", "exactly one metric"),
        ("su == 90", "something else than <"),
        ("su != 90", "something else than <"),
        ("su in (1, 2)", "is not allowed"),
        ("su < 'a'", "is not a number"),
        ("su < True", "is not a number"),
        ("su < 1j", "is not a number"),
        ("su < 1e999", "is too large"),
        ("su < 1" + "0" * 400, "is too large"),
        # nothing of Python but this
        ("__import__('os').system('id') < su", "is not allowed"),
        ("su.__class__ < 1", "is not allowed"),
        ("su < (lambda: 1)()", "is not allowed"),
        ("su < [1][0]", "is not allowed"),
        ("su < 9**9**9", "is not allowed"),
        ("su < 7 // 2", "is not allowed"),
        ("su < 7 % 2", "is not allowed"),
        ("su < (1 if su else 2)", "is not allowed"),
        ("su < (x := 1)", "is not allowed"),
        ("su < f'{su}'", "is not allowed"),
        ("su < ~1", "is not allowed"),
        ("su < (1 < 2)", "is not allowed"),
        ("[su < 1 for su in ()]", "is not a comparison"),
        ("print(su)", "is not a comparison"),
        ("su < 1; print(1)", "expected for example"),
        ("import os", "expected for example"),
    ],
)
def test_refused(text: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(text)
    assert says in str(refused.value)


def test_names_are_kept_for_the_message() -> None:
    gate = parse("ql_p99 > 2*baseline and su < 90*us/us")
    assert gate.metrics == ("ql_p99", "su")
    assert gate.uses_baseline
    assert not parse("su < 90").uses_baseline
