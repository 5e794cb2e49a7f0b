"""All that a config_db.json says of queues and buffers, with every reference checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from testbed.experiment.topology.sonic import entries, keys
from testbed.experiment.topology.sonic.entries import Entry, Tables
from testbed.experiment.topology.sonic.records import (
    Pool,
    Profile,
    QosMaps,
    QueueChoice,
    Scheduler,
    Trimming,
    Watchdog,
    Wred,
    differing,
)

MAPS = {  # the largest number on either side
    "DSCP_TO_TC_MAP": (63, 15),
    "TC_TO_QUEUE_MAP": (15, keys.MOST_QUEUES - 1),
    "TC_TO_PRIORITY_GROUP_MAP": (15, 7),
    "MAP_PFC_PRIORITY_TO_QUEUE": (7, 7),
}
TABLES = (
    *MAPS, "SCHEDULER", "WRED_PROFILE", "QUEUE", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE",
    "PORT_QOS_MAP", "PFC_WD", "PORT", "CABLE_LENGTH", "SWITCH_TRIMMING",
)  # fmt: skip
EVERY_PORT = {"global", "GLOBAL"}
ROLES = {"Ext"}  # of ports; others lead to parts of the same switch
COMPUTED = re.compile(r"pg_lossless_\w+_profile")  # a switch makes those that are not there, by speed and cable
LENGTH = re.compile(r"(\d{1,6})m")
T = TypeVar("T")
Place = tuple[str, int]  # a port, and a queue or a priority group of it


@dataclass
class SonicConfig:
    """Its tables. References are by name, and what they name is there."""

    file: str
    maps: dict[str, dict[str, dict[int, int]]]
    schedulers: dict[str, Scheduler]
    wred: dict[str, Wred]
    pools: dict[str, Pool]
    profiles: dict[str, Profile]
    ports: dict[str, QosMaps]
    usual: QosMaps  # of ports that do not say it
    queues: dict[Place, QueueChoice]
    queue_buffers: dict[Place, str | None]
    group_buffers: dict[Place, str | None]
    watchdogs: dict[str, Watchdog]
    speeds: dict[str, float]  # bit/s
    lengths: dict[str, int]  # m
    trimming: Trimming | None = None
    tables: list[str] = field(default_factory=list)  # that were read
    left: list[str] = field(default_factory=list)  # what is not understood: table, key, fields

    @property
    def names(self) -> list[str]:
        """Ports in use: those with maps, or else with any of the rest; in the order of the file."""
        placed = (port for table in (self.queues, self.queue_buffers, self.group_buffers) for port, _ in table)
        return list(self.ports) or list(dict.fromkeys(placed))


def read(file: Path) -> SonicConfig:
    """Raises BadInput with file, table and key."""
    return typed(entries.read(file, TABLES))


def typed(tables: Tables) -> SonicConfig:
    """What the tables of a file mean."""
    found = SonicConfig(
        file=tables.file,
        maps={name: {key: _map(entry, *most) for key, entry in _in(tables, name)} for name, most in MAPS.items()},
        schedulers={key: Scheduler.of(entry) for key, entry in _in(tables, "SCHEDULER")},
        wred={key: Wred.of(entry) for key, entry in _in(tables, "WRED_PROFILE")},
        pools={key: Pool.of(entry) for key, entry in _in(tables, "BUFFER_POOL")},
        profiles={key: Profile.of(entry) for key, entry in _in(tables, "BUFFER_PROFILE")},
        ports=_by_port(tables, "PORT_QOS_MAP", QosMaps.of),
        usual=QosMaps(),
        queues=_placed(tables, "QUEUE", QueueChoice.of),
        queue_buffers=_placed(tables, "BUFFER_QUEUE", _profile),
        group_buffers=_placed(tables, "BUFFER_PG", _profile),
        watchdogs=_by_port(tables, "PFC_WD", Watchdog.of), speeds=_speeds(tables), lengths=_lengths(tables),
        tables=[name for name in TABLES if tables.entries(name)],
    )  # fmt: skip
    of_all = [QosMaps.of(entry) for key, entry in _in(tables, "PORT_QOS_MAP") if key in EVERY_PORT]
    found.usual = of_all[0] if of_all else QosMaps()
    trimming = tables.entries("SWITCH_TRIMMING").get("GLOBAL")
    found.trimming = Trimming.of(trimming) if trimming else None
    _check_references(tables)
    found.left = _left(tables)
    return found


def _in(tables: Tables, name: str) -> Iterable[tuple[str, Entry]]:
    return tables.entries(name).items()


def _map(entry: Entry, most_from: int, most_to: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for name in entry.fields:
        if name == "NULL":
            continue
        at = entry.number(name, name, 0, most_from)
        value = entry.whole(name, 0, most_to)
        if value is not None:
            found[at] = value
    return found


def _profile(entry: Entry) -> str | None:
    return keys.reference(entry, "profile", "BUFFER_PROFILE")


def _placed(tables: Tables, name: str, of: Callable[[Entry], T]) -> dict[Place, T]:
    found: dict[Place, T] = {}
    for _, entry in _in(tables, name):
        one = of(entry)
        for place in keys.ports_and_numbers(entry):
            found.setdefault(place, one)
    return found


def _by_port(tables: Tables, name: str, of: Callable[[Entry], T]) -> dict[str, T]:
    chosen = [(entry, of(entry)) for key, entry in _in(tables, name) if key not in EVERY_PORT]
    return {port: one for entry, one in chosen for port in keys.ports(entry)}


def _speeds(tables: Tables) -> dict[str, float]:
    found = {}
    for port, entry in _in(tables, "PORT"):
        speed, role = entry.whole("speed", 1), entry.fields.get("role", "Ext")
        if speed is not None and role in ROLES:
            found[port] = speed * 1e6
    return found


def _lengths(tables: Tables) -> dict[str, int]:
    found = {}
    for _, entry in _in(tables, "CABLE_LENGTH"):
        for port in entry.fields:
            text = (entry.text(port) or "").strip()
            if text in keys.NONE:
                continue
            length = LENGTH.fullmatch(text)
            if length is None:
                entry.refuse(port, f"expected a length in metres such as 5m, got '{text}'")
            if int(length[1]):  # 0m: no cable
                found[port] = int(length[1])
    return found


REFERENCES: Mapping[str, Mapping[str, str]] = {
    "QUEUE": {"scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"},
    "BUFFER_PROFILE": {"pool": "BUFFER_POOL"},
    "BUFFER_QUEUE": {"profile": "BUFFER_PROFILE"},
    "BUFFER_PG": {"profile": "BUFFER_PROFILE"},
    "PORT_QOS_MAP": {
        "dscp_to_tc_map": "DSCP_TO_TC_MAP", "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP", "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    },
}  # fmt: skip


def _check_references(tables: Tables) -> None:
    """A part of a configuration may name what another part has; a table that is there is complete."""
    for name, references in REFERENCES.items():
        for _, entry in _in(tables, name):
            for one, other in references.items():
                wanted = keys.reference(entry, one, other) if one in entry.fields else None
                if wanted is None or (other == "BUFFER_PROFILE" and COMPUTED.fullmatch(wanted)):
                    continue
                if other in tables.named and wanted not in tables.named[other]:
                    entry.refuse(one, f"'{wanted}' is not in {other}")


def _left(tables: Tables) -> list[str]:
    """What has not been read: fields with the first key that has them, then tables."""
    found = []
    for name in TABLES:
        unread: dict[str, list[str]] = {}
        for key, entry in _in(tables, name):
            colours = differing(entry) if name == "WRED_PROFILE" else []
            for one in [*entry.unread, *colours]:
                unread.setdefault(one, []).append(key)
        by_keys: dict[tuple[str, int], list[str]] = {}
        for one, having in unread.items():
            by_keys.setdefault((having[0], len(having)), []).append(one)
        for (first, count), fields in by_keys.items():
            more_keys = f" (and {count - 1} more)" if count > 1 else ""
            found.append(f"{name}|{first}{more_keys}: {', '.join(fields)}")
    found += [f"'{one}' is there twice: the last one holds" for one in tables.twice]
    others = [name for name in tables.named if name not in TABLES]
    return [*found, *([f"tables {', '.join(others)}"] if others else [])]
