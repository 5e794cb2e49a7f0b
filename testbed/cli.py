"""The command line: parse, call, print.

stdout is for results and stderr for everything else, so that ``--format json`` can be piped. Exit codes: 0 clean,
1 error, 2 bad input (nothing was built), 3 ran but the result is degraded. Whatever is heavy is imported inside the
command that needs it, so that ``testbed --help`` is quick.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from testbed.loading import Resolved
    from testbed.plugin import Plugin

app = typer.Typer(
    name="testbed",
    help="Emulate a rack with real packets and try congestion control in it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 error, 2 bad input, 3 ran but the result is degraded.",
)
new = typer.Typer(help="Write a working plugin with its test.", no_args_is_help=True)
app.add_typer(new, name="new")


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"


Formatted = Annotated[Format, typer.Option("--format", help="How results are printed on stdout.")]
ExperimentArgument = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="A name from 'testbed list', or a file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override any key of the file; may be repeated."),
]


@app.command()
def run(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Annotated[str, typer.Option(help="Congestion control instead of the file's: a name or a path.")] = "",
    tuner: Annotated[str, typer.Option(help="ECN tuner instead of the file's: a name or a path.")] = "",
    settings: Settings = None,
    duration: Annotated[str, typer.Option(help="Nominal length, for example '10 ms'.")] = "",
    dilation: Annotated[str, typer.Option(help="Wall seconds per nominal second, or 'auto'.")] = "",
    seed: Annotated[str, typer.Option(help="Seed of everything random.")] = "",
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the experiment; build nothing.")] = False,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment (needs root)."""
    options = {"time.duration": duration, "time.dilation": dilation, "seed": seed}
    resolved = _resolve(experiment, {"controller": controller, "tuner": tuner}, options, settings)
    if dry_run:
        _print_resolved(resolved, format)
        return
    from testbed import doctor

    doctor.require()
    from testbed.run import execute
    from testbed.telemetry.progress import Progress

    outcome = execute(resolved, out, Progress())
    if format is Format.json:
        print(outcome.summary.to_json())
    else:
        from rich.console import Console

        from testbed.report.table import render

        Console().print(render(outcome.summary))
    print(f"results: {outcome.folder}", file=sys.stderr)
    if outcome.failure:
        raise TestbedError(f"{outcome.failure}; what was measured until then is kept")
    raise typer.Exit(int(outcome.summary.verdict.exit_code))


@app.command("list")
def list_(format: Formatted = Format.text) -> None:
    """List experiments, controllers and tuners."""
    from testbed import catalogue

    found = catalogue.collect()
    if format is Format.json:
        _print_json(found)
    else:
        for text in catalogue.as_lines(found):
            print(text)


@app.command()
def show(experiment: ExperimentArgument, settings: Settings = None, format: Formatted = Format.text) -> None:
    """Print an experiment with every default spelled out."""
    _print_resolved(_resolve(experiment, {}, {}, settings), format)


@app.command()
def validate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An experiment file, or a name.")],
    settings: Settings = None,
    format: Formatted = Format.text,
) -> None:
    """Check an experiment file and the plugins it names."""
    try:
        resolved = _resolve(file, {}, {}, settings)
    except TestbedError as error:
        if format is Format.text:
            raise
        _print_json({"valid": False, "problems": str(error).splitlines()})
        raise typer.Exit(error.exit_code) from None
    if format is Format.json:
        _print_json({"valid": True, "problems": []})
    else:
        print(f"{file} is valid: {resolved.experiment.hosts} hosts, {len(resolved.experiment.traffic.expand())} flows")


@app.command()
def doctor(format: Formatted = Format.text) -> None:
    """Say what this machine can do, and how to get what is missing."""
    from testbed import doctor as machine
    from testbed.speed import suggest

    suggestion = suggest()
    probes = [*machine.examine(), machine.speed(suggestion)]
    if format is Format.json:
        probed = {"status": machine.worst(probes), "probes": machine.as_dicts(probes)}
        _print_json({**probed, "speed": suggestion.as_dict()})
    else:
        for line in machine.as_lines(probes):
            print(line)
    raise typer.Exit(int(machine.worst(probes) == "missing"))


