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
from testbed.runs.plans.case import Case, Expectation, Search, TestPlan, Trial, alike, none, some
from testbed.runs.plans.observed import Observed, apart
from testbed.runs.plans.rack import experiment, flow, like, own_queue
from testbed.runs.plans.switch import NotApplicable, Switch

STREAM = {"name": "fixed", "rate": "70 %"}
HALF = {"name": "fixed", "rate": "35 %"}  # of two kinds of packets that make a stream
FRAMES = (80, 128, 256, 512, 1024, 4096, 8192)  # bytes; RoCEv2 with our headers has 78 without data
BUCKETS = 5
SMALL = "1000 B"
EDGE = 4 * Framing(1000).wire_size  # what a core of the kernel's may see late
RECEIVER = "nic:h4"
Looks = Callable[[Observed], tuple[Floats, Floats]]  # at each packet: the depth that RED sees, and whether it marks
GROWTH = 0.005  # share of the line, at 100 Gbit/s, by which the queue grows to be measured: so many packets per bucket


def _elsewhere(queue: int) -> list[str]:
    """Marks at another port, too, which nobody sees."""
    return [
        "rack.hosts=7",
        "traffic.flows=[{src: h1, dst: h4}, {src: h2, dst: h4}, {src: h3, dst: h4, size: 1 kB}, {src: h5, dst: h7}, "
        "{src: h6, dst: h7}]",
        f"packets=[{{of: {{hosts: [h1, h2, h5, h6]}}, dscp: {queue}}}]",
    ]


def _red(queue: int) -> str:
    return f"rack.switch.queues.{queue}.red"


def _accuracy(switch: Switch) -> Sequence[Trial]:
    switch.need(marked=1)
    queue, rate = switch.marked[0], switch.rate
    other = next((one for one in switch.data if one != queue), queue)
    low, high = (switch.threshold(queue, name) for name in ("kmin", "kmax"))
    growth = min(GROWTH * rate / 100e9, 0.01)  # so little that a queue is as deep when a packet leaves it
    share = {"name": "fixed", "rate": f"{50 * (1 + growth):g} %"}
    until = 1.5 * high * 8 / (growth * rate)
    flows = [flow(1, 4, queue), flow(2, 4, queue), flow(3, 4, other, label="stamps", size="1 kB")]
    made = experiment(switch, flows, ecn=True, controller=share, time=(f"{until * 1e3:g} ms", "0 s"))
    made["traffic"]["payload"] = SMALL
    made["controllers"] = [{"name": "hpcc", "of": {"hosts": ["h3"]}}]  # which asks for INT in all packets
    tables = made["rack"]["switch"]
    own = own_queue(made, queue)
    own["red"] = {**own["red"], "pmax": "100 %"}
    counted = alike("marks that the switch counted and those seen", _counted, 1, _elsewhere(switch.dscp(queue)))
    leaving = {**made, "rack": {**made["rack"], "switch": {**tables, "marking": "dequeue"}}}
    return [
        Trial("marking at enqueue", made, [*_curve(queue, low, high, _found), counted], [RECEIVER]),
        # ACKs say it, wherever marks are made
        Trial("marking at dequeue", leaving, _curve(queue, low, high, _left_behind), ["nic:h1", "nic:h2"]),
    ]


def _curve(queue: int, low: float, high: float, looks: Looks) -> list[Expectation]:
    red = _red(queue)
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
    return apart(seen.total("marked_packets", range(8)), float(seen.captured[0].marked.sum()))


def _first(times: Floats) -> float:
    return float(times[0]) if len(times) else float("nan")


