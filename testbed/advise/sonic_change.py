"""A change as SONiC takes it: a JSON patch of config_db.json (``config apply-patch``) and back, lines of ``ecnconfig``.

What a profile says holds for all queues that have it, so that a change of one queue is one of all of those.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testbed.advise.knob import Knob
from testbed.experiment.topology.sonic import config
from testbed.experiment.topology.sonic.config import SonicConfig
from testbed.experiment.topology.sonic.entries import Tables, read
from testbed.units import RATIO_UNITS, SIZE_UNITS, parse

COLOURS = ("green", "yellow", "red")
TABLES = ("WRED_PROFILE", "BUFFER_PROFILE", "SCHEDULER")
THRESHOLDS = {"kmin": "min_threshold", "kmax": "max_threshold", "pmax": "drop_probability"}
OPTIONS = {"green_min_threshold": "gmin", "green_max_threshold": "gmax", "green_drop_probability": "gdrop"}


@dataclass
class SonicChange:
    """``new`` and ``old``: fields by table and entry. ``other``: keys that a switch's configuration does not have."""

    new: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    old: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def patch(self) -> list[dict[str, str]]:
        """RFC 6902."""
        return _patch(self.new)

    @property
    def undo(self) -> list[dict[str, str]]:
        """The patch that takes it back."""
        return _patch(self.old)

    @property
    def lines(self) -> list[str]:
        """Of ``ecnconfig``, one field each: Kmin is never above Kmax on the way."""
        return list(_lines(self.new, self.old))

    @property
    def profiles(self) -> list[str]:
        """WRED profiles that change."""
        return [entry for table, entry in self.new if table == "WRED_PROFILE"]


def sonic_change(file: Path, texts: Mapping[str, str]) -> SonicChange:
    """Of the keys of an experiment with their texts. Raises BadInput for a file that cannot be read."""
    tables, known = read(file, TABLES), config.read(file)
    made = SonicChange()
    for key, text in texts.items():
        entries = list(_entries(known, key))
        if not entries:
            made.other.append(f"{key}={text}")
        for table, entry, queues in entries:
            _add(made, tables, table, entry, _fields(key, text))
            end = key.split(".")[4:]
            changed = {int(one.split(".")[3]) for one in texts if one.split(".")[4:] == end}
            beside = sorted(queues - changed)
            if beside:
                told = f"{table} {entry} is also that of queue {', '.join(map(str, beside))}, which it changes as well"
                made.shared += [told] if told not in made.shared else []
    return made


def tied(file: Path, knobs: Sequence[Knob], there: Collection[str]) -> list[Knob]:
    """Those that the switch has in one profile as one knob; ``there``: queues and groups that the workloads have."""
    known, found = config.read(file), []
    taken: set[str] = set()
    for knob in knobs:
        if knob.key in taken:
            continue
        parts = knob.key.split(".")
        numbers = sorted({number for _, _, mine in _entries(known, knob.key) for number in mine})
        same = [".".join([*parts[:3], str(number), *parts[4:]]) for number in numbers if str(number) != parts[3]]
        also = tuple(key for key in same if ".".join(key.split(".")[2:4]) in there)
        taken.update(also)
        found.append(knob.model_copy(update={"also": also}))
    return found


def _entries(known: SonicConfig, key: str) -> Iterator[tuple[str, str, set[int]]]:
    """Table, entry, and the queues or groups that have it."""
    match key.split("."):
        case ["rack", "switch", "queues", number, "red", _]:
            of = {place: one.wred for place, one in known.queues.items()}
            table = "WRED_PROFILE"
        case ["rack", "switch", "queues", number, "weight"]:
            of, table = {place: one.scheduler for place, one in known.queues.items()}, "SCHEDULER"
        case ["rack", "switch", "queues", number, "alpha"]:
            of, table = dict(known.queue_buffers), "BUFFER_PROFILE"
        case ["rack", "switch", "groups", number, "alpha"]:
            of, table = dict(known.group_buffers), "BUFFER_PROFILE"
        case _:
            return
    names = dict.fromkeys(name for (_, queue), name in of.items() if str(queue) == number and name)
    for name in names:
        yield table, name, {queue for (_, queue), other in of.items() if other == name}


def _fields(key: str, text: str) -> dict[str, str]:
    last = key.rpartition(".")[2]
    if last in THRESHOLDS:
        number = 100 * parse(text, RATIO_UNITS, "") if last == "pmax" else parse(text, SIZE_UNITS, "")
        return {f"{colour}_{THRESHOLDS[last]}": str(round(number)) for colour in COLOURS}
    return {"dynamic_th": str(round(math.log2(float(text))))} if last == "alpha" else {"weight": text}


def _add(made: SonicChange, tables: Tables, table: str, entry: str, fields: Mapping[str, str]) -> None:
    there = tables.entries(table)[entry].fields
    green = {name: value for name, value in fields.items() if name in there or name.startswith("green")}
    for name, value in green.items():
        if there.get(name) != value:
            made.new.setdefault((table, entry), {})[name] = value
            made.old.setdefault((table, entry), {})[name] = there.get(name, "")


def _patch(changes: Mapping[tuple[str, str], Mapping[str, str]]) -> list[dict[str, str]]:
    return [
        {"op": "replace", "path": f"/{table}/{_pointer(entry)}/{name}", "value": value}
        if value
        else {"op": "remove", "path": f"/{table}/{_pointer(entry)}/{name}"}
        for (table, entry), fields in changes.items()
        for name, value in fields.items()
    ]


def _pointer(text: str) -> str:
    return text.replace("~", "~0").replace("/", "~1")


def _lines(
    new: Mapping[tuple[str, str], Mapping[str, str]], old: Mapping[tuple[str, str], Mapping[str, str]]
) -> Iterator[str]:
    for (table, entry), fields in new.items():
        if table == "WRED_PROFILE":
            known = {OPTIONS[name]: value for name, value in fields.items() if name in OPTIONS}
            before = old[table, entry].get("green_max_threshold", "0")
            for name in _order(rising=int(known.get("gmax", 0)) > int(before or 0)):
                if name in known:
                    yield f"sudo ecnconfig -p {entry} -{name} {known[name]}"


def _order(*, rising: bool) -> Sequence[str]:
    return ("gmax", "gmin", "gdrop") if rising else ("gmin", "gmax", "gdrop")
