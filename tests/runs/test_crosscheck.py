"""Engines held against each other, as `testbed crosscheck` does: model and virtual time, virtual time and kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.fidelity.verdict import judge
from testbed.results.record import EngineName
from testbed.results.summary import Summary, summarise
from testbed.results.verdict import Reason, Verdict
from testbed.runs.crosscheck import Crosscheck
from tests.support import theory
from tests.support.known import EIGHT, SLACK, eight, settings
from tests.support.modelled import figures
from tests.support.runs import Runs
from tests.support.simulated import simulated

PACKET = theory.INT_WIRE * 8 / theory.LINE
BUCKET = 2 * PACKET  # s; so much of a queue passes a shaper whose bucket is full, and no RTT shows it
CALIBRATED = 0.02  # a link's rate and delay may be off by so much


def virtual(controller: str, *more: str) -> Summary:
    record = simulated("incast-8", [*settings(controller), *more], controller=controller)
    return summarise(record, judge(record), experiment="incast-8", controller=controller)


def held(ran: dict[EngineName, Summary], *seeds: Summary) -> Crosscheck:
    return Crosscheck(ran, {}, seeds, PACKET, Path())


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
    senders = f"traffic.senders={flows}"
    model = figures("incast-8", [*settings("swift"), senders, "fluid.probes=16"], controller="swift")
    reference = virtual("swift", senders)
    found = {one.figure.name: one for one in held({"fluid": model, "virtual": reference}).figures}
    assert found["su"].outside == []
    swing = theory.swift_swing(flows) / 2 + CALIBRATED * reference.rtt_p50
    assert abs(found["ql_mean"].difference("fluid")) <= swing
    assert abs(found["rtt_p50"].difference("fluid")) <= swing


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("controller", list(EIGHT))
def test_virtual_time_and_kernel_agree(runs: Runs, controller: str) -> None:
    """A clean run, at whatever dilation this machine needs. Beside the bounds, what the kernel's rack may be off by:
    its calibration, the shaper's bucket, and what its virtual queue may differ from the shaper's. Not RTT p99, which
    remembers every late timer of a busy machine.
    """
    kernel = Summary.model_validate(eight(runs, controller).summary).model_copy(update={"verdict": Verdict()})
    found = {one.figure.name: one for one in held({"virtual": virtual(controller), "kernel": kernel}).figures}
    assert found["su"].reference == "kernel"
    assert found["su"].outside == []
    assert abs(found["ql_mean"].difference("virtual")) <= max(found["ql_mean"].bound, SLACK)
    allowed = max(found["rtt_p50"].bound, BUCKET + CALIBRATED * kernel.base_rtt)
    assert abs(found["rtt_p50"].difference("virtual")) <= allowed
    assert kernel.drops == 0 == virtual(controller).drops


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
