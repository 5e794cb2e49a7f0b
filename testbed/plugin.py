"""What all plugins have in common: validated options."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class PluginConfig(BaseModel):
    """Base of a plugin's options: unknown keys are refused; values carry units (see `testbed.units`), defaults may."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")  # JSON has no infinity

    @model_validator(mode="before")
    @classmethod
    def _written_defaults(cls, given: Any) -> Any:
        """A default that is a text, such as "50 Mbit/s", is read as if it had been given; numbers are in SI units."""
        texts = {name: info.default for name, info in cls.model_fields.items() if isinstance(info.default, str)}
        return {**texts, **given} if isinstance(given, dict) else given
