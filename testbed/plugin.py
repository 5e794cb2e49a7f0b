"""What all plugins have in common: validated options."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class PluginConfig(BaseModel):
    """Base of a plugin's options: unknown keys are refused, values carry units (see `testbed.units`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
