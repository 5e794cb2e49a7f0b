"""What is written by the tool for a card decides as its Python does, and an export that does not is not kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.registry import find
from testbed.sdk.export.card import job
from testbed.sdk.export.card.check import compared
from testbed.sdk.export.card.source import source
from testbed.sdk.export.program import files
from tests.support.card.exports import WRITTEN

ROUNDED = 5e-6  # parameters are words, numbers have 24 bits


def written(name: str, folder: Path, change: tuple[str, str] = ("", "")) -> tuple[Path, job.CardConfig]:
    config = job.of(name).configure(None, {"base_rtt": "8 us"})
    assert isinstance(config, job.CardConfig)
    plugin = find("controller", name)
    program = job.program(plugin, config, source(plugin, job.like(plugin, config)))
    (folder / "device").mkdir()
    for path, text in files(program).items():
        if path.startswith("device/"):
            (folder / path).write_text(text.replace(*change) if change[0] else text)
    return folder / "device", config


def check(name: str, device: Path, config: job.CardConfig) -> tuple[float, int, str]:
    plugin = find("controller", name)
    made = source(plugin, job.like(plugin, config))
    found = compared(device, made, plugin, lambda: job.like(plugin, config))
    return found.data["error"], found.data["otherwise"], found.wrong


@pytest.mark.parametrize("name", [*WRITTEN, "theta-powertcp"])
def test_a_decision_is_that_of_the_controller(name: str, tmp_path: Path) -> None:
    error, otherwise, wrong = check(name, *written(name, tmp_path))
    assert error < ROUNDED
    assert otherwise <= 50  # of 10,000
    assert not wrong


def test_a_difference_is_found(tmp_path: Path) -> None:
    _, otherwise, wrong = check(
        "dctcp", *written("dctcp", tmp_path, ("real_div(flow->alpha,", "real_add(flow->alpha,"))
    )
    assert otherwise > 100
    assert "decisions are not dctcp's" in wrong
