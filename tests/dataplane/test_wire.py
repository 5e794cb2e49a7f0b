"""One wire format in four places: wire.h, wire.py, the agents' C structure, and what other people's tools decode."""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testbed.agent import build as agent_build
from testbed.agent import datapath, structs
from testbed.agent.columns import FLOW, RTT_BINS
from testbed.compiled.layout import ACK, HOP
from testbed.compiled.records import Decider
from testbed.controller import MOST_HOPS
from testbed.dataplane import build, wire
from testbed.engines.kernel.rack import pause_frames
from testbed.experiment import meaningless
from testbed.experiment.topology import dscp, framing
from testbed.experiment.topology.framing import Framing
from tests.support.packets import CE, FRAMING, INT_AT, REDIRECT, Bench, data

HEADER = build.SOURCE / "maps.h"  # which includes wire.h
STRUCTS = HEADER.read_text() + (build.SOURCE / "wire.h").read_text()
STATE = agent_build.SOURCE / "datapath.h"
RED_SOURCE = build.SOURCE / "red.bpf.h"

RECORDS = {
    "record": wire.RECORD,
    "record_hop": wire.RECORD_HOP,
    "flow_tx": wire.FLOW_TX,
    "flow_rx": wire.FLOW_RX,
    "port_counters": wire.PORT_COUNTERS,
    "ingress": wire.INGRESS,
    "pause_event": wire.PAUSE_EVENT,
    "pause_span": wire.PAUSE_SPAN,
    "pause": wire.PAUSE,
    "arrivals": wire.ARRIVALS,
    "flow_key": wire.FLOW_KEY,
    "flow_seen": wire.FLOW_SEEN,
    "port_bolt": wire.PORT_BOLT,
    "flowlet": wire.FLOWLET,
    "next_hops": wire.NEXT_HOPS,
    "class_table": wire.CLASS_TABLE,
    "share": wire.SHARE,
    "group": wire.GROUP,
    "departures": wire.DEPARTURES,
    "port_config": wire.PORT_CONFIG,
    "red": wire.PORT_RED,
    "queue": wire.PORT_QUEUE,
}
# struct in C: its Struct in Python and the C fields in order
PACKED = {
    "nic_settings": (
        wire.NIC_SETTINGS,
        "cnp_interval_ns ring_flags flowlet_gap_ns lossless xon port pkey at_far_end routing seed ack_tos cnp_tos "
        "numbered ahead credits trim_tos slow reserved",
    ),
    "port_settings": (wire.PORT_SETTINGS, "xoff xon limit monitor src_from packet routing seed"),
    "shim": (wire.SHIM, "tx_ns frame payload ttl flags ingress"),
    "int_header": (
        wire.INT_HEADER,
        "type length npt version instructions domain domain_instructions domain_flags",
    ),
    "int_hop": (wire.INT_HOP, "node queue ts_ns tx_bytes rate"),
}
CONSTANTS = {
    "SCARCE": wire.SCARCE,
    "ROCE_PORT": wire.ROCE_PORT,
    "BTH_SEND_FIRST": wire.SEND_FIRST,
    "BTH_SEND_MIDDLE": wire.SEND_MIDDLE,
    "BTH_SEND_LAST_IMM": wire.SEND_LAST_IMM,
    "BTH_SEND_ONLY_IMM": wire.SEND_ONLY_IMM,
    "BTH_PAD": wire.PAD,
    "AETH_ACK": wire.AETH_ACK,
    "AETH_NAK": wire.AETH_NAK,
    "SHIM_AGAIN": wire.SHIM_AGAIN,
    "MOST_AHEAD": wire.MOST_AHEAD,
    "PER_PACKET": wire.PER_PACKET,
    "GO_BACK_N": wire.GO_BACK_N,
    "SELECTIVE_REPEAT": wire.SELECTIVE_REPEAT,
    "BTH_ACK": wire.ACK,
    "BTH_CNP": wire.CNP,
    "BTH_ACK_REQ": wire.ACK_REQUEST,
    "BTH_SRC": wire.SRC,
    "SHIM_INT": wire.SHIM_INT,
    "SHIM_CE": wire.SHIM_CE,
    "SHIM_SRC": wire.SHIM_SRC,
    "SHIM_FIRST": wire.SHIM_FIRST,
    "SHIM_LAST": wire.SHIM_LAST,
    "SHIM_INC": wire.SHIM_INC,
    "SHIM_DEC": wire.SHIM_DEC,
    "INT_DOMAIN": wire.INT_DOMAIN,
    "INT_ALL": wire.INT_ALL,
    "QUEUES": wire.QUEUES,
    "FIRST_QUEUE": wire.FIRST_QUEUE,
    "DSCPS": dscp.DSCPS,
    "MAX_HOPS": wire.MAX_HOPS,
    "MOST_NEXT_HOPS": wire.MOST_NEXT_HOPS,
    "LOSSLESS": wire.LOSSLESS,
    "LOSSLESS_CLASS": wire.LOSSLESS_CLASS,
    "BELOW_XON": wire.BELOW_XON,
    "ABOVE_XOFF": wire.ABOVE_XOFF,
    "PAUSE_RECEIVED": wire.PAUSE_RECEIVED,
    "LONGEST_PAUSE": pause_frames.LONGEST,
    "ETH_P_PAUSE": pause_frames.ETHERTYPE,
    "PFC_OPCODE": pause_frames.OPCODE,
    "LINK_DOWN": wire.LINK_DOWN,
    "QP_BASE": wire.QP_BASE,
    "ICRC_SIZE": framing.ICRC,
    "RATE_SHIFT": wire.RATE_SHIFT,
    "QUEUE_SUB_BITS": wire.QUEUE_SUB_BITS,
    "QUEUE_BINS": wire.QUEUE_BINS,
    "INT_OFFSET": framing.ETHERNET_IP_UDP + wire.BTH.size + wire.SHIM.size,
    "HOPS_OFFSET": framing.ETHERNET_IP_UDP + wire.BTH.size + wire.SHIM.size + wire.INT_HEADER.size,
}


