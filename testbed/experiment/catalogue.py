"""What `testbed list` shows: every experiment and plugin that is installed, with one line each."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.errors import TestbedError
from testbed.experiment.load import available, load
from testbed.registry import GROUPS
from testbed.registry import available as plugins

Row = dict[str, str]


def collect() -> dict[str, list[Row]]:
    """Section to rows. A broken experiment is listed with what is wrong, so that the others are still seen."""
    found: dict[str, list[Row]] = {"experiments": [_experiment(name) for name in available()]}
    for kind in GROUPS:
        found[f"{kind}s"] = [
            {
                "name": plugin.name,
                "description": plugin.summary,
                "presets": ", ".join(plugin.form.presets),
                "options": ", ".join(plugin.form.Config.model_fields),
                "origin": plugin.origin,
            }
            for plugin in plugins(kind)
        ]
    return found


def _experiment(name: str) -> Row:
    try:
        return {"name": name, "description": load(name).experiment.description}
    except TestbedError as error:
        return {"name": name, "description": f"cannot be loaded: {error}"}


def as_lines(found: dict[str, list[Row]]) -> Iterator[str]:
    """Plain text, one line per entry."""
    for section, rows in found.items():
        yield f"{section}:"
        width = max((len(row["name"]) for row in rows), default=0)
        for row in rows:
            presets = f" (presets: {row['presets']})" if row.get("presets") else ""
            yield f"  {row['name']:<{width}}  {row['description']}{presets}"
