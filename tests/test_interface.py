"""The Python interface is what interface.txt says, which is renewed with a line in the change log only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import interface
from tests.support.checkout import ROOT


def test_it_is_what_the_change_log_was_written_for() -> None:
    now, known = interface.lines(), interface.recorded()[1]
    changed = sorted({*now} ^ {*known})
    assert changed == [], "say it in CHANGELOG.md, then: .venv/bin/python -m tests.support.interface"


def test_it_is_not_renewed_without_a_line_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    digest, (*known, _gone) = interface.recorded()
    monkeypatch.setattr(interface, "FILE", tmp_path / "interface.txt")
    interface.FILE.write_text("\n".join([interface.digest(), *known]) + "\n")
    assert interface.main() == 1
    assert "CHANGELOG.md" in capsys.readouterr().err
    interface.FILE.write_text("\n".join([f"older than {digest}", *known]) + "\n")
    assert interface.main() == 0
    assert interface.recorded()[0] == interface.digest()


def test_the_page_lists_the_modules() -> None:
    page = (ROOT / "docs/reference/python.md").read_text()
    assert [name for name in interface.MODULES if f"`testbed.{name}`" not in page and name != "testbed"] == []
