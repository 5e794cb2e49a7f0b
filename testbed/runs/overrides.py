"""The experiment that a command is given, under its overrides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from testbed.errors import BadInput

if TYPE_CHECKING:
    from testbed.experiment.load import Loaded
    from testbed.experiment.resolved import Resolved

MANIFEST = "manifest.json"  # as `testbed.results.folder` has it, which takes long to import


def resolve(experiment: str, plugins: dict[str, str], options: dict[str, str], settings: list[str] | None) -> Resolved:
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
    loaded: Loaded, plugins: dict[str, str], options: dict[str, str], settings: list[str] | None
) -> Resolved:
    """``--set`` comes last, so that it can add to ``--controller``."""
    from testbed.experiment.load import resolve

    for name, value in plugins.items():
        if value:
            loaded = loaded.replace({name: value}, f"--{name}")
    pairs = [(key, value) for key, value in options.items() if value]
    return resolve(loaded.apply([*(f"{key}={value}" for key, value in pairs), *(settings or [])]))
