"""What pydantic finds wrong with a value, in our words: for keys of an experiment and for options of plugins."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from testbed.errors import nearest

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
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "model_type": "keys below it",
    "model_attributes_type": "keys below it",
    "dict_type": "keys below it",
}


def problem(detail: ErrorDetails) -> str:
    """What was expected, and what was given."""
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


def first_problem(error: ValidationError) -> str:
    """Key and problem of the first. A rule between keys blames none of them, unless it says which."""
    detail = error.errors()[0]
    key = detail.get("ctx", {}).get("key") or ".".join(map(str, detail["loc"]))
    return f"{key}: {problem(detail)}" if key else problem(detail)


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
