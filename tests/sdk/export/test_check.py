"""The check sees what is not the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from testbed_controllers.exports import fixed, swift

from testbed.sdk import jobs
from testbed.sdk.export import check
from tests.support.card.exports import export


@pytest.mark.parametrize(("name", "source", "before", "after"), [
    ("swift", "swift.c", "rate ? rate : 1", "rate ? rate + 1 : 1"),
    ("swift", "numbers.c", "reciprocals[step + 1]", "reciprocals[step]"),
    ("fixed", "fixed.c", "return parameters[RATE_FXP20]", "return parameters[RATE_FXP20] - 1"),
])  # fmt: skip
def test_the_check_sees_what_is_not_the_model(name: str, source: str, before: str, after: str, tmp_path: Path) -> None:
    plugin = jobs.find(name, "export")
    known = {"base_rtt": "8 us"} if name == "swift" else {}
    program = {"swift": swift.program, "fixed": fixed.program}[name](plugin.configure(None, known))
    file = export(name, tmp_path) / "device" / source
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))
    wrong, _ = check.controller(program, tmp_path)
    assert "rates are not the model's" in wrong
