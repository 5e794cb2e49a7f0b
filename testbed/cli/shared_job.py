"""What `testbed train`, `distil`, `explain` and `export` share: each runs a job of a plugin (`testbed.sdk.jobs`)."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, print_json
from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from testbed.plugin import PluginConfig
    from testbed.registry import Plugin
    from testbed.sdk.jobs import JobProgress

Name = Annotated[str, typer.Argument(metavar="NAME", help="What is made, for example adpg.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="An option of the job; may be repeated.",
        autocompletion=completion.job_options,
    ),
]
Preset = Annotated[str | None, typer.Option(help="Start from these options; by default the job's first preset.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of everything random.")]
Out = Annotated[Path | None, typer.Option(help="New folder for what is made; by default one in ./results.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the options with what they mean; do nothing.")]


def run_job(  # noqa: PLR0917 - one parameter per option
    job: str,
    name: str,
    settings: list[str] | None,
    options: dict[str, Any],
    preset: str | None,
    out: Path | None,
    dry_run: bool,
    format: Format,
) -> None:
    from testbed.results import folder
    from testbed.sdk import jobs

    plugin = jobs.find(name, job)
    given = {key: value for key, value in options.items() if value is not None}
    config = plugin.configure(preset, {**given, **_parsed(settings or [])})
    if dry_run:
        _describe(plugin, config, format)
        return
    target = folder.prepare(out, f"{job}-{name}")
    with _progress() as told, _ended_by_sigterm():
        result = jobs.run_job(plugin.form, config, target, told, _command())
    if format is Format.json:
        print_json(result.data)
    else:
        print("\n".join(result.lines))
    if result.refused:
        raise TestbedError(f"{result.refused}; nothing was kept")
    print(f"written: {target}", file=sys.stderr)


def _parsed(settings: list[str]) -> dict[str, Any]:
    """``key=value``; the value is YAML."""
    from testbed.experiment.document import Document

    parsed = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"--set {setting}: expected key=value, for example --set seed=2")
        parsed[key.strip()] = Document.parse(f"value: {text}", f"--set {setting}").data["value"]
    return parsed


def _command() -> str:
    return shlex.join(["testbed", *sys.argv[1:]])


def _describe(plugin: Plugin, config: PluginConfig, format: Format) -> None:
    values, fields = config.model_dump(mode="json"), type(config).model_fields
    if format is Format.json:
        print_json(values)
        return
    print(plugin.form.summary)
    for key, value in values.items():
        print(f"  {key}={value}: {fields[key].description}")
    for preset, changed in plugin.form.presets.items():
        said = plugin.form.notes.get(preset) or ", ".join(f"{key}={value}" for key, value in changed.items())
        print(f"  --preset {preset}: {said}")


@contextmanager
def _progress() -> Iterator[Callable[[JobProgress], None]]:
    """A bar on a terminal, a line per piece of news otherwise."""
    from testbed.base.progress import Bar

    def tell(told: JobProgress) -> None:
        if bar.shown:
            bar.update(told.done, told.text, told.total or None)
        else:
            bar.say(told.text)

    with Bar() as bar:
        bar.start()
        yield tell


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """SIGTERM clears up like Ctrl-C."""

    def end(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
