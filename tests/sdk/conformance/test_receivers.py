"""Credit controllers that are broken fail for the right reason."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from testbed.registry import RECEIVER
from testbed.sdk.conformance.controllers import Result
from tests.sdk.conformance.broken import checked, line_of

COMPILES, SAME = "machine code decides as Python does", "same seed, same grants"
FILLS, QUEUE, SHARES, ARRIVES = (
    "fills the line", "leaves no queue", "flows share", "everything arrives in spite of losses",
)  # fmt: skip


def of_receiver(folder: Path, body: str, only: str | None = None, head: str = "") -> dict[str, Result]:
    text = (
        dedent(head)
        + 'from testbed.receiver import CreditController\nclass Broken(CreditController):\n    name = "broken"\n'
    )
    return checked(RECEIVER, folder, text + indent(dedent(body), "    "), only)


@pytest.mark.parametrize(
    ("decision", "question", "why"),
    [
        ("host.rate = 0.5 * host.line_rate", FILLS, "one flow used 50.0 %"),
        ("host.rate = host.line_rate", QUEUE, "at most half of one is expected"),  # what flows begin with stays
        ("self.window = 0.0", ARRIVES, "of 8 flows"),
    ],
)
def test_what_is_granted_must_be_right(tmp_path: Path, decision: str, question: str, why: str) -> None:
    result = of_receiver(tmp_path, f"def on_arrival(self, arrival, host):\n    {decision}", question)[question]
    assert not result.passed
    assert why in result.why


def test_who_favours_those_that_have_much_is_found(tmp_path: Path) -> None:
    body = """
    def on_arrival(self, arrival, host):
        host.window = 2.0 * host.bdp
        host.kept[0] += 1
        self.number = self.number if self.number > 0 else int(host.kept[0])
        self.window = host.bdp / self.number**3
    number: int
    """
    result = of_receiver(tmp_path, body, SHARES)[SHARES]
    assert not result.passed
    assert "more than 0.95 is expected" in result.why


def test_chance_must_follow_the_seed(tmp_path: Path) -> None:
    body = "compiled = False\ndef on_arrival(self, arrival, host):\n    self.window = random.uniform(1e4, 3e4)"
    results = of_receiver(tmp_path, body, SAME, head="import random\n")
    assert not results[SAME].passed


def test_a_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    body = "def on_arrival(self, arrival, host):\n    self.window = 1.0 / (host.senders - host.senders)"
    why = of_receiver(tmp_path, body, SAME)[SAME].why
    line = line_of(tmp_path, "1.0 /")
    assert f"credit controller 'broken' ({tmp_path / 'broken.py'}, line {line}): ZeroDivisionError" in why
