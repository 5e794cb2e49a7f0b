"""Whether a rollout may touch this host: reads only, and every refusal has a name and says what helps."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import attribute, card, host_files, lock, pcc, resolve, snapshot, units
from .backend import Backend
from .card import Card
from .command import call
from .errors import LabError, Refused
from .mlxconfig import MlxConfig, NvConfigValue, plain, tool
from .target import Target

FREE = 50e6  # bytes for snapshot and evidence
PCC_KEYS = {"USER_PROGRAMMABLE_CC": "1", "DPA_AUTHENTICATION": "0"}


@dataclass(frozen=True)
class Wanted:
    """What the rollout is going to do."""

    rollout: str
    card: str
    controller: str  # dcqcn or pcc
    mtu: int = 0
    exporter: tuple[str, int] | None = None  # address and port that it is going to listen on
    rollback_unit: str = ""  # a unit whose PCC program is known to be good


Finding = tuple[str, str]  # reason, message


def refusals(target: Target, wanted: Wanted, found: Card, backends: Mapping[str, Backend]) -> Iterator[Finding]:
    """All reasons why this host, with the card that was ``found``, must be left alone."""
    if found.virtual:
        message = f"{target.interface} is a virtual function, which its physical function governs; "
        yield "virtual-function", f"{message}give the names of that one's port in the inventory, or leave this host out"
        return
    if found.generation != wanted.card:
        what = found.generation or "no device of this host"
        message = f"{target.pci} is {what}; the inventory says {wanted.card}; correct pci_address or card there "
        yield "wrong-card", f"{message}(lspci -d 15b3: lists the cards)"
        return  # whatever else is asked would be asked of the wrong card
    yield from _link(target, wanted)
    for check in (lock.check, snapshot.check):
        try:
            check(target, wanted.rollout)
        except Refused as refused:
            yield refused.reason, str(refused).partition(": ")[2]
    yield from _controller(target, wanted, backends)
    yield from _host(target, wanted)


def _link(target: Target, wanted: Wanted) -> Iterator[Finding]:
    folder = target.path(f"/sys/class/net/{target.interface}")
    if not folder.is_dir():
        there = ", ".join(sorted(one.name for one in folder.parent.iterdir() if one.name != "lo")) or "none"
        message = f"there is no interface {target.interface}; correct roce_interface in the inventory"
        yield "no-interface", f"{message} (there are: {there})"
        return
    if attribute.read(folder / "operstate") == "down":
        message = f"{target.interface} has no carrier; ip link set {target.interface} up"
        yield "link-down", f"{message}, and see that both ends of its cable are plugged in"
    mtu = int(attribute.read(folder / "mtu") or 0)
    if mtu < wanted.mtu:
        message = f"{target.interface} has MTU {mtu}, at least {wanted.mtu} is wanted (preflight_mtu)"
        yield "small-mtu", f"{message}; ip link set {target.interface} mtu {wanted.mtu}"
    layer = attribute.read(target.path(f"/sys/class/infiniband/{target.device}/ports/{target.port}/link_layer"))
    if layer != "Ethernet":
        if layer is None:
            helps = "correct rdma_device in the inventory (rdma link lists them), or load the driver mlx5_ib"
        else:
            helps = f"{tool()} -d {target.pci} set LINK_TYPE_P{target.port}=2; then power-cycle by hand"
        message = f"{target.device} port {target.port}: link layer is {layer or 'unknown'}, expected Ethernet"
        yield "not-roce", f"{message}; {helps}"


def _controller(target: Target, wanted: Wanted, backends: Mapping[str, Backend]) -> Iterator[Finding]:
    try:
        keys = MlxConfig(target).query()
        resolve.choose("qos", backends)
        if wanted.controller == "pcc":
            yield from _pcc(target, wanted, keys)
        else:
            resolve.choose("dcqcn", backends)
            yield from _dcqcn(target, wanted, keys)
    except Refused as refused:
        yield refused.reason, str(refused).partition(": ")[2]
    except LabError as error:
        yield "tool-fails", f"{error}; install it (MFT, or mstflint), or call it by hand to see what it needs"


def _pcc(target: Target, wanted: Wanted, keys: dict[str, NvConfigValue]) -> Iterator[Finding]:
    if wanted.card not in card.PROGRAMMABLE:
        message = f"{wanted.card} has no programmable congestion control; leave this host out (rollout_hosts), or give "
        yield "not-programmable", f"{message}it DCQCN: testbed lab vars EXPERIMENT --controller dcqcn"
        return
    for key, value in PCC_KEYS.items():
        yield from _key(target, key, value, keys)
    known = units.inspect(wanted.rollback_unit).active if wanted.rollback_unit else False
    if pcc.inspect(target).state == "active" or known:
        return
    running = pcc.processes(target.root)
    for pid, command in running.items():
        message = f"process {pid} ({command}) controls the card, and a second program would stay in Standby; end it "
        message += "with SIGINT, never with SIGKILL, or name its unit in pcc_rollback_unit"
        yield "pcc-leftover", message
    if not running:
        message = "no program runs, and a card with USER_PROGRAMMABLE_CC=1 and no program may react to nothing: "
        message += "stopping ours would be no way back; start one that is known to be good, and name its unit in "
        yield "no-rollback-program", f"{message}pcc_rollback_unit"


def _dcqcn(target: Target, wanted: Wanted, keys: dict[str, NvConfigValue]) -> Iterator[Finding]:
    change = f"{tool()} -d {target.pci} set"
    legacy = keys.get("ROCE_CC_LEGACY_DCQCN")
    if legacy is not None and plain(legacy.current or legacy.next_boot) == "0":
        message = "ROCE_CC_LEGACY_DCQCN is 0: the card runs ZTR-RTTCC and ignores DCQCN's settings; "
        yield "legacy-dcqcn-off", f"{message}{change} ROCE_CC_LEGACY_DCQCN=1; then power-cycle this host by hand"
    programmable = keys.get("USER_PROGRAMMABLE_CC")
    on = programmable is not None and plain(programmable.current or programmable.next_boot) == "1"
    if on and not pcc.processes(target.root):
        unit = wanted.rollback_unit
        start = f"systemctl start {unit}" if unit else "start one that is known to be good"
        message = f"USER_PROGRAMMABLE_CC is 1 and no program runs: DCQCN may not react to marks; {start}, or give the "
        message += f"card back to its firmware: {change} USER_PROGRAMMABLE_CC=0, and power-cycle this host by hand"
        yield "pcc-without-program", message


def _key(target: Target, key: str, value: str, keys: dict[str, NvConfigValue]) -> Iterator[Finding]:
    setting = keys.get(key)
    if setting is None:
        return  # this firmware has no such key
    now = None if setting.current is None else plain(setting.current)
    after = plain(setting.next_boot)
    remedy = f"{tool()} -d {target.pci} set {key}={value}"
    if now is None and after == value:
        return  # an old card that reports Next Boot only
    if now != value and after == value:
        yield "needs-power-cycle", f"{key}={value} is staged and not active; power-cycle this host by hand"
    elif now != value:
        yield "needs-configuring", f"{key} is {now}, {value} is needed: {remedy}; then power-cycle this host by hand"
    elif after != value:
        yield "lost-at-power-cycle", f"{key} is {value} now and {after} after the next power cycle: {remedy}"


def _host(target: Target, wanted: Wanted) -> Iterator[Finding]:
    disk = os.statvfs(_existing(target.path("/var/lib/testbed")))
    if disk.f_bavail * disk.f_frsize < FREE:
        message = "less than 50 MB are free for snapshot and evidence in /var/lib; make room, for example in"
        yield "no-space", f"{message} {host_files.EVIDENCE}, which has what earlier rollouts left"
    if call("systemctl", "is-active", "--quiet", "lldpad.service").status == 0:
        yield "lldpad", "lldpad runs and would set trust and PFC back; stop it: systemctl disable --now lldpad"
    if wanted.exporter and call("systemctl", "is-active", "--quiet", "testbed-exporter.service").status:
        try:
            family = socket.AF_INET6 if ":" in wanted.exporter[0] else socket.AF_INET
            with socket.create_server(wanted.exporter, family=family):
                pass
        except OSError as error:
            where = f"port {wanted.exporter[1]} of {wanted.exporter[0]}"
            helps = "see who does (ss -ltnp), or give another exporter_port"
            yield "exporter-port", f"the exporter cannot listen on {where}: {error.strerror}; {helps}"


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path
