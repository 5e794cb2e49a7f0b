"""Everything that is needed to run an experiment again, and to know what the results stand on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from testbed.base.inputs import Input
from testbed.experiment.events import Event, EventSpec
from testbed.registry import Plugin
from testbed.results.record import EngineName
from testbed.results.verdict import Verdict
from testbed.results.versions import versions

SCHEMA_VERSION = 4  # of the results folder; raise it when an older reader would misread a newer folder


class PluginEntry(BaseModel):
    """Which code decided. The hash is taken when the manifest is made, so make it when the plugin is loaded."""

    model_config = ConfigDict(frozen=True)

    name: str
    origin: str  # distribution and version, or the path
    file: str
    sha256: str

    @classmethod
    def of(cls, plugin: Plugin) -> PluginEntry:
        """The entry of a loaded plugin."""
        return cls(name=plugin.name, origin=plugin.origin, file=str(plugin.file), sha256=plugin.digest)


class Machine(BaseModel):
    """The computer that emulated."""

    model_config = ConfigDict(frozen=True)

    cpu: str
    cores: int
    usable_cores: int  # that this process may run on
    memory: int  # bytes


class Manifest(BaseModel):
    """The content of manifest.json."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    created: str  # ISO 8601 with the zone
    engine: EngineName  # what carried the packets
    command_line: list[str]
    experiment: dict[str, Any]  # as resolved: defaults, file, overrides
    seed: int
    controller: PluginEntry
    controllers: list[PluginEntry] = []  # of the flows that `controllers` of the experiment names
    tuner: PluginEntry | None
    files: dict[str, str] = {}  # what the experiment names by path, and its copy in files/ (`testbed.results.brought`)
    inputs: list[Input] = []  # traces, size distributions and policies, the shipped ones as well
    versions: dict[str, str]  # as `testbed.results.versions` finds them
    machine: Machine
    kernel_features: dict[str, Any]
    speed: dict[str, Any] | None = (
        None  # of this machine, if it was measured for dilation: auto (`testbed.engines.kernel.speed`)
    )
    # filled in when the results are written
    sha256: dict[str, str] = {}  # of the tables and captures
    calibration: list[dict[str, Any]] = []  # what each link was measured to be before the run, SI units
    hosts: list[dict[str, Any]] = []  # of a lab: name, interface, address, base RTTs (s), drops, idle share of a core
    loaded_plugins: list[dict[str, str]] = []  # the controller's class, file, hash and form, as each agent says
    decisions: dict[str, Any] = {}  # how much of decisions.parquet there is: calls, rows, cut (why not all; or empty)
    captures: list[dict[str, Any]] = []  # per --pcap: point, snap, packets, dropped (missing in the file), problem
    tuners: list[dict[str, Any]] = []  # per switch: decisions, their CPU time, means of what was reported, refusals
    rest: dict[str, Any] = {}  # of a run that was to go on until it rests: windows, start and end of the last, unrest
    events: list[Event] = []  # what the experiment did to the rack while traffic went on
    apps: list[dict[str, Any]] = []  # name, host, when each began and ended, its exit code, whether it was stopped
    verdict: Verdict | None = None

    def with_edits(self, events: Sequence[EventSpec]) -> Self:
        """Its experiment does by itself what was done to the run from outside."""
        told = [*self.experiment["events"], *(one.model_dump(mode="json") for one in events)]
        return self.model_copy(update={"experiment": {**self.experiment, "events": told}})

    def to_json(self) -> str:
        """Indented JSON."""
        return self.model_dump_json(indent=2)


def describe(
    *,
    engine: EngineName,
    experiment: Mapping[str, Any],
    command_line: Sequence[str],
    seed: int,
    controller: Plugin,
    controllers: Sequence[Plugin] = (),
    tuner: Plugin | None = None,
    files: Mapping[str, str] | None = None,
    inputs: Sequence[Input] = (),
    kernel_features: Mapping[str, Any],
    speed: Mapping[str, Any] | None = None,
) -> Manifest:
    """The manifest of a run that is about to start, on this machine."""
    return Manifest(
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        engine=engine,
        command_line=list(command_line),
        experiment=dict(experiment),
        seed=seed,
        controller=PluginEntry.of(controller),
        controllers=[PluginEntry.of(one) for one in controllers],
        tuner=PluginEntry.of(tuner) if tuner else None,
        files=dict(files or {}),
        inputs=list(inputs),
        versions=versions(),
        machine=machine(),
        kernel_features=dict(kernel_features),
        speed=dict(speed) if speed else None,
    )


def machine() -> Machine:
    """This one."""
    return Machine(
        cpu=_first_value(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        cores=os.cpu_count() or 1,
        usable_cores=len(os.sched_getaffinity(0)),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )


def _first_value(file: Path, key: str) -> str:
    for line in file.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""  # some architectures do not name their model
