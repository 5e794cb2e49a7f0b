"""The pages' commands: the command line of today understands each, options and all."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.cli.usage import UsageProblem
from tests.support.checkout import ROOT
from tests.support.understood import typed, understood

PAGES = [ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def failures(text: str) -> list[str]:
    """The commands of a page that are none."""
    command, found = understood(), []
    for words in typed(text):
        try:
            command.main(words, standalone_mode=False)
        except UsageProblem as error:
            found.append(f"testbed {' '.join(words)}: {error.message}")
    return found


def test_every_command_of_every_page_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "".join(f"{page.read_text()}\n" for page in PAGES)
    assert len(typed(text)) > 200
    assert failures(text) == []
    assert list(tmp_path.iterdir()) == []


def test_a_verb_or_an_option_that_is_gone_is_found() -> None:
    page = (
        "    testbed run incast-8 --engin virtual   # misspelt\n\n```sh\nsudo testbed walk | head\ntestbed list\n```\n"
    )
    assert [one.partition(":")[0] for one in failures(page)] == ["testbed run incast-8 --engin virtual", "testbed walk"]
