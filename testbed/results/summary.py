"""The figures of one run, flat and in SI units, with the verdict: what ``summary.json`` and ``--format json`` hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from testbed.results import figures
from testbed.results.record import RunRecord
from testbed.results.verdict import Verdict

NAN = float("nan")


def _unknown(value: object) -> object:
    return NAN if value is None else value


Figure = Annotated[float, BeforeValidator(_unknown)]
"""A number that may be nan inside and is null in JSON, which has no nan."""


class SizeBin(BaseModel):
    """The slowdown of finished flows of neighbouring sizes; see `testbed.results.figures.SizeBin`."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    largest: Figure = Field(description="bytes; null if the bin has no upper end")
    flows: int
    mean: Figure
    p50: Figure
    p99: Figure


class Messages(BaseModel):
    """Operations of one kind, such as exchanges of all with all; see `testbed.results.figures.Messages`."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    label: str
    size: Figure = Field(description="bytes of a message")
    operations: int
    message: Figure = Field(description="s, mean of all messages")
    rank: Figure = Field(description="s, mean over operations and hosts")
    operation: Figure = Field(description="s, mean over operations, until all is done")


class Summary(BaseModel):
    """What one run showed. Figures are over the window unless they say otherwise; null means it cannot be known."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    experiment: str
    controller: str
    tuner: str
    verdict: Verdict

    engine: str = Field(
        default="kernel",
        description="`kernel`; `fluid`: rates, packets are as many bytes; `lab`: what only switches know is null",
    )
    start_spread: Figure = Field(default=0.0, description="s, at most so far apart did the hosts of a lab start")

    flows: int
    hosts: int = Field(description="sending hosts")
    bottleneck: str = Field(description="name of the switch port")
    bottleneck_rate: Figure = Field(description="bit/s")
    base_rtt: Figure = Field(description="s, of the median flow")
    duration: Figure = Field(description="s, nominal")
    window_start: Figure = Field(description="s, nominal; the warm-up's end")
    window_end: Figure = Field(description="s, nominal")
    wall_seconds: Figure = Field(description="s, wall")

    su: Figure = Field(description="switch utilisation of the bottleneck, %")
    su_receivers: Figure = Field(default=NAN, description="the same, mean over the ports towards receiving hosts, %")
    receivers: int = Field(default=0, description="receiving hosts; each has such a port")
    fr_flows: Figure = Field(description="100 * min / max of the flows' goodput, %")
    fr_hosts: Figure = Field(description="100 * min / max of the sending hosts' goodput, %")
    jain_flows: Figure = Field(description="Jain's index over flows")
    jain_hosts: Figure = Field(description="Jain's index over sending hosts")
    fairness_flows: int = Field(description="flows compared: active for at least 90 % of the window")
    ql_mean: Figure = Field(description="queue latency, mean over time, s")
    ql_p99: Figure = Field(description="queue latency, of arriving packets, s")
    ql_max: Figure = Field(description="queue latency, s")
    ql_receivers: Figure = Field(default=NAN, description="QL, mean over the ports towards receiving hosts, s")
    ql_busiest: Figure = Field(default=NAN, description="QL of the port where it is highest, s")
    queue_mean: Figure = Field(default=NAN, description="queue length of the bottleneck, mean, bytes")
    queue_std: Figure = Field(default=NAN, description="its standard deviation, bytes")
    queue_ports_mean: Figure = Field(default=NAN, description="queue length of all ports that sent, mean, bytes")
    queue_ports_std: Figure = Field(default=NAN, description="its standard deviation, bytes")
    rtt_min: Figure = Field(description="s, whole run")
    rtt_p50: Figure = Field(description="s")
    rtt_p99: Figure = Field(description="s")
    delay_p99: Figure = Field(default=NAN, description="packet delay one way: RTT p99 less half the base RTT, s")
    goodput: Figure = Field(description="payload acknowledged, all flows, bit/s")
    drops: Figure = Field(description="packets dropped by the model, all ports")
    drops_in_run: Figure = Field(description="the same with the warm-up")
    loss: Figure = Field(description="packets dropped by the model / packets sent, %, whole run")
    loss_flows: Figure = Field(default=NAN, description="mean of the flows' lost / delivered packets, %, whole run")
    drop_rate: Figure = Field(default=NAN, description="traffic dropped by the model, all ports, bit/s")
    marks: Figure = Field(description="packets marked CE, all ports")
    marked: Figure = Field(description="share of the packets through the bottleneck that were marked, %")
    lossless: bool = Field(default=False, description="whether the switches did priority flow control (802.1Qbb)")
    pause_frames: Figure = Field(default=0.0, description="PFC frames sent by the switches, all ports, whole run")
    paused: Figure = Field(default=0.0, description="share of the time that a sending host was paused, mean, %")
    paused_in_run: Figure = Field(default=0.0, description="the same over the whole run")
    paused_port: str = Field(default="", description="port between switches that was paused for longest, whole run")
    paused_port_in_run: Figure = Field(default=NAN, description="share of the whole run for which it was, %")

    fct_finished: int = Field(description="finite flows that finished, whole run")
    fct_unfinished: int = Field(description="finite flows that did not")
    fct_mean: Figure = Field(description="s")
    fct_p50: Figure = Field(description="s")
    fct_p99: Figure = Field(description="s")
    slowdown_mean: Figure = Field(description="FCT / ideal FCT")
    slowdown_p50: Figure = Field(description="FCT / ideal FCT")
    slowdown_p99: Figure = Field(description="FCT / ideal FCT")
    mice: int = Field(default=0, description="finite flows of at most 1 MB that finished")
    fct_mice_mean: Figure = Field(default=NAN, description="s")
    fct_mice_p99: Figure = Field(default=NAN, description="s")
    slowdown_mice_mean: Figure = Field(default=NAN, description="FCT / ideal FCT")
    slowdown_mice_p99: Figure = Field(default=NAN, description="FCT / ideal FCT")
    elephants: int = Field(default=0, description="finite flows above 1 MB that finished")
    fct_elephants_mean: Figure = Field(default=NAN, description="s")
    fct_elephants_p99: Figure = Field(default=NAN, description="s")
    slowdown_elephants_mean: Figure = Field(default=NAN, description="FCT / ideal FCT")
    slowdown_elephants_p99: Figure = Field(default=NAN, description="FCT / ideal FCT")
    slowdown_by_decade: list[SizeBin] = Field(default=[], description="by size: up to 1 kB, 10 kB, ... 1 GB, and above")
    slowdown_by_share: list[SizeBin] = Field(default=[], description="by size: 20 bins with 5 % of the flows each")

    interruptions: int = Field(default=0, description="of long flows by short ones, begun in the window")
    recovered: int = Field(default=0, description="interruptions after which the long flows were back at full rate")
    recovery: Figure = Field(default=NAN, description="mean time from the short flows' end to that, s; ADPG's RT")
    slowed: int = Field(default=0, description="interruptions in which the long flows' allowed rate fell")
    reaction: Figure = Field(
        default=NAN, description="mean time from the short flows' start to that, base RTTs; as DECC"
    )
    long_bandwidth: Figure = Field(default=NAN, description="wire bytes of the long flows / line rate, %; LBW")

    messages: list[Messages] = Field(default=[], description="completion times of operations, by kind")
    message_mean: Figure = Field(default=NAN, description="s, mean of all messages, of the kind with the largest ones")
    message_rank_mean: Figure = Field(default=NAN, description="s, mean over operations and hosts, of that kind")

    decisions: int = Field(description="rows that the controller decided about, whole run")
    decision_per_call: Figure = Field(description="s, wall")
    decision_per_row: Figure = Field(description="s, wall")
    packets_sent: int = Field(description="whole run")
    packets_delivered: int = Field(description="whole run")
    packets_per_wall_second: Figure = Field(description="delivered, whole run")
    pacing_lag_p99: Figure = Field(description="s, nominal")
    pacing_lag_max: Figure = Field(description="s, nominal")
    feedback_lag_p99: Figure = Field(description="s, nominal")
    feedback_lag_max: Figure = Field(description="s, nominal")
    counters: dict[str, int]

    def to_json(self) -> str:
        """Indented JSON; what cannot be known is null."""
        return self.model_dump_json(indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Summary:
        """The reverse of `to_json`; raises pydantic's ValidationError."""
        return cls.model_validate_json(text)


def summarise(record: RunRecord, verdict: Verdict, *, experiment: str, controller: str, tuner: str = "") -> Summary:
    """Compute every figure of a run."""
    span = figures.window(record)
    steady = figures.steady_flows(record, span)
    rates = figures.steady_rates(record, span)[steady]
    host_rates = figures.per_host(rates, [src for src, kept in zip(record.flows.src, steady, strict=True) if kept])
    packets = figures.packets(record, span)
    fct = figures.completion(record)
    mice, elephants = figures.completion_by_class(record)
    queue, queues = figures.queue_length(record, span), figures.queue_length(record, span, all_ports=True)
    recovery = figures.recovery(record, span)
    paused_port, paused_port_share = figures.most_paused_port(record, figures.Window(0.0, span.end))
    messages = figures.messages(record.flows)
    delivered = int(record.flows.delivered_packets.sum())
    return Summary(
        experiment=experiment,
        controller=controller,
        tuner=tuner,
        verdict=verdict,
        engine=record.engine,
        start_spread=record.start_spread,
        flows=len(record.flows),
        hosts=len(set(record.flows.src)),
        bottleneck=record.ports[record.bottleneck],
        bottleneck_rate=float(record.port_rate[record.bottleneck]),
        base_rtt=figures.base_rtt(record),
        duration=record.duration,
        window_start=span.start,
        window_end=span.end,
        wall_seconds=record.wall_seconds,
        su=figures.utilisation(record, span),
        su_receivers=figures.receiver_utilisation(record, span),
        receivers=len(figures.receiver_ports(record)),
        fr_flows=figures.fairness_ratio(rates),
        fr_hosts=figures.fairness_ratio(host_rates),
        jain_flows=figures.jain(rates),
        jain_hosts=figures.jain(host_rates),
        fairness_flows=int(steady.sum()),
        ql_mean=figures.queue_latency_mean(record, span),
        ql_p99=figures.queue_latency_quantile(record, span, 0.99),
        ql_max=figures.queue_latency_max(record, span),
        ql_receivers=figures.receiver_queue_latency(record, span),
        ql_busiest=figures.busiest_queue_latency(record, span),
        queue_mean=queue.mean,
        queue_std=queue.std,
        queue_ports_mean=queues.mean,
        queue_ports_std=queues.std,
        rtt_min=record.rtt_min,
        rtt_p50=record.rtt_histogram.quantile(0.5),
        rtt_p99=record.rtt_histogram.quantile(0.99),
        delay_p99=figures.packet_delay(record),
        goodput=float(figures.flow_goodput(record, span).sum()),
        drops=packets.dropped,
        drops_in_run=packets.dropped_in_run,
        loss=100 * figures.loss_share(record),
        loss_flows=100 * figures.loss_per_flow(record),
        drop_rate=figures.drop_rate(record, span),
        marks=packets.marked,
        marked=100 * packets.marked_share,
        lossless=record.lossless,
        pause_frames=figures.pause_frames(record),
        paused=100 * figures.paused_share(record, span),
        paused_in_run=100 * figures.paused_share(record, figures.Window(0.0, span.end)),
        paused_port=paused_port,
        paused_port_in_run=100 * paused_port_share,
        fct_finished=fct.finished,
        fct_unfinished=fct.unfinished,
        fct_mean=fct.mean,
        fct_p50=fct.p50,
        fct_p99=fct.p99,
        slowdown_mean=fct.slowdown_mean,
        slowdown_p50=fct.slowdown_p50,
        slowdown_p99=fct.slowdown_p99,
        mice=mice.finished,
        fct_mice_mean=mice.mean,
        fct_mice_p99=mice.p99,
        slowdown_mice_mean=mice.slowdown_mean,
        slowdown_mice_p99=mice.slowdown_p99,
        elephants=elephants.finished,
        fct_elephants_mean=elephants.mean,
        fct_elephants_p99=elephants.p99,
        slowdown_elephants_mean=elephants.slowdown_mean,
        slowdown_elephants_p99=elephants.slowdown_p99,
        slowdown_by_decade=[SizeBin(**asdict(one)) for one in figures.slowdown_by_decade(record)],
        slowdown_by_share=[SizeBin(**asdict(one)) for one in figures.slowdown_by_share(record)],
        interruptions=recovery.interruptions,
        recovered=recovery.recovered,
        recovery=recovery.recovery,
        slowed=recovery.slowed,
        reaction=recovery.reaction,
        long_bandwidth=figures.long_bandwidth(record, span),
        messages=[Messages(**asdict(one)) for one in messages],
        message_mean=messages[-1].message if messages else NAN,
        message_rank_mean=messages[-1].rank if messages else NAN,
        decisions=record.decisions.rows,
        decision_per_call=figures.decision_per_call(record),
        decision_per_row=figures.decision_per_row(record),
        packets_sent=int(record.flows.sent_packets.sum()),
        packets_delivered=delivered,
        packets_per_wall_second=delivered / record.wall_seconds if record.wall_seconds > 0 else NAN,
        pacing_lag_p99=record.pacing_lag.histogram.quantile(0.99),
        pacing_lag_max=record.pacing_lag.largest,
        feedback_lag_p99=record.feedback_lag.histogram.quantile(0.99),
        feedback_lag_max=record.feedback_lag.largest,
        counters=dict(record.counters),
    )
