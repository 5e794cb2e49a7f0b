"""SONiC's RoCEv2 test plan: eleven cases of ports at one rate, 4 kB of MTU.

What the plan runs for minutes runs for milliseconds here. A rank is a host, a QP is a flow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from testbed.runs.plans.case import Case, Expectation, TestPlan, Trial, alike, none, some
from testbed.runs.plans.fabric import failover, hashing, qos, share_by_weight, spraying
from testbed.runs.plans.observed import Observed, apart
from testbed.runs.plans.rack import MTU, experiment, flow, like
from testbed.runs.plans.switch import Block, Switch, sized
from testbed.units import show_rate

MOST_PAUSES = 100  # PFC frames that DCQCN may need
DCQCN = "dcqcn"
LONG = ("10 ms", "5 ms")  # until DCQCN has settled


def _elsewhere(switch: Switch) -> list[str]:
    """A sender whose pauses nobody sees."""
    flows = "packets=[{{of: {{hosts: [h2, h5]}}, dscp: {}}}, {{of: {{hosts: [h3]}}, dscp: {}}}]"
    return [
        "rack.hosts=5",
        "traffic.flows.0.src=h5",
        flows.format(*map(switch.dscp, switch.data[:: len(switch.lossless)])),
    ]


def _not_lossless(switch: Switch) -> list[str]:
    """Nothing is, and nobody slows down."""
    off = [f"rack.switch.groups.{switch.group(one)}.pfc=off" for one in switch.lossless]
    return [*off, "controller={name: fixed}"]


def _naks(breaks: Sequence[str]) -> Expectation:
    return none("NAKs of lossless packets", lambda seen: seen.count("naks", "lossless"), breaks)


def _lost(switch: Switch) -> Expectation:
    """Retransmitted by the sender, or dropped by the switch."""

    def lost(seen: Observed) -> float:
        return seen.count("lost_packets", "lossless") + seen.total("dropped_packets", switch.lossless)

    return none("lossless packets lost", lost, _not_lossless(switch))


def _clean() -> list[Expectation]:
    congested = ["traffic.flows.1.dst=h3", "traffic.ecn=on", "controller=dcqcn"]
    return [
        none("packets marked CE", lambda seen: seen.total("marked_packets", range(8)), congested),
        none("CNPs", lambda seen: seen.count("cnps"), congested),
    ]


def _acks_alike(switch: Switch) -> Expectation:
    """Those that their queue has sent, and those that senders have got."""
    return _answers_alike("ACKs", switch.acks, switch.alone(switch.acks, "ACKs"), "acked_packets")


def _cnps_alike(switch: Switch) -> Expectation:
    return _answers_alike("CNPs", switch.cnps, switch.alone(switch.cnps, "CNPs"), "cnps")


def _answers_alike(name: str, queue: int, missing: str, column: str) -> Expectation:
    def differ(seen: Observed) -> float:
        return apart(seen.total("tx_packets", [queue]), seen.count(column))

    elsewhere = [f"rack.nic.{name[:-1].lower()}_dscp=8"]  # with data
    return alike(f"{name} counted in queue {queue} and those received", differ, 2, elsewhere, missing)


def _no_congestion(switch: Switch) -> Sequence[Trial]:
    switch.need(lossless=1)
    flows = [flow(1, 3, switch.lossless[0]), *(flow(2, 4, queue) for queue in switch.lossy)]
    other = [f"traffic.flows.{number}.dst=h3" for number in range(1, len(flows))]
    made = experiment(switch, flows, ecn=False, lossless=True) | {"transport": _messages("1 MiB")}
    return [
        Trial("", made, [
            _naks(["rack.link.loss=1 %"]),
            none("packets lost", lambda seen: seen.count("lost_packets"), [*other, "rack.switch.pool.size=2 MB"]),
            *_clean(),
            none("PFC frames", lambda seen: seen.pauses, other),
            _acks_alike(switch),
            Expectation("longest wait", lambda seen: seen.late(), unit=" ns"),
        ])
    ]  # fmt: skip


def _messages(size: str) -> Block:
    """RC SENDs of a NIC that goes back."""
    return {"recovery": "go-back-n", "messages": size}


def _incast(switch: Switch) -> Sequence[Trial]:
    switch.need(lossless=1)
    lossy = [flow(3, 4, queue) for queue in switch.lossy]
    calm = ["controller.rate=20 %"]
    found, (first, *more) = [], switch.lossless
    for name, two, small in (
        (f"a: two ranks in {first}", first, False),
        *((f"b: ranks in {first} and {one}", one, False) for one in more[:1]),
        *((f"c: the same, with messages of 4 kB in {one}", one, True) for one in more[:1]),
    ):
        backlogged = sorted({*switch.lossy, first, two})
        paused = sorted({switch.group(one) for one in (first, two)})
        others = [group for group in range(8) if group not in paused]
        made = experiment(switch, [flow(1, 4, first), flow(2, 4, two), *lossy], ecn=False, lossless=True)
        made["transport"] = _messages("128 KiB")
        if small:
            made["packets"].append({"of": {"hosts": ["h2"]}, "messages": f"{MTU} B"})
        found.append(
            Trial(name, made, [
                _lost(switch), _naks(_not_lossless(switch)), *_clean(),
                Expectation("lossy packets dropped", lambda seen: seen.total("dropped_packets", switch.lossy), least=1,
                            breaks=calm, missing="" if lossy else "this switch has no lossy queue"),
                *(some(f"PFC frames of priority {group}", partial(Observed.paused, priorities=[group]), calm)
                  for group in paused),
                none("PFC frames of other priorities", partial(Observed.paused, priorities=others),
                     ["rack.switch.groups.0={pfc: on, alpha: 0.03}"]),
                alike("PFC frames that hosts got and those that the switch sent",
                      lambda seen: apart(seen.pauses_seen, seen.pauses), 2, _elsewhere(switch)),
                *(share_by_weight(switch, queue, backlogged, "h4") for queue in backlogged),
            ], [f"nic:h{host}" for host in (1, 2, 3)])
        )  # fmt: skip
    one = "this switch has one lossless queue"
    return [*found, *([] if more else [Trial(f"{name}: ranks in two queues", missing=one) for name in "bc"])]


def _few_pauses() -> Expectation:
    return Expectation("PFC frames", lambda seen: seen.pauses, most=MOST_PAUSES, breaks=["controller={name: fixed}"])


def _dcqcn(switch: Switch) -> Sequence[Trial]:
    """Marked by the switch; and with all data marked before it comes there."""
    switch.need(lossless=1)
    one, two = switch.lossless[0], switch.lossless[-1]
    flows = [flow(1, 4, one), flow(2, 4, two), flow(3, 4, one)]
    off = ["traffic.ecn=off"]
    made = experiment(switch, flows, ecn=True, controller=DCQCN, time=LONG, lossless=True)
    made["transport"] = {"recovery": "go-back-n"}
    marked = {**made, "traffic": {**made["traffic"], "ecn": "ce"}}
    return [
        Trial("", made, [
            _lost(switch), _naks(_not_lossless(switch)), _few_pauses(),
            *(some(f"packets marked CE in {queue}", _marked_in(queue), off) for queue in sorted({one, two})),
            _cnps_alike(switch), _acks_alike(switch),
        ]),
        Trial("all data CE", marked, [
            _lost(switch), _naks(_not_lossless(switch)), _few_pauses(),
            alike("packets that came with CE and all that came", _came_with_ce, 0, ["traffic.ecn=on"]),
            _cnps_alike(switch), _acks_alike(switch),
        ]),
    ]  # fmt: skip


def _came_with_ce(seen: Observed) -> float:
    return apart(seen.count("ce_packets"), seen.count("delivered_packets"))


def _marked_in(queue: int) -> Callable[[Observed], float]:
    return lambda seen: seen.total("marked_packets", [queue])


def _storage(switch: Switch) -> Sequence[Trial]:
    """Messages of 1 MiB, one behind the other."""
    switch.need(lossless=1)
    one, two = switch.lossless[0], switch.lossless[-1]
    ranks = [flow(1, 4, one), flow(2, 4, one), flow(3, 4, two)]
    noted = [
        Expectation("goodput of all ranks", lambda seen: float(seen.rates().sum() / 1e9), unit=" Gbit/s"),
        *(
            Expectation(f"{name} of a message's time", partial(_message, share=share), unit=" us")
            for name, share in (("p50", 0.5), ("p99", 0.99))
        ),
    ]
    off = experiment(switch, ranks, ecn=True, lossless=True)
    on = experiment(switch, ranks, ecn=True, controller=DCQCN, time=LONG, lossless=True)
    for made in (off, on):
        made["transport"] = _messages("1 MiB")
    return [
        Trial("DCQCN off", off, [
            _lost(switch), some("PFC frames", lambda seen: seen.pauses, ["controller.rate=20 %"]), *noted,
        ]),
        Trial("DCQCN on", on, [_lost(switch), _few_pauses(), *noted]),
    ]  # fmt: skip


def _message(seen: Observed, share: float) -> float:
    """How long a message took, in us."""
    return seen.record.message_histogram.quantile(share) * 1e6


def _slow_receivers(switch: Switch) -> Sequence[Trial]:
    """Receivers take a tenth of the line: they pause the switch for the rest of the time, and it pauses the senders."""
    switch.need(lossless=1)
    queue, slow, receivers = switch.lossless[0], 0.1 * switch.rate, ("h3", "h4")
    made = experiment(switch, [flow(1, 3, queue), flow(2, 4, queue)], ecn=True, lossless=True)
    buffer = {"rate": show_rate(slow), "xoff": sized(200, switch.rate), "hosts": [*receivers]}
    made["rack"]["nic"]["receive"] = buffer
    fast, faster = (f"rack.nic.receive.rate={show_rate(times * slow)}" for times in (10, 2))
    group, other = switch.group(queue), switch.dscp(switch.lossless[-1])
    others = [one for one in range(8) if one != group]
    return [
        Trial("", made, [
            none("lossless packets lost", lambda seen: seen.count("lost_packets", "lossless"), ["rack.link.loss=1 %"]),
            *(Expectation(f"time for which {host} held queue {queue}", partial(Observed.held, queue=queue, host=host),
                          88, 92, " %", [faster]) for host in receivers),
            some("PFC frames from receivers", lambda seen: seen.pauses_seen, [fast]),
            some(f"PFC frames of priority {group} to senders", partial(Observed.paused, priorities=[group]), [fast]),
            none("PFC frames of other priorities", partial(Observed.paused, priorities=others),
                 [f"packets=[{{of: {{hosts: [h1, h2]}}, dscp: {other}}}]"]),
            alike("goodput and what receivers take", partial(_beside, slow=slow), 5, [faster]),
        ], ["port:s1-eth3", "port:s1-eth4"])
    ]  # fmt: skip


def _beside(seen: Observed, slow: float) -> float:
    """By how many % the mean goodput differs from what is in as many bytes of frames."""
    framing = seen.resolved.layout.framing
    return apart(seen.rates().mean(), slow * framing.payload / framing.wire_size)


def _fairness(switch: Switch) -> Sequence[Trial]:
    switch.need(lossless=1)
    found, (one, *more) = [], switch.lossless
    unfair = ["controllers=[{name: fixed, rate: 60 %, of: {hosts: [h1]}}]"]
    for name, queues in (
        (f"in {one}", (one, one, one)),
        *((f"in {one} and {two}, six to one", (one, two) * 3) for two in more[:1]),
    ):
        ranks = len(queues)
        flows = [flow(rank, ranks + 1, queue) for rank, queue in enumerate(queues, start=1)]
        made = experiment(
            switch, flows, ecn=True, controller=DCQCN, time=("20 ms", "10 ms"), lossless=True,
            kind={"kind": "star", "hosts": ranks + 1},
        )  # fmt: skip
        for queue in {*queues} - {one}:  # or ranks of the two would differ by design
            like(made, queue, one)
        found.append(
            Trial(name, made, [
                Expectation("rate of a rank, from the mean", _unfairness, most=30, unit=" %", breaks=unfair),
                _lost(switch),
            ])
        )  # fmt: skip
    return found


def _unfairness(seen: Observed) -> float:
    """By how many % the rate of a rank differs most from the mean."""
    rates = seen.rates()
    return float(np.abs(rates / rates.mean() - 1).max() * 100)


def _control(switch: Switch) -> Sequence[Trial]:
    """Without congestion control, so that the incast's class is paused; what is broadcast has only its ACKs there."""
    switch.need(lossless=1)
    queue = switch.lossless[0]
    incast = [flow(rank, 5, queue, label="incast") for rank in range(1, 5)]
    broadcast = [flow(5, rank, queue, label="broadcast") for rank in range(1, 5)]
    packet = MTU * 8 / switch.rate * 1e9
    held = f"ACKs are in queue {switch.acks}, which is paused" if switch.acks in switch.lossless else ""
    star = {"kind": "star", "hosts": 5}
    found = []
    for name, flows in (("4:1", incast), ("1:4", broadcast), ("both", [*incast, *broadcast])):
        wait = Expectation(
            "longest wait of what is broadcast", lambda seen: seen.late("broadcast"), most=5 * packet, unit=" ns",
            breaks=[f"rack.nic.ack_dscp={switch.dscp(queue)}"], missing=held,
        )  # fmt: skip
        found.append(
            Trial(f"{name}, ACKs in their class", experiment(switch, flows, ecn=True, kind=star, lossless=True), [
                none("timeouts", lambda seen: seen.count("timeouts"), ["transport.timeout=2 us"]),
                _acks_alike(switch),
                *([wait] if flows is not incast and flows is not broadcast else []),
            ])
        )  # fmt: skip
    return found


PLAN = TestPlan(
    name="sonic-rocev2",
    title="SONiC RoCEv2 test plan",
    source="sonic-net/sonic-mgmt: RoCEv2 test plan of Keysight and Microsoft (2026)",
    cases=[
        Case("1", "no congestion", _no_congestion),
        Case("2", "PFC", _incast),
        Case("3", "DCQCN", _dcqcn),
        Case("4", "storage", _storage),
        Case("5", "PFC propagation", _slow_receivers),
        Case("6", "fairness", _fairness),
        Case("7", "hashing", hashing),
        Case("8", "spraying", spraying),
        Case("9", "QoS", qos),
        Case("10", "failover", failover),
        Case("11", "control packets", _control),
    ],
)
