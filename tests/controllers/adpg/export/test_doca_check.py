"""The check that an export makes of its own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from testbed_controllers.adpg.export import doca
from testbed_controllers.adpg.export.job import AdpgExportConfig

from testbed.sdk.export.check import controller
from tests.controllers.adpg.export.conftest import exported
from tests.controllers.adpg.loops import BASE_RTT, TREES


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("device/adpg_fixed.h", "PATIENCE 44", "PATIENCE 44"),
        ("device/adpg_fixed.h", "PATIENCE 44", "PATIENCE 45"),
        ("device/adpg_fixed.c", "<< bit", "<< (3 - bit)"),
        ("device/adpg_fixed.c", "rate <<= 2", "rate <<= 1"),
        ("device/adpg_fixed.c", "+ (1u << 7)", ""),
        ("device/adpg_controller.c", "window >= rtt", "window + 9000 >= rtt"),
        ("device/adpg_fixed.h", "ADPG_TWICE_SCALE 25", "ADPG_TWICE_SCALE 24"),
    ],
)
def test_check_sees_what_is_not_the_controller(name: str, before: str, after: str, tmp_path: Path) -> None:
    options = {"start_rate": 1.0, "ramp": 0.006}
    folder = exported(tmp_path, **options)
    config = AdpgExportConfig.model_validate({"base_rtt": f"{BASE_RTT} s", **options}).controller()
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace(before, after))
    wrong, _ = controller(doca.program(TREES, config, BASE_RTT), folder)
    assert bool(wrong) == (before != after)
