"""Turns a pydantic error into messages for the author of the file: place, key, problem, allowed values."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from testbed.errors import nearest
from testbed.experiment.document import Document, KeyPath, dotted

# What pydantic calls it: what we call it, filled in from the error's context.
BOUNDS = {
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_short": "needs at least {min_length} entry",
}
KINDS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "string_type": "text",
    "list_type": "a list",
    "model_type": "keys below it",
    "model_attributes_type": "keys below it",
    "dict_type": "keys below it",
}


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
        found[f"{origin}: {key}{_problem(detail)}"] = position.get(origin, 0)
    return "\n".join(sorted(found, key=lambda line: found[line]))


def problem_of(error: ValidationError) -> str:
    """Key and problem of the first, for what is no experiment."""
    detail = error.errors()[0]
    key = detail.get("ctx", {}).get("key") or dotted(detail["loc"])
    return f"{key}: {_problem(detail)}"


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
    return (*path, *(int(key) if key.isdecimal() else key for key in blamed.split("."))) if blamed else path


def _problem(detail: ErrorDetails) -> str:
    kind, context, given = detail["type"], detail.get("ctx", {}), detail["input"]
    text = detail["msg"].removeprefix("Value error, ")
    if kind in BOUNDS:
        text = BOUNDS[kind].format(**context) + ("" if kind == "too_short" else f", got {given}")
    elif kind in KINDS:
        text = f"expected {KINDS[kind]}, got {_show(given)}"
    elif kind == "missing":
        text = "is required"
    elif kind == "literal_error":
        text = _not_allowed(given, context["expected"])
    elif kind == "union_tag_invalid":
        text = _not_allowed(context["tag"], context["expected_tags"])
    elif kind == "union_tag_not_found":
        text = f"{context['discriminator']} is required; it chooses the other keys"
    return text


def _not_allowed(given: object, expected: str) -> str:
    """Pydantic lists what it expected as ``'a', 'b' or 'c'``."""
    allowed = [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",")]
    return f"{_show(given)} is not allowed; {nearest(str(given), allowed)}"


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "keys below it"
    return str(value).lower() if isinstance(value, bool) else f"'{value}'"
