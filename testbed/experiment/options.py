"""A plugin's presets and options as users write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from testbed.registry import Plugin


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
    for section, rows in (("presets", preset_rows(described)), ("options", option_rows(described))):
        if rows:
            yield f"{section}:"
            widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
            for row in rows:
                *cells, last = row
                yield "  " + "  ".join((*(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)), last))


def preset_rows(described: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and options of each."""
    return [
        (name, ", ".join(f"{key}: {_written(value)}" for key, value in values.items()) or "the defaults")
        for name, values in described["presets"].items()
    ]


def option_rows(described: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Name, default and meaning of each."""
    return [(one["name"], one["default"], one["meaning"]) for one in described["options"]]


def _option(model: type[BaseModel], name: str, info: FieldInfo) -> dict[str, str]:
    written = "required" if info.is_required() else default(model, name, info)
    return {"name": name, "default": written, "meaning": meaning(info)}


def meaning(info: FieldInfo) -> str:
    """What an option is, and the texts that it takes, if that does not say them."""
    said, texts = info.description or "", get_args(info.annotation) if get_origin(info.annotation) is Literal else ()
    return said if all(one in said for one in texts) else f"{said} One of {', '.join(f'`{one}`' for one in texts)}."


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