def _order(switch: Switch) -> Sequence[Trial]:
    switch.need(lossless=1)
    queue = switch.lossless[0]
    if queue not in switch.marked:
        raise NotApplicable(f"queue {queue} of this switch, the first that is lossless, marks nothing")
    flows = [flow(1, 4, queue), flow(2, 4, queue)]
    until = max(1e-3, 1.5 * switch.pool * 8 / (0.4 * switch.rate))  # the streams would have filled it
    time = (f"{until * 1e3:g} ms", "0 s")
    high = f"{_red(queue)}={{kmin: 100 MB, kmax: 100 MB, pmax: 1}}"
    return [
        Trial("", experiment(switch, flows, ecn=True, controller=STREAM, time=time, lossless=True), [
            some("packets marked CE", _ce, [high]),
            some("PFC frames", lambda seen: seen.pauses, ["controller.rate=40 %"]),
            Expectation("from the first CE to the first PFC frame", _gap, least=1, unit=" ns", breaks=[high]),
            alike("marks that the switch counted and those seen", _counted, 10, _elsewhere(switch.dscp(queue))),
            none("lossless packets lost", lambda seen: seen.count("lost_packets"),
                 ["rack.switch.groups={}", "time.duration=3 ms"]),
        ], [RECEIVER, "nic:h1", "nic:h2"]),
        Trial("one stream", experiment(switch, flows[:1], ecn=True, controller=STREAM), [
            none("packets marked CE", _ce,
                 [_slow(switch.rate)]),
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


def _response(switch: Switch) -> Sequence[Trial]:
    switch.need(marked=1)
    queue, rate = switch.marked[0], switch.rate
    low = switch.threshold(queue, "kmin")
    least = low * 8 / (0.4 * rate)  # two streams of 70 % fill a queue at 40 % of the line
    length = max(LENGTH, 2 * least)
    size = 0.7 * rate / 8 * length * MTU_BYTES / Framing(MTU_BYTES).wire_size
    flows = [
        flow(1, 4, queue),
        flow(2, 4, queue, label="congesting", start=f"{BEGIN * 1e6:g} us", size=f"{size:.0f} B"),
    ]  # fmt: skip
    # One of them empties it at 30 %, and the last that was marked comes when all before it has left.
    most = (0.4 * length * rate / 8 - low) * 8 / (0.3 * rate) + low * 8 / rate
    red, time = _red(queue), (f"{max(1e-3, BEGIN + 3 * length) * 1e3:g} ms", "0 s")
    return [
        Trial("", experiment(switch, flows, ecn=True, controller=STREAM, time=time), [
            some("packets marked CE", _ce, [f"{red}={{kmin: 99 MB, kmax: 99 MB, pmax: 1}}"]),
            Expectation("ECN enter time", _enter, least=least * 1e9, unit=" ns",
                        breaks=[f"{red}={{kmin: 1 kB, kmax: 1 kB, pmax: 1}}"]),
            Expectation("ECN exit time", partial(_exit, length=length), most=most * 1.1e9, unit=" ns",
                        breaks=["controller.rate=95 %"]),
        ], [RECEIVER]),
    ]  # fmt: skip


def _enter(seen: Observed) -> float:
    packets = seen.captured[0]
    return (_first(packets.time[packets.marked]) - BEGIN) * 1e9


def _exit(seen: Observed, length: float) -> float:
    packets = seen.captured[0]
    return (_first(packets.time[packets.marked][::-1]) - BEGIN - length) * 1e9


def _interference(switch: Switch) -> Sequence[Trial]:
    switch.need(marked=1)
    one = switch.marked[0]
    two = next((queue for queue in switch.data if queue not in switch.marked), None)
    mixed = [flow(host, 4, one, label=kind) for host in (1, 2) for kind in ("ECT", "not ECT")]
    codes = experiment(switch, mixed, ecn=True, controller=HALF)
    codes["packets"] = [
        {"of": {"labels": ["not ECT"]}, "ecn": "off", "dscp": switch.dscp(one)},
        {"of": {"labels": ["ECT"]}, "dscp": switch.dscp(one)},
    ]  # fmt: skip
    off = f"{_red(one)}=off"
    return [
        Trial("one stream", experiment(switch, mixed[:1], ecn=True, controller=STREAM), [
            none("packets marked CE", _ce, [_slow(switch.rate)]),
        ], [RECEIVER]),
        _across(switch, one, two, off) if two is not None
        else Trial("across queues", missing="this switch marks in all queues"),
        Trial("mixed codepoints", codes, [
            some("ECT packets marked CE", lambda seen: seen.count("ce_packets", "ECT"), [off]),
            none("packets that are not ECT marked CE", lambda seen: seen.count("ce_packets", "not ECT"),
                 ["packets.0.ecn=on"]),
        ]),
    ]  # fmt: skip


def _across(switch: Switch, one: int, two: int, off: str) -> Trial:
    """Two queues that are congested alike, and one marks."""
    queues = [flow(host, 4, queue, label=f"q{queue}") for host in (1, 2) for queue in (one, two)]
    across = experiment(switch, queues, ecn=True, controller=HALF)
    like(across, two, one)
    return Trial("across queues", across, [
        some(f"packets of queue {one} marked CE", partial(_ce, dscp=switch.dscp(one)), [off]),
        none(f"packets of queue {two} marked CE", partial(_ce, dscp=switch.dscp(two)),
             [f"{_red(two)}={{kmin: 0 B, kmax: 0 B, pmax: 1}}"]),
    ], [RECEIVER])  # fmt: skip


def _ce(seen: Observed, dscp: int | None = None) -> float:
    packets = seen.captured[0]
    chosen = packets.marked if dscp is None else packets.marked & (packets.tos >> 2 == dscp)
    return float(chosen.sum())


def _threshold(switch: Switch) -> Sequence[Trial]:
    """By binary search, which begins with the line rate, and ends there if nothing is lost."""
    found, queue = [], (switch.lossy or switch.data)[0]
    search = Search("controller.rate", lambda seen: seen.count("lost_packets") == 0)
    for frame in FRAMES:
        ring = [flow(host, host % 4 + 1, queue) for host in range(1, 5)]
        made: Settings = experiment(switch, ring, ecn=False, time=("200 us", "50 us"))
        made["traffic"]["payload"] = f"{frame - Framing(0).overhead} B"
        found.append(
            Trial(f"{frame} B", made, [
                Expectation("highest rate without loss", lambda seen: seen.found, least=100, unit=" % of the line",
                            breaks=[_slow(switch.rate), "rack.switch.buffer=20 kB"]),
                Expectation("sent, with ACKs, of the line", partial(_filled, rate=switch.rate), unit=" %"),
            ], search=search)
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
