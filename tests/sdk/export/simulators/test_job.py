"""`testbed export NAME --to htsim` and `--to ns3`: the class that both have, and the simulators where they are.

TESTBED_HTSIM is csg-htsim's folder `sim` with libhtsim.a in it, TESTBED_NS3 ns-3's folder with its `build`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.compiled.c_library import FOLDER, HEADER
from testbed.controller import Path as FlowPath
from testbed.registry import find
from testbed.sdk.export.c.compare import exported
from testbed.sdk.export.simulators.job import FLOW, HERE
from testbed.sdk.new import new
from tests.support.commands import command

HTSIM, NS3 = os.environ.get("TESTBED_HTSIM", ""), os.environ.get("TESTBED_NS3", "")
PATH = FlowPath(100e9, 8e-6, 8e-6, 1, 1000, 1086)


def run(*arguments: str | Path, told: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*arguments], input=told, capture_output=True, text=True, check=False, cwd=cwd)


def compiled(name: str, folder: Path) -> Path:
    """A flow of this controller, to be told things."""
    plugin = find("controller", name)
    (folder / "one.c").write_text(exported(plugin, plugin.configure(None, {})).text)
    for language in (
        ["cc", "-std=c99", "one.c"],
        ["c++", "-std=c++11", "-Werror", Path(__file__).with_name("told.cpp")],
    ):
        done = run(
            *language, "-O1", "-Wall", "-Wextra", "-ffp-contract=off", "-c", f"-I{FOLDER}", f"-I{HERE}", cwd=folder
        )
        assert not done.returncode, done.stderr
    done = run("c++", "-o", "told", "told.o", "one.o", cwd=folder)
    assert not done.returncode, done.stderr
    return folder / "told"


def test_a_file_of_ones_own_goes_out_with_a_class_and_comes_in(tmp_path: Path) -> None:
    file, _ = new("controller", "my_cc", tmp_path)
    out = tmp_path / "made"
    done = command("export", str(file), "--to", "htsim", "--set", "cut=20 %", "--out", str(out), "--format", "json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    around = {"cc_flow.hpp", "cc.h", "cc.cpp", "incast.cpp", "Makefile"}
    assert (
        {one.name for one in out.iterdir()} == set(said["files"]) == {"my_cc.c", "testbed_cc.h", "README.md"} | around
    )
    assert said["compared"].startswith("100,000 made-up events, extremes among them: decisions equal to the bit")
    assert "bytes per flow" in said["state"]
    assert "no undefined behaviour" in said["sanitizers"] or "no compiler here" in said["sanitizers"]
    readme = (out / "README.md").read_text()
    assert "$" not in readme
    assert "make HTSIM=" in readme
    assert said["stack"] in readme
    shown = command("show", "incast-8", "--engine", "virtual", "--controller", str(out / "my_cc.c"))
    assert shown.returncode == 0, shown.stderr
    assert "option(double, cut, 0.2, " in (out / "my_cc.c").read_text()


def test_a_flow_decides_as_in_python(tmp_path: Path) -> None:
    """DCQCN: marks, of which only the first of an interval is a CNP, bytes, timers and a choice among its options."""
    plugin = find("controller", "dcqcn")
    flow = plugin.form(plugin.configure(None, {"window": "bdp", "g": 0.25}), PATH)
    flow.on_start(0.0)
    told, expected = [], []
    for now, what in (
        (1e-5, "ack"),
        (2e-5, "ack"),
        (3e-5, "sent"),
        (6.1e-5, "ack"),
        (1.3e-4, "timer"),
        (2e-4, "timer"),
    ):
        told.append(f"{what} {now!r} 9e-6" if what == "ack" else f"{what} {now!r} 3000000")
        if what == "ack" and now != 2e-5:
            flow.on_cnp(now)
        elif what == "sent":
            flow.on_sent(now, 3_000_000)
        elif what == "timer":
            flow.on_timer(now)
        expected.append([flow.rate, flow.window, flow.timer])
    program = compiled("dcqcn", tmp_path)
    done = run(program, "window=bdp", "g=0.25", told="\n".join(told))
    assert [[float(one) for one in line.split()] for line in done.stdout.splitlines()] == expected
    assert len({one[0] for one in expected}) > 3
    for wrong, said in (("windo=bdp", "NAME one of"), ("window=b", "expected none|bdp"), ("g=1 %", "a number, SI")):
        done = run(program, wrong)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(("name", "target", "told"), [("hpcc", "ns3", "INT"), ("bolt", "htsim", "SRC")])
def test_what_a_simulator_does_not_tell_is_refused(name: str, target: str, told: str, tmp_path: Path) -> None:
    done = command("export", name, "--to", target, "--out", str(tmp_path / "made"))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot be exported to {target}: it needs {told}, which" in done.stderr
    assert not (tmp_path / "made").exists()


def swift(folder: Path, simulator: str) -> None:
    """Its C and the class, in one folder."""
    plugin = find("controller", "swift")
    (folder / "swift.c").write_text(exported(plugin, plugin.configure(None, {})).text)
    for one in (HERE / FLOW, HEADER):
        shutil.copy(one, folder)
    shutil.copytree(HERE / simulator, folder, dirs_exist_ok=True)


def settles(printed: str) -> None:
    """Swift's incast of 16, as in the rack (docs/howto/export.md)."""
    utilisation, queueing, jain = re.findall(
        r"utilisation ([\d.]+) %, queueing mean ([\d.]+) us.* Jain ([\d.]+)", printed
    )[0]
    assert float(utilisation) > 99
    assert float(queueing) == pytest.approx(7.0, rel=0.05)
    assert float(jain) > 0.99
    assert "lost 0" in printed


@pytest.mark.skipif(not HTSIM, reason="TESTBED_HTSIM is not set")
def test_in_htsim(tmp_path: Path) -> None:
    swift(tmp_path, "htsim")
    done = run("make", "-C", tmp_path, f"HTSIM={HTSIM}")
    assert (done.returncode, done.stderr) == (0, "")
    settles(run(tmp_path / "incast").stdout)
    assert "finished 16 of 16" in run(tmp_path / "incast", "size=1e6").stdout


@pytest.mark.slow
@pytest.mark.skipif(not NS3, reason="TESTBED_NS3 is not set")
def test_in_ns3(tmp_path: Path) -> None:
    swift(tmp_path, "ns3")
    build = Path(NS3) / "build"
    (tmp_path / "ns3").mkdir()
    (tmp_path / "ns3" / "testbed-cc.h").symlink_to(tmp_path / "testbed-cc.h")
    done = run("cc", "-std=c99", "-O2", "-ffp-contract=off", "-c", "swift.c", cwd=tmp_path)
    assert not done.returncode, done.stderr
    libraries = sorted(one.stem.removeprefix("lib") for one in (build / "lib").glob("libns3*.so"))
    done = run(
        "c++", "-std=c++23", "-O2", "-I.", "-isystem", build / "include", "testbed-cc.cc", "examples/incast.cc",
        "swift.o",
        f"-L{build / 'lib'}", f"-Wl,-rpath,{build / 'lib'}", *(f"-l{one}" for one in libraries if "testbed" not in one),
        "-o", "incast", cwd=tmp_path,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    settles(run(tmp_path / "incast").stdout)
