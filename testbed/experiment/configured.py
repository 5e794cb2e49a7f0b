"""`rack.switch.config`: what a switch's own configuration says becomes keys of the experiment, unless it says them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from testbed.errors import BadInput
from testbed.experiment.document import Document, KeyPath

CONFIG: KeyPath = ("rack", "switch", "config")
NUMBERED = ("queues", "groups")  # their entries are blocks of keys
SHARES = ("alpha", "static", "reserved")  # of a pool
TOGETHER = (  # one that a file says would contradict another that the experiment says
    ("schedule", "weight"), ("red", "wred"), ("alpha", "static", "xoff"), ("pfc", "xon", "xon_offset", "headroom"),
)  # fmt: skip


def config_of(document: Document) -> str | None:
    """The file that the experiment names."""
    at: Any = document.data
    for key in CONFIG:
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, str) else None


def configure(document: Document) -> list[str]:
    """Put its keys there, and take the file's name away: they are all. Returns what was taken and what was not.

    Raises BadInput.
    """
    from testbed.experiment.topology.sonic.taken import Taken  # its models take longer than those of most runs

    file = Path(config_of(document) or "").expanduser()
    origin = document.origin(CONFIG)
    try:
        taken = Taken.of(file)
    except BadInput as error:
        raise BadInput(f"{origin}: rack.switch.config: {error}") from None
    switch = document.data["rack"]["switch"]
    del switch["config"]
    told = [*taken.told]
    if not switch.get("pool", taken.switch.get("pool")) and _without_shares(taken.switch):
        told.append(
            f"{file}: no size of a pool is known: {', '.join(SHARES)} of queues and groups "
            "are left out; say rack.switch.pool to have them"
        )
    for path, value in list(_missing(switch, taken.switch)):
        document.put(("rack", "switch", *path), value, str(file))
    link = document.data["rack"].get("link") or {}
    for key, value in taken.link.items():
        if isinstance(link, dict) and key not in link:
            document.put(("rack", "link", key), value, str(file))
    return told


def _without_shares(switch: Mapping[str, Any]) -> bool:
    """Take them away; says whether there were any."""
    blocks = [one for kind in NUMBERED for one in switch.get(kind, {}).values()]
    taken = [block.pop(key, None) for block in blocks for key in SHARES]
    for number in [number for number, block in switch.get("groups", {}).items() if not block]:
        del switch["groups"][number]
    return any(one is not None for one in taken)


def _missing(said: Mapping[str, Any], taken: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What the experiment does not say: whole blocks, or keys of queues and groups where it names any."""
    for block, value in taken.items():
        mine = said.get(block)
        if block not in said:
            yield (block,), value
        elif block in NUMBERED and isinstance(mine, dict) and mine:
            own = {str(number): keys for number, keys in mine.items()}
            for number, keys in value.items():
                if number not in own:
                    yield (block, number), keys
                elif isinstance(own[number], dict):
                    yield from (((block, number, key), keys[key]) for key in keys if not _says(own[number], key))


def _says(own: Mapping[str, Any], key: str) -> bool:
    """Whether an entry says this key, or one that goes with it."""
    return any(one in own for keys in ((key,), *TOGETHER) if key in keys for one in keys)
