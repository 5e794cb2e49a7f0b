"""`testbed compare` in the process of a test."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from testbed.cli import main


class Done(NamedTuple):
    code: int
    out: str
    said: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def text(self) -> str:
        """What was printed, without its line breaks."""
        return re.sub(r"\s+", " ", self.out)


class Command:
    """``testbed compare ...`` in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys
        monkeypatch.setenv("COLUMNS", "80")

    def __call__(self, *arguments: str | Path) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["testbed", "compare", *map(str, arguments)])
        try:
            code = main.main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *self.capsys.readouterr())
