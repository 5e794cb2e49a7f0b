"""What a wheel brings compiled: all that there is, for machines that this one is not."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from release.binaries import FLOW, UNITS, compile_unit, plugins
from release.machines import MACHINES
from testbed.base import compiler
from testbed.base.compiler import Unit
from testbed.compiled import machine
from testbed.compiled.flows import CompiledFlows
from testbed.compiled.layout import record
from testbed.compiled.source import translated
from testbed.dataplane.build import PROGRAMS
from testbed.registry import find
from tests.support.checkout import ROOT
from tests.support.rows import feedback, paths

ELF_MACHINE = {"x86_64": 62, "aarch64": 183}  # e_machine


def test_every_unit_is_compiled() -> None:
    files = [file for file in (ROOT / "testbed").rglob("*.py") if re.search(r"[^s] Unit\(", file.read_text())]
    modules = [import_module(".".join(file.relative_to(ROOT).with_suffix("").parts)) for file in files]
    held = [value for module in modules for value in vars(module).values()]
    inside = [one for value in held if isinstance(value, dict) for one in value.values()]
    there = {one.name for one in (*held, *inside) if isinstance(one, Unit)}
    assert there == {unit.name for unit in UNITS}
    assert len(there) == len(UNITS) > 20


def test_every_plugin_that_can_be_compiled_is_and_once() -> None:
    found = list(plugins())
    assert len({name for *_, name in found}) == len(found)
    assert {"dcqcn", "hpcc", "swift", "nscc", "adpg", "reps", "rccc"} <= {form.name for form, *_ in found}


@pytest.mark.parametrize("name", MACHINES)
def test_a_controller_is_emitted_for_any_machine(name: str) -> None:
    form, translation, _ = next(one for one in plugins() if one[0].name == "dcqcn")
    code = machine.emitted(translation, record(form, translation.controller.config), MACHINES[name].target)
    assert code[:4] == b"\x7fELF"
    assert int.from_bytes(code[18:20], "little") == ELF_MACHINE[name]
    assert str(ROOT).encode() not in code


def test_ebpf_needs_nothing_of_the_kernel_it_was_compiled_on(tmp_path: Path) -> None:
    """No program reads a struct of the kernel: there is nothing to relocate, so none needs the kernel's BTF."""
    pytest.importorskip("elftools", reason="comes with auditwheel")
    from elftools.elf.elffile import ELFFile

    unit = PROGRAMS["nic-pool-many-paths"]
    compile_unit(unit, MACHINES["x86_64"], tmp_path)
    with (tmp_path / unit.file_name).open("rb") as file:
        header = ELFFile(file).get_section_by_name(".BTF.ext").data()
    assert int.from_bytes(header[28:32], "little") == 0  # core_relo_len of struct btf_ext_header
    assert str(ROOT).encode() not in (tmp_path / unit.file_name).read_bytes()


def test_what_was_brought_decides_without_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = find("controller", "swift")
    config = plugin.configure(None, {})
    monkeypatch.setattr(compiler, "SHIPPED", tmp_path)
    name = machine.shipped_name(translated(plugin.form(config, FLOW)), record(plugin.form, config))
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    here = decided(CompiledFlows(plugin.form, config, paths(), True))
    (made,) = (tmp_path / "cache").glob("controller-*.so")
    made.rename(tmp_path / name)
    monkeypatch.setattr(machine, "_without_numba", lambda: "numba is not installed")
    brought = CompiledFlows(plugin.form, config, paths(), True)
    assert brought.runs_as == "machine code"
    assert decided(brought) == here
    assert not list((tmp_path / "cache").glob("controller-*"))


def decided(flows: CompiledFlows) -> list[tuple[float, float]]:
    flows.on_start(0.0, np.array([0]))
    found = []
    for step in range(1, 50):
        flows.on_feedback(step * 1e-6, np.array([0]), feedback(acked_packets=1, rtt=9e-6 + step * 1e-6))
        found.append((float(flows.rate[0]), float(flows.window[0])))
    return found
