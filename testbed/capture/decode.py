"""The output of `testbed decode`: per packet a line, or an object for JSON."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from testbed.capture.reader import Frame, Reader
from testbed.clock import NS, Clock
from testbed.dataplane import wire
from testbed.experiment.topology import framing
from testbed.units import show_rate

if TYPE_CHECKING:
    from testbed.capture.layers import IntHop

ECN = {0: "Not-ECT", 1: "ECT(1)", 2: "ECT(0)", 3: "CE"}
KINDS = {wire.ACK: "ack", wire.CNP: "cnp", wire.SRC: "src", wire.CREDIT: "credit"}  # everything else of RoCEv2 is data
CLOCK = re.compile(r"dilation=([0-9.e+]+) epoch_ns=(\d+)")

IPV4 = b"\x08\x00\x45"  # Ethernet's type, version and header length
PORT = wire.ROCE_PORT.to_bytes(2, "big")
ETHERNET = 14
OPCODE_AT = framing.ETHERNET_IP_UDP

Described = dict[str, Any]


def packets(reader: Reader, only: str = "") -> Iterator[Described]:
    """Every packet as an object; ``only`` is data, ack, cnp or src, or empty for all. Raises what the reader does.

    Times are nominal seconds, rates bit/s, sizes bytes. ``psn`` and ``departure`` are None in a data packet that its
    NIC has not numbered yet. What is not RoCEv2 has ``kind`` "other" and a ``summary``.
    """
    logging.getLogger("scapy").setLevel(logging.ERROR)  # which warns of this machine's network, of no concern here
    from scapy.layers.inet import IP
    from scapy.layers.l2 import Ether
    from scapy.packet import Raw

    from testbed.capture.layers import BTH

    for frame in reader:
        if only and not _may_be(only, frame.data):
            continue
        packet = Ether(frame.data) if len(frame.data) >= ETHERNET else Raw(frame.data)
        layers = {type(one): one for one in reversed([*packet.iterpayloads()])}  # asking scapy for each takes longer
        is_roce = IP in layers and BTH in layers
        kind = KINDS.get(layers[BTH].opcode, "data") if is_roce else "other"
        if only in ("", kind):
            where = {"time": frame.time, "point": frame.point, "direction": frame.direction, "kind": kind}
            yield where | (_roce(layers, frame, _clock(reader)) if is_roce else {"summary": packet.summary()})


def _may_be(kind: str, data: bytes) -> bool:
    """A quick look at where the opcode mostly is: dissecting takes a hundred times as long."""
    usual = data[12:15] == IPV4 and data[36:38] == PORT and len(data) > OPCODE_AT
    return not usual or KINDS.get(data[OPCODE_AT], "data") == kind


def line(packet: Described, digits: int) -> str:
    """The same as one line of text; times have so many digits after the point."""
    where = " ".join(part for part in (f"{packet['time']:.{digits}f}", packet["point"], packet["direction"]) if part)
    if packet["kind"] == "other":
        return f"{where} {packet['summary']}"
    psn = "-" if packet["psn"] is None else packet["psn"]
    parts = [
        f"{where} {packet['src']} > {packet['dst']} {packet['name']} psn {psn} qp {packet['qp']:#x} {packet['ecn']}"
    ]
    parts += [name.upper() for name in ("fecn", "becn") if packet[name]]
    if "payload" in packet:
        parts.append(f"{'' if packet['kind'] == 'data' else 'of '}{packet['payload']} B")
    if "reth" in packet:
        parts.append(f"RETH {packet['reth']['length']} B at {packet['reth']['address']:#x}")
    if "syndrome" in packet:
        parts.append(f"syndrome {packet['syndrome']} msn {packet['msn']}")
    if packet.get("ce_echo"):
        parts.append("acknowledges CE")
    if packet.get("bolt"):
        parts.append(f"Bolt {' '.join(packet['bolt'])}")
    if "int" in packet:
        parts.append(f"INT {packet['int']['remaining']} hops left")
        parts += [_hop_text(hop, digits) for hop in packet["int"]["hops"]]
    return " ".join(parts)


def _hop_text(hop: Described, digits: int) -> str:
    return (
        f"[{hop['port']} queue {hop['queue']} B, sent {hop['tx_bytes']} B, at {hop['time']:.{digits}f}, "
        f"{show_rate(hop['rate'])}]"
    )


def _clock(reader: Reader) -> Clock | None:
    """How to read the times inside of packets; None if the capture is not ours."""
    found = [match for text in reader.comments if (match := CLOCK.fullmatch(text))]
    return Clock(float(found[0][1]), int(found[0][2])) if found else None


def _roce(layers: dict[type, Any], frame: Frame, clock: Clock | None) -> Described:
    from scapy.layers.inet import IP

    from testbed.capture.layers import AETH, BOLT_FLAGS, BTH, OPCODES, RETH, IntMd, Shim

    ip, bth = layers[IP], layers[BTH]
    about: Described = {
        "src": ip.src,
        "dst": ip.dst,
        "opcode": bth.opcode,
        "name": OPCODES.get(bth.opcode, f"opcode {bth.opcode:#04x}"),
        "qp": bth.qp,
        "psn": bth.psn,
        "ecn": ECN[ip.tos & 3],
        "fecn": bool(bth.fecn),
        "becn": bool(bth.becn),
        "length": frame.length,
    }
    if RETH in layers:
        reth = layers[RETH]
        about["reth"] = {"address": reth.address, "r_key": reth.r_key, "length": reth.length}
    if AETH in layers:
        about |= {"syndrome": layers[AETH].syndrome, "msn": layers[AETH].msn}
    if Shim in layers:
        about |= _shim(layers[Shim], bth.opcode, clock)
        flags = [name for name in BOLT_FLAGS if getattr(layers[Shim].flags, name)]
        about |= {"bolt": flags} if flags else {}
    if IntMd in layers:
        header = layers[IntMd]
        about["int"] = {"remaining": header.remaining, "hops": [_hop(hop, clock) for hop in header.stamped]}
    return about


def _shim(shim: Any, opcode: int, clock: Clock | None) -> Described:
    """An ACK, CNP or SRC repeats the payload size of the data packet that it belongs to."""
    departure = _seconds(shim.departure, clock) if shim.departure else None
    about: Described = {"payload": shim.payload_bytes, "departure": departure, "ce_echo": bool(shim.flags.CE)}
    not_numbered = departure is None and opcode in wire.DATA
    return about | ({"psn": None} if not_numbered else {})


def _hop(hop: IntHop, clock: Clock | None) -> Described:
    rate = hop.kbps * 1e3
    return {
        "port": f"s{hop.switch}-eth{hop.port}",
        "queue": hop.queue,
        "tx_bytes": hop.tx_bytes,
        "time": _seconds(hop.ns, clock),
        "rate": clock.nominal_rate(rate) if clock else rate,
    }


def _seconds(ns: int, clock: Clock | None) -> float:
    """On the run's clock, or on that of the capture's writer."""
    return clock.nominal_seconds((ns - clock.epoch_ns) / NS) if clock else ns / NS
