"""Workshops: where a plugin is made. A plugin that is trained, distilled, exported or explained offers one.

The entry-point group ``testbed.jobs`` names it (name of the plugin to an object of `JobSet`); nothing here knows
a particular one. Each job has options like a plugin's own, and writes into a folder that the command moves into place
when the job is done: a job that fails or is interrupted leaves nothing behind but its checkpoints, if it makes any.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from testbed.base.atomic import atomic_write
from testbed.base.installed import entry_points
from testbed.errors import BadInput, TestbedError, nearest
from testbed.plugin import PluginConfig
from testbed.registry import GROUPS, Plugin
from testbed.results.folder import beside, complete, give_to_caller
from testbed.sdk.packages import versions

GROUP = "testbed.jobs"
JOBS = ("train", "distil", "export", "explain")


class JobConfig(PluginConfig):
    """Base of a job's options: unknown keys are refused, values carry units."""


@dataclass(frozen=True)
class JobProgress:
    """How far a job is."""

    done: float
    total: float  # in the same unit; 0: nobody knows
    text: str


@dataclass(frozen=True)
class JobContext:
    """One job to do."""

    out: Path  # an empty folder to write into
    report: Callable[[JobProgress], None] = lambda _progress: None
    command: str = ""  # that ordered it, for logs
    checkpoints: Path | None = None  # a folder to make for what a job needs to go on; it outlives an interruption

    def about(self, settings: PluginConfig, *packages: str) -> dict[str, Any]:
        """How the result comes about, for its log: the command, the options, the versions of what it depends on."""
        options = settings.model_dump(mode="json")
        return {"command": self.command, "settings": options, "versions": versions(*packages)}

    def log(self, name: str, content: dict[str, Any]) -> None:
        """Write JSON, whole or not at all."""
        atomic_write(self.out / name, (json.dumps(content, indent=1) + "\n").encode())


@dataclass(frozen=True)
class Result:
    """What a job says when it is done; its files are in `JobContext.out`."""

    lines: list[str]  # of text
    data: dict[str, Any] = field(default_factory=dict)  # the same, for programs
    refused: str = ""  # why the files are not good enough to be kept


@dataclass(frozen=True)
class Job:
    """Something that a `JobSet` can do. ``run`` raises BadInput or TestbedError."""

    summary: str  # one line
    Config: type[PluginConfig]
    run: Callable[[Any, JobContext], Result]  # what it is given is of `Config`
    presets: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # the first is the default
    notes: Mapping[str, str] = field(default_factory=dict)  # on presets


@dataclass(frozen=True)
class JobSet:
    """The jobs of one plugin, by their names: some of `JOBS`."""

    jobs: Mapping[str, Job]


def find(name: str, job: str) -> Plugin:
    """The job of the job set that is named so; its `Plugin.form` is a `Job`. Raises BadInput."""
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in entries:
        able = _able(entries, job)
        if any(name == plugin.name for kind in GROUPS for plugin in entry_points(group=GROUPS[kind])):
            raise BadInput(f"'{name}' has nothing to {job}; these have: {', '.join(able)}")
        raise BadInput(f"nothing is installed to {job} '{name}'; {nearest(name, able)}")
    job_set = _load(entries[name])
    if job not in job_set.jobs:
        able = _able(entries, job)
        raise BadInput(
            f"'{name}' has nothing to {job}; it has: {', '.join(job_set.jobs)}; to {job} there are: {', '.join(able)}"
        )
    found = job_set.jobs[job]
    made = entries[name].dist
    origin = f"{made.name} {made.version}" if made else entries[name].value
    return Plugin(job, name, found, origin, Path(inspect.getfile(found.run)))


def has(name: str, job: str) -> bool:
    """Whether a job set is named so, and has this job."""
    return any(entry.name == name and job in _load(entry).jobs for entry in entry_points(group=GROUP))


def _able(entries: Mapping[str, EntryPoint], job: str) -> list[str]:
    """Names of all that have this job."""
    return [name for name, entry in sorted(entries.items()) if job in _load(entry).jobs]


def _load(entry: EntryPoint) -> JobSet:
    try:
        with redirect_stdout(sys.stderr):  # stdout is for results
            job_set = entry.load()
    except (ImportError, AttributeError) as error:
        raise BadInput(f"job set '{entry.name}' ({entry.value}) cannot be loaded: {error}") from error
    if not isinstance(job_set, JobSet):
        raise BadInput(f"job set '{entry.name}' ({entry.value}) is a {type(job_set).__name__}, expected a JobSet")
    return job_set


def checkpoints_of(target: Path) -> Path:
    """Where a job that was to make ``target`` keeps its checkpoints."""
    return target.with_name(f"{target.name}.checkpoints")


def run_job(
    job: Job, config: PluginConfig, target: Path, report: Callable[[JobProgress], None], command: str
) -> Result:
    """Do the job; ``target`` (from `testbed.results.folder.prepare`) appears with all its files, or not at all.

    Raises what the job raises, and TestbedError if it cannot be written. Nothing is kept of a result with `refused`.
    Where the same job was interrupted, it goes on from its checkpoints.
    """
    checkpoints = checkpoints_of(target)
    try:
        try:
            with beside(target) as unfinished:
                result = job.run(config, JobContext(unfinished, report, command, checkpoints))
                if not result.refused:
                    complete(unfinished).rename(target)
        finally:
            give_to_caller((checkpoints, *checkpoints.rglob("*")) if checkpoints.is_dir() else ())
        shutil.rmtree(checkpoints, ignore_errors=True)
    except OSError as error:
        raise TestbedError(f"{error.filename or target}: {error.strerror or error}") from error
    return result
