"""As much of udev as a rollout uses: rules that say which units a new device wants. What is not known is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.emulated_lab.store import State
from tests.emulated_lab.systemd.unitfile import BadUnit

RULES = Path("/etc/udev/rules.d")
WORD = re.compile(r'\s*([A-Z]+(?:\{\w+\})?)\s*(==|\+=|=)\s*"([^"]*)"\s*(?:,|$)')
WANTS = "ENV{SYSTEMD_WANTS}"
MATCHES = ("ACTION", "SUBSYSTEM", "KERNEL", "KERNELS", "NAME")


@dataclass(frozen=True)
class Event:
    """A uevent. ``kernel``: the name that the kernel gave; ``name``: what udev makes of an interface's, or ""."""

    action: str
    subsystem: str
    kernel: str
    parents: tuple[str, ...]  # kernel names of what it sits on: a PCI function
    name: str = ""

    def matches(self, key: str, pattern: str) -> bool:
        values = {
            "ACTION": (self.action,), "SUBSYSTEM": (self.subsystem,), "KERNEL": (self.kernel,),
            "KERNELS": (self.kernel, *self.parents), "NAME": (self.name,),
        }[key]  # fmt: skip
        return any(fnmatchcase(value, one) for value in values for one in pattern.split("|"))


def found(state: State, action: str, interface: str = "") -> list[Event]:
    """Events of a host's card, in the order of its drivers. ``interface``: its name before udev renames it."""
    if not state["card"]:
        return []
    net = Event(action, "net", interface or state["interface"], (state["pci"],), state["interface"])
    return [net, Event(action, "infiniband", state["device"], (state["pci"],))]


def wanted(event: Event) -> list[str]:
    """Units that the rules of this host want started for an event. Raises BadUnit for a rule that is not understood."""
    units: list[str] = []
    tags: set[str] = set()
    for file in sorted(RULES.glob("*.rules")):
        for line in file.read_text().splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                _apply(_parse(line, file.name), event, units, tags)
    return units if "systemd" in tags else []  # systemd gets no others


def _parse(line: str, file: str) -> list[tuple[str, str, str]]:
    words, at = [], 0
    while at < len(line.rstrip()):
        word = WORD.match(line, at)
        known = word and ((word[2] == "==" and word[1] in MATCHES) or (word[2] == "+=" and word[1] in ("TAG", WANTS)))
        if not word or not known:
            raise BadUnit(f"{file}: not known to this lab: {line[at:].strip()}")
        words.append((word[1], word[2], word[3]))
        at = word.end()
    return words


def _apply(rule: list[tuple[str, str, str]], event: Event, units: list[str], tags: set[str]) -> None:
    if all(event.matches(key, value) for key, operator, value in rule if operator == "=="):
        units += [unit for key, _, value in rule if key == WANTS for unit in value.split()]
        tags |= {value for key, _, value in rule if key == "TAG"}
