"""Racks around the switch under test, and flows through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from testbed.runs.plans.switch import ACKS, CNPS, DSCP, Block, Switch

FULL = {"name": "fixed", "rate": "100 %"}
MTU = 4096  # bytes
LENGTH = ("10 ms", "2 ms")  # of a run, and from when on it counts, where a case says nothing else
STAR: Block = {"kind": "star", "hosts": 4}
SHARED = ("groups", "pool")  # what the plan's own switch has only where PFC matters


def leaves(spines: int) -> Block:
    """Two leaves of four hosts."""
    return {"kind": "leaf-spine", "leaves": 2, "spines": spines, "hosts_per_leaf": 4}


def rack(switch: Switch, kind: Block, *, lossless: bool) -> Block:
    """``lossless``: with one buffer for all ports, and PFC."""
    tables = deepcopy(switch.tables)
    if not (lossless or switch.given):
        for one in SHARED:
            del tables[one]
        for queue in tables["queues"].values():
            queue.pop("alpha", None)
    own = {"uplink": switch.link} if kind["kind"] == "leaf-spine" else {}
    return {
        **kind, **own, "switch": tables, "link": switch.link,
        "nic": {"ack_dscp": DSCP[ACKS], "cnp_dscp": DSCP[CNPS]},
    }  # fmt: skip


def experiment(
    switch: Switch,
    flows: Sequence[Mapping[str, Any]],
    *,
    ecn: bool,
    controller: str | Mapping[str, Any] = FULL,
    time: tuple[str, str] = LENGTH,
    kind: Block = STAR,
    lossless: bool = False,
) -> Block:
    """Flows through it, each with the number of its ``queue``; ``time``: how long, and from when on it counts."""
    named = [{"label": "lossless" if one["queue"] in switch.lossless else "lossy", **one} for one in flows]
    listed = [{key: value for key, value in one.items() if key != "queue"} for one in named]
    packets = [
        {"of": {"flows": [n for n, one in enumerate(flows) if one["queue"] == queue]}, "dscp": switch.dscp(queue)}
        for queue in dict.fromkeys(one["queue"] for one in flows)
    ]
    return {
        "rack": rack(switch, kind, lossless=lossless),
        "traffic": {"pattern": "flows", "payload": f"{MTU} B", "ecn": "on" if ecn else "off", "flows": listed},
        "packets": packets,
        "controller": controller,
        "time": {"duration": time[0], "warmup": time[1]},
        "record": {"interval": "5 us", "decisions": 0, "report": False},
    }


def flow(src: int, dst: int, queue: int, **keys: Any) -> Block:
    """From host to host, endless unless it has a size; labelled as its queue is unless it has a label."""
    return {"src": f"h{src}", "dst": f"h{dst}", "queue": queue, **keys}


def own_queue(made: Block, number: int) -> Block:
    """A queue's block in an experiment, to be changed there."""
    queues: dict[Any, Block] = made["rack"]["switch"]["queues"]
    return queues[number if number in queues else str(number)]


def like(made: Block, number: int, other: int) -> None:
    """Let a queue be scheduled as another one is."""
    queue, model = own_queue(made, number), own_queue(made, other)
    for key in ("schedule", "weight"):
        queue.pop(key, None)
        queue |= {key: model[key]} if key in model else {}
