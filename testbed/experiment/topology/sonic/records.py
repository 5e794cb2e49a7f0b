"""What single entries of config_db.json say, each read from its entry. Bytes, seconds, bit/s."""

from __future__ import annotations

import re
from dataclasses import dataclass

from testbed.experiment.topology.sonic.entries import Entry
from testbed.experiment.topology.sonic.keys import MOST_QUEUES, reference, several

KINDS = {"DWRR": "dwrr", "WRR": "wrr", "STRICT": "strict"}
SWITCHED = {"true": True, "false": False}
ECN = {
    "ecn_none": False, "ecn_green": True, "ecn_yellow": False, "ecn_red": False, "ecn_green_yellow": True,
    "ecn_green_red": True, "ecn_yellow_red": False, "ecn_all": True,
}  # fmt: skip
DIRECTIONS = {"ingress": "ingress", "egress": "egress", "both": "both"}
MODES = {"static": False, "dynamic": True}
ACTIONS = {"drop": "drop", "forward": "forward", "alert": "alert"}
DISCARDS = {"drop": False, "trim": True}
ALPHAS = (-8, 7)  # exponents of 2
OTHER_COLOUR = re.compile(r"(?<![a-z])(yellow|red)_")


@dataclass(frozen=True)
class Scheduler:
    """When a queue's turn is."""

    kind: str
    weight: int

    @classmethod
    def of(cls, entry: Entry) -> Scheduler:
        """SONiC's defaults are those of SAI."""
        kind, weight = entry.one_of("type", KINDS), entry.whole("weight", 1, 100)
        return cls(kind or "wrr", 1 if weight is None else weight)


@dataclass(frozen=True)
class Wred:
    """RED for green packets: all that there are here."""

    kmin: int
    kmax: int
    pmax: float
    marks: bool  # ECN-capable packets instead of dropping them
    drops: bool

    @classmethod
    def of(cls, entry: Entry) -> Wred:
        """Colours other than green are read, since all profiles have them; where they differ, `differing` says so."""
        kmin, kmax = (entry.whole(f"green_{one}_threshold") for one in ("min", "max"))
        share = entry.whole("green_drop_probability", 0, 100)
        marks, drops = entry.one_of("ecn", ECN) or False, entry.one_of("wred_green_enable", SWITCHED) or False
        if (marks or drops) and kmax is None:
            entry.refuse("green_max_threshold", "is missing; expected bytes")
        if (kmin or 0) > (kmax or 0):
            entry.refuse("green_min_threshold", f"expected at most green_max_threshold ({kmax or 0}), got {kmin}")
        return cls(kmin or 0, kmax or 0, 1.0 if share is None else share / 100, marks, drops)


def differing(entry: Entry) -> list[str]:
    """Fields of other colours that are not as green's."""
    found = []
    for name in entry.fields:
        green = OTHER_COLOUR.sub("green_", name)
        if green != name:
            entry.read.add(name)
            found += [name] if entry.fields[name] != entry.fields.get(green) else []
    return found


@dataclass(frozen=True)
class Pool:
    """Memory that is shared."""

    direction: str
    dynamic: bool
    size: int | None  # None: the switch computes it
    headroom: int  # shared by lossless groups

    @classmethod
    def of(cls, entry: Entry) -> Pool:
        direction, dynamic = entry.one_of("type", DIRECTIONS), entry.one_of("mode", MODES)
        return cls(direction or "both", dynamic is not False, entry.whole("size"), entry.whole("xoff") or 0)


@dataclass(frozen=True)
class Profile:
    """How much a queue or a priority group may hold."""

    pool: str | None
    reserved: int
    exponent: int | None  # of 2: dynamic threshold
    static: int | None
    xon: int | None
    xon_offset: int | None
    headroom: int | None  # SONiC's xoff
    computed: bool  # by the switch: the headroom
    trims: bool  # what finds no room

    @classmethod
    def of(cls, entry: Entry) -> Profile:
        exponent, static = entry.whole("dynamic_th", *ALPHAS), entry.whole("static_th")
        if exponent is not None and static is not None:
            entry.refuse("static_th", "contradicts dynamic_th; expected one of them")
        computed = entry.one_of("headroom_type", MODES) or False
        return cls(
            pool=reference(entry, "pool", "BUFFER_POOL"),
            reserved=entry.whole("size") or 0,
            exponent=exponent,
            static=static,
            xon=entry.whole("xon"),
            xon_offset=entry.whole("xon_offset"),
            headroom=None if computed else entry.whole("xoff"),
            computed=computed,
            trims=entry.one_of("packet_discard_action", DISCARDS) or False,
        )


@dataclass(frozen=True)
class Trimming:
    """What is left of packets that find no room, for all ports."""

    size: int | None
    dscp: int | None  # None: a word, with which the traffic class decides
    queue: int | None  # likewise

    @classmethod
    def of(cls, entry: Entry) -> Trimming:
        dscp = None if entry.text("dscp_value") == "from-tc" else entry.whole("dscp_value", 0, 63)
        queue = None if entry.text("queue_index") == "dynamic" else entry.whole("queue_index", 0, MOST_QUEUES - 1)
        return cls(entry.whole("size", 1), dscp, queue)


@dataclass(frozen=True)
class Watchdog:
    """What happens where a pause does not end."""

    action: str
    detection: float
    restoration: float | None

    @classmethod
    def of(cls, entry: Entry) -> Watchdog:
        """SONiC has milliseconds."""
        detection, restoration = entry.whole("detection_time", 1), entry.whole("restoration_time", 1)
        if detection is None:
            entry.refuse("detection_time", "is missing; expected milliseconds")
        action = entry.one_of("action", ACTIONS) or "drop"
        return cls(action, detection / 1e3, None if restoration is None else restoration / 1e3)


@dataclass(frozen=True)
class QosMaps:
    """Which maps a port has, and which of its priorities are lossless."""

    dscp_to_tc: str | None = None
    tc_to_queue: str | None = None
    tc_to_group: str | None = None
    pfc_to_queue: str | None = None
    pfc: tuple[int, ...] = ()

    @classmethod
    def of(cls, entry: Entry) -> QosMaps:
        pfc = entry.text("pfc_enable")
        return cls(
            dscp_to_tc=reference(entry, "dscp_to_tc_map", "DSCP_TO_TC_MAP"),
            tc_to_queue=reference(entry, "tc_to_queue_map", "TC_TO_QUEUE_MAP"),
            tc_to_group=reference(entry, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
            pfc_to_queue=reference(entry, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
            pfc=tuple(sorted(set(several(entry, "pfc_enable", pfc)))) if pfc else (),
        )


@dataclass(frozen=True)
class QueueChoice:
    """Which scheduler and which RED a queue has."""

    scheduler: str | None
    wred: str | None

    @classmethod
    def of(cls, entry: Entry) -> QueueChoice:
        return cls(reference(entry, "scheduler", "SCHEDULER"), reference(entry, "wred_profile", "WRED_PROFILE"))
