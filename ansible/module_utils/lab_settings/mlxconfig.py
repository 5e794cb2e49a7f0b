"""Non-volatile configuration of the card: read, and staged for the next boot. Nothing here resets or power-cycles.

Read as JSON, which names its columns, where the tool writes it (``-j FILE``); older ones print a table. Both are of
mstflint's sources, mlxconfig/mlxcfg_ui.cpp.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .backend import Printed
from .command import call, run
from .errors import LabError

COLUMNS = ("Default", "Current", "Next Boot")


@dataclass(frozen=True)
class NvConfigValue:
    """One key; a column that the card does not report is None."""

    default: str | None
    current: str | None
    next_boot: str

    @property
    def waits(self) -> bool:
        """A power cycle would change it."""
        return self.current is not None and plain(self.current) != plain(self.next_boot)


class MlxConfig(Printed):
    """A key's value of the *next* boot: writing one stages it, and it needs a power cycle by a human."""

    name = "mlxconfig"

    def show(self) -> dict[str, str | None]:
        found = self.query() if tool() and self.target.pci else {}
        return {name: plain(setting.next_boot) for name, setting in found.items()}

    def put(self, name: str, value: str | None) -> None:
        if value is None:
            raise LabError(f"mlxconfig: {name} cannot be unset; give the value that it should have")
        run(tool() or "mlxconfig", "-y", "-d", self.target.pci, "set", f"{name}={value}")

    def equal(self, name: str, wanted: str | None, found: str | None) -> bool:
        return super().equal(name, wanted and plain(wanted), found and plain(found))

    def query(self) -> dict[str, NvConfigValue]:
        """All keys with one value, in the columns that the card reports. Raises LabError with the tool's words."""
        asked = (tool() or "mlxconfig", "-d", self.target.pci, "-e")
        with tempfile.TemporaryDirectory(prefix="testbed-nvconfig-") as folder:
            file = Path(folder) / "nvconfig.json"
            if call(*asked, "-j", str(file), "query").status == 0 and file.is_file():
                return parse_json(file.read_text(encoding="utf-8"))
        return parse(run(*asked, "q"))  # a tool without -j, or one that says here why it fails


def tool() -> str | None:
    """Of MFT, or of mstflint; None if neither is there."""
    return shutil.which("mlxconfig") or shutil.which("mstconfig")


def plain(value: str) -> str:
    """``True(1)`` is 1."""
    match = re.search(r"\((\w+)\)$", value)
    return match[1] if match else value


def parse_json(text: str) -> dict[str, NvConfigValue]:
    """What ``-e -j FILE query`` writes of one device. Raises LabError."""
    found: dict[str, NvConfigValue] = {}
    try:
        (device,) = json.loads(text).values()
        for key, row in device["tlv_configuration"].items():
            default, current, after = (_one(row.get(f"{column}_value")) for column in ("default", "current", "next"))
            if after is not None:
                found[key] = NvConfigValue(default, current, after)
    except (ValueError, LookupError, AttributeError, TypeError):
        raise LabError(
            f"mlxconfig -j wrote something else than one device with its tlv_configuration: {text.strip()[:200]}"
        ) from None
    return found


def _one(value: Any) -> str | None:
    """A value as the table prints it; None for what is not there, or is an array, which has many."""
    text = "" if value is None else str(value)
    return None if text in ("", "N/A") or text.startswith("Array") else text


def parse(text: str) -> dict[str, NvConfigValue]:
    """What ``-e q`` prints. Columns are those that its header names, for old cards report Next Boot only."""
    found: dict[str, NvConfigValue] = {}
    columns: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("Configurations:"):
            columns = sorted((column for column in COLUMNS if column in line), key=line.index)
            continue
        words = line.lstrip("* \t").split()
        if columns and len(words) == len(columns) + 1 and words[0].isupper():
            values = dict(zip(columns, map(_one, words[1:]), strict=True))
            after = values.get("Next Boot")
            if after is not None:
                found[words[0]] = NvConfigValue(values.get("Default"), values.get("Current"), after)
    if not columns:
        raise LabError(
            f"mlxconfig -e q printed no line 'Configurations: ... Next Boot'; it printed: {text.strip()[:200]}"
        )
    return found
