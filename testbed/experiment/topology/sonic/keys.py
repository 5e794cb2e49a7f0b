"""What SONiC writes inside of keys and values: ``Ethernet0,Ethernet4|3-4``, ``[BUFFER_PROFILE|name]``, ``3,4``."""

from __future__ import annotations

import re

from testbed.experiment.topology.sonic.entries import Entry

REFERENCE = re.compile(r"\[([A-Z_]+)[|:](.+)\]")
NONE = {"", "NULL", "null", "None"}
MOST_QUEUES = 64  # of any port, those of the CPU and of multicast with them


def ports_and_numbers(entry: Entry) -> list[tuple[str, int]]:
    """Each port, and each queue or priority group, that the key of an entry names.

    A chassis writes ``host|asic|port``, which is known by its last part.
    """
    names, bar, numbers = entry.key.rpartition("|")
    if not bar:
        entry.refuse("", "expected a port and a number in the key, such as Ethernet0|3")
    ports = [name.rpartition("|")[2].strip() for name in names.split(",")]
    if not all(ports):
        entry.refuse("", "the key names no port; expected one such as Ethernet0|3")
    found = several(entry, "", numbers)
    return [(port, number) for port in ports for number in found]


def ports(entry: Entry) -> list[str]:
    """The ports that the key of an entry names."""
    found = [name.strip() for name in entry.key.split(",")]
    if not all(found):
        entry.refuse("", "the key names no port; expected one such as Ethernet0")
    return found


def several(entry: Entry, name: str, text: str) -> list[int]:
    """``0,3-4`` is 0, 3 and 4."""
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        first = entry.number(name, low, 0, MOST_QUEUES - 1)
        last = entry.number(name, high, 0, MOST_QUEUES - 1) if dash else first
        if last < first:
            entry.refuse(name, f"'{part}' is no range: its first number is the larger one")
        found += range(first, last + 1)
    return found


def reference(entry: Entry, name: str, table: str) -> str | None:
    """The entry of a table that a field names, as SONiC writes it since 2021, or in brackets before; None for none."""
    text = entry.text(name)
    if text is None or text.strip() in NONE:
        return None
    old = REFERENCE.fullmatch(text.strip())
    if old and old[1] not in {table, f"{table}_TABLE"}:
        entry.refuse(name, f"names the table {old[1]}; expected {table}")
    return old[2] if old else text.strip()
