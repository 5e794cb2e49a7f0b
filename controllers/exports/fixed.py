"""``testbed export fixed``: a constant rate on a NIC, the first smoke test on real hardware."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from testbed.sdk.export.job import ExportConfig, job
from testbed.sdk.export.numbers import LINE_RATE, limited
from testbed.sdk.export.program import START_SHARE, EachFlow, Parameter, Program
from testbed.sdk.jobs import JobSet
from testbed.units import Rate, Ratio, Time

from ..fixed import FixedConfig

SOURCE = Path(__file__).with_name("fixed.c")
NOTES = """\
Every flow gets RATE_FXP20, a share of line rate, whatever happens. No probe is sent, so nothing is asked of the other
hosts. A new flow begins at START_RATE_FXP20, and each PATIENCE_NS brings it one step nearer; so does a change of
RATE_FXP20 while flows run. Expect a few percent less goodput than the rate says.
"""


class FixedExportConfig(FixedConfig, ExportConfig):
    """The controller's options, and what a card has to be told."""

    line_rate: Rate = Field(default=100e9, gt=0, description="Of the card's port; only matters for a rate in bit/s.")
    start_rate: Ratio = Field(default=START_SHARE, gt=0, le=1, description="Of a new flow, as a share of line rate.")
    step: Time = Field(default=100e-6, ge=1e-6, le=60e-3, description="From one step to the next.")


class FixedModel:
    """fixed.c for one flow."""

    def __init__(self, rate: int, start_rate: int) -> None:
        self.rate, self.start_rate = rate, start_rate

    def start(self) -> int:
        return limited(self.start_rate, 1, self.rate)

    def decide(self, rtt: int, losses: int) -> int:  # noqa: ARG002 - no reaction
        return self.rate


def program(config: FixedExportConfig) -> Program:
    """The program for the card."""
    share = config.on(config.line_rate) / config.line_rate
    rate, start = max(1, round(share * LINE_RATE)), max(1, round(config.start_rate * LINE_RATE))
    return Program(
        controller="fixed",
        title="fixed: a constant rate",
        number=0xF1D0,
        probes=False,
        parameters=(
            Parameter("RATE_FXP20", rate, 1, LINE_RATE, "of every flow, share of line rate"),
            Parameter("START_RATE_FXP20", start, 1, LINE_RATE, "of a new flow, share of line rate"),
        ),
        sources={"fixed.c": SOURCE.read_text(encoding="utf-8")},
        model=lambda flows: EachFlow([FixedModel(rate, start) for _ in range(flows)]),
        notes=NOTES,
        needs=(),
        patience=round(config.step * 1e9),
    )


JOBS = JobSet({"export": job("fixed", FixedExportConfig, program)})
