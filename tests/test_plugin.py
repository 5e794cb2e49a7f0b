"""Options of plugins: nothing unknown, and nothing that changes later."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from testbed.plugin import PluginConfig
from testbed.units import Time


class Config(PluginConfig):
    wait: Time = 1e-6


def test_options_are_checked_and_stay() -> None:
    config = Config.model_validate({"wait": "2 us"})
    assert config.wait == pytest.approx(2e-6)
    with pytest.raises(ValidationError, match="frozen"):
        config.wait = 1.0
    with pytest.raises(ValidationError, match="Extra inputs"):
        Config.model_validate({"wiat": "2 us"})
