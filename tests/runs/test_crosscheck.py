"""Engines held against each other, as `testbed crosscheck` does: model and virtual time, virtual time and kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from testbed.fidelity.verdict import judge
from testbed.results.record import EngineName
from testbed.results.summary import Summary, summarise
from testbed.results.verdict import Reason, Verdict
from testbed.runs.crosscheck import Crosscheck, Told
from testbed.runs.overrides import resolve
from testbed.runs.same import Difference
from tests.support import theory
from tests.support.known import DCQCN, EIGHT, dcqcn_at_rest, options, settings
from tests.support.modelled import figures
from tests.support.runs import LATE_PAUSE, UNCALIBRATED, Runs
from tests.support.simulated import measured, simulated

PACKET = theory.INT_WIRE * 8 / theory.LINE
CALIBRATED = 0.02  # a link's rate and delay may be off by so much
SHORTER = ("tuner.preset=secn1", "time.duration=2 ms", "time.warmup=1 ms")
SETTLED = ("tuner.preset=secn1", "time.duration=4 ms", "time.warmup=3 ms")
LASTING = ("tuner.preset=secn1", "time.duration=3 ms", "time.warmup=1.5 ms")
# 64 flows need more marks than SECN1's 1 % for a rest. Without one, a CNP that is 0.1 us late shows
# (docs/explanation/engines.md).
AT_REST_64 = (
    "traffic.senders=64", "tuner.preset=secn1", "tuner.pmax=10 %", "rack.switch.buffer=8 MB", "time.duration=6 ms",
    "time.warmup=3 ms",
)  # fmt: skip


def virtual(controller: str, *more: str) -> Summary:
    record = simulated("incast-8", [*settings(controller), *more], controller=controller)
    return summarise(record, judge(record), experiment="incast-8", controller=controller)


def held(ran: dict[EngineName, Summary], *seeds: Summary) -> Crosscheck:
    return Crosscheck(ran, {}, seeds, PACKET, 2, Path())


def test_live_and_virtual_time_that_decide_otherwise_do_not_agree() -> None:
    summary = virtual("hpcc", "traffic.senders=2")
    found = held({"virtual": summary, "live": summary})
    assert found.agrees
    other = replace(found, other=Difference("decisions.parquet", "rate", "3", "1.0", "2.0"))
    assert not other.agrees
    assert other.as_dict()["live_differs"] == "decisions.parquet, row 3, rate: was 1.0 and is 2.0"


@pytest.mark.parametrize("flows", [2, 8])
def test_hpcc_of_model_and_virtual_time_agrees_within_all_bounds(flows: int) -> None:
    """INT of sixteen probes per RTT is nearly that of every packet."""
    senders = f"traffic.senders={flows}"
    model = figures("incast-8", [*settings("hpcc"), senders, "fluid.probes=16"], controller="hpcc")
    found = held({"fluid": model, "virtual": virtual("hpcc", senders)})
    assert found.reference == "virtual"
    assert {"su", "ql_mean", "rtt_p50", "rtt_p99"} <= {one.figure.name for one in found.figures}
    assert found.agrees, [(one.label, one.values) for one in found.figures if one.outside]


@pytest.mark.parametrize(("flows", "start"), [(2, "50 %"), (8, "10 %"), (64, "1.5 %")])
def test_adpg_of_model_and_virtual_time_agrees_within_all_bounds(flows: int, start: str) -> None:
    """From about a fair share on: how long it takes to come down from more is another question."""
    rates = (f"traffic.senders={flows}", f"controller.start_rate={start}", "time.duration=4 ms", "time.warmup=2 ms")
    model = figures("incast-8", [*settings("adpg"), *rates, "fluid.probes=16"], controller="adpg")
    found = held({"fluid": model, "virtual": virtual("adpg", *rates)})
    assert {"su", "ql_mean", "rtt_p50", "rtt_p99", "marks"} <= {one.figure.name for one in found.figures}
    assert found.agrees, [(one.label, one.values) for one in found.figures if one.outside]


@pytest.mark.parametrize("flows", [2, 8, 64])
def test_swift_of_model_and_virtual_time_agrees_but_for_what_packets_swing(flows: int) -> None:
    """Of 64 flows the slowest swing is a packet's each, which the model's RTT p99 does not show."""
    senders = f"traffic.senders={flows}"
    model = figures("incast-8", [*settings("swift"), senders, "fluid.probes=16"], controller="swift")
    reference = virtual("swift", senders)
    found = {one.figure.name: one for one in held({"fluid": model, "virtual": reference}).figures}
    for name in ("su", "marks", *(["rtt_p99"] if flows < 64 else [])):
        assert found[name].outside == []
    swing = theory.swift_swing(flows) / 2 + CALIBRATED * reference.rtt_p50
    assert abs(found["ql_mean"].difference("fluid")) <= swing
    assert abs(found["rtt_p50"].difference("fluid")) <= swing


def test_hpcc_of_64_flows_uses_more_in_the_model_by_what_packets_wait_for_each_other() -> None:
    """1.4 packets per flow and RTT meet at 96 % of the line; a fluid does not wait below all of it.

    HPCC holds the sum of utilisation and queue per base RTT: the model's SU is higher by less than that queue.
    """
    settings = (*LASTING, "time.duration=2.5 ms", "rack.switch.buffer=8 MB", "traffic.senders=64")
    model = figures("incast-8", [*settings, "fluid.probes=16"], controller="hpcc")
    packets = measured("incast-8", settings, controller="hpcc")
    assert model.ql_mean < PACKET < packets.ql_mean < 5 * PACKET
    assert 0 < model.su - packets.su < 100 * packets.ql_mean / theory.base_rtt(theory.INT_WIRE)
    assert 0 < packets.rtt_p50 - model.rtt_p50 < packets.ql_mean


def dcqcn(*settings: str, seeds: int) -> dict[str, Told]:
    model = figures("incast-8", [*settings, "fluid.probes=16"], controller="")
    ran = [measured("incast-8", [*settings, f"seed={seed}"], controller="") for seed in range(1, seeds + 1)]
    return {one.figure.name: one for one in held({"fluid": model, "virtual": ran[0]}, *ran).figures}


def senders(flows: int, alpha: float) -> list[str]:
    return [*DCQCN, f"traffic.senders={flows}", f"controller.initial_alpha={alpha}"]


LONG = ("time.duration=16 ms", "time.warmup=4 ms")
NEAR_REST = ("time.duration=8 ms", "time.warmup=4 ms")


@pytest.mark.parametrize(
    ("settings", "seeds"),
    [([*senders(2, 0.05), *NEAR_REST], 3), ([*senders(8, 0.15), *NEAR_REST], 3), (AT_REST_64, 6)],
    ids=["2", "8", "64"],
)
def test_dcqcn_of_model_and_virtual_time_agrees_within_bounds_and_chance(settings: Sequence[str], seeds: int) -> None:
    """Near rest; marks are drawn, and there are 5 or 30 per ms of the few flows.

    Of 64 flows the model marks 9 % more than packets (twelve seeds: 760 of 834, with a deviation of 23).
    """
    found = dcqcn(*settings, seeds=seeds)
    assert {"su", "ql_mean", "rtt_p50", "rtt_p99", "marks"} <= found.keys()
    if settings is AT_REST_64:
        marks = found.pop("marks").values
        assert marks["fluid"] == pytest.approx(marks["virtual"], rel=0.2)
    assert {name: one.values for name, one in found.items() if one.outside} == {}


def test_dcqcn_of_64_flows_swings_in_model_and_virtual_time() -> None:
    """They have no rest, since the fixed point's share of marks is above Pmax: the queue passes Kmax, and all cut.

    For how long it is empty then depends on which comes first, a CNP or an increase: by less than a packet's spacing
    (docs/explanation/engines.md), which a fluid does not have. How far they swing agrees.
    """
    small = ("traffic.payload=1000 B", "tuner.pmax=1 %")
    found = dcqcn(*senders(64, 0.5), *small, "time.duration=6 ms", "time.warmup=3 ms", seeds=1)
    assert theory.PMAX < theory.dcqcn_fluid(64) < 10 * theory.PMAX  # which is AT_REST_64's
    assert abs(found["su"].difference("fluid")) < 6
    assert found["rtt_p99"].values["fluid"] == pytest.approx(found["rtt_p99"].values["virtual"], rel=0.2)
    assert min(found["rtt_p99"].values.values()) > theory.base_rtt(theory.WIRE) + theory.KMAX * 8 / theory.LINE


# Some 50 flows of random traffic arrive within 4 ms: with this seed they queue, and a hundred packets are marked. How
# many is chance: 82 to 122 in virtual time with delays of 1.995 to 2.007 us (mean 100); 2 us gives the 122.
WEBSEARCH = """
rack: {hosts: 8, link: {rate: 25 Gbit/s, delay: 1.997 us}}
traffic: {pattern: poisson, sizes: websearch, load: 80 %}
controller: {name: dcqcn, preset: paper, window: bdp}
seed: 3
time: {duration: 4 ms, warmup: 0}
"""
# 8 x 100 Gbit/s for one: they bring 5 MB more than leave within 60 us, long before marks have slowed them down.
LOSSLESS = """
rack:
  switch:
    pfc: {xoff: 60 kB} # of eight ingresses: 480 kB, above Kmin
