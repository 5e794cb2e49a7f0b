"""Policy files: JSON with a format, a version, and how the policy was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testbed.base.atomic import atomic_write
from testbed.errors import BadInput


def read_policy(file: Path, expected: str, version: int, hints: Mapping[str, str] = {}) -> dict[str, Any]:
    """A policy file's content. ``hints``: by format, what to do with a file where another one is expected.

    Raises BadInput if it is missing, cut short, or of another format or version.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"no policy file at {file}") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file} is cut short or damaged: {error}") from None
    found: Any = content.get("format") if isinstance(content, dict) else None
    if found != expected:
        hint = f"; {hints[found].format(file=file)}" if found in hints else ""
        raise BadInput(f"{file} has format {found!r}, expected '{expected}'{hint}")
    if content.get("version") != version:
        raise BadInput(f"{file} has version {content.get('version')!r}, this testbed reads {version}")
    return dict(content)


def write_json(file: Path, content: dict[str, Any]) -> None:
    """JSON, whole or not at all."""
    atomic_write(file, (json.dumps(content, indent=1) + "\n").encode())
