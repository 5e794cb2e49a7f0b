"""Wireshark's view of captures, with our dissector: of each recovery, and the same as `testbed decode` has."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from testbed.capture.decode import packets
from testbed.capture.reader import Reader
from tests.support.commands import command
from tests.support.simulated import captured

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt install tshark")

PAIRS = """
rack: {hosts: 5, link: {rate: 25 Gbit/s}}
traffic: {pattern: incast, senders: 4, size: 60 kB}
controller: {name: fixed, rate: 50 %}
transport: {timeout: 100 us}
time: {duration: 300 us, warmup: 0 s}
record: {report: false}
"""
LOSSY = "rack.link.loss=0.01"
TRIMS = "rack.switch={buffer: 20 kB, trim: on, queues: {0: {red: off}}}"
REPEAT = "transport.recovery=selective-repeat"
CASES = {
    "per-packet": ["controller=hpcc"],
    "go-back-n": ["transport.recovery=go-back-n", LOSSY],
    "selective-repeat": [REPEAT, LOSSY, "transport.messages=8 kB", "transport.operation=write"],
    "trimming": [REPEAT, TRIMS],
    "credits": ["receiver=eqds"],
}
FIELDS = (
    "infiniband.bth.opcode", "infiniband.bth.psn", "testbed.payload", "testbed.flags.again", "testbed.trimmed",
    "testbed.answer", "testbed.granted", "testbed.int.switch", "testbed.int.port", "testbed.int.queue",
    "testbed.int.tx_bytes", "infiniband.reth.dmalen",
)  # fmt: skip


def dissected(folder: Path, file: Path) -> list[dict[str, str]]:
    """All packets, as tshark shows them."""
    (script := folder / "testbed.lua").write_text(command("decode", "--lua").stdout)
    fields = [part for field in FIELDS for part in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", str(file), "-X", f"lua_script:{script}", "-T", "fields", *fields],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("case", CASES)
def test_each_recovery_in_wireshark(case: str, tmp_path: Path) -> None:
    record, _ = captured(tmp_path, ["nic:h5"], PAIRS, *CASES[case])
    found = dissected(tmp_path, tmp_path / "0.pcapng")
    told = list(packets(Reader(tmp_path / "0.pcapng")))
    assert len(found) == len(told) > 200
    for one, other in zip(found, told, strict=True):
        assert (int(one["infiniband.bth.opcode"]), int(one["infiniband.bth.psn"])) == (other["opcode"], other["psn"])
        assert one["testbed.payload"] == str(other.get("payload", ""))
        assert one["infiniband.reth.dmalen"] == str(other.get("reth", {}).get("length", ""))
        hops = other.get("int", {}).get("hops", [])
        numbers = zip(one["testbed.int.switch"].split(","), one["testbed.int.port"].split(","), strict=True)
        assert [f"s{switch}-eth{port}" for switch, port in numbers if switch] == [hop["port"] for hop in hops]
        for name in ("queue", "tx_bytes"):
            assert one[f"testbed.int.{name}"] == ",".join(str(hop[name]) for hop in hops)
    seen = {field: Counter(one[field] for one in found) for field in FIELDS}
    if case == "go-back-n":
        assert seen["testbed.answer"]["nak"] > 0 < seen["testbed.flags.again"]["1"]
    if case == "selective-repeat":
        assert {"6", "7", "9", "17"} <= seen["infiniband.bth.opcode"].keys()
        assert seen["testbed.answer"]["nak"] > 0
    if case == "trimming":
        assert seen["testbed.trimmed"]["1"] == seen["testbed.answer"]["trimmed"] == record.counters["trims"] > 0
    if case == "credits":
        granted = [int(one["testbed.granted"]) for one in found if one["testbed.granted"]]
        assert 0 < max(granted) <= 60
