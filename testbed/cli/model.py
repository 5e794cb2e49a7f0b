"""`testbed model`: experiments without packets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli.shared import ExperimentArgument, Format, Formatted, Settings, resolve
from testbed.errors import BadInput

if TYPE_CHECKING:
    from testbed.engines.fluid.run import Modelled
    from testbed.experiment.resolved import Resolved

model = typer.Typer(help="The fluid model of a rack: the same controllers, no packets.", no_args_is_help=True)


@model.callback()
def group() -> None:
    """The fluid model of a rack: the same controllers, no packets."""


@model.command("run")
def run_(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Annotated[str, typer.Option(help="Congestion control instead of the file's: a name or a path.")] = "",
    tuner: Annotated[str, typer.Option(help="ECN tuner instead of the file's: a name or a path.")] = "",
    settings: Settings = None,
    duration: Annotated[str, typer.Option(help="Length, for example '10 ms'.")] = "",
    seed: Annotated[str, typer.Option(help="Seed of everything random.")] = "",
    step: Annotated[str, typer.Option(help="Of the model; by default a sixteenth of the base RTT.")] = "",
    probes: Annotated[int, typer.Option(help="Probes that a flow has on the way: what stands for its ACKs.")] = 8,
    out: Annotated[Path | None, typer.Option(help="Folder for figures.json, experiment.yaml and model.svg.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write queue and rates over time as SVG.")] = None,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment in the fluid model (needs no root)."""
    resolved = resolve(
        experiment, {"controller": controller, "tuner": tuner}, {"time.duration": duration, "seed": seed}, settings
    )
    from testbed.results import folder

    target = folder.prepare(out, "model") if out else None
    if plot and not (plot.absolute().parent.is_dir() and not plot.is_dir()):
        raise BadInput(f"--plot {plot}: expected a file in a folder that exists")
    ran = _simulate(resolved, _seconds(step), probes)
    if format is Format.json:
        print(ran.figures.model_dump_json(indent=2))
    else:
        from rich.console import Console

        from testbed.engines.fluid.table import render

        Console().print(render(ran.figures))
    if plot:
        _write({plot: _picture(ran)})
        print(f"plot: {plot}", file=sys.stderr)
    if target:
        _write(
            {
                target / "figures.json": ran.figures.model_dump_json(indent=2) + "\n",
                target / "experiment.yaml": resolved.as_yaml(),
                target / "model.svg": _picture(ran),
            }
        )
        print(f"results: {target}", file=sys.stderr)


def _simulate(resolved: Resolved, step: float, probes: int) -> Modelled:
    from testbed.base.progress import Bar
    from testbed.engines.fluid.run import simulate

    with Bar() as bar:
        bar.start(resolved.experiment.time.duration)
        return simulate(resolved, step=step, probes=probes, told=lambda now: bar.update(now, "fluid model"))


def _seconds(text: str) -> float:
    from testbed.units import TIME_UNITS, parse

    if not text:
        return 0.0
    try:
        return parse(text, TIME_UNITS, "a time")
    except ValueError as error:
        raise BadInput(f"--step {text}: {error}") from None


def _picture(ran: Modelled) -> str:
    from testbed.engines.fluid.plot import plot
    from testbed.results.report.vector import svg

    return svg(plot(ran))


def _write(files: dict[Path, str]) -> None:
    for file, content in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {error.strerror}") from None
