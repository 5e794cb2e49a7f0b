"""The figures of one run, flat and in SI units, with the verdict: what ``summary.json`` and ``--format json`` hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from testbed.report import metrics
from testbed.report.verdict import Verdict, judge
from testbed.telemetry.record import RunRecord


def _unknown(value: object) -> object:
    return float("nan") if value is None else value


Figure = Annotated[float, BeforeValidator(_unknown)]
"""A number that may be nan inside and is null in JSON, which has no nan."""


class Summary(BaseModel):
    """What one run showed. Figures are over the window unless they say otherwise; null means it cannot be known."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    experiment: str
    controller: str
    tuner: str
    verdict: Verdict

    flows: int
    hosts: int = Field(description="sending hosts")
    bottleneck: str = Field(description="name of the switch port")
    bottleneck_rate: Figure = Field(description="bit/s")
    base_rtt: Figure = Field(description="s, of the median flow")
    duration: Figure = Field(description="s, nominal")
    window_start: Figure = Field(description="s, nominal; the warm-up's end")
    window_end: Figure = Field(description="s, nominal")
    wall_seconds: Figure = Field(description="s, wall")

    su: Figure = Field(description="switch utilisation, %")
    fr_flows: Figure = Field(description="100 * min / max of the flows' goodput, %")
    fr_hosts: Figure = Field(description="100 * min / max of the sending hosts' goodput, %")
    jain_flows: Figure = Field(description="Jain's index over flows")
    jain_hosts: Figure = Field(description="Jain's index over sending hosts")
    fairness_flows: int = Field(description="flows compared: active for at least 90 % of the window")
    ql_mean: Figure = Field(description="queue latency, mean over time, s")
    ql_p99: Figure = Field(description="queue latency, of arriving packets, s")
    ql_max: Figure = Field(description="queue latency, s")
    rtt_min: Figure = Field(description="s, whole run")
    rtt_p50: Figure = Field(description="s")
    rtt_p99: Figure = Field(description="s")
    goodput: Figure = Field(description="payload acknowledged, all flows, bit/s")
    drops: Figure = Field(description="packets dropped by the model, all ports")
    drops_in_run: Figure = Field(description="the same with the warm-up")
    loss: Figure = Field(description="packets dropped by the model / packets sent, %, whole run")
    marks: Figure = Field(description="packets marked CE, all ports")
    marked: Figure = Field(description="share of the packets through the bottleneck that were marked, %")
    lossless: bool = Field(default=False, description="whether the switches did priority flow control (802.1Qbb)")
    pause_frames: Figure = Field(default=0.0, description="PFC frames sent by the switches, all ports, whole run")
    paused: Figure = Field(default=0.0, description="share of the time that a sending host was paused, mean, %")
    paused_in_run: Figure = Field(default=0.0, description="the same over the whole run")

    fct_finished: int = Field(description="finite flows that finished, whole run")
    fct_unfinished: int = Field(description="finite flows that did not")
    fct_mean: Figure = Field(description="s")
    fct_p50: Figure = Field(description="s")
    fct_p99: Figure = Field(description="s")
    slowdown_mean: Figure = Field(description="FCT / ideal FCT")
    slowdown_p50: Figure = Field(description="FCT / ideal FCT")
    slowdown_p99: Figure = Field(description="FCT / ideal FCT")

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


def summarise(record: RunRecord, *, experiment: str, controller: str, tuner: str = "") -> Summary:
    """Compute every figure of a run and judge it."""
    span = metrics.window(record)
    steady = metrics.steady_flows(record, span)
    rates = metrics.steady_rates(record, span)[steady]
    host_rates = metrics.per_host(rates, [src for src, kept in zip(record.flows.src, steady, strict=True) if kept])
    packets = metrics.packets(record, span)
    fct = metrics.completion(record)
    delivered = int(record.flows.delivered_packets.sum())
    return Summary(
        experiment=experiment,
        controller=controller,
        tuner=tuner,
        verdict=judge(record),
        flows=len(record.flows),
        hosts=len(set(record.flows.src)),
        bottleneck=record.ports[record.bottleneck],
        bottleneck_rate=float(record.port_rate[record.bottleneck]),
        base_rtt=metrics.base_rtt(record),
        duration=record.duration,
        window_start=span.start,
        window_end=span.end,
        wall_seconds=record.wall_seconds,
        su=metrics.utilisation(record, span),
        fr_flows=metrics.fairness_ratio(rates),
        fr_hosts=metrics.fairness_ratio(host_rates),
        jain_flows=metrics.jain(rates),
        jain_hosts=metrics.jain(host_rates),
        fairness_flows=int(steady.sum()),
        ql_mean=metrics.queue_latency_mean(record, span),
        ql_p99=metrics.queue_latency_quantile(record, span, 0.99),
        ql_max=metrics.queue_latency_max(record, span),
        rtt_min=record.rtt_min,
        rtt_p50=record.rtt_histogram.quantile(0.5),
        rtt_p99=record.rtt_histogram.quantile(0.99),
        goodput=float(metrics.flow_goodput(record, span).sum()),
        drops=packets.dropped,
        drops_in_run=packets.dropped_in_run,
        loss=100 * metrics.loss_share(record),
        marks=packets.marked,
        marked=100 * packets.marked_share,
        lossless=record.lossless,
        pause_frames=metrics.pause_frames(record),
        paused=100 * metrics.paused_share(record, span),
        paused_in_run=100 * metrics.paused_share(record, metrics.Window(0.0, span.end)),
        fct_finished=fct.finished,
        fct_unfinished=fct.unfinished,
        fct_mean=fct.mean,
        fct_p50=fct.p50,
        fct_p99=fct.p99,
        slowdown_mean=fct.slowdown_mean,
        slowdown_p50=fct.slowdown_p50,
        slowdown_p99=fct.slowdown_p99,
        decisions=record.decisions.rows,
        decision_per_call=metrics.decision_per_call(record),
        decision_per_row=metrics.decision_per_row(record),
        packets_sent=int(record.flows.sent_packets.sum()),
        packets_delivered=delivered,
        packets_per_wall_second=delivered / record.wall_seconds if record.wall_seconds > 0 else float("nan"),
        pacing_lag_p99=record.pacing_lag.histogram.quantile(0.99),
        pacing_lag_max=record.pacing_lag.largest,
        feedback_lag_p99=record.feedback_lag.histogram.quantile(0.99),
        feedback_lag_max=record.feedback_lag.largest,
        counters=dict(record.counters),
    )
