"""docs/reference/plugins.md, of the plugins' options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scripts.reference.markdown import REFERENCE, entries, listed
from testbed.experiment.options import describe, option_rows, preset_rows
from testbed.registry import GROUPS, available

FILE = REFERENCE / "plugins.md"
OURS = "testbed_"  # what the packages of shipped plugins begin with
FEWEST = 4  # options in common that are told once

INTRODUCTION = """\
# Controllers and tuners, and their options

*Written by `make schema` from the plugins' `Config` classes; change it there.*

Every option of the shipped plugins, with its default in brackets. `testbed list PLUGIN` prints the same, also for one
of your own. An experiment file has options beside the plugin's name, the command line has `--set`:

    sudo testbed run incast-8 --controller swift --set controller.preset=htsim --set controller.base_target="15 us"

A preset is a set of options to begin with; the first is taken where none is named.
"""


def text() -> str:
    """The page."""
    lines = [INTRODUCTION]
    for kind in GROUPS:
        lines.append(f"## {kind.capitalize()}s\n")
        described: dict[str, dict[tuple[str, ...], None]] = {}
        for plugin in available(kind):
            if plugin.form.__module__.startswith(OURS):
                lines += _section(describe(plugin), described)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(plugin: dict[str, Any], described: dict[str, dict[tuple[str, ...], None]]) -> Iterator[str]:
    """One plugin; what stands at the earlier one that has most in common with it is named."""
    yield f"### `{plugin['name']}`\n"
    yield f"{plugin['description']}\n"
    presets = preset_rows(plugin)
    options = {
        (f"`{name}`", f"`{default}`" if default else "", what): name for name, default, what in option_rows(plugin)
    }
    twins = [one for one, rows in described.items() if presets and {*presets} <= {*rows}]
    if twins:
        yield f"Presets as [`{twins[0]}`](#{twins[0]}).\n"
    elif presets:
        yield f"Presets: {'; '.join(f'`{name}` ({what})' for name, what in presets)}.\n"
    nearest = max(described, key=lambda one: len(described[one].keys() & {*options}), default="")
    common = described.get(nearest, {}).keys() & {*options}
    if len(common) < min(FEWEST, len(options)):
        common = set()
    yield from entries(row for row in options if row not in common)
    if common:
        names = [name for row, name in options.items() if row in common]
        yield f"As in [`{nearest}`](#{nearest}): {listed(names, [row[0].strip('`') for row in described[nearest]])}.\n"
    described[plugin["name"]] = dict.fromkeys([*options, *presets])
