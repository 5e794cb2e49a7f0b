"""``testbed export NAME --to htsim`` and ``--to ns3``: a simulator's class around the C of ``--to c``."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from testbed.controller import Signal
from testbed.errors import BadInput
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.sdk.export.c.job import export
from testbed.sdk.export.job import from_python
from testbed.sdk.jobs import Job, JobContext, Result

HERE, FLOW, README = Path(__file__).parent, "cc_flow.hpp", "README.md.txt"


@dataclass(frozen=True)
class Simulator:
    """Where a controller may go."""

    title: str
    without: Signal  # what it cannot tell a controller


SIMULATORS: Mapping[str, Simulator] = {
    "htsim": Simulator("htsim", Signal.SRC),
    "ns3": Simulator("ns-3's TCP", Signal.INT | Signal.SRC),
}


def of(name: str, target: str) -> Plugin:
    """The job for a controller; its options and presets are the controller's. Raises BadInput."""
    plugin, simulator = from_python(name, target), SIMULATORS[target]
    form: Any = plugin.form
    if missing := form.signals & simulator.without:
        told = " and ".join(one.name or "" for one in missing)
        raise BadInput(
            f"{plugin.title} cannot be exported to {target}: it needs {told}, which {simulator.title} has not"
        )

    def run(config: PluginConfig, context: JobContext) -> Result:
        return _around(export(plugin, config, context), target, context.out)

    job = Job(f"{plugin.name} as C99, with a class for {simulator.title}.", form.Config, run, form.presets)
    return Plugin("export", plugin.name, job, plugin.origin, plugin.file)


def _around(made: Result, target: str, out: Path) -> Result:
    """Add the class and how to build it to an export in C."""
    folder = HERE / target
    files = [FLOW, *(str(one.relative_to(folder)) for one in sorted(folder.rglob("*")) if one.is_file())]
    files.remove(README)
    shutil.copy(HERE / FLOW, out)
    shutil.copytree(folder, out, ignore=shutil.ignore_patterns(README), dirs_exist_ok=True)
    with (out / "README.md").open("a", encoding="utf-8") as readme:
        readme.write((folder / README).read_text(encoding="utf-8"))
    line = f"around it: {', '.join(files)}; README.md says how they are built, and nothing here has built them"
    return replace(
        made, lines=[*made.lines, line], data={**made.data, "to": target, "files": [*made.data["files"], *files]}
    )
