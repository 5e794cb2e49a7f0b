"""Unit files: where they are, and what they say."""

from __future__ import annotations

import re
import signal
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FOLDERS = (
    Path("/etc/systemd/system"), Path("/run/systemd/transient"), Path("/run/systemd/system"),
    Path("/usr/local/lib/systemd/system"), Path("/usr/lib/systemd/system"),
)  # fmt: skip
KINDS = (".service", ".timer", ".target")
SPANS = {
    "us": 1e-6,
    "ms": 1e-3,
    "": 1.0,
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
Settings = dict[str, list[str]]


class BadUnit(Exception):
    """A unit file that systemd would refuse."""


def full_name(name: str) -> str:
    """ "foo" is foo.service."""
    return name if name.endswith(KINDS) else f"{name}.service"


def span(text: str) -> float:
    """Seconds of "1min 30s", "500ms", "5"; infinity is allowed."""
    if text.strip() == "infinity":
        return float("inf")
    parts = re.findall(r"([\d.]+)\s*([a-z]*)", text)
    if not parts or any(unit not in SPANS for _, unit in parts):
        raise BadUnit(f"not a time span: {text}")
    return sum(float(number) * SPANS[unit] for number, unit in parts)


def signal_number(name: str) -> signal.Signals:
    try:
        return signal.Signals[name] if name.startswith("SIG") else signal.Signals(int(name))
    except (KeyError, ValueError):
        raise BadUnit(f"not a signal: {name}") from None


@dataclass
class UnitFile:
    """``settings``: of all sections, by "Section.Key", every assignment in order."""

    name: str
    path: Path
    settings: Settings = field(default_factory=dict)

    def all(self, key: str) -> list[str]:
        return self.settings.get(key, [])

    def get(self, key: str, default: str = "") -> str:
        return self.all(key)[-1] if self.all(key) else default

    def flag(self, key: str, default: bool) -> bool:
        return self.get(key, "yes" if default else "no").lower() in ("1", "yes", "true", "on")

    def seconds(self, key: str, default: str) -> float:
        return span(self.get(key, default))


def find(name: str) -> Path | None:
    """The file of a unit, or of its template."""
    template = re.sub(r"@[^.]*", "@", name)
    for folder in FOLDERS:
        for candidate in dict.fromkeys((name, template)):
            if (path := folder / candidate).exists():
                return path
    return None


def load(name: str) -> UnitFile | None:
    """None if there is no such file. Raises BadUnit."""
    path = find(name)
    if path is None:
        return None
    settings: defaultdict[str, list[str]] = defaultdict(list)
    drop_ins = [piece for folder in reversed(FOLDERS) for piece in sorted((folder / f"{name}.d").glob("*.conf"))]
    for piece in (path, *drop_ins):
        _parse(piece.read_text(), name, settings)
    from tests.emulated_lab.systemd import directives

    directives.check(name, settings)
    if name.endswith(".service") and not settings["Service.ExecStart"]:
        raise BadUnit(f"{name}: Service has no ExecStart= setting. Refusing.")
    return UnitFile(name, path, dict(settings))


def _parse(text: str, name: str, settings: defaultdict[str, list[str]]) -> None:
    section = ""
    for raw in re.sub(r"\\\n", " ", text).splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise BadUnit(f"{name}: Missing '=', ignoring line: {line}")
        path = f"{section}.{key.strip()}"
        if not value.strip():
            settings[path] = []  # an empty assignment resets the list
        else:
            settings[path].append(_specifiers(value.strip(), name))


def _specifiers(text: str, name: str) -> str:
    instance = name.rpartition(".")[0].partition("@")[2]
    known = {"%n": name, "%N": name.rpartition(".")[0], "%i": instance, "%I": instance, "%t": "/run", "%%": "%"}
    return re.sub(r"%[nNiIt%]", lambda found: known[found.group()], text)
