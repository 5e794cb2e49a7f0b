"""``testbed export adpg --to doca-pcc``: the trees, and the controller around them, in fixed point."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from testbed.sdk.export.job import ExportConfig, job, of_a_probe
from testbed.sdk.export.program import START_SHARE, Program
from testbed.units import Ratio, Time

from ..controller import AdpgForm
from ..observation import LEAST_RATE, STEEPEST, AdpgConfig
from ..tree import Trees
from . import doca

SHIPPED = Path(__file__).parents[1] / "policies" / "trees.json"


class AdpgExportConfig(ExportConfig):
    """What is exported, and the options that it starts with."""

    policy: str = Field(default="", description="File with trees; by default the shipped ones.")
    beta: float = Field(default=1.5, gt=1, le=4, description="RTT inflation up to which there is no congestion.")
    target: float = Field(default=0.064, gt=0, le=0.64, description="Inflation beyond beta times sqrt(rate) aimed at.")
    reference_rtt: Time = Field(default=8.192e-6, ge=1e-6, le=1e-3, description="What an RTT's excess is measured in.")
    start_rate: Ratio = Field(
        default=START_SHARE, ge=LEAST_RATE, le=1, description="Of a new flow, as a share of line rate."
    )
    window: Literal["none", "bdp"] = Field(
        default="bdp", description="`bdp` caps what is in flight at beta BDPs, as window / RTT."
    )
    ramp: float = Field(
        default=0.0, ge=0, le=STEEPEST,
        description="What each RTT in a row without congestion, from the 45th on, adds to the multiplier; up to 0.1.",
    )  # fmt: skip
    base_rtt: Time | None = Field(
        default=None,
        ge=0,
        le=1.0,
        description="Of a probe through empty queues; must be given.",
    )

    def controller(self) -> AdpgConfig:
        """The same as the controller's options."""
        names = ("beta", "target", "reference_rtt", "start_rate", "window", "ramp")
        return AdpgConfig.model_construct(**{name: getattr(self, name) for name in names})


def program(config: AdpgExportConfig) -> Program:
    """The program for the card. Raises BadInput for an unusable policy."""
    trees = Trees.load(Path(config.policy) if config.policy else SHIPPED)
    return doca.program(trees, config.controller(), of_a_probe(config.base_rtt))


EXPORT = job(
    "adpg", AdpgExportConfig, program,
    {name: {"window": "none"} | options for name, options in AdpgForm.presets.items()},
)  # fmt: skip
