"""Small experiments whose results are known to the bit: ``python -m tests.engines.virtual.golden`` compares.

With ``--renew`` it writes golden.json again and says what changed. Hashes are of values, not of files: another version
of pyarrow stores the same in other bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from testbed.capture.point import points
from testbed.capture.reader import Reader
from testbed.live.observers import Observer
from testbed.results.folder import SUMMARY, read_table
from testbed.runs.overrides import resolve
from testbed.runs.run import execute
from testbed.runs.same import compared, figures
from tests.support.simulated import Here

FILE = Path(__file__).with_name("golden.json")
SHOWN = ("su", "fr_flows", "ql_mean", "rtt_p99", "goodput", "drops", "marks", "pause_frames", "packets_delivered")

Golden = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Small:
    """An experiment that takes a fraction of a second."""

    experiment: str
    controller: str
    duration: str = "300 us"
    settings: tuple[str, ...] = ()
    tuner: str = ""
    captured: tuple[str, ...] = ()


SMALL = {
    "star": Small("incast-8", "fixed"),
    "captures": Small("incast-2", "hpcc", "100 us", captured=("port:s1-eth3", "nic:h1")),
    "marks": Small("incast-8", "dcqcn", "500 us", ("tuner.preset=secn1",)),
    "loss": Small("incast-8", "swift", "1 ms", ("traffic.size=100500 B", "rack.link.loss=0.001")),
    "leaf-spine": Small("leaf-spine", "hpcc"),
    "fat tree": Small("leaf-spine", "swift", settings=("rack={kind: fat-tree, tors: 4, cores: 2, hosts_per_tor: 2}",)),
    "dumbbell": Small("dumbbell", "adpg"),
    "pfc": Small("incast-64-lossless", "dcqcn", settings=("traffic.senders=16",)),
    "pfc between switches": Small("victim", "dcqcn", "500 us"),
    "link failure": Small(
        "link-failure", "dcqcn", "1 ms", ("events=[{at: 300 us, down: 10 %}, {at: 600 us, up: all}]",)
    ),
    "websearch": Small("websearch", "hpcc", "1 ms"),
    "tuner": Small("websearch-leaf-spine", "dcqcn", "1 ms", tuner="pet"),
    "barriers": Small("osu-all-to-all", "swift", "500 us"),
    "long links": Small(
        "leaf-spine",
        "swift",
        "9 ms",
        ("rack={kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, uplink: {rate: 40 Gbit/s, delay: 1 ms}}",),
    ),
    "no delay": Small("incast-8", "dcqcn", "500 us", ("rack.link.delay=0 s",)),
    "long queue": Small("incast-8", "fixed", "20 ms", ("rack.link.rate=1 Gbit/s", "rack.switch.buffer=8 MB")),
    "batch form": Small("incast-4", "adpg-int8"),
}


def made(small: Small, threads: int = 1) -> dict[str, Any]:
    """Hashes of what it leaves now, and some figures for the reader."""
    plugins = {"controller": small.controller, "tuner": small.tuner}
    options = {"time.duration": small.duration, "time.warmup": "50 us", "record.report": "false"}
    resolved = resolve(small.experiment, plugins, options, list(small.settings))
    captured = points(small.captured, resolved.layout.shape)
    with tempfile.TemporaryDirectory() as folder:
        done = execute(Here(threads=threads), resolved, Path(folder) / "run", Observer(), points=captured)
        assert done.failure == ""
        hashes = {name: _hash_of(done.folder / name) for name in compared(done.folder)}
        found = figures(done.folder)
    hashes[SUMMARY] = _hash(json.dumps(found).encode())
    return {"hashes": hashes, "figures": {name: found[name] for name in SHOWN}}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _hash_of(file: Path) -> str:
    if file.suffix == ".pcapng":
        return _hash(repr(list(Reader(file))).encode())
    table = read_table(file)
    about = [(one.name, str(one.type), one.metadata) for one in table.schema]
    return _hash(repr(about).encode() + b"".join(_values(column.combine_chunks()) for column in table.columns))


def _values(column: Any) -> bytes:
    """Of an array: numbers as they are in memory, whichever NaN a processor makes."""
    if not pyarrow.types.is_primitive(column.type):
        coded = column.cast("string").dictionary_encode()
        return repr(coded.dictionary.to_pylist()).encode() + _values(coded.indices)
    numbers = np.asarray(column.fill_null(0) if column.null_count else column)
    if numbers.dtype.kind == "f":
        numbers = np.where(np.isnan(numbers), np.nan, numbers)
    return np.asarray(column.is_valid()).tobytes() + numbers.tobytes()


def known() -> Golden:
    """What they left when the file was written."""
    stored: Golden = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def changes(name: str, was: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Files and figures of an experiment that are not as they were, a line each."""
    lines = []
    for what in ("hashes", "figures"):
        before, after = was.get(what, {}), now[what]
        for key in dict.fromkeys([*before, *after]):
            if before.get(key) != after.get(key):
                lines.append(f"{name}: {key} was {before.get(key)} and is {after.get(key)}")
    return lines


def main(*, renew: bool) -> int:
    """Compare, or write the file again."""
    was = known() if FILE.exists() else {}
    now = {name: made(small) for name, small in SMALL.items()}
    lines = [line for name in now for line in changes(name, was.get(name, {}), now[name])]
    lines += [f"{name}: is gone" for name in was if name not in now]
    print("\n".join(lines or ["nothing changed"]))
    if renew:
        FILE.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    return int(bool(lines) and not renew)


if __name__ == "__main__":
    raise SystemExit(main(renew="--renew" in sys.argv[1:]))
