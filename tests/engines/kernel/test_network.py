"""What a run knows of losses that are not the model's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.base import linux
from testbed.engines.kernel.network import RackNetwork


def test_every_queue_of_this_machine_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    softnet = tmp_path / "softnet_stat"  # processed, dropped, ... in hex, a line per core
    softnet.write_text("000000ff 0000000f 0\n000000ff 00000000 0\n")
    monkeypatch.setattr(linux, "Path", lambda _file: softnet)
    port = SimpleNamespace(ifindex=0)
    rack = SimpleNamespace(
        net=SimpleNamespace(shaper_drops=lambda: 3, ports=[port]), ports=None, queues=None,
        nic=SimpleNamespace(flows_tx=None, flows_rx=None), layout=SimpleNamespace(bottleneck=0),
    )  # fmt: skip
    network = RackNetwork(cast(Any, rack))
    softnet.write_text("000000ff 00000010 0\n000000ff 00000002 0\n")
    assert network.drops() == 3 + (16 + 2 - 15)
