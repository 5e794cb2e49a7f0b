"""docs/start: every command of the tutorials works as it stands there, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.walk import PAGES, Walk, missing, renewed


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_tutorial_is_walked(page: Path, tmp_path: Path) -> None:
    shown = [(block["text"], printed) for block, printed in Walk(page, tmp_path).shown()]
    assert len(shown) >= 3
    for block, printed in shown:
        assert missing(block, printed) == [], f"python -m tests.support.walk writes what is printed today:\n{printed}"


def test_what_is_not_printed_is_missed_and_mended() -> None:
    printed = "verdict: clean\n\nSU     100.00 %\nQL   4.36 us mean   4.90 us p99\n"
    assert missing("verdict: clean\n...\nQL 4.36 us mean   4.90 us p99\n", printed) == []
    assert missing("QL 4.36 us mean   4.90 us p99\nSU 100.00 %\n", printed) == ["SU 100.00 %"]
    assert (
        renewed("SU  99.00 %\n...\nQL  1.00 us mean\n", printed)
        == "SU     100.00 %\n...\nQL   4.36 us mean   4.90 us p99\n"
    )
