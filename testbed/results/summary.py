"""The figures of one run, flat and in SI units, with the verdict: what ``summary.json`` and ``--format json`` hold.

This is the registry of the figures: each is declared once, with its definition, unit, function, row in the tables, the
direction that is better, and its source. Tables, comparisons, ``--fail-if`` and docs/reference/results.md use it.
"""

from __future__ import annotations

from pydantic import BaseModel

from testbed.results.apps import AppFigures
from testbed.results.figures import cost, fairness, fct, latency, loss, pauses, rest, sharing, throughput
from testbed.results.figures.jobs import JobFigures
from testbed.results.figures.marking import Marking, marking
from testbed.results.figures.measurements import Measurements
from testbed.results.figures.operations import Messages
from testbed.results.figures.queues import QueueFigures, of_bottleneck
from testbed.results.figures.registry import figure, figures_of
from testbed.results.figures.sharing import Shared
from testbed.results.figures.unknown import NAN, NULL_IF_UNKNOWN, Number, mean, ratio
from testbed.results.record import RunRecord
from testbed.results.tcp_timers import TcpTimers
from testbed.results.verdict import Verdict


class Summary(BaseModel):
    """What one run showed. Figures are over the window unless they say otherwise; null means it cannot be known."""

    model_config = NULL_IF_UNKNOWN

    experiment: str
    controller: str
    tuner: str
    verdict: Verdict

    # fmt: off
    engine: str = figure(
        "[what carried the traffic](../explanation/engines.md): of `lab` what only switches know is null", "",
        lambda m: m.record.engine)
    start_spread: Number = figure(
        "how far apart a lab's hosts started, at most", "s", lambda m: m.record.start_spread)
    flows: int = figure("number of flows", "flows", lambda m: len(m.flows))
    hosts: int = figure("sending hosts", "", lambda m: len(set(m.flows.src)))
    bottleneck: str = figure("the switch port", "", lambda m: m.record.ports[m.record.bottleneck])
    bottleneck_rate: Number = figure(
        "rate of the bottleneck", "bit/s", lambda m: float(m.record.port_rate[m.record.bottleneck]))
    marking: Marking = figure(
        "thresholds that held at the bottleneck in the window: `kmin` and `kmax` in bytes, `pmax` as a share; `least` "
        "and `most` of each", "", lambda m: marking(m.record, m.window))
    base_rtt: Number = figure("base RTT of the median flow", "s", lambda m: latency.base_rtt(m.record))
    duration: Number = figure("length of the run", "s", lambda m: m.record.duration)
    window_start: Number = figure(
        "the warm-up's end, or where the last of several windows began", "s",
        lambda m: m.window.start)
    window_end: Number = figure("end of the window", "s", lambda m: m.window.end)
    windows: int = figure(
        "windows until one was at rest or none was left (`time.until_rest`); 0 without that key",
        "", lambda m: m.record.windows)
    wall_seconds: Number = figure("length of the run, wall time", "s", lambda m: m.record.wall_seconds, wall=True)

    unrest: str = figure(
        "what rises or falls over the window, by a trend test that errs once in 1,000 series at rest: throughput and "
        "queue of the bottleneck, what controllers allow endless flows", "",
        lambda m: rest.unrest(m.record, m.window))
    starved: int = figure(
        "flows that got less than a tenth of an equal share, of those compared for fairness", "flows",
        lambda m: rest.starved(m.goodput[m.steady]))

    su: Number = figure(
        "switch utilisation: wire bytes through the bottleneck / (its rate x time)", "%",
        lambda m: throughput.utilisation(m.record, m.window), "SU", better="higher", of_dominance=True, of_idle=True,
        source="ADPG's SU, many to one")
    su_receivers: Number = figure(
        "SU, mean over the ports towards receiving hosts", "%",
        lambda m: throughput.receiver_utilisation(m.record, m.window), "SU", "receivers", better="higher",
        of_idle=True, same_as="su",
        source="ADPG's Table 3 does not say how ports are summed up; the mean is ours")
    receivers: int = figure(
        "receiving hosts", "", lambda m: len(throughput.receiver_ports(m.record)))
    fr_flows: Number = figure(
        "fairness ratio: 100 x min / max of the flows' goodput", "%", lambda m: fairness.fairness_ratio(m.rates),
        "FR", "per flow", better="higher", of_dominance=True,
        source="ADPG's text is about flows, its code about hosts; both are given")
    fr_hosts: Number = figure(
        "the same of the sending hosts' goodput", "%", lambda m: fairness.fairness_ratio(m.host_rates),
        "FR", "per host", better="higher", same_as="fr_flows")
    jain_flows: Number = figure(
        "Jain's index over flows: (Σx)² / (n Σx²)", "", lambda m: fairness.jain(m.rates),
        "Jain", "per flow", better="higher")
    jain_hosts: Number = figure(
        "Jain's index over sending hosts", "", lambda m: fairness.jain(m.host_rates),
        "Jain", "per host", better="higher", same_as="jain_flows",
        source="DECC's: x is the mean bandwidth of a compute node")
    fairness_flows: int = figure(
        "flows compared: active for at least 90 % of the window, each over that time. FR and Jain are null where these "
        "are one of several, or moved less than half of the bytes", "flows", lambda m: int(m.steady.sum()))

    ql_mean: Number = figure(
        "queue latency of the bottleneck: queue / rate with the packet that is being sent, mean over time", "s",
        lambda m: latency.queue_latency_mean(m.record, m.window), "QL", "mean", better="lower", of_dominance=True,
        source="ADPG does not say which mean")
    ql_p99: Number = figure(
        "queue latency found by arriving packets, 99th percentile", "s",
        lambda m: latency.queue_latency_quantile(m.record, m.window, 0.99), "QL", "p99", better="lower")
    ql_max: Number = figure(
        "longest queue latency, with the packet that is being sent", "s",
        lambda m: latency.queue_latency_max(m.record, m.window), "QL", "max", better="lower")
    ql_receivers: Number = figure(
        "QL, mean over the ports towards receiving hosts", "s",
        lambda m: latency.receiver_queue_latency(m.record, m.window), "QL", "receivers", better="lower",
        same_as="ql_mean", source="for several congestion points")
    ql_busiest: Number = figure(
        "QL of the port where it is highest", "s", lambda m: latency.busiest_queue_latency(m.record, m.window),
        "QL", "busiest port", better="lower", same_as="ql_mean")
    queue_mean: Number = figure(
        "queue length of the bottleneck, mean of the samples", "B", lambda m: m.queue.mean,
        "queue", "mean", better="lower")
    queue_std: Number = figure(
        "its standard deviation", "B", lambda m: m.queue.std, "queue", "std", better="lower",
        source="PET's Table 1 has it as \"variance\", in KB")
    queue_ports_mean: Number = figure(
        "the same, samples of all ports that sent in the window pooled", "B", lambda m: m.queues.mean,
        "all queues", "mean", better="lower", source="PET does not say which ports it means")
    queue_ports_std: Number = figure(
        "their standard deviation", "B", lambda m: m.queues.std, "all queues", "std", better="lower")
    rtt_min: Number = figure("RTT of acknowledgements, smallest of the whole run", "s", lambda m: m.record.rtt_min)
    rtt_p50: Number = figure(
        "RTT of acknowledgements, median", "s", lambda m: latency.rtt_quantile(m.record, 0.5),
        "RTT", "p50", better="lower")
    rtt_p99: Number = figure(
        "RTT of acknowledgements, 99th percentile", "s", lambda m: latency.rtt_quantile(m.record, 0.99),
        "RTT", "p99", better="lower")
    message_p50: Number = figure(
        "completion time of messages (`transport.messages`), from the first packet's departure to the last one's "
        "acknowledgement, median", "s", lambda m: latency.message_quantile(m.record, 0.5),
        "message", "p50", better="lower")
    message_p99: Number = figure(
        "the same, 99th percentile", "s", lambda m: latency.message_quantile(m.record, 0.99),
        "message", "p99", better="lower")
    message_p999: Number = figure(
        "the same, 99.9th percentile", "s", lambda m: latency.message_quantile(m.record, 0.999),
        "message", "p99.9", better="lower")
    delay_p99: Number = figure(
        "packet delay one way: RTT p99 less half the base RTT", "s", lambda m: latency.packet_delay(m.record),
        "delay", "p99", better="lower",
        source="nearest to DECC's P99 latency; where acknowledgements queue too (all to all), an upper bound")

    goodput: Number = figure(
        "payload acknowledged / time, all flows", "bit/s",
        lambda m: float(m.goodput.sum()), "goodput", better="higher",
        of_idle=True,
        source="DECC's effective throughput is goodput / line rate")
    goodput_per_flow: Number = figure(
        "the same, mean of the flows", "bit/s", lambda m: mean(m.goodput),
        "goodput", "per flow")
    drops: Number = figure(
        "packets dropped by the model, all ports", "packets", lambda m: m.packets.dropped, "drops", better="lower")
    drops_in_run: Number = figure("the same with the warm-up", "packets", lambda m: m.packets.dropped_in_run)
    trims: int = figure(
        "packets trimmed (`rack.switch.trim`), whole run", "packets",
        lambda m: m.record.counters.get("trims", 0))
    resent: Number = figure(
        "packets sent again under their numbers / packets sent, whole run; 0 with recovery per packet", "%",
        lambda m: 100 * loss.resent_share(m.record))
    loss: Number = figure(
        "packets dropped at ports / packets sent, whole run", "%", lambda m: 100 * loss.loss_share(m.record),
        "loss in run", "of sent", better="lower", with_start=True, source="DECC's text")
    loss_flows: Number = figure(
        "packets lost for each delivered, mean over flows, whole run", "",
        lambda m: loss.loss_per_flow(m.record), "loss in run", "per delivered", better="lower",
        with_start=True,
        source="of DECC's reward (Eq. 3). Losses are those declared less those acknowledged later")
    drop_rate: Number = figure(
        "dropped wire bits / time, all ports", "bit/s", lambda m: loss.drop_rate(m.record, m.window),
        "DR", better="lower", source="ADPG's appendix E, undefined there")
    marks: Number = figure(
        "packets marked CE, all ports", "packets", lambda m: m.packets.marked, "marks", better="lower")
    marked: Number = figure(
        "share of the packets through the bottleneck that were marked", "%", lambda m: 100 * m.packets.marked_share,
        "marks", "at bottleneck", better="lower")
    lossless: bool = figure(
        "whether the switches did priority flow control (802.1Qbb), see [pfc.md](pfc.md)", "",
        lambda m: m.record.lossless)
    pause_frames: Number = figure(
        "PFC frames sent by the switches, all ports, whole run", "frames", lambda m: pauses.pause_frames(m.record),
        "pauses in run", with_start=True)
    paused: Number = figure(
        "share of the time that a sending host was paused, mean", "%",
        lambda m: 100 * pauses.paused_share(m.record, m.window), "pauses", "of the time")
    paused_in_run: Number = figure(
        "the same over the whole run", "%", lambda m: 100 * pauses.paused_share(m.record, m.whole_run),
        "pauses in run", "of the time", with_start=True)
    paused_port: str = figure(
        "port between switches that was paused for longest, whole run", "", lambda m: m.most_paused[0])
    paused_port_in_run: Number = figure(
        "share of the whole run for which it was", "%", lambda m: 100 * m.most_paused[1],
        "pauses in run", "worst port", seldom=True, with_start=True)

    fct_finished: int = figure("finite flows that finished, whole run", "flows", lambda m: m.completion.finished)
    fct_unfinished: int = figure(
        "finite flows that did not, or wait for others", "flows",
        lambda m: m.completion.unfinished,
        source="quantiles of FCT and slowdown take them as longer than they had run (Kaplan and Meier); means leave "
        "them out, which flatters large flows of a short run most")
    unfinished_bytes: Number = figure(
        "their share of the bytes of all finite flows", "%", lambda m: 100 * m.completion.unfinished_bytes)
    fct_mean: Number = figure(
        "FCT of the finite flows that finished, mean, whole run", "s", lambda m: m.completion.mean,
        "FCT", "mean", better="lower", seldom=True, source="PET's \"normalized FCT\" is not defined in the paper")
    fct_p50: Number = figure(
        "median FCT of all finite flows", "s", lambda m: m.completion.p50, "FCT", "p50", better="lower", seldom=True)
    fct_p99: Number = figure(
        "its 99th percentile", "s", lambda m: m.completion.p99, "FCT", "p99", better="lower", seldom=True)
    slowdown_mean: Number = figure(
        "FCT / ideal FCT, mean", "", lambda m: m.completion.slowdown_mean,
        "slowdown", "mean", better="lower", seldom=True)
    slowdown_p50: Number = figure(
        "its median", "", lambda m: m.completion.slowdown_p50, "slowdown", "p50", better="lower", seldom=True)
    slowdown_p99: Number = figure(
        "its 99th percentile", "", lambda m: m.completion.slowdown_p99, "slowdown", "p99", better="lower", seldom=True)
    mice: int = figure(
        "finite flows of at most 1 MB of payload that finished", "flows", lambda m: m.mice.finished,
        source="PET's rule")
    fct_mice_mean: Number = figure(
        "FCT of mice, mean", "s", lambda m: m.mice.mean,
        "mice", "FCT", better="lower", same_as="fct_mean", seldom=True)
    fct_mice_p99: Number = figure(
        "FCT of mice, 99th percentile", "s", lambda m: m.mice.p99,
        "mice", "FCT p99", better="lower", same_as="fct_p99", seldom=True)
    slowdown_mice_mean: Number = figure(
        "slowdown of mice, mean", "", lambda m: m.mice.slowdown_mean,
        "mice", "slowdown", better="lower", same_as="slowdown_mean", seldom=True)
    slowdown_mice_p99: Number = figure(
        "slowdown of mice, 99th percentile", "", lambda m: m.mice.slowdown_p99,
        "mice", "slowdown p99", better="lower", same_as="slowdown_p99", seldom=True)
    slowdown_short_p50: Number = figure(
        "slowdown of flows of at most 10 kB, median", "", lambda m: m.short.slowdown_p50,
        "short flows", "slowdown p50", better="lower", same_as="slowdown_p50", seldom=True,
        source="PowerTCP calls these short")
    slowdown_short_p99: Number = figure(
        "slowdown of flows of at most 10 kB, 99th percentile", "", lambda m: m.short.slowdown_p99,
        "short flows", "slowdown p99", better="lower", same_as="slowdown_p99", seldom=True)
    elephants: int = figure("finite flows above 1 MB that finished", "flows", lambda m: m.elephants.finished)
    fct_elephants_mean: Number = figure(
        "FCT of elephants, mean", "s", lambda m: m.elephants.mean,
        "elephants", "FCT", better="lower", same_as="fct_mean", seldom=True)
    fct_elephants_p99: Number = figure(
        "FCT of elephants, 99th percentile", "s", lambda m: m.elephants.p99,
        "elephants", "FCT p99", better="lower", same_as="fct_p99", seldom=True)
    slowdown_elephants_mean: Number = figure(
        "slowdown of elephants, mean", "", lambda m: m.elephants.slowdown_mean,
        "elephants", "slowdown", better="lower", same_as="slowdown_mean", seldom=True)
    slowdown_elephants_p99: Number = figure(
        "slowdown of elephants, 99th percentile", "", lambda m: m.elephants.slowdown_p99,
        "elephants", "slowdown p99", better="lower", same_as="slowdown_p99", seldom=True)
    slowdown_by_decade: list[fct.SizeBin] = figure(
        "by size: up to 1 kB, 10 kB, ... 1 GB, and above, where `largest` is null", "",
        lambda m: fct.slowdown_by_decade(m.record), source="comparable between workloads")
    slowdown_by_share: list[fct.SizeBin] = figure(
        "by size: 20 bins with 5 % of the flows each, smallest first; empty below 20 flows", "",
        lambda m: fct.slowdown_by_share(m.record),
        source="as the HPCC repository's script")

    interruptions: int = figure(
        "interruptions of long flows by short ones, begun in the window", "", lambda m: m.interruptions.interruptions)
    recovered: int = figure(
        "interruptions after which `recovery` came", "", lambda m: m.interruptions.recovered)
    recovery: Number = figure(
        "from the end of the short flows to the first stretch (one base RTT, or two samples) in which long flows "
        "send, and get acknowledged, at least 90 % of what they did before the first interruption; mean",
        "s", lambda m: m.interruptions.recovery, "RT", "recovery", better="lower", seldom=True,
        source="ADPG's RT, whose text says full line rate")
    slowed: int = figure(
        "interruptions in which the long flows' allowed rate fell", "", lambda m: m.interruptions.slowed)
    reaction: Number = figure(
        "from the start of the short flows to the first sample at which what long flows are allowed (rate, or window "
        "/ base RTT) is at most 90 % of what it was, in base RTTs; mean", "RTT",
        lambda m: m.interruptions.reaction, "RT", "reaction", better="lower", seldom=True,
        source="DECC's RT: relative reaction time")
    long_bandwidth: Number = figure(
        "wire bytes of flows labelled `long` / (bottleneck's rate x time)", "%",
        lambda m: throughput.long_bandwidth(m.record, m.window), "LBW", better="higher", of_idle=True, seldom=True,
        source="ADPG's appendix E and DECC's figure 11; neither defines it")

    queues: list[QueueFigures] = figure(
        "of the bottleneck's queues, where ports have several: `queue`, its `classes`, `share` of the port's rate in "
        "%, `mean` and `peak` depth in bytes, `packets` that joined it, `marked`, `dropped`", "",
        lambda m: of_bottleneck(m.record, m.window))

    shared: list[Shared] = figure(
        "what each of several controllers got: `goodput` of its flows, their `share` of all in %, "
        "`fair` (goodput per flow / that of all flows), `jain` over its flows, mean `rtt`, `marked` in %", "",
        lambda m: m.shared)
    jain_controllers: Number = figure(
        "Jain's index over controllers that share a run: x is goodput per flow", "",
        lambda m: sharing.between(m.shared),
        "Jain", "controllers", better="higher", seldom=True)

    jobs: list[JobFigures] = figure(
        "what became of jobs, see below", "", lambda m: m.jobs)
    iteration_mean: Number = figure(
        "time of an iteration of the first job, mean", "s",
        lambda m: m.jobs[0].iteration if m.jobs else NAN, "iteration", "mean", better="lower", seldom=True)
    iteration_p99: Number = figure(
        "its 99th percentile", "s",
        lambda m: m.jobs[0].iteration_p99 if m.jobs else NAN, "iteration", "p99", better="lower", seldom=True)
    bus_bandwidth: Number = figure(
        "bus bandwidth of its operations", "bit/s",
        lambda m: m.jobs[0].bus_bandwidth if m.jobs else NAN, "bus bandwidth", better="higher", seldom=True,
        source="as nccl-tests, to compare with the line rate")

    messages: list[Messages] = figure(
        "completion times of operations, see below", "", lambda m: m.messages)
    message_mean: Number = figure(
        "time of a message, mean over those of the kind with the largest ones", "s",
        lambda m: m.messages[-1].message if m.messages else NAN, "messages", "each", better="lower", seldom=True)
    message_rank_mean: Number = figure(
        "time until all that a host sends or receives is done, mean over operations and hosts, of that kind", "s",
        lambda m: m.messages[-1].rank if m.messages else NAN, "messages", "per rank", better="lower", seldom=True)

    decisions: int = figure(
        "rows that the controller decided about, whole run", "", lambda m: m.record.decisions.rows)
    decision_per_call: Number = figure(
        "wall time of a call of the controller", "s", lambda m: cost.decision_per_call(m.record),
        "decision", "per call", wall=True)
    decision_per_row: Number = figure(
        "the same of a decision about one flow", "s", lambda m: cost.decision_per_row(m.record),
        "decision", "per flow", better="lower", of_idle=True, wall=True)
    packets_sent: int = figure(
        "data packets sent, whole run", "packets", lambda m: int(m.flows.sent_packets.sum()))
    packets_delivered: int = figure(
        "data packets delivered, whole run", "packets", lambda m: int(m.flows.delivered_packets.sum()))
    packets_per_wall_second: Number = figure(
        "packets delivered / wall time, whole run", "1/s",
        lambda m: ratio(float(m.flows.delivered_packets.sum()), m.record.wall_seconds), wall=True)
    pacing_lag_p99: Number = figure(
        "how late packets left in the window, nominal", "s",
        lambda m: m.record.late.pacing_lag.histogram.quantile(0.99),
        source="the verdict's limits are in [verdicts](verdicts.md)")
    pacing_lag_max: Number = figure("the latest one", "s", lambda m: m.record.late.pacing_lag.largest)
    feedback_lag_p99: Number = figure(
        "how long feedback waited for the controller", "s",
        lambda m: m.record.late.feedback_lag.histogram.quantile(0.99))
    feedback_lag_max: Number = figure("the longest", "s", lambda m: m.record.late.feedback_lag.largest)
    stalled_bytes: Number = figure(
        "what the bottleneck's shaper did not send in time, in the window", "B", lambda m: m.record.late.stalled_bytes)
    apps: list[AppFigures] = figure(
        "figures that the experiment takes from what apps print; rates and times nominal", "",
        lambda m: [AppFigures(app=one.name, host=one.host, figures=one.figures) for one in m.record.apps])
    tcp: TcpTimers | None = figure(
        "of hosts with apps: base RTTs that an RTO and a delayed ACK take at least, timeouts, delayed ACKs, segments "
        "sent and sent again; null without apps", "", lambda m: m.record.tcp)
    counters: dict[str, int] = figure(
        "counts behind the verdict: drops outside the model, ring overflow, ...", "", lambda m: dict(m.record.counters))
    # fmt: on

    def to_json(self) -> str:
        """Indented JSON; what cannot be known is null."""
        return self.model_dump_json(indent=2)


FIGURES = figures_of(Summary)
COMPARED = {name: one for name, one in FIGURES.items() if one.better}


def summarise(record: RunRecord, verdict: Verdict, *, experiment: str, controller: str, tuner: str = "") -> Summary:
    """Compute every figure of a run."""
    measured = Measurements(record)
    values = {name: one.value(measured) for name, one in FIGURES.items()}
    if verdict.start:
        values |= {name: NAN for name, one in FIGURES.items() if one.with_start}
    return Summary.model_validate(
        {"experiment": experiment, "controller": controller, "tuner": tuner, "verdict": verdict} | values
    )
