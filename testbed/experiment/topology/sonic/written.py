"""The tables of config_db.json that say what `rack.switch` says: reading them again gives the same switch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from testbed.errors import BadInput
from testbed.experiment.topology.any_rack import Switch
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.groups import GroupSettings, Watchdog
from testbed.experiment.topology.links import LinkSettings
from testbed.experiment.topology.queues import OwnRed, QueueSettings
from testbed.experiment.topology.sonic.records import ALPHAS
from testbed.experiment.topology.sonic.taken import METRE

Table = dict[str, dict[str, str]]
MAP, POOL = "AZURE", "shared_pool"  # the first by SONiC's convention
LANES = 4  # of a port, by which its name is numbered
LARGEST_WEIGHT = 100
MOST_CLASSES = 16


def numbered_ports(count: int) -> list[str]:
    """As a switch names them whose ports have four lanes each."""
    return [f"Ethernet{LANES * number}" for number in range(count)]


def written(
    switch: Switch, link: LinkSettings, names: Sequence[str], thresholds: Mapping[int, OwnRed]
) -> dict[str, Table]:
    """For a switch with ports of these names; ``thresholds``: of queues whose RED a tuner sets.

    Raises BadInput for what SONiC cannot say.
    """
    classes = switch.tables
    if classes is None:
        raise BadInput("rack.switch: has one plain queue per port; name rack.switch.classes, or a config to begin with")
    queues = {number: _with_red(queue, thresholds.get(number)) for number, queue in classes.queues.items()}
    found = {
        **_maps(classes), **_schedulers(queues), **_wred(queues),
        "QUEUE": _each(names, {number: _queue(number, queue) for number, queue in queues.items()}),
        **_buffers(switch, queues, names), **_pfc(switch, names), **_trimming(switch),
        "PORT_QOS_MAP": {name: _qos_map(switch) for name in names},
        "PORT": {name: {"speed": _whole("rack.link.rate", link.rate / 1e6, "Mbit/s")} for name in names},
    }  # fmt: skip
    metres = round(link.delay / METRE)
    if metres and math.isclose(metres * METRE, link.delay):  # others are of no whole length
        found["CABLE_LENGTH"] = {MAP: dict.fromkeys(names, f"{metres}m")}
    return {name: table for name, table in found.items() if table}


def _with_red(queue: QueueSettings, thresholds: OwnRed | None) -> QueueSettings:
    return queue.model_copy(update={"red": thresholds or "off"}) if queue.red == "tuner" else queue


def numbered(names: Sequence[str], queues: Sequence[int]) -> list[int]:
    """Traffic class of each: that of its name, or of its queue, or the next one that is free."""
    if len(names) > MOST_CLASSES:
        raise BadInput(f"rack.switch.classes: {len(names)} classes; SONiC has {MOST_CLASSES}")
    found: dict[str, int] = {}
    for name in names:
        digits = name.removeprefix("tc")
        if name.startswith("tc") and digits.isdecimal() and str(int(digits)) == digits and int(digits) < MOST_CLASSES:
            found[name] = int(digits)
    for name, queue in zip(names, queues, strict=True):
        if name not in found:
            free = [queue, *range(MOST_CLASSES)]
            found[name] = next(one for one in free if one not in found.values())
    return [found[name] for name in names]


def _maps(classes: Classes) -> dict[str, Table]:
    number = numbered(classes.names, classes.queue)
    rows = sorted(zip(number, classes.queue, classes.group, strict=True))
    groups = sorted(set(classes.group))
    queue_of_group = {group: min(queue for _, queue, mine in rows if mine == group) for group in groups}
    return {
        "DSCP_TO_TC_MAP": {MAP: {str(dscp): str(number[one]) for dscp, one in enumerate(classes.class_of)}},
        "TC_TO_QUEUE_MAP": {MAP: {str(one): str(queue) for one, queue, _ in rows}},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: {str(one): str(group) for one, _, group in rows}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: {str(group): str(queue) for group, queue in queue_of_group.items()}},
    }


def _qos_map(switch: Switch) -> dict[str, str]:
    lossless = ",".join(str(number) for number, group in sorted(switch.groups.items()) if group.pfc)
    maps = dict.fromkeys(("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"), MAP)
    return {**maps, **({"pfc_enable": lossless} if lossless else {})}


def _schedulers(queues: Mapping[int, QueueSettings]) -> dict[str, Table]:
    return {"SCHEDULER": {_scheduler_name(queue): _scheduler(number, queue) for number, queue in queues.items()}}


def _scheduler_name(queue: QueueSettings) -> str:
    return "scheduler.strict" if queue.schedule == "strict" else f"scheduler.{queue.weight}"


def _scheduler(number: int, queue: QueueSettings) -> dict[str, str]:
    if queue.schedule == "strict":
        return {"type": "STRICT"}
    if queue.weight > LARGEST_WEIGHT:
        raise BadInput(f"rack.switch.queues.{number}.weight: {queue.weight}; SONiC has 1 to {LARGEST_WEIGHT}")
    return {"type": "DWRR", "weight": str(queue.weight)}


def _wred(queues: Mapping[int, QueueSettings]) -> dict[str, Table]:
    return {"WRED_PROFILE": {f"WRED_Q{number}": _profile(number, queue.red, queue.wred)
                             for number, queue in queues.items() if isinstance(queue.red, OwnRed)}}  # fmt: skip


def _profile(number: int, red: OwnRed, wred: bool) -> dict[str, str]:
    place = f"rack.switch.queues.{number}.red"
    low, high = _bytes(f"{place}.kmin", red.kmin), _bytes(f"{place}.kmax", red.kmax)
    share = _whole(f"{place}.pmax", red.pmax * 100, "%")
    colours: dict[str, str] = {}
    for colour in ("green", "yellow", "red"):
        colours |= {f"{colour}_min_threshold": low, f"{colour}_max_threshold": high,
                    f"{colour}_drop_probability": share, f"wred_{colour}_enable": str(wred).lower()}  # fmt: skip
    return {"ecn": "ecn_all", **colours}


def _queue(number: int, queue: QueueSettings) -> dict[str, str]:
    return {
        "scheduler": _scheduler_name(queue),
        **({"wred_profile": f"WRED_Q{number}"} if isinstance(queue.red, OwnRed) else {}),
    }


def _buffers(switch: Switch, queues: Mapping[int, QueueSettings], names: Iterable[str]) -> dict[str, Table]:
    if switch.pool is None:
        own = next((number for number, one in switch.groups.items() if _held_by(one)), None)
        if own is not None:
            raise BadInput(
                f"rack.switch.groups.{own}: SONiC has its sizes in a profile of a pool; say rack.switch.pool"
            )
        return {}
    pool = {"type": "both", "mode": "dynamic", "size": _bytes("rack.switch.pool.size", switch.pool.size)}
    if switch.pool.headroom:
        pool["xoff"] = _bytes("rack.switch.pool.headroom", switch.pool.headroom)
    held = {f"queue{number}": _held(f"rack.switch.queues.{number}", queue.reserved, queue.alpha, queue.static)
            for number, queue in queues.items()}  # fmt: skip
    for number in queues:
        if switch.trim and number != switch.trim.queue:
            held[f"queue{number}"]["packet_discard_action"] = "trim"
    groups = {number: _group(number, group) for number, group in switch.groups.items()}
    profiles = {**held, **{f"pg{number}": group for number, group in groups.items() if group}}
    return {
        "BUFFER_POOL": {POOL: pool},
        "BUFFER_PROFILE": {name: {"pool": POOL, **fields} for name, fields in profiles.items()},
        "BUFFER_QUEUE": _each(names, {number: {"profile": f"queue{number}"} for number in queues}),
        "BUFFER_PG": _each(names, {number: {"profile": f"pg{number}"} for number, group in groups.items() if group}),
    }


def _held(place: str, reserved: float, alpha: float | None, static: float | None) -> dict[str, str]:
    found = {"size": _bytes(f"{place}.reserved", reserved)}
    if static is not None:
        found["static_th"] = _bytes(place, static)
    if alpha is not None:
        exponent = math.log2(alpha)
        if exponent != round(exponent) or not ALPHAS[0] <= exponent <= ALPHAS[1]:
            raise BadInput(f"{place}.alpha: {alpha:g}; SONiC has powers of 2 from 1/256 to 128")
        found["dynamic_th"] = str(round(exponent))
    return found


def _held_by(group: GroupSettings) -> bool:
    """Whether it says anything that SONiC has in a profile."""
    sizes = (group.alpha, group.xoff, group.xon, group.xon_offset)
    return any(size is not None for size in sizes) or bool(group.reserved) or group.headroom != "auto"


def _group(number: int, group: GroupSettings) -> dict[str, str]:
    """Nothing for one that SONiC is to make itself."""
    if not _held_by(group):
        return {}
    place = f"rack.switch.groups.{number}"
    found = _held(place, group.reserved, group.alpha, group.xoff)
    if not group.pfc:
        return found
    if isinstance(group.headroom, str):
        found["headroom_type"] = "dynamic"
    else:
        found["xoff"] = _bytes(f"{place}.headroom", group.headroom)
    sizes = {"xon": group.xon, "xon_offset": group.xon_offset}
    return found | {key: _bytes(f"{place}.{key}", size) for key, size in sizes.items() if size is not None}


def _trimming(switch: Switch) -> dict[str, Table]:
    if switch.trim is None:
        return {}
    if switch.pool is None:
        raise BadInput("rack.switch.trim: SONiC says it in profiles of a pool; say rack.switch.pool")
    size = _bytes("rack.switch.trim.size", switch.trim.size)
    numbers = {"dscp_value": str(switch.trim.dscp), "queue_index": str(switch.trim.queue)}
    return {"SWITCH_TRIMMING": {"GLOBAL": {"size": size, **numbers}}}


def _pfc(switch: Switch, names: Iterable[str]) -> dict[str, Table]:
    return {"PFC_WD": {name: _watchdog(switch.watchdog) for name in names}} if switch.watchdog else {}


def _watchdog(one: Watchdog) -> dict[str, str]:
    times = {"detection_time": one.detection, "restoration_time": one.restoration}
    place = "rack.switch.watchdog"
    return {"action": one.action, **{key: _whole(f"{place}.{key.removesuffix('_time')}", time * 1e3, "ms")
                                     for key, time in times.items() if time is not None}}  # fmt: skip


def _each(names: Iterable[str], entries: Mapping[int, dict[str, str]]) -> Table:
    return {f"{name}|{number}": fields for name in names for number, fields in sorted(entries.items())}


def _bytes(place: str, size: float) -> str:
    return _whole(place, size, "B")


def _whole(place: str, value: float, unit: str) -> str:
    if not math.isclose(value, round(value), rel_tol=1e-9, abs_tol=1e-9):
        raise BadInput(f"{place}: {value:g} {unit}; SONiC has whole numbers of {unit}")
    return str(round(value))
