"""``testbed export CONTROLLER --to doca-pcc``: the job that all controllers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from testbed.compiled.c_form import NativeController
from testbed.controller import CompiledController, Path
from testbed.errors import BadInput, nearest
from testbed.registry import Plugin, find
from testbed.sdk.export import check
from testbed.sdk.export.program import START_SHARE, Program, files
from testbed.sdk.jobs import Job, JobConfig, JobContext, Result
from testbed.units import Rate, Ratio, Time

C, SIMULATORS, DOCA_PCC = "c", ("htsim", "ns3"), "doca-pcc"  # any controller that is compiled
TARGETS = [C, *SIMULATORS, DOCA_PCC]


def of_a_probe(base_rtt: float | None) -> float:
    """The base RTT (s) that a card is told, which nobody but the user knows. Raises BadInput if it was not given."""
    if base_rtt is None:
        raise BadInput(
            "for doca-pcc the base RTT of a probe on your network is needed: add for example --set base_rtt='3.2 us', "
            "with twice what ib_write_lat prints between two idle hosts (docs/howto/export.md)"
        )
    return base_rtt


class ExportConfig(JobConfig):
    """Base of the options of an export."""

    to: str = Field(default=DOCA_PCC, description=f"What for: {DOCA_PCC}, fixed point for the DPA of NVIDIA's NICs.")


class CardConfig(ExportConfig):
    """The path, which a card has to be told."""

    line_rate: Rate = Field(default=100e9, gt=0, description="Of the card's port.")
    base_rtt: Time | None = Field(
        default=None, gt=0, le=1, description="Of a probe through empty queues; must be given."
    )
    hops: int = Field(default=1, ge=0, le=255, description="Switches on the way.")
    wire_size: int = Field(default=1086, ge=64, le=9500, description="Bytes of a full packet on the wire.")
    start_rate: Ratio = Field(default=START_SHARE, gt=0, le=1, description="Of a new flow, as a share of line rate.")

    def path(self) -> Path:
        """A flow's path, as the controller is told in the rack. Raises BadInput without a base RTT."""
        rtt, size = of_a_probe(self.base_rtt), self.wire_size
        return Path(self.line_rate, rtt, rtt, self.hops, size, size)


def from_python(name: str, target: str) -> Plugin:
    """A controller whose Python can be written as something else. Raises BadInput."""
    plugin = find("controller", name)
    form: Any = plugin.form
    if not (issubclass(form, CompiledController) and form.compiled) or issubclass(form, NativeController):
        raise BadInput(
            f"{plugin.title} cannot be exported to {target}: it is no controller that is compiled from Python "
            "(docs/howto/controllers.md says which are)"
        )
    return plugin


def write(program: Program, context: JobContext) -> Result:
    """Write the project, and hold its controller against the model. Raises TestbedError if it does not compile."""
    made = files(program)
    for name, text in made.items():
        file = context.out / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (context.out / "build_device.sh").chmod(0o755)
    wrong, checked = check.controller(program, context.out) if program.model else ("", "")
    lines = [f"{program.title}: {len(made)} files, {len(program.every_parameter)} parameters", *filter(None, [checked])]
    data = {"to": DOCA_PCC, "controller": program.controller, "files": list(made), "checked": checked}
    return Result(lines, data, wrong)


def job(
    name: str,
    config: type[ExportConfig],
    program: Callable[[Any], Program],
    presets: Mapping[str, dict[str, Any]] | None = None,
) -> Job:
    """A controller's export; ``program`` is given a ``config``."""

    def run(given: ExportConfig, context: JobContext) -> Result:
        if given.to != DOCA_PCC:
            raise BadInput(f"{name} cannot be exported to '{given.to}'; {nearest(given.to, TARGETS)}")
        return write(program(given), context)

    return Job("The controller in fixed point, as a program for a NIC.", config, run, presets or {})
