"""The cases of the RoCEv2 plan that need several paths: hashing, spraying, QoS and failover over two leaves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from testbed.runs.plans.case import Expectation, Trial, alike, none, some
from testbed.runs.plans.observed import Observed, apart
from testbed.runs.plans.rack import experiment, flow, leaves
from testbed.runs.plans.switch import Block, Switch

ECMP, SPRAY = {"routing": "ecmp"}, {"routing": "spray"}
EVERY = range(8)
DOWN, UP, END = 1e-3, 2e-3, 3e-3  # s: an uplink fails, and comes back
STAGGERED = 200e-6  # s between the starts of a pair's QPs, all within the warm-up
SETTLED = 200e-6  # s after which it is measured


def hashing(switch: Switch) -> Sequence[Trial]:
    """1, 2 and 4 pairs of ranks over four spines, with one QP and with eight; the eight also one after the other."""
    found = []
    for pairs in (1, 2, 4):
        for qps, apart_by in ((1, 0.0), (8, 0.0), (8, STAGGERED)):
            begins = [f"{qp * apart_by * 1e6:g} us" for qp in range(qps)]
            flows = [
                flow(pair, 4 + pair, switch.data[0], start=begin) for pair in range(1, pairs + 1) for begin in begins
            ]
            share = {"name": "fixed", "rate": f"{60 / qps:g} %"}  # of the host's line
            made = experiment(switch, flows, ecn=False, kind=leaves(4), controller=share) | ECMP
            most = Expectation("uplinks that carry data", _used, most=len(flows), breaks=["routing=spray"])
            least = Expectation("uplinks that carry data", _used, least=2, breaks=["rack.spines=1"])
            found.append(
                Trial(f"{pairs} pairs of {qps} QPs{', staggered' if apart_by else ''}", made, [
                    most if len(flows) < 4 else least,
                    alike("bytes of all uplinks and of the hosts there", _carried, 1, ["traffic.flows.0.dst=h2"]),
                    Expectation("busiest uplink, of the mean", _busiest, unit=" times"),
                    Expectation("slowest QP", lambda seen: float(seen.rates().min() / 1e9), unit=" Gbit/s"),
                ])
            )  # fmt: skip
    return found


def _used(seen: Observed) -> float:
    """Those with ACKs alone carry a fiftieth."""
    carried = seen.uplinks("leaf1")
    return float((carried > 0.1 * carried.max()).sum())


def _carried(seen: Observed) -> float:
    """What the hosts behind the first leaf have sent, and what has left it upwards."""
    wire = seen.resolved.layout.framing.wire_size
    return apart(seen.uplinks("leaf1").sum(), seen.count("sent_packets") * wire)


def _busiest(seen: Observed) -> float:
    carried = seen.uplinks("leaf1")
    return float(carried.max() / carried.mean())


def spraying(switch: Switch) -> Sequence[Trial]:
    """All to all of eight ranks, each flow with a seventh of 80 % of its line."""
    flows = [flow(src, dst, switch.data[0]) for src in range(1, 9) for dst in range(1, 9) if src != dst]
    full, group = ["controller.rate=100 %"], switch.group(switch.data[0])
    share = {"name": "fixed", "rate": "11 %"}
    made = (
        experiment(switch, flows, ecn=True, kind=leaves(4), controller=share, time=("1 ms", "200 us"), lossless=True)
        | SPRAY
    )
    return [
        Trial("", made, [
            none("packets lost", lambda seen: seen.count("lost_packets"),
                 [*full, "rack.switch.pool.size=50 kB", "rack.switch.groups={}"]),
            none("PFC frames", lambda seen: seen.pauses,
                 [*full, "routing=ecmp", f"rack.switch.groups.{group}.alpha=0.01"]),
            none("packets marked CE", lambda seen: seen.total("marked_packets", EVERY), [*full, "routing=ecmp"]),
            Expectation("uplink that carries most, from the mean", _unbalanced, most=8, unit=" %",
                        breaks=["routing=ecmp"]),
        ])
    ]  # fmt: skip


def _unbalanced(seen: Observed) -> float:
    return max(_busiest_of(seen, leaf) for leaf in ("leaf1", "leaf2"))


def _busiest_of(seen: Observed, leaf: str) -> float:
    carried = seen.uplinks(leaf)
    return float((carried.max() / carried.mean() - 1) * 100)


def _events(*verbs: tuple[float, str]) -> Block:
    return {"events": [{"at": f"{at * 1e6:g} us", verb: "leaf1-spine1"} for at, verb in verbs]}


def qos(switch: Switch) -> Sequence[Trial]:
    """Three ranks at full rate in the lossy queues, one in queue 3, and one of two uplinks goes down."""
    switch.need(lossless=1, lossy=1)
    roce = switch.lossless[0]
    no_pfc = f"rack.switch.groups.{switch.group(roce)}.pfc=off"
    background = [flow(4 - at, 8 - at, queue) for at, queue in enumerate(switch.lossy)]
    time = (f"{END * 1e3:g} ms", f"{(DOWN + SETTLED) * 1e3:g} ms")
    made = experiment(switch, [*background, flow(1, 5, roce)], ecn=True, kind=leaves(2), time=time, lossless=True)
    queues = (*switch.lossy, roce)
    return [
        Trial("", made | _events((DOWN, "down")), [
            Expectation("background's rate with one uplink", lambda seen: float(seen.rates("lossy").min() / 1e9),
                        least=1, unit=" Gbit/s", breaks=["rack.spines=1"]),
            none("lossless packets that queues dropped with one uplink",
                 lambda seen: seen.dropped([roce], since=DOWN + SETTLED), [no_pfc]),
            *(share_by_weight(switch, queue, queues, "spine2", " over one uplink") for queue in queues),
        ])
    ]  # fmt: skip


def share_by_weight(switch: Switch, queue: int, backlogged: Sequence[int], to: str, over: str = "") -> Expectation:
    """DWRR among the queues that have packets, at the ports to a switch or host; ``over`` says where."""
    strict = next((one for one in backlogged if switch.strict(one)), None)
    if strict is not None or len(backlogged) < 2:
        missing = "it has no other to share with" if strict is None else f"queue {strict} goes before all that share"
        return Expectation(f"rate of queue {queue}{over} and its share by weight", lambda _: 0, missing=missing)
    share = switch.weight(queue) / sum(switch.weight(one) for one in backlogged)
    other = next(one for one in backlogged if one != queue)
    return alike(
        f"rate of queue {queue}{over} and its share by weight ({share:.1%})",
        lambda seen: apart(seen.sent([queue], [to]) / seen.sent(backlogged, [to]), share),
        2,
        [
            f"rack.switch.queues.{one}.weight={switch.weight(another):g}"
            for one, another in ((queue, other), (other, queue))
        ],
    )


def failover(switch: Switch) -> Sequence[Trial]:
    """Eight flows of three ranks; an uplink goes down, and comes back."""
    flows = [flow(rank, 4 + rank, switch.data[0]) for rank in (1, 2, 3) for _ in range(8)]
    both = _events((DOWN, "down"), (UP, "up"))
    made = experiment(
        switch, flows, ecn=False, kind=leaves(2), time=(f"{END * 1e3:g} ms", "0 s"),
        controller={"name": "fixed", "rate": "3 %"},
    ) | both  # fmt: skip
    silent = [f"events=[{{at: {END * 1e3 - 0.1:g} ms, down: leaf1-spine1}}]"]
    return [
        Trial("", made, [
            none("packets that queues dropped", _dropped, ["controller.rate=100 %"]),
            none("bytes over the uplink that is down", partial(_over, since=DOWN + SETTLED, until=UP), silent),
            some("bytes over it before", partial(_over, since=0.0, until=DOWN), ["events.0.at=0.1 us"]),
            some("bytes over it when it is up again", partial(_over, since=UP + SETTLED, until=END),
                 ["events.1={at: 2 ms, down: leaf2-spine1}"]),
            Expectation("packets lost on it", lambda seen: seen.count("lost_packets")),
        ])
    ]  # fmt: skip


def _dropped(seen: Observed) -> float:
    """What was on the link that failed is lost, and no queue's fault."""
    return seen.dropped(EVERY, until=DOWN) + seen.dropped(EVERY, since=DOWN + SETTLED)


def _over(seen: Observed, since: float, until: float) -> float:
    return float(seen.uplinks("leaf1", since, until)[0])
