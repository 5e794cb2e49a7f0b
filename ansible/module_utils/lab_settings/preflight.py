"""Whether a rollout may touch this host: reads only, and every refusal has a name."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import attribute, card, lock, pcc, resolve, snapshot, units
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
    away: float = 0.0  # s that this host's clock is ahead of the controller's
    skew: float = 5.0  # s of it that are tolerated
    rollback_unit: str = ""  # a unit whose PCC program is known to be good


Finding = tuple[str, str]  # reason, message


def refusals(target: Target, wanted: Wanted, found: Card, backends: Mapping[str, Backend]) -> Iterator[Finding]:
    """All reasons why this host, with the card that was ``found``, must be left alone."""
    if found.virtual:
        yield "virtual-function", f"{target.interface} is a virtual function; its physical function governs it"
        return
    if found.generation != wanted.card:
        what = found.generation or "no device of this host"
        yield "wrong-card", f"{target.pci} is {what}; the inventory says {wanted.card}"
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
        yield "no-interface", f"there is no interface {target.interface}"
        return
    if attribute.read(folder / "operstate") == "down":
        yield "link-down", f"{target.interface} has no carrier"
    mtu = int(attribute.read(folder / "mtu") or 0)
    if mtu < wanted.mtu:
        yield "small-mtu", f"{target.interface} has MTU {mtu}; at least {wanted.mtu} is wanted"
    layer = attribute.read(target.path(f"/sys/class/infiniband/{target.device}/ports/{target.port}/link_layer"))
    if layer != "Ethernet":
        yield "not-roce", f"{target.device} port {target.port}: link layer is {layer}, expected Ethernet"


def _controller(target: Target, wanted: Wanted, backends: Mapping[str, Backend]) -> Iterator[Finding]:
    try:
        keys = MlxConfig(target).query()
        resolve.choose("qos", backends)
        if wanted.controller == "pcc":
            yield from _pcc(target, wanted, keys)
        else:
            resolve.choose("dcqcn", backends)
            yield from _dcqcn(target, keys)
    except Refused as refused:
        yield refused.reason, str(refused).partition(": ")[2]
    except LabError as error:
        yield "tool-fails", str(error)


def _pcc(target: Target, wanted: Wanted, keys: dict[str, NvConfigValue]) -> Iterator[Finding]:
    if wanted.card not in card.PROGRAMMABLE:
        yield "not-programmable", f"{wanted.card} has no programmable congestion control; use controller dcqcn there"
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


def _dcqcn(target: Target, keys: dict[str, NvConfigValue]) -> Iterator[Finding]:
    legacy = keys.get("ROCE_CC_LEGACY_DCQCN")
    if legacy is not None and plain(legacy.current or legacy.next_boot) == "0":
        yield "legacy-dcqcn-off", "ROCE_CC_LEGACY_DCQCN is 0: the card runs ZTR-RTTCC and ignores DCQCN's settings"
    programmable = keys.get("USER_PROGRAMMABLE_CC")
    on = programmable is not None and plain(programmable.current or programmable.next_boot) == "1"
    if on and not pcc.processes(target.root):
        yield "pcc-without-program", "USER_PROGRAMMABLE_CC is 1 and no program runs: DCQCN may not react to marks"


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
        yield "needs-power-cycle", f"{key}={value} is staged and not active; a human has to power-cycle this host"
    elif now != value:
        yield "needs-configuring", f"{key} is {now}, {value} is needed: {remedy}; then power-cycle this host by hand"
    elif after != value:
        yield "lost-at-power-cycle", f"{key} is {value} now and {after} after the next power cycle: {remedy}"


def _host(target: Target, wanted: Wanted) -> Iterator[Finding]:
    if abs(wanted.away) > wanted.skew:
        away = f"this host's clock is {abs(wanted.away):.0f} s away from the controller's"
        yield "clock-skew", f"{away} ({wanted.skew:g} s allowed: preflight_skew_seconds)"
    disk = os.statvfs(_existing(target.path("/var/lib/testbed")))
    if disk.f_bavail * disk.f_frsize < FREE:
        yield "no-space", "less than 50 MB are free for snapshot and evidence in /var/lib"
    if call("systemctl", "is-active", "--quiet", "lldpad.service").status == 0:
        yield "lldpad", "lldpad runs and would set trust and PFC back; stop it: systemctl disable --now lldpad"
    if wanted.exporter and call("systemctl", "is-active", "--quiet", "testbed-exporter.service").status:
        try:
            family = socket.AF_INET6 if ":" in wanted.exporter[0] else socket.AF_INET
            with socket.create_server(wanted.exporter, family=family):
                pass
        except OSError as error:
            where = f"port {wanted.exporter[1]} of {wanted.exporter[0]}"
            yield "exporter-port", f"the exporter cannot listen on {where}: {error.strerror}"


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path
