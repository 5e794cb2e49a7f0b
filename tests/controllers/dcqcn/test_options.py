"""Options and presets of DCQCN."""

from __future__ import annotations

import pytest

from testbed.registry import find
from tests.controllers.dcqcn.presets import nic


def test_published_constants_of_the_nic() -> None:
    config = nic().config
    assert config.g == 5 / 1024  # 1019/1024 is the weight of history
    assert (config.initial_alpha, config.alpha_period, config.recovery_steps) == (1023 / 1024, 1e-6, 1)


@pytest.mark.parametrize(("preset", "interval"), [("paper", 50e-6), ("nic", 4e-6)])
def test_cnp_interval_belongs_to_the_preset(preset: str, interval: float) -> None:
    plugin = find("controller", "dcqcn")
    assert plugin.form.cnp_interval(plugin.configure(preset, {})) == pytest.approx(interval)
    assert plugin.form.cnp_interval(plugin.configure(preset, {"cnp_interval": "7 us"})) == pytest.approx(7e-6)
