"""What compiled code sees of a controller's options: numbers as they are, a choice among texts as its number."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from testbed.plugin import PluginConfig


def numbers(config: PluginConfig) -> dict[str, float | int | bool]:
    """Options that are numbers, and the positions of `choices`."""
    texts = choices(type(config))
    found: dict[str, Any] = {
        name: texts[name].index(value) if name in texts else value
        for name in type(config).model_fields
        if isinstance(value := getattr(config, name), float | int) or name in texts
    }
    return found


def choices(form: type[PluginConfig]) -> dict[str, tuple[str, ...]]:
    """Options that are one of several texts (``Literal``)."""
    return {
        name: get_args(one.annotation)
        for name, one in form.model_fields.items()
        if get_origin(one.annotation) is Literal and all(isinstance(text, str) for text in get_args(one.annotation))
    }