def definition(name: str, source: str) -> str:
    """The body of a C structure."""
    found = re.search(rf"\bstruct {name} \{{(.*?)\n\}}", source, re.S)
    assert found, f"no struct {name}"
    return re.sub(r"/\*.*?\*/", "", found[1], flags=re.S)


def fields_of(body: str) -> list[str]:
    """Names of a structure's fields, in order."""
    declarations = (re.sub(r"^\s*struct\s+\w+|^\s*\w+", "", one.strip()) for one in body.split(";") if one.strip())
    return [re.sub(r"[*\s]|\[.*?\]", "", name) for declaration in declarations for name in declaration.split(",")]


def ask_compiler(folder: Path, includes: str, expressions: list[str]) -> list[int]:
    """What clang says that integer expressions are."""
    lines = "".join(f'printf("%lld\\n", (long long)({one}));' for one in expressions)
    program = folder / "ask.c"
    program.write_text(f"#include <stddef.h>\n#include <stdio.h>\n{includes}\nint main(void) {{ {lines} }}\n")
    subprocess.run(["clang", "-w", str(program), "-lm", "-o", str(folder / "ask")], check=True)
    answer = subprocess.run([str(folder / "ask")], check=True, capture_output=True, text=True)
    return [int(line) for line in answer.stdout.split()]


def offsets(layout: struct.Struct) -> list[int]:
    """Where each field of a Struct begins."""
    order, codes = layout.format[0], re.findall(r"\d*[a-zA-Z]", layout.format[1:])
    return [struct.calcsize(order + "".join(codes[:i])) for i in range(len(codes))]


def test_records_are_those_of_wire_h(tmp_path: Path) -> None:
    programs = RED_SOURCE.read_text()
    own = {name: definition(name, programs) for name in ("red", "queue")}
    includes = f'#include "{HEADER}"\nstruct bpf_spin_lock {{ unsigned int value; }};\n' + "".join(
        f"struct {name} {{{body}\n}};\n" for name, body in own.items()
    )
    for name, dtype in RECORDS.items():
        assert dtype.names is not None
        expressions = [f"sizeof(struct {name})"]
        for field in dtype.names:
            expressions += [f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})"]
        size, *places = ask_compiler(tmp_path, includes, expressions)
        assert dtype.fields is not None
        ours = [number for field in dtype.names for number in (dtype.fields[field][1], dtype.fields[field][0].itemsize)]
        assert (size, places) == (dtype.itemsize, ours), name
        assert fields_of(own.get(name) or definition(name, STRUCTS)) == list(dtype.names)


def test_packed_structures_are_those_of_c(tmp_path: Path) -> None:
    for name, (layout, names) in PACKED.items():
        expressions = [f"sizeof(struct {name})", *(f"offsetof(struct {name}, {field})" for field in names.split())]
        size, *places = ask_compiler(tmp_path, f'#include "{HEADER}"', expressions)
        assert (size, places) == (layout.size, offsets(layout)), name
        assert fields_of(definition(name, STRUCTS)) == names.split()


