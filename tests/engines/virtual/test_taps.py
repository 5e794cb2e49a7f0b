"""Captures in virtual time: stamps follow from rates and delays, and nothing is missing."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from testbed.capture.decode import line, packets
from testbed.capture.files import WHOLE, Capture
from testbed.capture.point import Point
from testbed.capture.reader import Frame, Reader
from tests.support.commands import command
from tests.support.simulated import captured, simulated

PS_PER_BYTE = 80  # at 100 Gbit/s
DELAY = 2_000_000  # ps
LONE = """
rack: {kind: star, hosts: 2, link: {rate: 100 Gbit/s, delay: 2 us}}
traffic: {pattern: flows, flows: [{src: h1, dst: h2}]}
time: {duration: 100 us, warmup: 0 s}
controller: {name: fixed, rate: 40 Gbit/s}
"""


def ps(frame: Frame) -> int:
    return round(frame.time * 1e12)


def one_way(frames: list[Frame], direction: str, *, data: bool) -> list[Frame]:
    """Data packets are the long ones."""
    return [one for one in frames if one.direction == direction and (one.length > 500) == data]


def test_stamps_of_a_lone_flow_follow_from_rate_and_delay(tmp_path: Path) -> None:
    """A packet is serialised and then delayed, twice; its ACK leaves at once and comes back the same way."""
    points = ("nic:h1", "port:s1-eth1", "port:s1-eth2", "nic:h2")
    record, (host, first, second, receiver) = captured(tmp_path, points, LONE)
    size, ack_size = record.wire_size, one_way(receiver, "out", data=False)[0].length
    hop, back = size * PS_PER_BYTE + DELAY, ack_size * PS_PER_BYTE + DELAY
    there = [(host, "out"), (first, "in"), (second, "out"), (receiver, "in")]
    sent, *later = ([ps(one) for one in one_way(frames, way, data=True)] for frames, way in there)
    acks = [(receiver, "out"), (second, "in"), (first, "out"), (host, "in")]
    replies = [[ps(one) for one in one_way(frames, way, data=False)] for frames, way in acks]
    assert len(sent) == len(replies[0]) == record.flows.sent_packets[0] > 300
    for stamps, after in zip(later, (hop, hop, 2 * hop), strict=True):
        assert stamps == [time + after for time in sent]
    for stamps, after in zip(replies, (0, back, back, 2 * back), strict=True):
        assert stamps == [time + 2 * hop + after for time in sent]
    gap = size * PS_PER_BYTE * 100 / 40  # paced; a departure is rounded up to a tick
    assert all(abs(b - a - gap) <= 1 for a, b in pairwise(sent))


def test_a_busy_port_sends_one_packet_right_after_the_other(tmp_path: Path) -> None:
    record, (frames,) = captured(
        tmp_path, ["port:s1-eth5"], "incast-4", "time.duration=200 us", "time.warmup=0", controller="fixed"
    )
    stamps = [ps(one) for one in one_way(frames, "out", data=True) if one.time > 2 * record.flows.base_rtt.max()]
    assert len(stamps) > 1000  # all senders have begun
    assert {b - a for a, b in pairwise(stamps)} == {record.wire_size * PS_PER_BYTE}


@pytest.mark.parametrize("interval", ["10 us", "500 us"], ids=["emptied often", "grows"])
def test_every_packet_is_there_in_order_and_as_long_as_it_was(tmp_path: Path, interval: str) -> None:
    settings = ["time.duration=500 us", "time.warmup=0", f"record.interval={interval}"]
    points = ["port:s1-eth3", "nic:h3"]
    record, (port, nic) = captured(tmp_path, points, "incast-2", *settings, controller="hpcc", snap=256)
    assert [one["packets"] for one in record.captures] == [len(port), len(nic)]
    sent = record.flows.sent_packets.sum()
    data, acks = one_way(port, "out", data=True), one_way(port, "in", data=False)
    assert len(data) == len(one_way(nic, "in", data=True)) == sent
    assert len(acks) == len(one_way(nic, "out", data=False)) == sent > 5000
    for frames in (port, nic):
        assert all(a.time <= b.time for a, b in pairwise(frames))
    assert {one.length for one in data} == {record.wire_size}
    assert {len(one.data) for one in data} == {256}
    assert all(not any(one.data[-16:]) for one in data)  # payload
    assert {one.length for one in acks} == {len(one.data) for one in acks}


def test_what_leaves_can_be_left_out(tmp_path: Path) -> None:
    settings, files = ["time.duration=200 us"], [tmp_path / name for name in ("both", "in")]
    with files[0].open("w+b") as both, files[1].open("w+b") as coming:
        one = Capture(Point("nic", "h1"), both, WHOLE)
        for capture in (one, replace(one, file=coming, outgoing=False)):
            simulated("incast-2", settings, controller="hpcc", captures=[capture])
    frames, come = (list(Reader(file)) for file in files)
    assert come == [frame for frame in frames if frame.direction == "in"]
    assert 100 < len(come) < len(frames)


def test_captures_change_nothing_else(tmp_path: Path) -> None:
    settings = ["time.duration=300 us", "time.warmup=0"]
    with_one, _ = captured(tmp_path, ["port:s1-eth9", "nic:h1"], "incast-8", *settings, controller="dcqcn")
    without = simulated("incast-8", settings, controller="dcqcn")
    assert with_one.counters == without.counters
    assert np.array_equal(with_one.flow_series.rtt, without.flow_series.rtt, equal_nan=True)
    assert np.array_equal(with_one.port_series.tx_bytes, without.port_series.tx_bytes)


def test_pause_frames_are_seen(tmp_path: Path) -> None:
    settings = ["time.duration=300 us", "time.warmup=0", "traffic.senders=32"]
    record, (frames,) = captured(
        tmp_path, ["port:s1-eth1"], "incast-64-lossless", *settings, controller="fixed", snap=256
    )
    pauses = [one for one in frames if one.data[12:14] == b"\x88\x08"]
    assert {(one.direction, one.length) for one in pauses} == {("out", 64)}
    first = record.ports.index("s1-eth1")
    assert len(pauses) >= record.port_series.pause_frames[-1, first] > 0


def test_a_full_disk_ends_the_capture_and_not_the_run(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with (tmp_path / "0.pcapng").open("w+b") as file:
            one = Capture(Point("nic", "h1"), file, WHOLE)
            record = simulated("incast-2", ["time.duration=300 us"], controller="fixed", captures=[one])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    (said,) = record.captures
    assert said == {"point": "nic:h1", "snap": WHOLE, "packets": 0, "dropped": 0, "problem": "File too large"}
    assert (tmp_path / "0.pcapng").stat().st_size == 0
    assert record.flows.delivered_packets.sum() > 1000


def test_captures_from_the_command_line_are_decoded_to_the_picosecond(tmp_path: Path) -> None:
    """With INT, whose stamps are the same clock: a packet is stamped when it comes in and finds no queue."""
    (tmp_path / "lone.yaml").write_text(LONE.replace("{name: fixed, rate: 40 Gbit/s}", "hpcc"))
    where = ("--engine", "virtual", "--set", "record.report=false", "--metrics-addr", "none", "--out", "out")
    points = ("--pcap", "port:s1-eth1", "--pcap", "port:s1-eth2", "--snap", "336 B")
    done = command("run", "lone.yaml", *where, *points, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    readers = [Reader(tmp_path / "out" / f"port-s1-eth{number}.pcapng") for number in (1, 2)]
    come, gone = (list(packets(one)) for one in readers)
    assert come[0]["psn"] == 0
    arrived = [one["time"] for one in come if one["direction"] == "in"]
    stamped = [one["int"]["hops"][0]["time"] for one in gone if one["direction"] == "out"]
    assert [round(time * 1e12) for time in arrived] == [round(time * 1e12) for time in stamped]
    begin = f"{come[0]['time']:.12f} port:s1-eth1 in 10.0.0.1 > 10.0.0.2 "
    assert line(come[0], readers[0].digits).startswith(begin)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt install tshark")
def test_wireshark_reads_them_and_finds_checksums_right(tmp_path: Path) -> None:
    _, (frames,) = captured(tmp_path, ["port:s1-eth2"], LONE)
    fields = ["frame.time_epoch", "frame.len", "ip.checksum.status", "udp.dstport"]
    options = [part for field in fields for part in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", str(tmp_path / "0.pcapng"), "-o", "ip.check_checksum:TRUE", "-T", "fields", *options],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [int(row[1]) for row in rows] == [one.length for one in frames]
    assert {(row[2], row[3]) for row in rows} == {("1", "4791")}  # 1: good
    assert [int(row[0].replace(".", "")) for row in rows] == [ps(one) // 1000 for one in frames]  # it shows ns
    assert set(Counter(one.direction for one in frames)) == {"in", "out"}
