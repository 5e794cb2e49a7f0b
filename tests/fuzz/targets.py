"""What is fuzzed: whoever reads files of others, and files that it takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testbed.cli import main
from testbed.engines.lab.protocol.channel import Unpacker, pack
from tests.fuzz import results
from tests.support.checkout import ROOT

SEEDS = Path(__file__).parent / "seeds"
SONIC = ROOT / "tests" / "experiment" / "topology" / "sonic"
RUN = "engine: virtual\ncontroller: dcqcn\ntime: {duration: 20 ms, warmup: 0 s}\n"
FLOWS = "2\n1 3 3 100 20000 2.0\n2 3 3 100 30000 2.001\n"
SETTINGS = (
    *("traffic.senders=8", "traffic.size=1 MB", "rack.link.rate=25 Gbit/s", "rack.link.delay=1 us", "seed=7"),
    *("controller.g=0.5", "controller=swift", "controller={name: dcqcn, preset: paper}", "time.duration=6ms"),
    *("rack.switch.buffer=5 MB", "rack={kind: clos, tors: 2}", "tuner={name: static, kmin: 5 kB, kmax: 200 kB}"),
    *("traffic.start=1 us", "events=[{at: 1 ms, set: {kmin: 9 kB}}]", "packets=[{of: {hosts: [h1]}, ecn: off}]"),
    *("transport.recovery=go-back-n", "record.interval=10 us", "routing=spray", "rack.hosts=10", "record.report=false"),
)
EDITS = (
    "{at: 10 us, set: {kmin: 9 kB, leaf1.kmax: 1 MB, pmax: 0.1, controller.eta: 0.9}}",
    "{at: 10 us, down: leaf1-spine1}",
    "{at: 10 us, set: {leaf1-spine1.loss: 1 %, leaf1-spine2.rate: 10 Gbit/s, h1-leaf1.delay: 2 us}}",
)


@dataclass(frozen=True)
class Target:
    """``call`` reads the file ``name``, whose content is the input, and gives an exit code; other files are there."""

    call: Callable[[Path], int]
    seeds: Sequence[bytes]
    name: str = "input"
    beside: Mapping[str, bytes] = field(default_factory=dict)


def command(*arguments: str) -> Callable[[Path], int]:
    """`testbed` with these; ``{}`` stands for the input's path, and ``{content}`` for what is in it."""

    def call(file: Path) -> int:
        content = os.fsdecode(file.read_bytes().replace(b"\0", b""))
        before = sys.argv
        sys.argv = ["testbed", *(one.replace("{}", file.name).replace("{content}", content) for one in arguments)]
        try:
            return main.main()
        finally:
            sys.argv = before

    return call


def _seeds(folder: str) -> list[bytes]:
    return [one.read_bytes() for one in sorted((SEEDS / folder).iterdir())]


def _named_by(
    key: str, seeds: Sequence[bytes], name: str = "input", beside: Mapping[str, bytes] | None = None
) -> Target:
    """A file that an experiment names."""
    return Target(command("validate", "x.yaml"), seeds, name, {"x.yaml": f"{RUN}{key}\n".encode(), **(beside or {})})


def _of_results(name: str, *arguments: str) -> Target:
    """A file of a results folder."""
    return Target(command(*arguments), [results.folder()[name]], name, results.folder())


def _channel(file: Path) -> int:
    for _ in Unpacker().feed(file.read_bytes()):
        pass
    return 0


def _written(*words: str) -> list[bytes]:
    return [one.encode() for one in words]


TARGETS: Mapping[str, Callable[[], Target]] = {
    "experiment": lambda: Target(
        command("validate", "{}"), [file.read_bytes() for file in sorted((ROOT / "topologies").glob("*.yaml"))],
        "x.yaml", {"sonic-switch.json": (ROOT / "topologies/sonic-switch.json").read_bytes()},
    ),
    "set": lambda: Target(command("validate", "incast-8", "--set", "{content}"), _written(*SETTINGS)),
    "edit": lambda: Target(
        command("validate", "leaf-spine", "--set", "engine=virtual", "--set", "events=[{content}]"), _written(*EDITS)
    ),
    "config_db": lambda: _named_by(
        "rack: {switch: {config: ./input}}\ntraffic: {pattern: incast, senders: 2}",
        [(ROOT / "topologies" / "sonic-switch.json").read_bytes(), (SONIC / "switch.json").read_bytes()],
    ),
    "rack": lambda: _named_by(
        "rack: {kind: custom, file: ./input, switch: {buffer: 1 GB}}\ntraffic: {pattern: incast, senders: 1}",
        _seeds("rack"),
    ),
    "flows": lambda: _named_by("traffic: {pattern: trace, file: ./input}", _seeds("flows")),
    "sizes": lambda: _named_by(
        "rack: {hosts: 8}\ntraffic: {pattern: poisson, sizes: ./input, load: 1 %}", _seeds("sizes")
    ),
    "goal": lambda: _named_by("traffic: {pattern: goal, file: ./input}", _seeds("goal")),
    "chakra": lambda: _named_by(
        "traffic: {pattern: chakra, file: ./input}",
        _seeds("chakra")[:1], "input.0.et", {"input.1.et": _seeds("chakra")[1]},
    ),
    "simai": lambda: _named_by("traffic: {pattern: simai, file: ./input}", _seeds("simai")),
    "import": lambda: Target(
        command("import", "{}", "flow.txt", "--out", "x.yaml"), _seeds("import"), beside={"flow.txt": FLOWS.encode()}
    ),
    "capture": lambda: Target(command("decode", "{}"), _seeds("capture")),
    "manifest": lambda: _of_results("manifest.json", "report", "."),
    "summary": lambda: _of_results("summary.json", "compare", "."),
    "table": lambda: _of_results("flows.parquet", "report", "."),
    "series": lambda: _of_results("port_series.parquet", "report", "."),
    "packed": lambda: Target(results.unpack, [results.packed_table()]),
    "channel": lambda: Target(_channel, [pack("begin", {"a": 1}, {"x": results.SOME}) + pack("end", {})]),
}  # fmt: skip
