"""A cache that was filled is what a run looks into."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from release import cache
from release.binaries import plugins
from testbed.compiled import machine
from testbed.compiled.layout import record
from testbed.results.trace import ROWS


def test_what_was_filled_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path))
    (one,) = islice(plugins(), 1)
    monkeypatch.setattr(cache, "UNITS", (ROWS,))
    monkeypatch.setattr(cache, "plugins", lambda: [one])
    cache.fill()
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".so", ".so"]
    monkeypatch.setattr(machine, "emitted", lambda *_: pytest.fail("compiled again"))
    form, translation, _ = one
    assert machine.library(translation, record(form, translation.controller.config)) in set(tmp_path.iterdir())
