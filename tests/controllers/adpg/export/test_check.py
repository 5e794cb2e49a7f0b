"""The check that an export makes of its own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from testbed_controllers.adpg.export import check, doca
from testbed_controllers.adpg.export.job import ExportConfig

from testbed.sdk.export.check import controller
from tests.controllers.adpg.export.conftest import exported
from tests.controllers.adpg.loops import BASE_RTT, TREES


@pytest.mark.parametrize(
    ("to", "name", "before", "after"),
    [
        ("c", "adpg.c", "1.2", "1.2"),
        ("c", "adpg.h", "12.5", "12.6"),
        ("c", "adpg.h", "PATIENCE 44", "PATIENCE 45"),
        ("doca-pcc", "device/adpg_fixed.h", "PATIENCE 44", "PATIENCE 45"),
        ("c", "adpg_trees.c", " > ", " < "),
        ("doca-pcc", "device/adpg_fixed.c", "<< bit", "<< (3 - bit)"),
        ("doca-pcc", "device/adpg_fixed.c", "rate <<= 2", "rate <<= 1"),
        ("doca-pcc", "device/adpg_fixed.c", "+ (1u << 7)", ""),
        ("doca-pcc", "device/adpg_controller.c", "window >= rtt", "window + 9000 >= rtt"),
        ("doca-pcc", "device/adpg_fixed.h", "ADPG_TWICE_SCALE 25", "ADPG_TWICE_SCALE 24"),
    ],
)
def test_check_sees_what_is_not_the_controller(to: str, name: str, before: str, after: str, tmp_path: Path) -> None:
    folder, config = (
        exported(to, tmp_path, start_rate=1.0, ramp=0.006),
        ExportConfig(to=to, start_rate=1.0, ramp=0.006).controller(),
    )
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace(before, after))
    if to == "c":
        wrong = check.portable(folder, TREES, config)
    else:
        wrong, _ = controller(doca.program(TREES, config, BASE_RTT), folder)
    assert bool(wrong) == (before != after)
