"""What `testbed train`, `distil`, `explain` and `export` share: each runs a job of a plugin (`testbed.sdk.jobs`)."""

from __future__ import annotations

import math
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, answer, options_of
from testbed.errors import TestbedError

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
Preset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Options to begin with; by default the job's first preset.")
]
Seed = Annotated[int | None, typer.Option(metavar="NUMBER", min=0, help="Seed of everything random.")]
Out = Annotated[Path | None, typer.Option(metavar="FOLDER", help="New folder; by default one in ./results.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the options; do nothing.")]


def run_job(  # noqa: PLR0917 - one parameter per option
    job: str,
    name: str,
    settings: list[str] | None,
    options: dict[str, Any],
    preset: str | None,
    out: Path | None,
    dry_run: bool,
    format: Format,
    plugin: Plugin | None = None,
) -> None:
    """Do a plugin's job, or that of ``plugin``, which was found already."""
    from testbed.results import folder
    from testbed.sdk import jobs

    plugin = plugin or jobs.find(name, job)
    given = {key: value for key, value in options.items() if value is not None}
    config = plugin.configure(preset, {**given, **options_of(settings)})
    if dry_run:
        _describe(plugin, config, format)
        return
    target = folder.prepare(out, f"{job}-{plugin.name}")
    checkpoints = jobs.checkpoints_of(target)
    if checkpoints.is_dir():
        print(f"going on from {checkpoints}", file=sys.stderr)
    try:
        with _progress() as told, _ended_by_sigterm():
            result = jobs.run_job(plugin.form, config, target, told, _command())
    except KeyboardInterrupt:
        if checkpoints.is_dir():
            print(f"testbed: ended early; the same command with --out {target} goes on", file=sys.stderr)
        raise
    answer(format, result.data, result.lines)
    if result.refused:
        raise TestbedError(f"{result.refused}; nothing was kept")
    print(f"written: {target}", file=sys.stderr)


def _command() -> str:
    return shlex.join(["testbed", *sys.argv[1:]])


def _describe(plugin: Plugin, config: PluginConfig, format: Format) -> None:
    values, fields = config.model_dump(mode="json"), type(config).model_fields
    lines = [plugin.form.summary, *(f"  {key}={value}: {fields[key].description}" for key, value in values.items())]
    for preset, changed in plugin.form.presets.items():
        said = plugin.form.notes.get(preset) or ", ".join(f"{key}={value}" for key, value in changed.items())
        lines.append(f"  --preset {preset}: {said}")
    answer(format, values, lines)


@contextmanager
def _progress() -> Iterator[Callable[[JobProgress], None]]:
    """A bar on a terminal, a line per piece of news otherwise."""
    from testbed.base.progress import Bar

    left = _TimeLeft()

    def tell(told: JobProgress) -> None:
        text = told.text + left.after(told, time.monotonic())
        if bar.shown:
            bar.update(told.done, text, told.total or None)
        else:
            bar.say(text)

    with Bar(elapsed=True) as bar:
        bar.start()
        yield tell


class _TimeLeft:
    """As long as the rest takes at the speed since the first news; what a checkpoint spared does not count."""

    def __init__(self) -> None:
        self.began, self.done = 0.0, math.inf

    def after(self, told: JobProgress, now: float) -> str:
        """To say after the news; nothing if nobody knows."""
        from testbed.base.progress import clock

        if told.done < self.done:  # the first; or it tries again, from the beginning
            self.began, self.done = now, told.done
        if not self.done < told.done < told.total:
            return ""
        return f", about {clock((now - self.began) * (told.total - told.done) / (told.done - self.done))} left"


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
