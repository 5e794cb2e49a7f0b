"""`testbed validate`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import command


def test_invalid_file_in_json(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("traffic: {pattern: incast, senders: 0}\n")
    done = command("validate", str(file), "--format", "json")
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["valid"] is False
    assert len(answer["problems"]) == 2
