"""The switch under test: the plan's own, or one that a config_db.json describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from testbed.experiment.configured import configure
from testbed.experiment.document import Document
from testbed.units import RATE_UNITS, SIZE_UNITS, parse, show_rate

Block = dict[str, Any]  # of an experiment file
LOSSY, LOSSLESS, CNPS, ACKS = (0, 1, 2), (3, 4), 5, 6  # queues of the plan's own
DSCP = {0: 8, 1: 9, 2: 10, 3: 3, 4: 4, CNPS: 48, ACKS: 46}  # of each queue's class
WEIGHT = {0: 10, 1: 15, 2: 20, 3: 25, 4: 30}
KMIN, KMAX, PMAX = 100, 400, "20 %"  # kB at 100 Gbit/s; all sizes grow with the rate
POOL = 16_000  # kB
ALPHA = {"lossless": 0.125, "lossy": 0.5}


class NotApplicable(Exception):
    """The switch has no such queues: the message says which a case needs."""


@dataclass(frozen=True)
class Switch:
    """``tables``: its block of `rack.switch`; ``link``: of all its ports, at ``rate`` bit/s."""

    rate: float
    tables: Block
    link: Block
    given: bool = False  # by a user: nothing of it is left out where a case does without

    @classmethod
    def own(cls, rate: float) -> Switch:
        """Queues 3 and 4 with ECN and PFC, three without, CNPs and ACKs before all of them; one buffer."""
        red = {"kmin": sized(KMIN, rate), "kmax": sized(KMAX, rate), "pmax": PMAX}
        queues: dict[int, Block] = {
            one: {"weight": WEIGHT[one], "red": "off", "alpha": ALPHA["lossy"]} for one in LOSSY
        }
        queues |= {one: {"weight": WEIGHT[one], "red": dict(red)} for one in LOSSLESS}
        queues |= {one: {"schedule": "strict", "red": "off"} for one in (CNPS, ACKS)}
        classes = {
            f"tc{one}": {"dscp": dscp, "queue": one, "group": one if one in LOSSLESS else 0}
            for one, dscp in DSCP.items()
        }
        tables: Block = {
            "classes": classes, "queues": queues,
            "groups": {one: {"pfc": "on", "alpha": ALPHA["lossless"]} for one in LOSSLESS},
            "pool": {"size": sized(POOL, rate)},
        }  # fmt: skip
        return cls(rate, tables, {"rate": show_rate(rate), "delay": "500 ns"})

    def at(self, rate: float) -> Switch:
        """The same tables at another line rate."""
        return replace(self, rate=rate, link={**self.link, "rate": show_rate(rate)})

    @cached_property
    def lossless(self) -> tuple[int, ...]:
        """Queues whose groups may pause."""
        return tuple(one for one in self._queues if self._block("groups", self.group(one)).get("pfc") == "on")

    @cached_property
    def lossy(self) -> tuple[int, ...]:
        """Up to three that share by weight and are not for ACKs or CNPs alone."""
        answers = {DSCP[ACKS], DSCP[CNPS]}
        return tuple(
            one for one in self._queues
            if one not in self.lossless and not self.strict(one) and not answers.issuperset(self._leading(one))
        )[: len(LOSSY)]  # fmt: skip

    @property
    def data(self) -> tuple[int, ...]:
        """What a case takes that is the same in any queue: lossless ones first."""
        found = (*self.lossless, *self.lossy)
        if not found:
            raise NotApplicable("all queues of this switch are strict and lossy")
        return found

    @property
    def marked(self) -> tuple[int, ...]:
        """With RED or ECN."""
        return tuple(one for one in self.data if isinstance(self.queue(one).get("red"), dict))

    @property
    def acks(self) -> int:
        """The queue of the plan's DSCP for ACKs."""
        return self._queue_of(DSCP[ACKS])

    @property
    def cnps(self) -> int:
        """The same for CNPs."""
        return self._queue_of(DSCP[CNPS])

    def queue(self, number: int) -> Block:
        """Its block."""
        return self._block("queues", number)

    def strict(self, number: int) -> bool:
        """Whether it goes before all that share by weight."""
        return bool(self.queue(number).get("schedule") == "strict")

    def weight(self, number: int) -> float:
        """Among those that share."""
        return float(self.queue(number).get("weight", 1))

    def threshold(self, number: int, name: str) -> float:
        """Its `kmin` or `kmax`, in bytes."""
        return parse(self.queue(number)["red"][name], SIZE_UNITS, "a size")

    @property
    def pool(self) -> float:
        """Bytes that ports share, or 0."""
        pool: Block = self.tables.get("pool") or {}
        return parse(pool["size"], SIZE_UNITS, "a size") if "size" in pool else 0.0

    def dscp(self, number: int) -> int:
        """That of the plan if it leads there, or the least that does."""
        leading = self._leading(number)
        return DSCP[number] if DSCP.get(number) in leading else min(leading)

    def group(self, number: int) -> int:
        """Priority group of what comes with that DSCP."""
        return next(int(one.get("group", number)) for one in self._classes if one["queue"] == number)

    def need(self, lossless: int = 0, marked: int = 0, lossy: int = 0) -> None:
        """So many queues of a kind. Raises NotApplicable."""
        for kind, wanted, found in (
            ("lossless", lossless, self.lossless), ("marked", marked, self.marked), ("lossy", lossy, self.lossy),
        ):  # fmt: skip
            if len(found) < wanted:
                raise NotApplicable(f"queues of this switch that are {kind}: {len(found)}; needed: {wanted}")

    def alone(self, number: int, of: str) -> str:
        """Why packets of a queue are not those of its purpose only; empty if they are."""
        others = {*self.data, self.cnps if of == "ACKs" else self.acks}
        return f"{of} share queue {number} with others on this switch" if number in others else ""

    @property
    def _classes(self) -> list[Block]:
        return list(self.tables["classes"].values())

    @cached_property
    def _queues(self) -> list[int]:
        return sorted({int(one["queue"]) for one in self._classes if _listed(one["dscp"])})

    def _leading(self, number: int) -> list[int]:
        """DSCPs."""
        return [dscp for one in self._classes if one["queue"] == number for dscp in _listed(one["dscp"])]

    def _queue_of(self, dscp: int) -> int:
        named = (one for one in self._classes if dscp in _listed(one["dscp"]))
        return int(next(named, self._classes[0])["queue"])  # the first class is that of what none names

    def _block(self, kind: str, number: int) -> Block:
        blocks: Mapping[Any, Block] = self.tables.get(kind, {})
        return blocks.get(number) or blocks.get(str(number)) or {}


def of_config(file: Path) -> tuple[Switch, list[str]]:
    """As a config_db.json has it, and what was taken of which tables; rate 0 if it does not say. Raises BadInput."""
    document = Document("--switch", {"rack": {"switch": {"config": str(file)}}})
    told = configure(document)
    rack = document.data["rack"]
    tables, link = rack["switch"], {"delay": "500 ns", **rack.get("link", {})}
    rate = parse(link["rate"], RATE_UNITS, "a rate") if "rate" in link else 0.0
    return Switch(rate, tables, link, given=True), told


def _listed(dscp: Any) -> list[int]:
    return dscp if isinstance(dscp, list) else [dscp]


def sized(kilobytes: float, rate: float) -> str:
    """Grown with the rate."""
    return f"{kilobytes * rate / 100e9:g} kB"
