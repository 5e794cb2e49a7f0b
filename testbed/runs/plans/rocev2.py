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
from testbed.runs.plans.rack import ACKS, CNPS, LOSSLESS, LOSSY, MTU, experiment, flow

MOST_PAUSES = 100  # PFC frames that DCQCN may need
DCQCN = "dcqcn"
LONG = ("10 ms", "5 ms")  # until DCQCN has settled


NO_PFC = [f"rack.switch.groups.{one}.pfc=off" for one in LOSSLESS]
ELSEWHERE = [  # a sender whose pauses nobody sees
    "rack.hosts=5",
    "traffic.flows.0.src=h5",
    "packets=[{of: {hosts: [h2, h5]}, dscp: 3}, {of: {hosts: [h3]}, dscp: 8}]",
]
UNCONTROLLED = [*NO_PFC, "controller={name: fixed}"]


def _lost() -> Expectation:
    """Retransmitted by the sender, or dropped by the switch."""
    return none("lossless packets lost", _lossless_lost, UNCONTROLLED)


def _lossless_lost(seen: Observed) -> float:
    return seen.count("lost_packets", "lossless") + seen.total("dropped_packets", LOSSLESS)


def _clean() -> list[Expectation]:
    congested = ["traffic.flows.1.dst=h3", "traffic.ecn=on", "controller=dcqcn"]
    return [
        none("packets marked CE", lambda seen: seen.total("marked_packets", range(8)), congested),
        none("CNPs", lambda seen: seen.count("cnps"), congested),
    ]


def _acks_in_their_queue(seen: Observed) -> float:
    """Those that its queue has sent, and those that senders have got."""
    return apart(seen.total("tx_packets", [ACKS]), seen.count("acked_packets"))


def _cnps_in_their_queue(seen: Observed) -> float:
    return apart(seen.total("tx_packets", [CNPS]), seen.count("cnps"))


ACKS_ALIKE = alike("ACKs counted in queue 6 and those received", _acks_in_their_queue, 2, ["rack.nic.ack_dscp=8"])
CNPS_ALIKE = alike("CNPs counted in queue 5 and those received", _cnps_in_their_queue, 2, ["rack.nic.cnp_dscp=8"])


def _no_congestion(rate: float) -> Sequence[Trial]:
    flows = [flow(1, 3, 3), *(flow(2, 4, queue) for queue in LOSSY)]
    other = [f"traffic.flows.{number}.dst=h3" for number in (1, 2, 3)]
    return [
        Trial("", experiment(rate, flows, ecn=False, lossless=True), [
            none("packets lost", lambda seen: seen.count("lost_packets"), [*other, "rack.switch.pool.size=2 MB"]),
            *_clean(),
            none("PFC frames", lambda seen: seen.pauses, other),
            ACKS_ALIKE,
            Expectation("longest wait", lambda seen: seen.late(), unit=" ns"),
        ])
    ]  # fmt: skip


def _incast(rate: float) -> Sequence[Trial]:
    lossy = [flow(3, 4, queue) for queue in LOSSY]
    calm = ["controller.rate=20 %"]
    found = []
    for name, one, two in (("a: two ranks in 3", 3, 3), ("b: ranks in 3 and 4", 3, 4)):
        backlogged = sorted({*LOSSY, one, two})
        others = [queue for queue in range(8) if queue not in (one, two)]
        made = experiment(rate, [flow(1, 4, one), flow(2, 4, two), *lossy], ecn=False, lossless=True)
        made["transport"] = {"recovery": "go-back-n", "messages": "128 KiB"}
        found.append(
            Trial(name, made, [
                _lost(), *_clean(),
                some("lossy packets dropped", lambda seen: seen.total("dropped_packets", LOSSY), calm),
                *(some(f"PFC frames of priority {queue}", partial(Observed.paused, priorities=[queue]), calm)
                  for queue in sorted({one, two})),
                none("PFC frames of other priorities", partial(Observed.paused, priorities=others),
                     ["rack.switch.groups.0={pfc: on, alpha: 0.03}"]),
                alike("PFC frames that hosts got and those that the switch sent",
                      lambda seen: apart(seen.pauses_seen, seen.pauses), 2, ELSEWHERE),
                *(share_by_weight(queue, backlogged, "h4") for queue in backlogged),
            ], [f"nic:h{host}" for host in (1, 2, 3)])
        )  # fmt: skip
    return found


def _few_pauses() -> Expectation:
    return Expectation("PFC frames", lambda seen: seen.pauses, most=MOST_PAUSES, breaks=["controller={name: fixed}"])


def _dcqcn(rate: float) -> Sequence[Trial]:
    """Marked by the switch; and with all data marked before it comes there."""
    flows = [flow(1, 4, 3), flow(2, 4, 4), flow(3, 4, 3)]
    off = ["traffic.ecn=off"]
    made = experiment(rate, flows, ecn=True, controller=DCQCN, time=LONG, lossless=True)
    marked = {**made, "traffic": {**made["traffic"], "ecn": "ce"}}
    return [
        Trial("", made, [
            _lost(), _few_pauses(),
            *(some(f"packets marked CE in {queue}", _marked_in(queue), off) for queue in LOSSLESS),
            CNPS_ALIKE, ACKS_ALIKE,
        ]),
        Trial("all data CE", marked, [
            _lost(), _few_pauses(),
            alike("packets that came with CE and all that came", _came_with_ce, 0, ["traffic.ecn=on"]),
            CNPS_ALIKE, ACKS_ALIKE,
        ]),
    ]  # fmt: skip


