"""Rings of switches whose pauses wait for each other: named, with the moment; and rings that go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.fidelity.verdict import judge
from tests.support.commands import command
from tests.support.ring_rack import ALLOWED, SWITCHES, ring
from tests.support.simulated import simulated


@pytest.mark.parametrize("lossless", ["pfc: {xoff: 50 kB}", "groups: {0: {pfc: on, xoff: 50 kB}}"])
def test_a_deadlock_is_named_with_its_ports_and_its_moment(lossless: str) -> None:
    record = simulated(ring(lossless, ALLOWED))
    cycle, moment = record.deadlock.split(", since ")
    ports = cycle.split(" -> ")
    assert ports[0] == ports[-1]
    assert {port[:2] for port in ports} == {f"s{number}" for number in range(1, SWITCHES + 1)}
    sent = record.port_series.tx_bytes[:, [record.ports.index(port) for port in ports]].sum(axis=1)
    assert record.port_series.time[sent == sent[-1]][0] == pytest.approx(float(moment.split()[0]) * 1e-6, abs=1e-9)
    (reason,) = judge(record).reasons
    assert (reason.what, reason.how_much) == ("PFC deadlock", record.deadlock)


@pytest.mark.parametrize(("share", "flows"), [(45, SWITCHES), (100, 2)])
def test_a_ring_that_goes_on_is_clean(share: int, flows: int) -> None:
    """Links that are not overloaded; and no flow in a part of the ring, so that the last port always sends."""
    record = simulated(ring("pfc: {xoff: 50 kB}", ALLOWED, share=share, flows=flows))
    assert (record.deadlock, judge(record).word) == ("", "clean")


def test_such_racks_are_refused_unless_they_are_allowed(tmp_path: Path) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(ring("groups: {0: {pfc: on}}"))
    done = command("run", str(file), "--dry-run")
    assert done.returncode == 2
    assert "PFC deadlock possible, cyclic buffer dependency: s1-eth2 -> " in done.stderr
    assert "rack.switch.deadlock: allow" in done.stderr
    file.write_text(ring("pfc: on", ALLOWED))
    done = command("run", str(file), "--dry-run", "--engine", "fluid")
    assert done.returncode == 2
    assert "rack.switch.deadlock: engine 'fluid' cannot tell" in done.stderr
