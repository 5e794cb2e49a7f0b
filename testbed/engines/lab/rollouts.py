"""The rollouts that playbooks have made from here: one folder each, which ansible/tasks/record.yml writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from testbed.base.problems import first_problem
from testbed.errors import BadInput

RECORD = "rollout.json"
HEADINGS = ("id", "began, UTC", "experiment", "controller", "hosts", "state")


class Rollout(BaseModel):
    """What the record says. ``state``: unfinished, promoted, rolled back (in part), failed."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    rollout: str
    began: str  # 2026-11-20T09:30:00Z
    experiment: str
    controller: str
    hosts: list[str]
    state: str


def folder() -> Path:
    """Where they are unless `rollout_records` says otherwise: the same as in ansible/group_vars/all.yml."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(state) / "testbed/rollouts"


def read(records: Path) -> list[Rollout]:
    """All of them, the last one first. Raises BadInput for a record that is none."""
    found = []
    for file in records.glob(f"*/{RECORD}"):
        try:
            found.append(Rollout.model_validate_json(file.read_bytes()))
        except ValidationError as error:
            said = first_problem(error)
            raise BadInput(f"{file}: {said}; expected a record of ansible/tasks/record.yml") from None
    return sorted(found, key=lambda one: one.began, reverse=True)


def as_lines(rollouts: Sequence[Rollout]) -> list[str]:
    """A table."""
    rows = [HEADINGS, *(_row(one) for one in rollouts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(one: Rollout) -> tuple[str, ...]:
    began = one.began.replace("T", " ").removesuffix("Z")
    return one.rollout, began, one.experiment, one.controller, str(len(one.hosts)), one.state
