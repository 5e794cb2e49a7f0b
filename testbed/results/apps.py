"""What became of the apps of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

FOLDER = "apps"


class AppValue(BaseModel):
    """A figure in what an app has printed. Rates and times are nominal."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float
    unit: str  # bit/s, s, B, or what the experiment says


class AppFigures(BaseModel):
    """Those of an app at a host."""

    model_config = ConfigDict(frozen=True)

    app: str
    host: str
    figures: list[AppValue]


@dataclass
class AppRecord:
    """An app at a host, after the run."""

    name: str
    host: str
    begun: float  # nominal s
    ended: float
    code: int  # exit code, as a shell says it
    stopped: bool  # it was asked to end
    stdout: bytes
    stderr: bytes
    figures: list[AppValue]
    unended: bool = False  # it was to end by itself, and had not

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {key: getattr(self, key) for key in ("name", "host", "begun", "ended", "code", "stopped")}


def write(folder: Path, apps: Sequence[AppRecord]) -> None:
    """What they printed, in `apps/` of a results folder; nothing if there are none."""
    for one in apps:
        (folder / FOLDER).mkdir(exist_ok=True)
        for kind, content in (("out", one.stdout), ("err", one.stderr)):
            if content or kind == "out":
                (folder / FOLDER / f"{one.name}.{kind}").write_bytes(content)