def test_constants_are_those_of_wire_h(tmp_path: Path) -> None:
    assert (
        dict(zip(CONSTANTS, ask_compiler(tmp_path, f'#include "{HEADER}"', list(CONSTANTS)), strict=True)) == CONSTANTS
    )


def test_bth_lies_behind_udp(tmp_path: Path) -> None:
    fields = ("opcode", "bth_flags", "pkey", "qp", "psn", "imm", "shim")
    expressions = [f"offsetof(struct roce, {field})" for field in fields]
    expected = [framing.ETHERNET_IP_UDP + offset for offset in [*offsets(wire.BTH), wire.BTH.size]]
    assert ask_compiler(tmp_path, f'#include "{HEADER}"', expressions) == expected


MIRRORED = {
    "datapath": structs.CDatapath,
    "histogram": structs.CHistogram,
    "ring": structs.CRing,
    "heap": structs.CHeap,
    "trace": structs.CTrace,
    "decisions": structs.CDecisions,
    "transport": structs.CTransport,
    "decider": Decider,
}


@pytest.mark.parametrize("name", MIRRORED)
def test_structures_are_those_of_c(name: str, tmp_path: Path) -> None:
    ours: Any = MIRRORED[name]
    names = [field for field, *_ in ours._fields_]
    if name == "datapath":
        assert fields_of(definition(name, STATE.read_text())) == names
    expressions = [f"sizeof(struct {name})", *(f"offsetof(struct {name}, {field})" for field in names)]
    expected = [ctypes.sizeof(ours), *(getattr(ours, field).offset for field in names)]
    assert ask_compiler(tmp_path, f'#include "{STATE}"', expressions) == expected


def test_records_are_those_of_c(tmp_path: Path) -> None:
    """What has no ctypes structure: numpy's and plain numbers."""
    flow = [f"offsetof(struct flow, {field})" for field in FLOW.names or ()]
    assert ask_compiler(tmp_path, f'#include "{STATE}"', ["sizeof(struct flow)", "FLOW_RTT_BINS", *flow]) == [
        FLOW.itemsize, RTT_BINS, *offsets_in(FLOW),
    ]  # fmt: skip
    assert fields_of(definition("flow", STATE.read_text())) == list(FLOW.names or ())
    acks = [f"offsetof(struct cc_ack, {field})" for field in ACK.names or ()]
    hops = [f"offsetof(struct cc_hop, {field})" for field in HOP.names or ()]
    expressions = [
        "sizeof(struct event)",
        "sizeof(struct batch)",
        "sizeof(struct cc_ack)",
        "CC_MOST_HOPS",
        *acks,
        *hops,
    ]
    expected = [
        2 * np.dtype(np.float64).itemsize,
        datapath.BATCH_WORDS * np.dtype(np.int64).itemsize,
        ACK.itemsize,
        MOST_HOPS,
        *offsets_in(ACK),
        *offsets_in(HOP),
    ]
    assert ask_compiler(tmp_path, f'#include "{STATE}"', expressions) == expected
    assert MOST_HOPS == wire.MAX_HOPS
    assert wire.MOST_NEXT_HOPS == meaningless.MOST_NEXT_HOPS


def offsets_in(dtype: np.dtype[Any]) -> list[int]:
    return [dtype.fields[name][1] for name in dtype.names or ()] if dtype.fields else []


def test_layout_has_the_sizes_that_paths_are_derived_with() -> None:
    layout = wire.BTH.size, wire.SHIM.size, wire.INT_HEADER.size, wire.INT_HOP.size
    assert layout == (framing.BTH, framing.SHIM, framing.INT_HEADER, framing.INT_HOP)
    assert wire.MAX_HOPS == framing.MOST_INT_HOPS


@pytest.mark.parametrize("hops", [0, 1, wire.MAX_HOPS])
def test_sizes_of_a_frame_add_up(hops: int) -> None:
    packet = Framing(payload=1000, int_hops=hops)
    carried = wire.frame(packet, flow=3, payload=1000)
    assert packet.wire_size == framing.ETHERNET_IP_UDP + len(carried)
    assert packet.overhead == 42 + 12 + 4 + 16 + (16 + 28 * hops if hops else 0) + 4
    assert wire.SHIM.unpack_from(carried, wire.BTH.size)[1:3] == (packet.wire_size, 1000)