@new.command("controller")
def new_controller(name: Annotated[str, typer.Argument(help="Name of the plugin, for example my_cc.")]) -> None:
    """Write a controller and its test into this folder."""
    _scaffold("controller", name)


@new.command("tuner")
def new_tuner(name: Annotated[str, typer.Argument(help="Name of the plugin, for example my_tuner.")]) -> None:
    """Write a tuner and its test into this folder."""
    _scaffold("tuner", name)


@app.command()
def check(
    plugin: Annotated[str, typer.Argument(metavar="PLUGIN", help="A controller's or tuner's name or path.")],
    preset: Annotated[str | None, typer.Option(help="Check this preset; by default the plugin's first.")] = None,
    format: Formatted = Format.text,
) -> None:
    """Run the conformance suite on a plugin, without root and without a network."""
    from testbed import conformance

    results = conformance.check(_find(plugin), preset)
    if format is Format.json:
        _print_json([{"name": one.name, "outcome": one.outcome, "why": one.why} for one in results])
    else:
        for one in results:
            print(f"{one.outcome}  {one.name}: {one.why}")
    raise typer.Exit(int(not all(one.passed for one in results)))


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    controller: Annotated[str, typer.Option(help="Another controller on the same feedback: a name or a path.")] = "",
    format: Formatted = Format.text,
) -> None:
    """Feed a run's recorded feedback to its controller again: same decisions, or where is the first difference?"""
    from testbed import replay as recorded

    done = recorded.replay(run, controller)
    if format is Format.json:
        _print_json(done.as_dict())
    else:
        for line in done.as_lines():
            print(line)
    raise typer.Exit(int(not done.identical))


@app.command()
def selftest(
    quiet: Annotated[int, typer.Option(help="Undisturbed runs, which must be clean.")] = 3,
    only: Annotated[str, typer.Option(help="Only faults whose name contains this.")] = "",
    format: Formatted = Format.text,
) -> None:
    """Break runs on purpose, and see that the verdict names what is wrong (needs root; about a minute)."""
    from testbed import doctor
    from testbed.selftest.examine import examine

    doctor.require()
    findings = []
    for one in examine(quiet, only):
        findings.append(one)
        if format is Format.text:
            print(f"{'right' if one.right else 'WRONG'}  {one.name}: {one.said}", flush=True)
    if format is Format.json:
        _print_json([one.as_dict() for one in findings])
    raise typer.Exit(int(not all(one.right for one in findings)))


@app.command()
def version() -> None:
    """Print the version."""
    from testbed import __version__

    print(__version__)


def _resolve(experiment: str, plugins: dict[str, str], options: dict[str, str], settings: list[str] | None) -> Resolved:
    """The experiment under all overrides; ``--set`` comes last, so that it can add to ``--controller``."""
    from testbed.loading import load, resolve

    loaded = load(experiment)
    for name, value in plugins.items():
        if value:
            loaded = loaded.replace({name: value}, f"--{name}")
    pairs = [(key, value) for key, value in options.items() if value]
    return resolve(loaded.apply([*(f"{key}={value}" for key, value in pairs), *(settings or [])]))


def _print_resolved(resolved: Resolved, format: Format) -> None:
    print(resolved.as_json() if format is Format.json else resolved.as_yaml().rstrip())


def _print_json(value: Any) -> None:
    import json

    print(json.dumps(value, indent=2))


def _find(spec: str) -> Plugin:
    """A plugin of either kind."""
    from testbed.plugin import GROUPS, find

    problems: list[str] = []
    for kind in GROUPS:
        try:
            return find(kind, spec)
        except BadInput as error:
            problems.append(str(error))
    raise BadInput("\n".join(dict.fromkeys(problems)))


def _scaffold(kind: str, name: str) -> None:
    from testbed import scaffold

    for file in scaffold.new(kind, name, Path()):
        print(file)


def main() -> int:
    """Entry point of ``testbed``: every known error is one message on stderr and an exit code."""
    try:
        app()
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return error.exit_code
    return 0
