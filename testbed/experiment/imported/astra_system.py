"""System files of ASTRA-sim (`--system-configuration`): how its collectives are carried out, in JSON.

A list of algorithms has one for each dimension of the network. Collectives of jobs from files are rings here, and an
all-to-all is messages to everybody at once, which is `direct`. What else such a file says is of its model of an
endpoint.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from testbed.experiment.imported.draft import Draft

MARKS = ("all-reduce-implementation", "scheduling-policy", "preferred-dataset-splits", "endpoint-delay")
LARGEST = 1 << 20  # bytes
HERE = {
    "all-reduce-implementation": "ring",
    "all-gather-implementation": "ring",
    "reduce-scatter-implementation": "ring",
    "all-to-all-implementation": "direct",
}


@dataclass(frozen=True)
class System:
    """What one says, by key."""

    said: dict[str, object]

    def into(self, draft: Draft) -> None:
        """Nothing has a key here: what is done otherwise, and what is left out."""
        for key, value in self.said.items():
            here = HERE.get(key)
            every = value if isinstance(value, list) else [value]
            if here is None:
                draft.left_out.append(f"{key} ({json.dumps(value)})")
            elif any(one != here for one in every):
                draft.left_out.append(f"{key} ({', '.join(map(str, every))}): {here} here")


def is_one(file: Path) -> bool:
    """Whether a file is one, by its keys. Raises OSError."""
    with file.open("rb") as content:
        begin = content.read(LARGEST)
    return begin.lstrip().startswith(b"{") and any(f'"{key}'.encode() in begin for key in MARKS)


def read(file: Path) -> System:
    """Raises ValueError with the place, or OSError."""
    if file.stat().st_size > LARGEST:
        raise ValueError(f"{file}: expected a system of ASTRA-sim, of at most {LARGEST:,} bytes")
    try:
        said = json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}, line {error.lineno}: expected a system of ASTRA-sim in JSON: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError):
        raise ValueError(f"{file}: expected a system of ASTRA-sim in JSON") from None
    for key, value in said.items():
        every = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str | int | float) for one in every):
            raise ValueError(f"{file}: {key}: expected a number, a name, or a list of them")
        if key.endswith("-implementation-custom"):
            traces = "collectives of one's own are traces of Chakra there; run these, with pattern chakra"
            raise ValueError(f"{file}: {key}: {traces}")
    return System(said)
