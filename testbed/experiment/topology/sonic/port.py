"""What one port of a SONiC switch is made of, as the keys of `rack.switch` and as an experiment file would say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testbed.experiment.topology.dscp import DSCPS
from testbed.experiment.topology.queues import QUEUES
from testbed.experiment.topology.sonic.config import SonicConfig
from testbed.experiment.topology.sonic.records import Profile, QosMaps, Wred
from testbed.experiment.topology.trim import LEAST_SIZE, MOST_SIZE
from testbed.units import RATIO_UNITS, SIZE_UNITS, TIME_UNITS, exactly

Settings = dict[str, Any]
DEFAULT_TC = 0  # of a DSCP that no map has, as in SAI


class PortReader:
    """Reads one port; ``notes`` has what its tables say and a switch of the testbed cannot be."""

    def __init__(self, config: SonicConfig, port: str) -> None:
        self._config, self._port = config, port
        self._qos = config.ports.get(port, QosMaps())
        self.notes: list[str] = []

    def settings(self) -> Settings:
        """Keys of `rack.switch`."""
        classes = self._classes()
        used = sorted({one["queue"] for one in classes.values()})
        groups = sorted({one["group"] for one in classes.values()})
        found: Settings = {"classes": classes, "queues": {str(number): self._queue(number) for number in used}}
        self._check_pauses(classes)
        if held := {str(number): one for number in groups if (one := self._group(number))}:
            found["groups"] = held
        if pool := self._pool(groups):
            found["pool"] = pool
        if trim := self._trim(classes):
            found["trim"] = trim
        if watchdog := self._watchdog():
            found["watchdog"] = watchdog
        idle = [number for port, number in self._config.queues if port == self._port and number not in used]
        if idle:
            self.notes.append(f"QUEUE|{self._port}|{','.join(map(str, idle))}: no class comes into it")
        if unused := [str(one) for one in self._qos.pfc if one not in groups]:
            self.notes.append(f"PORT_QOS_MAP|{self._port}: pfc_enable {','.join(unused)}: no class has this priority")
        return found

    def _map(self, table: str, field: str) -> Mapping[int, int] | None:
        """The map that the port has, or all ports; one that no port is said to have is everybody's."""
        name = getattr(self._qos, field) or getattr(self._config.usual, field)
        every = self._config.maps[table]
        if name is None and "PORT_QOS_MAP" not in self._config.tables and len(every) == 1:
            return next(iter(every.values()))
        return every.get(name) if name is not None else None

    def _classes(self) -> dict[str, Settings]:
        classes = self._map("DSCP_TO_TC_MAP", "dscp_to_tc") or {}
        queues, groups = (
            self._map("TC_TO_QUEUE_MAP", "tc_to_queue"),
            self._map("TC_TO_PRIORITY_GROUP_MAP", "tc_to_group"),
        )
        of: dict[int, list[int]] = {}
        for dscp in range(DSCPS):
            of.setdefault(classes.get(dscp, DEFAULT_TC), []).append(dscp)
        return {f"tc{one}": {"dscp": of[one], "queue": self._queue_of(queues, one), "group": _at(groups, one)}
                for one in sorted(of)}  # fmt: skip

    def _queue_of(self, queues: Mapping[int, int] | None, traffic_class: int) -> int:
        number = _at(queues, traffic_class)
        if number < QUEUES:
            return number
        self.notes.append(
            f"TC_TO_QUEUE_MAP: traffic class {traffic_class} waits in queue {number} there, here in the last"
        )
        return QUEUES - 1

    def _queue(self, number: int) -> Settings:
        choice = self._config.queues.get((self._port, number))
        found: Settings = {"schedule": "dwrr", "weight": 1, "red": "off"}
        scheduler = self._config.schedulers.get(choice.scheduler) if choice and choice.scheduler else None
        if scheduler and choice:
            if scheduler.kind == "strict":
                found = {"schedule": "strict", "red": "off"}
            else:
                found["weight"] = scheduler.weight
            if scheduler.kind == "wrr":
                self.notes.append(f"SCHEDULER|{choice.scheduler}: WRR, in packets, is taken as DWRR, in bytes")
        wred = self._config.wred.get(choice.wred) if choice and choice.wred else None
        if wred and choice and choice.wred:
            found |= self._red(choice.wred, wred)
        return found | self._held(self._config.queue_buffers.get((self._port, number)), "static")

    def _red(self, name: str, wred: Wred) -> Settings:
        if not wred.marks:
            if wred.drops:
                self.notes.append(f"WRED_PROFILE|{name}: drops without ECN, which no queue here does")
            return {}
        sizes = {one: exactly(getattr(wred, one), SIZE_UNITS) for one in ("kmin", "kmax")}
        red = {**sizes, "pmax": float(exactly(wred.pmax, RATIO_UNITS))}
        return {"red": red, "wred": "on" if wred.drops else "off"}

    def _held(self, name: str | None, static: str) -> Settings:
        """What a profile says of thresholds and reserved bytes."""
        profile = self._config.profiles.get(name) if name else None
        if profile is None:
            return {}
        found: Settings = {"reserved": exactly(profile.reserved, SIZE_UNITS)} if profile.reserved else {}
        if profile.exponent is not None:
            found["alpha"] = 2.0**profile.exponent
        if profile.static is not None:
            found[static] = exactly(profile.static, SIZE_UNITS)
        return found

    def _group(self, number: int) -> Settings:
        lossless = number in self._qos.pfc
        name = self._config.group_buffers.get((self._port, number))
        profile = self._config.profiles.get(name) if name else None
        found = self._held(name, "xoff")
        if not lossless:
            return found
        found = {"pfc": "on", **found}
        if profile is None or (profile.headroom is None and not profile.computed):
            self.notes.append(
                f"BUFFER_PG|{self._port}|{number}: no xoff, which a switch computes itself: as 'auto' here"
            )
        return found | _hysteresis(profile)

    def _pool(self, groups: list[int]) -> Settings:
        """The pool of the lossless groups, or else of the others: here it is one for all."""
        order = [*(one for one in groups if one in self._qos.pfc), *groups]
        names = [self._config.group_buffers.get((self._port, one)) for one in order]
        pools = [self._config.profiles[one].pool for one in names if one in self._config.profiles]
        ingress = [name for name, pool in self._config.pools.items() if pool.direction != "egress"]
        empty = {name for name, pool in self._config.pools.items() if pool.size == 0}  # of ports that are down
        chosen = next((one for one in [*pools, *ingress] if one in self._config.pools and one not in empty), None)
        if chosen is None:
            return {}
        pool = self._config.pools[chosen]
        others = [f"{name} of {exactly(one.size or 0, SIZE_UNITS)}" for name, one in self._config.pools.items()
                  if name != chosen and one.size != pool.size]  # fmt: skip
        if others:
            self.notes.append(f"BUFFER_POOL|{chosen}: the one pool here; sizes that bind nothing: {', '.join(others)}")
        if pool.size is None:
            return {}
        found = {"size": exactly(pool.size, SIZE_UNITS)}
        return found | ({"headroom": exactly(pool.headroom, SIZE_UNITS)} if pool.headroom else {})

    def _trim(self, classes: Mapping[str, Settings]) -> Settings:
        """As SWITCH_TRIMMING says, if a profile of any queue wants it; here all queues are trimmed then."""
        names = {one["queue"]: self._config.queue_buffers.get((self._port, one["queue"])) for one in classes.values()}
        wanted = {queue: bool(name and name in self._config.profiles and self._config.profiles[name].trims)
                  for queue, name in names.items()}  # fmt: skip
        trim = self._config.trimming
        if trim is None or not any(wanted.values()):
            return {}
        place = "SWITCH_TRIMMING|GLOBAL"
        if trim.size is None or trim.dscp is None or trim.queue is None:
            self.notes.append(f"{place}: left out; here it needs size, dscp_value and queue_index as numbers")
            return {}
        queue = next(one["queue"] for one in classes.values() if trim.dscp in one["dscp"])
        if queue != trim.queue:
            self.notes.append(f"{place}: left out; DSCP {trim.dscp} waits in queue {queue} of the next switch")
            return {}
        if not LEAST_SIZE <= trim.size <= MOST_SIZE:
            self.notes.append(f"{place}: left out; size {trim.size}, and here it is {LEAST_SIZE} to {MOST_SIZE}")
            return {}
        others = [str(one) for one, trims in wanted.items() if not trims and one != queue]
        if others:
            self.notes.append(f"{place}: here queues {', '.join(others)} are trimmed as well")
        return {"size": exactly(trim.size, SIZE_UNITS), "dscp": trim.dscp, "queue": queue}

    def _watchdog(self) -> Settings:
        one = self._config.watchdogs.get(self._port)
        if one is None:
            return {}
        if one.action == "alert":
            self.notes.append(f"PFC_WD|{self._port}: 'alert' changes nothing of the traffic")
            return {}
        times = {"detection": one.detection, "restoration": one.restoration}
        return {"action": one.action, **{key: exactly(t, TIME_UNITS) for key, t in times.items() if t is not None}}

    def _check_pauses(self, classes: Mapping[str, Settings]) -> None:
        """A pause of a priority stops the queues of its group here, wherever packets of that group wait."""
        paused = self._map("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue") or {}
        for priority in self._qos.pfc:
            mine = {one["queue"] for one in classes.values() if one["group"] == priority}
            if mine and {paused.get(priority, priority)} != mine:
                said = paused.get(priority, priority)
                self.notes.append(
                    f"MAP_PFC_PRIORITY_TO_QUEUE: priority {priority} pauses queue {said} there; here it pauses the "
                    f"queues of its group: {', '.join(map(str, sorted(mine)))}"
                )


def _hysteresis(profile: Profile | None) -> Settings:
    if profile is None:
        return {"headroom": "auto"}
    sizes = {"headroom": profile.headroom, "xon": profile.xon, "xon_offset": profile.xon_offset}
    return {"headroom": "auto", **{key: exactly(size, SIZE_UNITS) for key, size in sizes.items() if size is not None}}


def _at(numbers: Mapping[int, int] | None, traffic_class: int) -> int:
    """The queue or group of a traffic class; without a map it has its own number."""
    return min(traffic_class, QUEUES - 1) if numbers is None else numbers.get(traffic_class, 0)
