"""A rack that is cut into parts leaves the same bits as a whole one, wherever it is cut and whoever works for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from testbed.engines.virtual import run as virtual_run
from testbed.engines.virtual.run import VirtualRun
from testbed.results.record import RunRecord
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched
from tests.engines.virtual.golden import SMALL, Small, made

CUT = {
    **{
        name: SMALL[name]
        for name in ("captures", "marks", "loss", "fat tree", "pfc", "pfc between switches", "link failure")
    },
    "spray": Small("leaf-spine", "hpcc", settings=("routing=spray",)),
    "adaptive": Small("leaf-spine", "dcqcn", settings=("routing=adaptive",)),
    "trimming": Small("trimming", "dcqcn"),
    "priorities": Small("sonic-switch", "dcqcn"),
    "slow host, messages": Small(
        "sonic-switch",
        "dcqcn",
        settings=(
            "rack.nic.receive={rate: 10 Gbit/s, xoff: 100 kB}",
            "transport={recovery: go-back-n, messages: 16 kB}",
            "packets=[{of: {labels: [lossless]}, dscp: 3, messages: 4 kB}]",
        ),
    ),
    "links change": Small(
        "leaf-spine",
        "dcqcn",
        settings=(
            "engine=virtual",
            "events=[{at: 100 us, set: {leaf1-spine1.rate: 20 Gbit/s, leaf2-spine2.delay: 9 us}}, "
            "{at: 200 us, set: {leaf1-spine1.rate: 100 Gbit/s, leaf2-spine2.delay: 1 us, leaf1-spine2.delay: 3 us}}]",
        ),
    ),
    "flowlets": Small("leaf-spine", "swift", settings=("routing=flowlet",)),
    "credits": Small(
        "leaf-spine",
        "fixed",
        settings=("receiver=eqds", "routing=spray", "rack.switch.buffer=60 kB", "tuner={kmin: 10 kB, kmax: 50 kB}"),
    ),
    "credits and a window": Small(
        "trimming", "nscc", settings=("receiver={name: rccc, preset: core}", "routing=reps", "rack.link.loss=0.01")
    ),
}
WHOLE = {
    "batch form": "batches",
    "tuner": "tuner",
    "barriers": "flows start",
}
FAILING = """
from testbed.controller import CompiledController


class Mine(CompiledController):
    acks: int = 0

    def on_ack(self, ack):
        self.acks += 1
        if self.acks == 20:
            raise ValueError("no more")
"""
FAILING_RECEIVER = """
from testbed.receiver import CreditController


class Mine(CreditController):
    arrivals: int = 0

    def on_arrival(self, arrival, host):
        self.arrivals += 1
        if self.arrivals == 20:
            raise ValueError("no more")
"""


LOOKED_AT = 7  # windows: fewer than until loads are looked at (balance.h)
THREADS = ((1, 5), (2, 7), (3, 3), (8, 8))  # and parts


def followed(name: str, threads: int, *settings: str, controller: str = "") -> tuple[VirtualRun, RunRecord]:
    resolved = resolve(name, {"controller": controller}, {}, ["engine=virtual", "record.decisions=0", *settings])
    run = VirtualRun(resolved, (), Unwatched(), threads=threads)
    return run, run.follow()


@pytest.mark.parametrize("name", CUT)
def test_any_number_of_threads_and_parts_leaves_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions are recorded, in one order."""
    one = made(CUT[name])["hashes"]
    for threads, parts in THREADS:
        monkeypatch.setattr(virtual_run, "useful_parts", lambda *_, count=parts: count)
        assert made(CUT[name], threads)["hashes"] == one


def test_what_is_due_at_the_tick_of_a_sample_comes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 1.76 ms a decision lets a flow send at that very tick, and no window may end before it has."""
    rack = ("rack.hosts=1023", "rack.link.delay=3.31 us", "rack.switch.buffer=892 kB")
    traffic = ("traffic.senders=1022", "traffic.size=100 kB", "tuner.kmin=37 kB", "tuner.kmax=145 kB")
    small = Small("incast-2", "dcqcn", "1770 us", (*rack, *traffic, "record.decisions=0"))
    hashes = []
    for parts in (1, 3):
        monkeypatch.setattr(virtual_run, "useful_parts", lambda *_, count=parts: count)
        hashes.append(made(small)["hashes"])
    assert hashes[0] == hashes[1]


def test_a_thread_that_has_more_to_do_gives_parts_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planned is as much in each part; half of it begins at the end."""
    monkeypatch.setattr(virtual_run, "useful_parts", lambda *_: 4)
    rack = "rack={kind: fat-tree, tors: 4, hosts_per_tor: 2, cores: 2}"
    soon, late = ("src: h1, dst: h2", "src: h3, dst: h4"), ("src: h5, dst: h6", "src: h7, dst: h8")
    flows = ", ".join(f"{{{flow}}}" for flow in (*soon, *(f"{one}, start: 199 us" for one in late)))
    traffic = f"traffic={{pattern: flows, flows: [{flows}]}}"
    run, _ = followed("leaf-spine", 2, rack, traffic, "time.duration=200 us", "time.warmup=50 us")
    assert run.parts
    assert len({run.parts.threads[part] for part in (0, 1)}) == 2