def test_int_header_is_int_md_2_1() -> None:
    """Bits counted by hand from the INT 2.1 specification, section 5.7: the shim for UDP, then the MD header."""
    header = wire.int_header(3)
    words = [int.from_bytes(header[i : i + 4], "big") for i in range(0, 16, 4)]
    shim, first, second, third = words
    assert shim >> 28 == 1  # type: INT-MD
    assert shim >> 16 & 0xFF == (len(header) - 4) // 4  # length in words, without the shim
    assert first >> 28 == 2  # version
    assert first >> 25 & 0b111 == 0  # D, E, M: none
    assert first >> 8 & 0b11111 == 28 // 4  # hop length in words
    assert first & 0xFF == 3  # remaining hops
    assert second >> 16 == 0  # no standard instruction: everything is in our domain
    assert second & 0xFFFF == wire.INT_DOMAIN
    assert third >> 16 == wire.INT_ALL
    assert len(header) == 4 + 12 + 3 * 28


def decoded(frame: bytes):
    """scapy's idea of a frame, from BTH on: which layer comes behind UDP depends on who has asked for its port."""
    from scapy.contrib import roce
    from scapy.layers.inet import UDP
    from scapy.layers.l2 import Ether

    return roce.BTH(bytes(Ether(frame)[UDP].payload)), roce


def three_frames(rig: Bench) -> tuple[bytes, bytes, bytes]:
    """A data frame, its ACK and its CNP, from the real programs."""
    rig.nic.flows_tx["packets"][5:7] = 0xABCDEF, (7 << 24) + 0x123456  # packet numbers keep 24 bits of the count
    sent = rig.tx(data(flow=5, framing=FRAMING, tos=CE))
    plain = rig.tx(data(flow=6, framing=FRAMING))
    verdict, cnp = rig.rx(sent)
    verdict_ack, ack = rig.rx(plain)
    assert (verdict, verdict_ack) == (REDIRECT, REDIRECT)
    return plain, ack, cnp


@pytest.mark.root
@pytest.mark.parallel
def test_scapy_decodes_all_three_as_rocev2(rig: Bench) -> None:
    sent, ack, cnp = three_frames(rig)
    frame, roce = decoded(sent)
    bth = frame[roce.BTH]
    assert (bth.opcode, bth.dqpn, bth.psn, bth.ackreq) == (wire.SEND_ONLY_IMM, wire.QP_BASE + 6, 0x123456, 1)
    frame, roce = decoded(ack)
    bth = frame[roce.BTH]
    assert (bth.opcode, bth.dqpn, bth.psn, bth.ackreq, bth.becn) == (wire.ACK, wire.QP_BASE + 6, 0x123456, 0, 0)
    assert frame[roce.AETH].syndrome == wire.AETH_ACK
    frame, roce = decoded(cnp)
    bth = frame[roce.BTH]
    assert (bth.opcode, bth.dqpn, bth.becn, bth.fecn) == (wire.CNP, wire.QP_BASE + 5, 1, 0)


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt install tshark")
def test_wireshark_decodes_all_three_as_rocev2(rig: Bench, tmp_path: Path) -> None:
    capture = tmp_path / "three.pcap"
    with capture.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in three_frames(rig):
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    fields = ("frame.protocols", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn")
    more = ("infiniband.bth.a", "infiniband.aeth.syndrome.opcode", "_ws.malformed")
    columns = [part for field in (*fields, *more) for part in ("-e", field)]
    command = ["tshark", "-r", str(capture), "-o", "ip.check_checksum:TRUE", "-T", "fields", *columns]
    command += ["-e", "ip.checksum.status"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0].split(":")[:5] for row in rows] == [["eth", "ethertype", "ip", "udp", "infiniband"]] * 3
    assert [int(row[1]) for row in rows] == [wire.SEND_ONLY_IMM, wire.ACK, wire.CNP]
    assert [int(row[2], 16) for row in rows] == [wire.QP_BASE + 6, wire.QP_BASE + 6, wire.QP_BASE + 5]
    assert [int(row[3]) for row in rows] == [0x123456, 0x123456, 0xABCDEF]
    assert [row[4] in ("1", "True") for row in rows] == [True, False, False]  # asks for an ACK
    assert rows[1][5] == "0"
    assert [row[6] for row in rows] == ["", "", ""]
    assert [row[7] for row in rows] == ["1", "1", "1"]  # IP checksum: good


def test_int_area_is_where_the_programs_look() -> None:
    """The INT header of a frame begins where `INT_OFFSET` says; see `test_constants_are_those_of_wire_h`."""
    assert data(framing=FRAMING)[INT_AT : INT_AT + 16] == wire.int_header(2)[:16]
