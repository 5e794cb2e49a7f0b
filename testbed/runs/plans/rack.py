"""The switch under test, as operators configure it, and flows through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from testbed.units import show_rate

Block = dict[str, Any]  # of an experiment file
LOSSY, LOSSLESS, CNPS, ACKS = (0, 1, 2), (3, 4), 5, 6  # queues
DSCP = {0: 8, 1: 9, 2: 10, 3: 3, 4: 4, CNPS: 48, ACKS: 46}  # of each queue's class
WEIGHT = {0: 10, 1: 15, 2: 20, 3: 25, 4: 30}
KMIN, KMAX, PMAX = 100, 400, "20 %"  # kB at 100 Gbit/s; all sizes grow with the rate
POOL = 16_000  # kB
ALPHA = {"lossless": 0.125, "lossy": 0.5}
FULL = {"name": "fixed", "rate": "100 %"}
MTU = 4096  # bytes
LENGTH = ("10 ms", "2 ms")  # of a run, and from when on it counts, where a case says nothing else
STAR: Block = {"kind": "star", "hosts": 4}


def leaves(spines: int) -> Block:
    """Two leaves of four hosts."""
    return {"kind": "leaf-spine", "leaves": 2, "spines": spines, "hosts_per_leaf": 4}


def sized(kilobytes: float, rate: float) -> str:
    """Grown with the rate."""
    return f"{kilobytes * rate / 100e9:g} kB"


def rack(rate: float, kind: Block, *, lossless: bool) -> Block:
    """Queues 3 and 4 with ECN, three without, CNPs and ACKs before all of them.

    ``lossless``: one buffer for all ports, and PFC for 3 and 4.
    """
    red = {"kmin": sized(KMIN, rate), "kmax": sized(KMAX, rate), "pmax": PMAX}
    queues: dict[int, Block] = {one: {"weight": WEIGHT[one], "red": "off"} for one in LOSSY}
    queues |= {one: {"weight": WEIGHT[one], "red": dict(red)} for one in LOSSLESS}
    queues |= {one: {"schedule": "strict", "red": "off"} for one in (CNPS, ACKS)}
    classes = {
        f"tc{one}": {"dscp": dscp, "queue": one, "group": one if one in LOSSLESS else 0} for one, dscp in DSCP.items()
    }
    switch: Block = {"classes": classes, "default_class": "tc0", "queues": queues}
    if lossless:
        switch["groups"] = {one: {"pfc": "on", "alpha": ALPHA["lossless"]} for one in LOSSLESS}
        switch["pool"] = {"size": sized(POOL, rate)}
        for one in LOSSY:
            queues[one]["alpha"] = ALPHA["lossy"]
    link = {"rate": show_rate(rate), "delay": "500 ns"}
    own = {"uplink": link} if kind["kind"] == "leaf-spine" else {}
    return {
        **kind, **own, "switch": switch, "link": link, "nic": {"ack_dscp": DSCP[ACKS], "cnp_dscp": DSCP[CNPS]},
    }  # fmt: skip


def experiment(
    rate: float,
    flows: Sequence[Mapping[str, Any]],
    *,
    ecn: bool,
    controller: str | Mapping[str, Any] = FULL,
    time: tuple[str, str] = LENGTH,
    kind: Block = STAR,
    lossless: bool = False,
) -> Block:
    """Flows through it, each with the number of its ``queue``; ``time``: how long, and from when on it counts."""
    listed = [{key: value for key, value in one.items() if key != "queue"} for one in flows]
    packets = [
        {"of": {"flows": [n for n, one in enumerate(flows) if one["queue"] == queue]}, "dscp": DSCP[queue]}
        for queue in dict.fromkeys(one["queue"] for one in flows)
    ]
    return {
        "rack": rack(rate, kind, lossless=lossless),
        "traffic": {"pattern": "flows", "payload": f"{MTU} B", "ecn": "on" if ecn else "off", "flows": listed},
        "packets": packets,
        "controller": controller,
        "time": {"duration": time[0], "warmup": time[1]},
        "record": {"interval": "5 us", "decisions": 0, "report": False},
    }


def flow(src: int, dst: int, queue: int, label: str = "", **keys: Any) -> Block:
    """From host to host, endless unless it has a size; named for what its queue is unless it has a label."""
    kind = "lossless" if queue in LOSSLESS else "lossy"
    return {"src": f"h{src}", "dst": f"h{dst}", "queue": queue, "label": label or kind, **keys}
