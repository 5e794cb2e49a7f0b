"""``testbed export adpg``: the trees, and the controller around them, as C."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from pydantic import Field

from testbed.errors import BadInput, nearest
from testbed.sdk.export.job import DOCA_PCC, of_a_probe, write
from testbed.sdk.export.program import START_SHARE
from testbed.sdk.jobs import Job, JobConfig, JobContext, Result
from testbed.units import Ratio, Time

from ..controller import AdpgForm
from ..observation import LEAST_RATE, STEEPEST, AdpgConfig
from ..tree import Trees
from . import c, check, doca

TARGETS = {
    "c": "portable C99 with doubles",
    DOCA_PCC: "fixed point, for the DPA of NVIDIA's NICs; runs on no card yet",
}
SHIPPED = Path(__file__).parents[1] / "policies" / "trees.json"


class ExportConfig(JobConfig):
    """What is exported, to what, and the options that it starts with."""

    to: str = Field(default="c", description=f"Form of the export: {', '.join(TARGETS)}.")
    policy: str = Field(default="", description="File with trees; by default the shipped ones.")
    beta: float = Field(default=1.5, gt=1, le=4, description="RTT inflation up to which there is no congestion.")
    target: float = Field(default=0.064, gt=0, le=0.64, description="Inflation beyond beta times sqrt(rate) aimed at.")
    reference_rtt: Time = Field(default=8.192e-6, ge=1e-6, le=1e-3, description="What an RTT's excess is measured in.")
    start_rate: Ratio | None = Field(
        default=None,
        ge=LEAST_RATE,
        le=1,
        description=f"Of a new flow, as a share of line rate; by default 1, and {START_SHARE} for doca-pcc.",
    )
    window: Literal["none", "bdp"] = Field(
        default="bdp", description="`bdp` caps what is in flight at beta BDPs, as window / RTT. Only for doca-pcc."
    )
    ramp: float = Field(
        default=0.0, ge=0, le=STEEPEST,
        description="What each RTT in a row without congestion, from the 45th on, adds to the multiplier; up to 0.1.",
    )  # fmt: skip
    base_rtt: Time | None = Field(
        default=None,
        ge=0,
        le=1.0,
        description="Of a probe through empty queues; must be given, and only, for doca-pcc.",
    )

    def controller(self) -> AdpgConfig:
        """The same as the controller's options."""
        names = ("beta", "target", "reference_rtt", "window", "ramp")
        options = {name: getattr(self, name) for name in names}
        start = self.start_rate or (START_SHARE if self.to == DOCA_PCC else 1.0)
        return AdpgConfig.model_construct(**options, start_rate=start)


def export(config: ExportConfig, context: JobContext) -> Result:
    """Write the files. Raises BadInput for an unknown target or an unusable policy."""
    if config.to not in TARGETS:
        raise BadInput(f"adpg cannot be exported to '{config.to}'; {nearest(config.to, list(TARGETS))}")
    trees, controller = Trees.load(Path(config.policy) if config.policy else SHIPPED), config.controller()
    if config.to == DOCA_PCC:
        return write(doca.program(trees, controller, of_a_probe(config.base_rtt)), context)
    files = c.exported(trees, controller)
    for name, text in files.items():
        (context.out / name).write_text(text, encoding="utf-8")
    wrong, checked = _check(trees, controller, context.out)
    count, depth = trees.feature.shape
    lines = [f"{count} trees of depth {depth} as {TARGETS[config.to]}: {', '.join(files)}", checked]
    data = {"to": config.to, "files": list(files), "trees": count, "depth": depth, "checked": checked}
    return Result(lines, data, wrong)


def _check(trees: Trees, controller: AdpgConfig, folder: Path) -> tuple[str, str]:
    """What is wrong with the files, and what to say of the check. Raises TestbedError if they do not compile."""
    if shutil.which("clang") is None:
        return "", "not checked: there is no clang on this machine"
    wrong = check.portable(folder, trees, controller)
    return wrong, f"checked: compiled, and {check.FLOWS * check.ROUNDS:,} decisions equal to the controller's"


EXPORT = Job(
    "The controller as C: portable, or in fixed point for a NIC.", ExportConfig, export,
    {name: {"window": "none"} | options for name, options in AdpgForm.presets.items()},
)  # fmt: skip
