"""SONiC's ECN test plans: accuracy, order of ECN and PFC, response time, interference of queues, drop threshold.

Streams run at 70 % of the line where the plans say nothing else, so that one alone congests nothing. The transmitter
of a port cannot be stopped here: for accuracy the queue grows slowly, and packets say which depth they found (INT).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from testbed.base.arrays import Floats
from testbed.experiment.topology.framing import Framing
from testbed.experiment.topology.sonic.port import Settings
from testbed.runs.plans.case import Case, Expectation, TestPlan, Trial, alike, none, some
from testbed.runs.plans.observed import Observed, apart
from testbed.runs.plans.rack import KMAX, KMIN, experiment, flow, sized
from testbed.units import SIZE_UNITS, parse

STREAM = {"name": "fixed", "rate": "70 %"}
HALF = {"name": "fixed", "rate": "35 %"}  # of two kinds of packets that make a stream
FRAMES = (80, 128, 256, 512, 1024, 4096, 8192)  # bytes; RoCEv2 with our headers has 78 without data
BUCKETS = 5
ELSEWHERE = [  # marks at another port, too, which nobody sees
    "rack.hosts=7",
    "traffic.flows=[{src: h1, dst: h4}, {src: h2, dst: h4}, {src: h3, dst: h4, size: 1 kB}, {src: h5, dst: h7}, "
    "{src: h6, dst: h7}]",
    "packets=[{of: {hosts: [h1, h2, h5, h6]}, dscp: 3}]",
]
SMALL = "1000 B"
EDGE = 4 * Framing(1000).wire_size  # what a core of the kernel's may see late
RECEIVER = "nic:h4"
Looks = Callable[[Observed], tuple[Floats, Floats]]  # at each packet: the depth that RED sees, and whether it marks
GROWTH = 0.005  # share of the line, at 100 Gbit/s, by which the queue grows to be measured: so many packets per bucket


def _bytes(kilobytes: float, rate: float) -> float:
    return parse(sized(kilobytes, rate), SIZE_UNITS, "a size")


def _accuracy(rate: float) -> Sequence[Trial]:
    low, high = _bytes(KMIN, rate), _bytes(KMAX, rate)
    growth = min(GROWTH * rate / 100e9, 0.01)  # so little that a queue is as deep when a packet leaves it
    share = {"name": "fixed", "rate": f"{50 * (1 + growth):g} %"}
    until = 1.5 * high * 8 / (growth * rate)
    flows = [flow(1, 4, 3), flow(2, 4, 3), flow(3, 4, 4, "stamps", size="1 kB")]
    made = experiment(rate, flows, ecn=True, controller=share, time=(f"{until * 1e3:g} ms", "0 s"))
    made["traffic"]["payload"] = SMALL
    made["controllers"] = [{"name": "hpcc", "of": {"hosts": ["h3"]}}]  # which asks for INT in all packets
    switch = made["rack"]["switch"]
    switch["queues"][3]["red"]["pmax"] = "100 %"
    counted = alike("marks that the switch counted and those seen", _counted, 1, ELSEWHERE)
    leaving = {**made, "rack": {**made["rack"], "switch": {**switch, "marking": "dequeue"}}}
    return [
        Trial("marking at enqueue", made, [*_curve(low, high, _found), counted], [RECEIVER]),
        # ACKs say it, wherever marks are made
        Trial("marking at dequeue", leaving, _curve(low, high, _left_behind), ["nic:h1", "nic:h2"]),
    ]


def _curve(low: float, high: float, looks: Looks) -> list[Expectation]:
    red = "rack.switch.queues.3.red"
    return [
        none("marked below Kmin", lambda seen: _between(seen, looks, 0, low - EDGE)[1].sum(),
             [f"{red}.kmin={low / 2:g} B"]),
        Expectation(
            "marked above Kmax", lambda seen: 100 * _mean(_between(seen, looks, high + EDGE, np.inf)[1]), 100, 100,
            " %", breaks=[f"{red}.kmax={2 * high:g} B"],
        ),
        *(_bucket(number, low, high, looks, f"{red}.pmax=50 %") for number in range(BUCKETS)),
    ]  # fmt: skip


def _bucket(number: int, low: float, high: float, looks: Looks, breaks: str) -> Expectation:
    """A part of the curve, and the mean of the curve at the depths that packets had there: about that of its middle."""
    edges = np.linspace(low, high, BUCKETS + 1)[number : number + 2]

    def differ(seen: Observed) -> float:
        depth, marked = _between(seen, looks, *edges)
        return apart(_mean(marked), (_mean(depth) - low) / (high - low))

    middle = (edges.mean() - low) / (high - low)
    says = f"share marked from {edges[0] / 1e3:g} to {edges[1] / 1e3:g} kB and the curve, about {middle:.0%}"
    return alike(says, differ, 10, [breaks])


def _found(seen: Observed) -> tuple[Floats, Floats]:
    """Bytes that each packet found in the queue, and whether it was marked."""
    depth, _, marked = _stamped(seen)
    return depth, marked


def _left_behind(seen: Observed) -> tuple[Floats, Floats]:
    """Bytes that each packet left behind: what had come since, as the first one says that came later.

    It leaves when its turn comes; the kernel looks at it when it has come out of its link.
    """
    depth, left, marked = _stamped(seen)
    packet = seen.resolved.layout.framing.wire_size
    begins = depth + left  # so much has left the port when its turn comes
    leaves = begins + packet if seen.resolved.experiment.engine == "kernel" else begins
    later = np.searchsorted(left, leaves)
    known = later < len(left)
    return begins[later[known]] - begins[known] - packet, marked[known]


def _stamped(seen: Observed) -> tuple[Floats, Floats, Floats]:
    """Depth, bytes that had left the port, and marks, in the order in which packets came; without INT there is none."""
    columns = [(one.depth, one.left, one.marked) for one in seen.captured]
    depth, left, marked = (np.concatenate(one).astype(float) for one in zip(*columns, strict=True))
    order = np.argsort(depth + left, kind="stable")
    stamped = order[: np.isfinite(depth).sum()]
    return depth[stamped], np.maximum.accumulate(left[stamped]), marked[stamped]


def _between(seen: Observed, looks: Looks, low: float, high: float) -> tuple[Floats, Floats]:
    """Of the packets at which RED looked at such a depth."""
    depth, marked = looks(seen)
    inside = (depth > low) & (depth <= high)
    return depth[inside], marked[inside]


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _counted(seen: Observed) -> float:
    return apart(seen.total("marked_packets", [3, 4]), float(seen.captured[0].marked.sum()))


def _first(times: Floats) -> float:
    return float(times[0]) if len(times) else float("nan")


def _order(rate: float) -> Sequence[Trial]:
    flows = [flow(1, 4, 3), flow(2, 4, 3)]
    high = "rack.switch.queues.3.red={kmin: 100 MB, kmax: 100 MB, pmax: 1}"
    return [
        Trial("", experiment(rate, flows, ecn=True, controller=STREAM, time=("1 ms", "0 s"), lossless=True), [
            some("packets marked CE", _ce, [high]),
            some("PFC frames", lambda seen: seen.pauses, ["controller.rate=40 %"]),
            Expectation("from the first CE to the first PFC frame", _gap, least=1, unit=" ns", breaks=[high]),
            alike("marks that the switch counted and those seen", _counted, 10, ELSEWHERE),
            none("lossless packets lost", lambda seen: seen.count("lost_packets"),
                 ["rack.switch.groups={}", "time.duration=3 ms"]),
        ], [RECEIVER, "nic:h1", "nic:h2"]),
        Trial("one stream", experiment(rate, flows[:1], ecn=True, controller=STREAM), [
            none("packets marked CE", _ce,
                 [_slow(rate)]),
        ], [RECEIVER]),
    ]  # fmt: skip


def _slow(rate: float) -> str:
    """A receiver whose line is too slow for one stream."""
    return f"rack.links=[{{of: h4, rate: {rate / 4e9:g} Gbit/s}}]"


def _gap(seen: Observed) -> float:
    receiver, *senders = seen.captured
    pauses = np.sort(np.concatenate([one.pauses for one in senders]))
    return (_first(pauses) - _first(receiver.time[receiver.marked])) * 1e9


BEGIN, LENGTH = 100e-6, 100e-6  # s, of the stream that congests
MTU_BYTES = 4096


def _response(rate: float) -> Sequence[Trial]:
    size = 0.7 * rate / 8 * LENGTH * MTU_BYTES / Framing(MTU_BYTES).wire_size
    flows = [flow(1, 4, 3), flow(2, 4, 3, "congesting", start=f"{BEGIN * 1e6:g} us", size=f"{size:.0f} B")]
    low = _bytes(KMIN, rate)
    least = low * 8 / (0.4 * rate)  # two streams of 70 % fill a queue at 40 % of the line
    most = (0.4 * LENGTH * rate / 8 - low) * 8 / (0.3 * rate)  # one of them empties it at 30 %
    red = "rack.switch.queues.3.red"
    return [
        Trial("", experiment(rate, flows, ecn=True, controller=STREAM, time=("1 ms", "0 s")), [
            some("packets marked CE", _ce, [f"{red}={{kmin: 99 MB, kmax: 99 MB, pmax: 1}}"]),
            Expectation("ECN enter time", _enter, least=least * 1e9, unit=" ns",
                        breaks=[f"{red}={{kmin: 1 kB, kmax: 1 kB, pmax: 1}}"]),
            Expectation("ECN exit time", _exit, most=most * 1.1e9, unit=" ns",
                        breaks=["controller.rate=95 %"]),
        ], [RECEIVER]),
    ]  # fmt: skip


def _enter(seen: Observed) -> float:
    packets = seen.captured[0]
    return (_first(packets.time[packets.marked]) - BEGIN) * 1e9


def _exit(seen: Observed) -> float:
    packets = seen.captured[0]
    return (_first(packets.time[packets.marked][::-1]) - BEGIN - LENGTH) * 1e9


def _interference(rate: float) -> Sequence[Trial]:
    queues = [flow(host, 4, queue, f"q{queue}") for host in (1, 2) for queue in (3, 0)]
    mixed = [flow(host, 4, 3, kind) for host in (1, 2) for kind in ("ECT", "not ECT")]
    codes = experiment(rate, mixed, ecn=True, controller=HALF)
    codes["packets"] = [
        {"of": {"labels": ["not ECT"]}, "ecn": "off", "dscp": 3}, {"of": {"labels": ["ECT"]}, "dscp": 3}
    ]  # fmt: skip
    across = experiment(rate, queues, ecn=True, controller=HALF)
    across["rack"]["switch"]["queues"][0]["weight"] = across["rack"]["switch"]["queues"][3]["weight"]  # both congested
    always = "{kmin: 0 B, kmax: 0 B, pmax: 1}"
    off = "rack.switch.queues.3.red=off"
    return [
        Trial("one stream", experiment(rate, queues[:2], ecn=True, controller=HALF), [
            none("packets marked CE", _ce, [_slow(rate)]),
        ], [RECEIVER]),
        Trial("across queues", across, [
            some("packets of queue 3 marked CE", partial(_ce, dscp=3), [off]),
            none("packets of queue 0 marked CE", partial(_ce, dscp=8), [f"rack.switch.queues.0.red={always}"]),
        ], [RECEIVER]),
        Trial("mixed codepoints", codes, [
            some("ECT packets marked CE", lambda seen: seen.count("ce_packets", "ECT"), [off]),
            none("packets that are not ECT marked CE", lambda seen: seen.count("ce_packets", "not ECT"),
                 ["packets.0.ecn=on"]),
        ]),
    ]  # fmt: skip


def _ce(seen: Observed, dscp: int | None = None) -> float:
    packets = seen.captured[0]
    chosen = packets.marked if dscp is None else packets.marked & (packets.tos >> 2 == dscp)
    return float(chosen.sum())


def _threshold(rate: float) -> Sequence[Trial]:
    """The search begins with the line rate, and ends there if nothing is lost."""
    found = []
    for frame in FRAMES:
        ring = [flow(host, host % 4 + 1, 0) for host in range(1, 5)]
        made: Settings = experiment(rate, ring, ecn=False, time=("200 us", "50 us"))
        made["traffic"]["payload"] = f"{frame - Framing(0).overhead} B"
        lost: Callable[[Observed], float] = lambda seen: seen.count("lost_packets")  # noqa: E731
        found.append(
            Trial(f"{frame} B", made, [
                none("packets lost at 100 % of the line", lost, ["rack.link.loss=1 %"]),
                Expectation("sent, with ACKs, of the line", partial(_filled, rate=rate), unit=" %"),
            ])
        )  # fmt: skip
    return found


def _filled(seen: Observed, rate: float) -> float:
    time = seen.queues.series.time
    inside = time[time >= seen.record.warmup]
    return 100 * seen.sent(range(8), []) * 8 / len(seen.record.ports) / rate / float(inside[-1] - inside[0])


PLAN = TestPlan(
    name="sonic-ecn",
    title="SONiC ECN test plans",
    source="sonic-net/sonic-mgmt: docs/testplan/snappi, switch-ecn-*-tests and switch-packet-drop-threshold-tests",
    cases=[
        Case("accuracy", "share marked by depth", _accuracy),
        Case("order", "ECN before PFC", _order),
        Case("response", "when marking begins and ends", _response),
        Case("interference", "marks of one queue and others", _interference),
        Case("threshold", "highest rate without loss", _threshold),
    ],
)