def test_a_thread_that_is_ready_takes_on_what_another_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parts that have something to do are the second thread's, which starts after the first one has begun."""
    monkeypatch.setattr(virtual_run, "useful_parts", lambda *_: 4)
    rack = "rack={kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 2, uplink: {rate: 40 Gbit/s, delay: 1 ms}}"
    late = ", ".join(f"{{{flow}, start: 390 us}}" for flow in ("src: h1, dst: h2", "src: h3, dst: h4"))
    traffic = f"traffic={{pattern: flows, flows: [{late}, {{src: h5, dst: h6}}, {{src: h7, dst: h8}}]}}"
    settings = ("engine=virtual", "record.decisions=0", "time.duration=400 us", "time.warmup=0", rack, traffic)
    run = VirtualRun(resolve("leaf-spine", {"controller": "fixed"}, {}, list(settings)), (), Unwatched(), threads=2)
    run._divide()
    assert run.parts
    loads = run.parts.watch(LOOKED_AT)
    run.follow()
    assert (loads["events"][:, 2:] > 0).all()
    assert 0 in loads["thread"][:, 3]


@pytest.mark.parametrize("most", [1, 5000])
def test_what_is_cut_of_the_decisions_is_the_same(most: int) -> None:
    small = replace(SMALL["leaf-spine"], settings=(f"record.decisions={most}",))
    one = made(small)["hashes"]
    assert "decisions.parquet" in one
    assert made(small, 3)["hashes"] == one


@pytest.mark.parametrize("name", CUT)
def test_it_is_cut(name: str) -> None:
    small = CUT[name]
    options = ["engine=virtual", f"time.duration={small.duration}", "time.warmup=50 us", *small.settings]
    run = VirtualRun(
        resolve(small.experiment, {"controller": small.controller}, {}, options), (), Unwatched(), threads=2
    )
    assert run.threads == 2


@pytest.mark.parametrize("name", WHOLE)
def test_what_couples_nodes_without_delay_has_one_thread(name: str, caplog: pytest.LogCaptureFixture) -> None:
    small = SMALL[name]
    plugins = {"controller": small.controller, "tuner": small.tuner}
    with caplog.at_level("INFO"):
        run = VirtualRun(
            resolve(small.experiment, plugins, {}, ["engine=virtual", *small.settings]), (), Unwatched(), threads=2
        )
    assert run.threads == 1
    assert WHOLE[name] in caplog.text


@pytest.mark.parametrize(("kind", "text"), [("controller", FAILING), ("receiver", FAILING_RECEIVER)])
def test_who_fails_first_ends_the_run_with_the_same_message(kind: str, text: str, tmp_path: Path) -> None:
    (file := tmp_path / "mine.py").write_text(text)
    messages = {followed("leaf-spine", threads, f"{kind}={file}")[1].interrupted for threads in (1, 2, 3)}
    assert len(messages) == 1
    assert "no more" in messages.pop()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_parts_do_is_all_that_is_done(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_run, "useful_parts", lambda *_: 5)
    resolved = resolve("leaf-spine", {"controller": "hpcc"}, {}, ["engine=virtual", "time.duration=1 ms"])
    run = VirtualRun(resolved, (), Unwatched(), threads=threads)
    run._divide()
    assert run.parts
    loads = run.parts.watch(10_000)
    run.follow()
    loads = loads[loads["seconds"].any(axis=1)]
    assert loads["events"].sum() == run.world.c.events_done
    assert loads["events"].any(axis=1).mean() > 0.9  # next to no window is empty
    assert (loads["seconds"] > 0).all()
    assert set(loads["thread"].flat) == set(range(threads))
    assert 0 < loads["crossed"].sum() < loads["events"].sum()
