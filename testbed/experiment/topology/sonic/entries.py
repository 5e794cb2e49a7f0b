"""A config_db.json as it is: tables of entries, each with fields of text. What nobody reads of it can be said."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from testbed.base.strange import visible
from testbed.errors import BadInput, nearest

MOST_BYTES = 64 << 20
LARGEST = 1 << 62  # of any number
OBJECT = "an object of tables, as in config_db.json"
T = TypeVar("T")


@dataclass
class Entry:
    """One entry: its place for messages, its fields, and which of them were read."""

    file: str
    table: str
    key: str
    fields: Mapping[str, str]
    read: set[str] = field(default_factory=set)

    def refuse(self, name: str, problem: str) -> NoReturn:
        """Blame a field, or the entry if there is no name."""
        raise BadInput(f"{self.file}: {self.table}|{self.key}: {f'{name}: ' if name else ''}{problem}")

    def text(self, name: str) -> str | None:
        """As it is written; None where it is not."""
        self.read.add(name)
        return self.fields.get(name)

    def whole(self, name: str, least: int = 0, most: int = LARGEST) -> int | None:
        """A whole number."""
        text = self.text(name)
        return None if text is None else self.number(name, text, least, most)

    def number(self, name: str, text: str, least: int = 0, most: int = LARGEST) -> int:
        """The whole number that a text is."""
        digits = text.strip().removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
            self.refuse(name, f"expected a whole number, got '{text}'")
        if not least <= (number := int(text)) <= most:
            self.refuse(name, f"expected a number from {least} to {most}, got {number}")
        return number

    def one_of(self, name: str, allowed: Mapping[str, T]) -> T | None:
        """What a word stands for."""
        text = self.text(name)
        if text is None:
            return None
        found = {word.lower(): meant for word, meant in allowed.items()}.get(text.strip().lower())
        if found is None:
            self.refuse(name, f"'{text}' is not allowed; {nearest(text, list(allowed))}")
        return found

    @property
    def unread(self) -> list[str]:
        """Fields that mean nothing here."""
        return [name for name in self.fields if name not in self.read and name != "NULL"]


@dataclass
class Tables:
    """Those of a file that were asked for, and the names of all."""

    file: str
    named: dict[str, dict[str, Entry]] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)  # names that an object has twice: the last holds, as in SONiC

    def entries(self, table: str) -> Mapping[str, Entry]:
        """Of one table, by key."""
        return self.named.get(table, {})


def read(file: Path, wanted: Collection[str]) -> Tables:
    """Of the tables that are not ``wanted`` there are the names. Raises BadInput with file, table and key."""
    name = str(file)
    try:
        if file.is_char_device() or file.is_fifo() or file.is_socket():  # which may never end
            raise BadInput(f"cannot read {name}: it is no plain file")
        if file.stat().st_size > MOST_BYTES:
            raise BadInput(f"{name}: larger than {MOST_BYTES >> 20} MiB; expected {OBJECT}")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadInput(f"cannot read {name}: {reason}") from None
    return parse(text, name, wanted)


def parse(text: str, name: str, wanted: Collection[str]) -> Tables:
    """The same from text; ``name`` stands for the file in messages."""
    tables = Tables(name)
    try:
        data = json.loads(text, object_pairs_hook=partial(_object, tables.twice), parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}, line {error.lineno}: not valid JSON: {error.msg}; expected {OBJECT}") from None
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits, or none at all
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadInput(f"{name}: not valid JSON: {reason}") from None
    if not isinstance(data, dict):
        raise BadInput(f"{name}: expected {OBJECT}, got {_kind(data)}")
    for written, value in data.items():
        table, bar, key = written.partition("|")  # a dump of the database has TABLE|key at the top
        found = tables.named.setdefault(table, {})
        if table in wanted:
            for one, fields in ({key: value} if bar else _entries(name, table, value)).items():
                if one in found:
                    found[one].refuse("", "is given twice, in a table and by itself")
                found[one] = _entry(name, table, one, fields)
    return tables


def _object(twice: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for written, value in pairs:
        key = visible(written)
        if key in found and found[key] != value:
            twice.append(key)
        found[key] = value
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _entries(name: str, table: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{name}: {table}: expected an object of entries, got {_kind(value)}")
    return value


def _entry(name: str, table: str, key: str, fields: Any) -> Entry:
    if not isinstance(fields, dict):
        raise BadInput(f"{name}: {table}|{key}: expected an object of fields, got {_kind(fields)}")
    if isinstance(fields.get("value"), dict):  # a dump of the database with type and time to live
        fields = fields["value"]
    entry = Entry(name, table, key, {})
    entry.fields = {one: _text(entry, one, value) for one, value in fields.items()}
    return entry


def _text(entry: Entry, name: str, value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(entry, name, one) for one in value)
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        entry.refuse(name, f"expected text, got {_kind(value)}")
    return visible(str(value))


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
