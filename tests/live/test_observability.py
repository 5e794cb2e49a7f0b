"""What a run knows of losses that are not the model's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.engines.kernel import gather
from testbed.live.observed import RackFabric


def test_every_queue_of_this_machine_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    softnet = tmp_path / "softnet_stat"  # processed, dropped, ... in hex, a line per core
    softnet.write_text("000000ff 00000010 0\n000000ff 00000002 0\n")
    monkeypatch.setattr(gather, "SOFTNET", softnet)
    rack = SimpleNamespace(shaper_drops=lambda: 3)
    fabric = RackFabric(cast(Any, SimpleNamespace(rack=rack, input_queue_drops=15)))
    assert fabric.drops() == 3 + (16 + 2 - 15)
