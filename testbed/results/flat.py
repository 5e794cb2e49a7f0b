"""Nested settings as dotted keys with text, for names and for saying what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as dotted keys; lists are one value."""
    found: dict[str, str] = {}
    for key, value in data.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found |= flat(value, f"{path}.")
        else:
            found[path] = value if isinstance(value, str) else json.dumps(value)
    return found
