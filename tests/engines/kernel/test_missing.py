"""What this machine lacks is said before anything is built, and how to get it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.agent.build import compile_all
from tests.support.outside import SHORT, run

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def test_without_clang_it_says_how_to_get_it(tmp_path: Path, without_clang: str) -> None:
    done = run(tmp_path, *SHORT, PATH=without_clang, TESTBED_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert "clang: not installed; eBPF, which real packets go through, needs it" in done.stderr
    assert done.stderr.endswith("needs it; run: apt install clang\n")
    assert not (tmp_path / "out").exists()


def test_without_clang_what_was_compiled_before_will_do(tmp_path: Path, without_clang: str) -> None:
    compile_all()
    assert run(tmp_path, *SHORT, "--dry-run").returncode == 0  # compiles the controller
    assert run(tmp_path, *SHORT, PATH=without_clang).returncode in (0, 3)


def test_kernel_that_lacks_something_says_what_and_how_to_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; from testbed.engines.kernel import features as kernel; from testbed.cli.main import main; "
        "answers = {**kernel.ask(), 'TBF': 'this kernel has none'}; kernel.ask = lambda: answers; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *SHORT, "--out", str(tmp_path / "out")],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "TBF: this kernel has none; run: modprobe sch_tbf" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_netem_that_is_not_there_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    from testbed.engines.kernel import features

    if not features.ask()["netem"]:
        pytest.skip("this kernel has netem")
    done = run(tmp_path, *SHORT, "--set", "rack.delay_by=netem")
    assert done.returncode == 1
    assert "netem was configured, but this kernel has none; load sch_netem" in done.stderr
    assert not (tmp_path / "out").exists()


def test_open_vswitch_that_is_not_there_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    from testbed.engines.kernel import features

    if not features.ask()["Open vSwitch"]:
        pytest.skip("this kernel has Open vSwitch")
    done = run(tmp_path, *SHORT, "--set", "rack.switch.forwarding=ovs")
    assert done.returncode == 1
    assert "ovs was configured, but this kernel has none; load the module openvswitch" in done.stderr
    assert not (tmp_path / "out").exists()
