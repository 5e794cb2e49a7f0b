"""JSON of figures."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json


def json_text(value: Any) -> str:
    """Indented; nan and inf, which JSON does not have, are null: what cannot be known."""
    return to_json(value, indent=2, inf_nan_mode="null").decode()
