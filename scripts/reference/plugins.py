"""docs/reference/plugins.md, of the plugins' options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from scripts.reference.markdown import REFERENCE, table
from testbed.experiment.options import describe, option_rows, preset_rows
from testbed.registry import GROUPS, available

FILE = REFERENCE / "plugins.md"
OURS = "testbed_"  # what the packages of shipped plugins begin with
FEWEST = 4  # options in common that are told once

INTRODUCTION = """\
# Controllers and tuners, and their options

*Written by `make schema` from the plugins' `Config` classes; change it there.* `testbed list PLUGIN` prints the same,
also for a plugin of your own. How one is written: [controllers](../howto/controllers.md),
[tuners](tuners.md#writing-one).

An experiment file has a plugin's options beside its name, the command line has `--set`:

    sudo testbed run incast-8 --controller swift --set controller.preset=htsim --set controller.base_target="15 us"

A preset is a set of options to begin with; the first is taken where none is named.
"""


def text() -> str:
    """The page."""
    lines = [INTRODUCTION]
    for kind in GROUPS:
        lines.append(f"## {kind.capitalize()}s\n")
        described: dict[tuple[object, ...], str] = {}
        for plugin in available(kind):
            if plugin.form.__module__.startswith(OURS):
                lines += _section(describe(plugin), described)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(plugin: dict[str, Any], described: dict[tuple[object, ...], str]) -> Iterator[str]:
    """One plugin; options that stand at an earlier one are named."""
    yield f"### `{plugin['name']}`\n"
    yield f"{plugin['description']}\n"
    presets = [(f"`{name}`", what.replace("|", "\\|")) for name, what in preset_rows(plugin)]
    options = {
        (f"`{name}`", f"`{default}`" if default else "", what): name for name, default, what in option_rows(plugin)
    }
    common = Counter(described[row] for row in options if row in described)
    earlier = {row: described[row] for row in options if common[described.get(row, "")] >= FEWEST}
    if presets and (twin := described.get(tuple(presets))):
        yield f"Presets as [`{twin}`](#{twin}).\n"
    else:
        yield from table(("preset", "options"), presets)
    yield from table(("option", "default", "meaning"), [row for row in options if row not in earlier])
    for other in dict.fromkeys(earlier.values()):
        names = ", ".join(f"`{options[row]}`" for row, first in earlier.items() if first == other)
        yield f"As in [`{other}`](#{other}): {names}.\n"
    for row in (*options, tuple(presets)):
        described.setdefault(row, plugin["name"])