def _came_with_ce(seen: Observed) -> float:
    return apart(seen.count("ce_packets"), seen.count("delivered_packets"))


def _marked_in(queue: int) -> Callable[[Observed], float]:
    return lambda seen: seen.total("marked_packets", [queue])


def _storage(rate: float) -> Sequence[Trial]:
    """Messages of 1 MiB, one behind the other, as RC SENDs of a NIC that goes back."""
    ranks = [flow(1, 4, 3), flow(2, 4, 3), flow(3, 4, 4)]
    noted = [
        Expectation("goodput of all ranks", lambda seen: float(seen.rates().sum() / 1e9), unit=" Gbit/s"),
        *(
            Expectation(f"{name} of a message's time", partial(_message, share=share), unit=" us")
            for name, share in (("p50", 0.5), ("p99", 0.99))
        ),
    ]
    off = experiment(rate, ranks, ecn=True, lossless=True)
    on = experiment(rate, ranks, ecn=True, controller=DCQCN, time=LONG, lossless=True)
    for made in (off, on):
        made["transport"] = {"recovery": "go-back-n", "messages": "1 MiB"}
    return [
        Trial("DCQCN off", off, [
            _lost(), some("PFC frames", lambda seen: seen.pauses, ["controller.rate=20 %"]), *noted,
        ]),
        Trial("DCQCN on", on, [_lost(), _few_pauses(), *noted]),
    ]  # fmt: skip


def _message(seen: Observed, share: float) -> float:
    """How long a message took, in us."""
    return seen.record.message_histogram.quantile(share) * 1e6


def _fairness(rate: float) -> Sequence[Trial]:
    found = []
    unfair = ["controllers=[{name: fixed, rate: 60 %, of: {hosts: [h1]}}]"]
    for name, queues in (("in 3", (3, 3, 3)), ("in 3 and 4, six to one", (3, 4, 3, 4, 3, 4))):
        ranks = len(queues)
        flows = [flow(rank, ranks + 1, queue) for rank, queue in enumerate(queues, start=1)]
        made = experiment(
            rate, flows, ecn=True, controller=DCQCN, time=("20 ms", "10 ms"), lossless=True,
            kind={"kind": "star", "hosts": ranks + 1},
        )  # fmt: skip
        weights = made["rack"]["switch"]["queues"]
        weights[4]["weight"] = weights[3]["weight"]  # or ranks of 3 and 4 would differ by design
        found.append(
            Trial(name, made, [
                Expectation("rate of a rank, from the mean", _unfairness, most=30, unit=" %", breaks=unfair),
                _lost(),
            ])
        )  # fmt: skip
    return found


def _unfairness(seen: Observed) -> float:
    """By how many % the rate of a rank differs most from the mean."""
    rates = seen.rates()
    return float(np.abs(rates / rates.mean() - 1).max() * 100)


def _control(rate: float) -> Sequence[Trial]:
    """Without congestion control, so that the incast's class is paused; what is broadcast has only its ACKs there."""
    incast = [flow(rank, 5, 3, "incast") for rank in range(1, 5)]
    broadcast = [flow(5, rank, 3, "broadcast") for rank in range(1, 5)]
    packet = MTU * 8 / rate * 1e9
    star = {"kind": "star", "hosts": 5}
    found = []
    for name, flows in (("4:1", incast), ("1:4", broadcast), ("both", [*incast, *broadcast])):
        wait = Expectation(
            "longest wait of what is broadcast", lambda seen: seen.late("broadcast"), most=5 * packet, unit=" ns",
            breaks=["rack.nic.ack_dscp=3"],
        )  # fmt: skip
        found.append(
            Trial(f"{name}, ACKs in their class", experiment(rate, flows, ecn=True, kind=star, lossless=True), [
                none("timeouts", lambda seen: seen.count("timeouts"), ["transport.timeout=2 us"]),
                ACKS_ALIKE,
                *([wait] if flows is not incast and flows is not broadcast else []),
            ])
        )  # fmt: skip
    return found


NO_PAUSES_OF_RECEIVERS = "the hosts' NICs are never slow here and send no pause frames of their own"

PLAN = TestPlan(
    name="sonic-rocev2",
    title="SONiC RoCEv2 test plan",
    source="sonic-net/sonic-mgmt: RoCEv2 test plan of Keysight and Microsoft (2026)",
    cases=[
        Case("1", "no congestion", _no_congestion),
        Case("2", "PFC", _incast),
        Case("3", "DCQCN", _dcqcn),
        Case("4", "storage", _storage),
        Case("5", "PFC propagation", missing=NO_PAUSES_OF_RECEIVERS),
        Case("6", "fairness", _fairness),
        Case("7", "hashing", hashing),
        Case("8", "spraying", spraying),
        Case("9", "QoS", qos),
        Case("10", "failover", failover),
        Case("11", "control packets", _control),
    ],
)
