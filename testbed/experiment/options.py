"""A plugin's options as users write them, for `testbed list PLUGIN`, and docs/reference/plugins.md (`make schema`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from testbed.registry import GROUPS, Plugin, available

DOCS_FILE = Path(__file__).parents[2] / "docs/reference/plugins.md"
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


def shown(model: type[BaseModel], name: str, info: FieldInfo) -> Any:
    """The default as the model would write it: 100 Gbit/s and not 1e11."""
    if isinstance(info.default, str):  # as its author wrote it
        return info.default
    value = model.model_construct(**{name: info.default}).model_dump(mode="json", include={name})[name]
    return "0" if value == "0 ns" else value


def describe(plugin: Plugin) -> dict[str, Any]:
    """Description, presets and options, for JSON."""
    form = plugin.form
    return {
        "kind": plugin.kind,
        "name": plugin.name,
        "description": plugin.summary,
        "origin": plugin.origin,
        "presets": dict(form.presets),
        "options": [_option(form.Config, name, info) for name, info in form.Config.model_fields.items()],
    }


def as_lines(described: dict[str, Any]) -> Iterator[str]:
    """As plain text."""
    yield f"{described['kind']} {described['name']}: {described['description']} ({described['origin']})"
    for section, rows in (("presets", _presets(described)), ("options", _options(described))):
        if rows:
            yield f"{section}:"
            widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
            for row in rows:
                *cells, last = row
                yield "  " + "  ".join((*(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)), last))


def docs_text() -> str:
    """docs/reference/plugins.md as it is checked in."""
    lines = [INTRODUCTION]
    for kind in GROUPS:
        lines.append(f"## {kind.capitalize()}s\n")
        described: dict[str, str] = {}
        for plugin in available(kind):
            if plugin.form.__module__.startswith(OURS):
                lines += _section(describe(plugin), described)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(plugin: dict[str, Any], described: dict[str, str]) -> Iterator[str]:
    """One plugin; options that stand at an earlier one are named."""
    yield f"### `{plugin['name']}`\n"
    yield f"{plugin['description']}\n"
    presets = [f"| `{name}` | {what.replace('|', chr(92) + '|')} |" for name, what in _presets(plugin)]
    options = {
        f"| `{name}` | {f'`{default}`' if default else ''} | {what} |": name for name, default, what in _options(plugin)
    }
    common = Counter(described[row] for row in options if row in described)
    earlier = {row: described[row] for row in options if common[described.get(row, "")] >= FEWEST}
    if presets:
        yield "| preset | options |\n|---|---|"
        yield from presets
        yield ""
    if own := [row for row in options if row not in earlier]:
        yield "| option | default | meaning |\n|---|---|---|"
        yield from own
        yield ""
    for other in dict.fromkeys(earlier.values()):
        names = ", ".join(f"`{options[row]}`" for row, first in earlier.items() if first == other)
        yield f"As in [`{other}`](#{other}): {names}.\n"
    for row in options:
        described.setdefault(row, plugin["name"])


def _presets(described: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, ", ".join(f"{key}: {_written(value)}" for key, value in values.items()) or "the defaults")
        for name, values in described["presets"].items()
    ]


def _options(described: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["name"], one["default"], one["meaning"]) for one in described["options"]]


def _option(model: type[BaseModel], name: str, info: FieldInfo) -> dict[str, str]:
    written = "required" if info.is_required() else default(model, name, info)
    return {"name": name, "default": written, "meaning": info.description or ""}


def default(model: type[BaseModel], name: str, info: FieldInfo) -> str:
    """An option's default as in an experiment file; empty for none."""
    if info.default in (None, "", PydanticUndefined):
        return ""
    return _written(shown(model, name, info))


def _written(value: Any) -> str:
    """As in YAML."""
    if isinstance(value, str):
        return value
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(value)
