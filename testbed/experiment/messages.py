"""Turns a pydantic error into messages for the author of the file: place, key, problem, allowed values."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from testbed.base.problems import problem
from testbed.experiment.document import Document, KeyPath, dotted


def explain(error: ValidationError, document: Document) -> str:
    """One line per problem, in the order of the file."""
    position = {origin: place for place, origin in enumerate(document.origins.values())}
    found: dict[str, int] = {}
    for detail in error.errors():
        if detail["type"] == "default_factory_not_called":
            continue  # a consequence of another problem
        path = _path(detail, document.data)
        origin = document.origin(path)
        key = f"{dotted(path)}: " if path else ""
        found[f"{origin}: {key}{problem(detail)}"] = position.get(origin, 0)
    return "\n".join(sorted(found, key=lambda line: found[line]))


def _path(detail: ErrorDetails, data: Any) -> KeyPath:
    """The key in the file. Pydantic's location also holds the chosen pattern or kind, which the file does not."""
    path: KeyPath = ()
    last = len(detail["loc"]) - 1
    for depth, part in enumerate(detail["loc"]):
        inside = (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int))
        if inside:
            data = data[part]
        elif depth != last or detail["type"] != "missing":
            continue
        path = (*path, part)
    blamed = detail.get("ctx", {}).get("key")
    if detail["type"] == "union_tag_invalid":
        blamed = detail["ctx"]["discriminator"].strip("'")
    for key in blamed.split(".") if blamed else ():
        in_a_list = isinstance(data, list)
        part = int(key) if in_a_list and key.isdecimal() else key
        data = data.get(part) if isinstance(data, dict) else data[part] if in_a_list and isinstance(part, int) else None
        path = (*path, part)
    return path
