"""The doctor says what is missing and how to get it, and leaves nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from testbed.engines.kernel import doctor, features
from testbed.errors import TestbedError

EVERYTHING = dict.fromkeys(features.FEATURES, "")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine that has everything, to take things from."""
    answers = dict(EVERYTHING)
    monkeypatch.setattr(features, "ask", lambda: answers)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(doctor, "_clang", lambda: ("ok",))
    monkeypatch.setattr(doctor, "_libbpf", lambda: ("ok",))
    return answers


def test_complete_machine_passes(machine: dict[str, str]) -> None:
    assert machine
    doctor.require()
    assert doctor.worst(doctor.examine()) == "ok"


@pytest.mark.parametrize("feature", features.REQUIRED)
def test_missing_kernel_feature_is_named(machine: dict[str, str], feature: str) -> None:
    machine[feature] = "this kernel has none"
    with pytest.raises(TestbedError) as caught:
        doctor.require()
    assert f"{feature}: this kernel has none; " in str(caught.value)
    assert doctor.worst(doctor.examine()) == "missing"


def test_netem_is_optional(machine: dict[str, str]) -> None:
    machine["netem"] = "this kernel has none"
    doctor.require()
    (netem,) = [probe for probe in doctor.examine() if probe.name == "netem"]
    assert netem.status == "optional"
    assert "delay line" in netem.detail
    assert "sch_netem" in netem.get or "linux-modules-extra" in netem.get


def test_a_kernel_without_tcx_makes_racks_but_no_switch(machine: dict[str, str]) -> None:
    machine[features.TCX] = "Invalid argument"
    doctor.require()
    (switch,) = [probe for probe in doctor.examine() if probe.name == "switch"]
    assert (switch.status, switch.get) == ("optional", "boot Linux 6.6 or newer")


def test_everything_missing_is_one_message(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine["TBF"] = "this kernel has none"
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(features, "ask", lambda: machine)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path))
    with pytest.raises(TestbedError) as caught:
        doctor.require()
    assert "C compiler: no clang, gcc, cc or $CC; install what Debian calls gcc" in str(caught.value)
    assert "needs it; install what Debian calls clang" in str(caught.value)
    assert "TBF: this kernel has none; run: modprobe sch_tbf" in str(caught.value)


def test_a_machine_without_clang_has_a_compiler_for_all_but_ebpf(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch, without_clang: str
) -> None:
    assert machine
    monkeypatch.setenv("PATH", without_clang)
    monkeypatch.delenv("CC", raising=False)
    (found,) = [probe for probe in doctor.examine() if probe.name == "C compiler"]
    assert found.status == "ok"
    assert "gcc; for controllers, --engine virtual and the decisions in results" in found.detail


def test_a_compiler_without_headers_is_told_and_how_to_get_them(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine
    monkeypatch.setenv("CC", "gcc -nostdinc")
    (found,) = [probe for probe in doctor.examine() if probe.name == "C compiler"]
    assert found.status == "missing"
    assert "gcc cannot compile: " in found.detail
    assert "math.h" in found.detail
    assert "gcc libc6-dev linux-libc-dev" in found.get


def test_without_root(machine: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    machine |= dict.fromkeys(("eBPF", "cls_bpf"), features.NEEDS_ROOT)
    monkeypatch.setattr(features, "ask", lambda: machine)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with monkeypatch.context() as bare:
        bare.setitem(sys.modules, "mininet", None)  # which is no matter without root
        with pytest.raises(TestbedError, match=r"sudo testbed run \.\.\.; or without it: --engine virtual"):
            doctor.require()
    probes = doctor.examine()
    assert doctor.worst(probes) == "unknown"
    assert {probe.name for probe in probes if probe.status == "unknown"} >= {"root", "eBPF", "cls_bpf"}


def test_every_gap_has_a_way_out() -> None:
    for probe in doctor.examine():
        if probe.status == "missing":
            assert probe.get, probe


def test_lines_and_dicts_show_the_same() -> None:
    probes = [doctor.Probe("clang", "missing", "not installed", "run: apt install clang")]
    assert list(doctor.as_lines(probes)) == ["missing   clang            not installed (run: apt install clang)"]
    assert doctor.as_dicts(probes)[0]["get"] == "run: apt install clang"
