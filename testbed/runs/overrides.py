"""The experiment that a command is given, under its overrides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from testbed.experiment.load import Loaded
    from testbed.experiment.model import Experiment
    from testbed.experiment.resolved import Resolved

MANIFEST = "manifest.json"  # as `testbed.results.folder` has it, which takes long to import


def tell(resolved: Resolved, told: set[str]) -> None:
    """On stderr, what came with a controller or tuner that was chosen, and what stayed; nothing twice."""
    if resolved.told and resolved.told not in told:
        print(resolved.told, file=sys.stderr)
        told.add(resolved.told)


def resolve(
    experiment: str, plugins: Mapping[str, str], options: Mapping[str, str], settings: Sequence[str] | None
) -> Resolved:
    """The experiment under all overrides."""
    return overridden(from_user(experiment), plugins, options, settings)


def from_user(experiment: str) -> Loaded:
    """An experiment by name or from a file. Raises BadInput, also for a result, with how it is run again."""
    from testbed.experiment.load import available, load

    given = Path(experiment).expanduser()
    result = given.parent if given.name == MANIFEST else given
    if experiment not in available() and ((result / MANIFEST).is_file() or given.suffix == ".html"):
        raise BadInput(f"{experiment} is a result, not an experiment; run what it holds again: testbed rerun {result}")
    return load(experiment)


def overridden(
    loaded: Loaded,
    plugins: Mapping[str, str],
    options: Mapping[str, str],
    settings: Sequence[str] | None,
    begin: Callable[[Experiment], None] | None = None,
) -> Resolved:
    """Checked once all is changed. ``--set`` comes after plugins, so that it can add to ``--controller``; ``options``
    (``{"time.duration": "10 ms"}`` is ``--duration "10 ms"``) win over it. ``begin`` is told before plugins are loaded.
    """
    from testbed.experiment.load import resolve

    for name, value in plugins.items():
        if value:
            loaded = loaded.choose(name, value, f"--{name}")
    loaded = loaded.apply(settings or [])
    for key, value in options.items():
        if value:
            loaded = loaded.option(key, value, f"--{key.rpartition('.')[2].replace('_', '-')}")
    if begin:
        begin(loaded.experiment)
    return resolve(loaded)