traffic: {pattern: incast, senders: 8}
controller: {name: dcqcn, preset: paper}
time: {duration: 4 ms, warmup: 1 ms}
"""
# A packet in a hundred is lost on its way over two links; what its sender goes back over is sent again.
GO_BACK_N = """
rack: {hosts: 3, link: {rate: 25 Gbit/s, delay: 2 us, loss: 0.005}}
traffic: {pattern: incast, senders: 2}
controller: {name: fixed, rate: 45 %}
transport: {recovery: go-back-n, timeout: 30 us}
time: {duration: 1.5 ms, warmup: 250 us}
"""
TRIMMING = """
rack: {hosts: 5, switch: {buffer: 100 kB, trim: on, queues: {0: {red: off}}}}
traffic: {pattern: incast, senders: 4, size: 400 kB}
controller: {name: fixed, rate: 50 %}
transport: {recovery: selective-repeat}
time: {duration: 200 us, warmup: 0 s}
"""
CREDITS = """
rack: {hosts: 9, link: {rate: 25 Gbit/s}}
traffic: {pattern: incast, senders: 8}
controller: fixed
receiver: {name: eqds, preset: requests}
time: {duration: 1.5 ms, warmup: 500 us}
"""
# Two of the ring's eight messages at a time cross the spines; nothing queues but behind acknowledgements.
SMALL_RING = (
    "rack={kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4}",
    "traffic={pattern: allreduce, ranks: 8, size: 256 KiB, iterations: 3, payload: 4096 B}",
    "time.duration=0.45 ms",
)
SMALL_SPRAY = (
    "rack.leaves=2", "rack.spines=4", "rack.hosts_per_leaf=4", "traffic.hosts=8", "traffic.stride=4",
    "time.duration=600 us", "time.warmup=200 us",
)  # fmt: skip
# Three flows share each host's line, which is full of data and acknowledgements but for HPCC's twentieth.
FULL_LINES = (
    "rack.link.rate=400 Gbit/s", "rack.link.delay=2.5 us", "rack.switch.buffer=20 MB", "traffic.hosts=4",
    "time.duration=400 us", "time.warmup=200 us",
)  # fmt: skip


class Case(NamedTuple):
    """A run of both engines. ``controller``: none for the experiment's own; ``seeds``: for what chance does.

    ``experiment``: its name, or the text of its file.
    """

    experiment: str
    settings: Sequence[str]
    controller: str = ""
    dilation: int = 0  # the default
    seeds: int = 1


CASES = {
    **{name: Case("incast-8", settings(name), name) for name in EIGHT},
    "hpcc, 2 flows": Case("incast-2", LASTING, "hpcc", dilation=2000),
    # Room for all first windows: which flows lose all of theirs, and wait for a timeout, is another matter.
    "hpcc, 64 flows": Case("incast-64", [*LASTING, "rack.switch.buffer=8 MB"], "hpcc", dilation=3000),
    "swift, 2 flows": Case("incast-2", SHORTER, "swift", dilation=1000),
    "swift, 64 flows": Case("incast-64", [*SHORTER, "rack.switch.buffer=8 MB"], "swift", dilation=3000, seeds=6),
    # Until then 0.01 us of a start, or of a link's delay, decides how they settle, in virtual time as well.
    # They fill the line: 100 %. Beside other programs the rack's SU is 96 to 99 % at 1000, and 98.8 to 99.9 % at 2000.
    "adpg, 2 flows": Case("incast-2", [*SETTLED, "controller.start_rate=50 %"], "adpg", dilation=2000),
    "adpg, 64 flows": Case("incast-64", [*SETTLED, "controller.start_rate=1.5 %"], "adpg", dilation=3000),
    "dcqcn": Case("incast-8", DCQCN, seeds=6),  # its marks are drawn
    "dcqcn, 2 flows": Case("incast-8", [*senders(2, 0.05), *LONG], dilation=500, seeds=6),
    "dcqcn, 64 flows": Case(
        "incast-8", [*AT_REST_64, "tuner.pmax=40 %", "traffic.payload=4096 B"], dilation=3000, seeds=6
    ),
    "full lines": Case("all-to-all-16", FULL_LINES, "hpcc", dilation=24000, seeds=6),
    "leaf-spine": Case("leaf-spine", ["time.duration=2 ms", "time.warmup=800 us"], dilation=2000, seeds=6),
    "allreduce": Case("allreduce-16", SMALL_RING, dilation=8000),
    "spray": Case("permutation-64", SMALL_SPRAY, dilation=3000, seeds=6),
    "websearch": Case(WEBSEARCH, [], dilation=1500),
    "go-back-n": Case(GO_BACK_N, [], dilation=2000, seeds=6),  # losses are drawn
    "trimming": Case(TRIMMING, [], dilation=5000, seeds=2),
    "credits": Case(CREDITS, [], dilation=2000),
    "lossless": Case(LOSSLESS, [], dilation=3000, seeds=6),  # pauses follow marks, which are drawn
}


def which_lane(name: str) -> list[pytest.MarkDecorator]:
    """Of scripts/test: the slowest need a fifth of a core, and may run beside others; the longest may not be late."""
    if name in ("go-back-n", "spray", "trimming"):
        return []
    return [pytest.mark.quiet if name in ("dcqcn", "dcqcn, 2 flows") else pytest.mark.alone]


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(one, marks=which_lane(one)) for one in CASES])
def test_virtual_time_and_kernel_agree(runs: Runs, tmp_path: Path, name: str) -> None:
    """A clean run, at whatever dilation this machine needs, within all bounds but for what the rack's shapers do, which
    the tool must say. RTT p99 remembers every late timer: it is held only if they were earlier than its bound.
    """
    case, controller = CASES[name], CASES[name].controller
    experiment = case.experiment
    if "\n" in experiment:
        experiment = str(tmp_path / "experiment.yaml")
        Path(experiment).write_text(case.experiment)
    chosen = ["--controller", controller] if controller else []
    # Those at the default dilation are calibrated, and links that were wrong would differ in all others as well.
    slower = ["--engine", "kernel", "--dilation", str(case.dilation), *UNCALIBRATED] if case.dilation else []
    arguments = (experiment, *chosen, *options(case.settings), *slower)
    will_do = (LATE_PAUSE,) if name == "lossless" else ()  # that nothing is dropped is asserted
    done = dcqcn_at_rest(runs) if name == "dcqcn" else runs.clean(*arguments, will_do=will_do)
    kernel = Summary.model_validate(done.summary)
    ran, *others = (
        measured(experiment, [*case.settings, *more], controller=controller)
        for more in ([], *([f"seed={seed}"] for seed in range(2, case.seeds + 1)))
    )
    layout = resolve(experiment, {"controller": controller}, {}, ["engine=virtual", *case.settings]).layout
    packet = 8 * layout.framing.wire_size / layout.shape.ports[layout.bottleneck].link.rate
    links = int(layout.paths.hops.max()) + 1
    both: dict[EngineName, Summary] = {"virtual": ran, "kernel": kernel.model_copy(update={"verdict": Verdict()})}
    found = {one.figure.name: one for one in Crosscheck(both, {}, [ran, *others], packet, links, Path()).figures}
    print({figure: (one.values, one.allowed, one.rack) for figure, one in found.items()})
    assert found["su"].reference == "kernel"
    lateness = kernel.pacing_lag_p99 + kernel.feedback_lag_p99
    print(kernel.verdict, lateness)
    if kernel.verdict.reasons or lateness > found["rtt_p99"].bound:
        del found["rtt_p99"]
    assert {figure: one.values for figure, one in found.items() if set(one.outside) - set(one.shaped)} == {}
    assert {"su", "ql_mean", "rtt_p50"} <= found.keys()
    if name == "allreduce":
        assert {"slowdown_p99", "iteration_mean"} <= found.keys()
        assert ran.fct_finished == kernel.fct_finished == 3 * 8 * 14
    if name == "spray":
        assert kernel.jain_flows is not None
        assert kernel.jain_flows > 0.99
    if name == "lossless":
        assert kernel.lossless
        assert kernel.drops_in_run == 0
        assert "marks" in found
        if not math.isnan(kernel.pause_frames):  # figures with a start that was late are not known
            assert "pause_frames" in found
            assert kernel.pause_frames >= 2 * 8  # each sender was paused and let go at least once
            assert 0 < kernel.paused_in_run < 7 / 8 * 100  # eight share the link of one: they rest that much at most
            assert kernel.paused_in_run == pytest.approx(ran.paused_in_run, abs=5)
    if name == "websearch":
        assert found["slowdown_p99"].values["kernel"] > 2  # flows did wait for each other
        assert ran.fct_finished == kernel.fct_finished > 20
    elif name == "go-back-n":
        assert found["resent"].values["kernel"] > 5
    else:
        assert kernel.drops_in_run == ran.drops_in_run
    if name == "trimming":
        assert found["trims"].values["kernel"] > 1000


def test_what_the_kernels_shapers_do_is_told_as_theirs() -> None:
    """A median that misses one frame of the queue is out of bounds and explained, one that misses seven is not."""
    model = virtual("hpcc")
    for frames, shaped in ((1, ["virtual"]), (7, [])):
        kernel = model.model_copy(update={"rtt_p50": model.rtt_p50 - frames * PACKET})
        found = held({"virtual": model, "kernel": kernel})
        (rtt,) = [one for one in found.figures if one.figure.name == "rtt_p50"]
        assert rtt.outside == ["virtual"]
        assert rtt.shaped == shaped
        assert not found.agrees
    without = held({"virtual": model, "fluid": model.model_copy(update={"rtt_p50": model.rtt_p50 + PACKET})})
    (rtt,) = [one for one in without.figures if one.figure.name == "rtt_p50"]
    assert (rtt.outside, rtt.shaped) == (["fluid"], [])


def test_what_late_timers_took_from_the_line_is_told_as_theirs() -> None:
    """Of its window the bottleneck's shaper slept through 2 %, and its senders through 1 %."""
    model = virtual("hpcc")
    window = model.window_end - model.window_start
    late = model.model_copy(update={"stalled_bytes": 0.02 * window * theory.LINE / 8, "pacing_lag_max": 0.01 * window})
    for lost, outside, shaped in ((0.9, [], []), (3.9, ["virtual"], ["virtual"]), (4.1, ["virtual"], [])):
        found = held({"virtual": model, "kernel": late.model_copy(update={"su": model.su - lost})})
        (su,) = [one for one in found.figures if one.figure.name == "su"]
        assert (su.outside, su.shaped) == (outside, shaped)


def test_a_degraded_run_is_no_reference() -> None:
    clean = virtual("hpcc")
    late = Verdict(reasons=(Reason(what="pacing lag", how_much="much", remedy="wait"),))
    found = held({"virtual": clean, "kernel": clean.model_copy(update={"verdict": late})})
    assert found.reference == "virtual"
    assert not any(one.outside for one in found.figures)
    assert not found.agrees


def test_chance_is_told_from_seeds_and_from_how_many_marks_there_are() -> None:
    """Between 100 marks and 121 there are 1.5 standard deviations of a difference; 5 % are 5."""
    one, other = (virtual("hpcc").model_copy(update={"marks": marks, "su": su}) for marks, su in ((100, 90), (121, 93)))
    found = {told.figure.name: told for told in held({"virtual": one, "fluid": other}).figures}
    assert found["marks"].bound == 5
    assert found["marks"].chance == pytest.approx(2 * 2**0.5 * 10)
    assert found["marks"].outside == []
    assert found["su"].outside == ["fluid"]
    seeds = [one.model_copy(update={"su": su}) for su in (88, 90, 92)]
    (su,) = [told for told in held({"virtual": one, "fluid": other}, *seeds).figures if told.figure.name == "su"]
    assert su.outside == []
