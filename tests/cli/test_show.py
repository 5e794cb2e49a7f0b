"""`testbed show`."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import command


def test_show_can_be_run_again(tmp_path: Path) -> None:
    shown = command("show", "incast-8").stdout
    file = tmp_path / "shown.yaml"
    file.write_text(shown)
    assert command("show", str(file)).stdout == shown
