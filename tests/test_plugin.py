"""Options of plugins: nothing unknown, and nothing that changes later."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from testbed.plugin import PluginConfig
from testbed.units import Rate, Time


class Config(PluginConfig):
    wait: Time = 1e-6


class Written(PluginConfig):
    step: Rate = "50 Mbit/s"  # type: ignore[assignment] # as in a file
    mode: str = "fast"
    wrong: Time = 2e-6


def test_a_default_may_be_written_with_its_unit() -> None:
    assert Written() == Written(step="50 Mbit/s")  # type: ignore[arg-type]
    assert (Written().step, Written().mode, Written().wrong) == (pytest.approx(50e6), "fast", 2e-6)
    with pytest.raises(ValidationError, match="unknown unit 'Mbutt/s'"):
        type("Bad", (Written,), {"step": "50 Mbutt/s", "__annotations__": {"step": Rate}})()


def test_options_are_checked_and_stay() -> None:
    config = Config.model_validate({"wait": "2 us"})
    assert config.wait == pytest.approx(2e-6)
    with pytest.raises(ValidationError, match="frozen"):
        config.wait = 1.0
    with pytest.raises(ValidationError, match="Extra inputs"):
        Config.model_validate({"wiat": "2 us"})
