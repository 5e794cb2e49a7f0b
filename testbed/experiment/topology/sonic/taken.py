"""What an experiment takes of a config_db.json: the settings that most ports have, for a rack's ports are alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from testbed.experiment.topology.sonic.config import SonicConfig, read
from testbed.experiment.topology.sonic.port import PortReader, Settings
from testbed.units import RATE_UNITS, TIME_UNITS, exactly

METRE = 5e-9  # s that light takes for one of fibre, rounded up from 4.9
MOST_NAMED = 4
T = TypeVar("T")


@dataclass(frozen=True)
class Taken:
    """Keys of `rack.switch` and of `rack.link`, and in words what they are and what is left out."""

    switch: Settings
    link: Settings
    told: list[str]

    @classmethod
    def of(cls, file: Path) -> Taken:
        """Raises BadInput with file, table and key."""
        return taken(read(file))


def taken(config: SonicConfig) -> Taken:
    """The same of what was read."""
    ports = {name: PortReader(config, name) for name in config.names or [""]}
    settings = {name: json.dumps(reader.settings()) for name, reader in ports.items()}
    chosen = _usual(settings.values())
    alike = [name for name, one in settings.items() if one == chosen]
    told = [f"took {', '.join(config.tables) or 'nothing'}{_of_whom(alike, settings)}"]
    told += [*dict.fromkeys(ports[alike[0]].notes), *(f"not understood: {one}" for one in config.left)]
    return Taken(json.loads(chosen), _link(config, alike), [f"{config.file}: {line}" for line in told])


def _usual(values: Iterable[T]) -> T:
    return Counter(values).most_common(1)[0][0]


def _of_whom(alike: list[str], every: Mapping[str, Any]) -> str:
    others = [name for name in every if name not in alike]
    if not others:
        return f" of {len(alike)} ports, which are alike" if len(alike) > 1 else ""
    some = ", ".join(others[:MOST_NAMED]) + (" ..." if len(others) > MOST_NAMED else "")
    return f" as {alike[0]} has it and {len(alike) - 1} more; {len(others)} differ and are left out: {some}"


def _link(config: SonicConfig, alike: list[str]) -> Settings:
    """Speed, and the time that light takes for the cable: NICs and switches of the rack add none."""
    speeds = [config.speeds[one] for one in alike if one in config.speeds]
    lengths = [config.lengths[one] for one in alike if one in config.lengths]
    found = {"rate": exactly(_usual(speeds), RATE_UNITS)} if speeds else {}
    return found | ({"delay": exactly(_usual(lengths) * METRE, TIME_UNITS)} if lengths else {})
