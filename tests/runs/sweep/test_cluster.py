"""A sweep on Ray: two nodes of one core each, on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import testbed

ray = pytest.importorskip("ray")

SWEEP = ("sweep", "incast-2", "--engine", "virtual", "--duration", "200 us", "--set", "record.report=false")
LONGEST = 120  # seconds, on whatever machine


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head with one core; it has no place for the kernel's cells."""
    from ray.cluster_utils import Cluster

    room = tempfile.mkdtemp(prefix="ray")  # Ray's sockets need a short path
    Path(tempfile.gettempdir(), "ray").mkdir(
        exist_ok=True
    )  # into which it writes an address, whether it is there or not
    head = {"num_cpus": 1, "object_store_memory": 100 << 20, "temp_dir": room, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield made
    finally:
        made.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(room, ignore_errors=True)


@pytest.fixture
def second(cluster: Any) -> Iterator[Any]:
    """One more node with a core, until the test or somebody in it removes it."""
    node = add(cluster)
    yield node
    if node in cluster.list_all_nodes():
        cluster.remove_node(node)


def add(cluster: Any, **about: Any) -> Any:
    node = cluster.add_node(num_cpus=1, object_store_memory=100 << 20, **about)
    cluster.wait_for_nodes()
    return node


def begin(cluster: Any, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "testbed", *arguments, "--on", "ray", "--format", "json"],
        env=os.environ | {"RAY_ADDRESS": cluster.address},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, said = process.communicate(timeout=LONGEST)
    return process.returncode, out, said


def cells_of(node: Any) -> list[int]:
    """Processes of cells that run on a node."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
    raylet = node.all_processes["raylet"][0].process.pid

    def below(pid: int) -> bool:
        return pid in parents and (parents[pid] == raylet or below(parents[pid]))

    return [pid for pid in parents if below(pid) and b"sweep_child" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def wait_until(condition: Callable[[], object]) -> None:
    until = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def running_on(node: Any, process: subprocess.Popen[str]) -> list[int]:
    """The cells there, as soon as there are some."""
    wait_until(lambda: cells_of(node) or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return cells_of(node)


def test_a_lost_nodes_cells_run_elsewhere_and_nothing_twice(cluster: Any, second: Any, tmp_path: Path) -> None:
    """And the tables are, byte by byte, those of a sweep without a cluster."""
    grid = (*SWEEP, "--controller", "hpcc,fixed", "--repeat", "2")
    running = begin(cluster, *grid, "--out", "there", cwd=tmp_path)
    lost = running_on(second, running)
    cluster.remove_node(second, allow_graceful=False)
    here = subprocess.run(
        [sys.executable, "-m", "testbed", *grid, "--out", "here"],
        cwd=tmp_path,
        timeout=LONGEST,
        check=False,
        capture_output=True,
    )
    status, out, said = end(running)
    assert (here.returncode, status) == (0, 0), said
    assert not any(Path(f"/proc/{pid}").exists() for pid in lost)
    assert [one["word"] for one in json.loads(out)["cells"]] == ["clean"] * 4
    names = [one["cell"] for one in json.loads(out)["cells"]]
    assert [said.count(f"{name}: clean") for name in names] == [1] * 4
    assert "about" in said  # how long it will take
    assert sorted(one.name for one in tmp_path.joinpath("there").iterdir()) == sorted([*names, "logs", "sweep.json"])
    tables = sorted(file.relative_to(tmp_path / "here") for file in tmp_path.glob("here/*/*.parquet"))
    assert len(tables) >= 4 * 3
    assert [
        one for one in tables if (tmp_path / "here" / one).read_bytes() != (tmp_path / "there" / one).read_bytes()
    ] == []


def test_ctrl_c_ends_what_runs_and_resume_goes_on(cluster: Any, tmp_path: Path) -> None:
    long = (*SWEEP[:4], "--duration", "1 s", "--set", "record.report=false", "--controller", "hpcc")
    running = begin(cluster, *long, "--out", "x", cwd=tmp_path)
    assert running_on(cluster.head_node, running)
    running.send_signal(signal.SIGINT)
    status, _, said = end(running)
    assert status == 1
    assert "ended early with 0 of 1 cells" in said
    assert "go on with: testbed sweep --resume" in said
    wait_until(lambda: not cells_of(cluster.head_node))


def test_a_node_with_other_code_is_named(cluster: Any, tmp_path: Path) -> None:
    other = tmp_path / "other" / "testbed"
    shutil.copytree(Path(testbed.__file__).parent, other, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "units.py").open("a") as file:
        file.write("# one line more\n")
    node = add(cluster, env_vars={"PYTHONPATH": str(other.parent)})
    status, out, said = end(begin(cluster, *SWEEP, "--controller", "fixed", "--out", "x", cwd=tmp_path))
    cluster.remove_node(node)
    assert status == 2
    assert "testbed's code is" in said
    assert "make both equal" in said
    assert out == ""
    assert list(tmp_path.glob("x/*/")) == []


def test_cells_of_the_kernel_need_a_node_that_says_so(cluster: Any, tmp_path: Path) -> None:
    status, _, said = end(begin(cluster, "sweep", "incast-2", "--out", "x", cwd=tmp_path))
    assert status == 2
    assert """ray start --resources='{"kernel": 1}'""" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--on", "slurm"], "expected 'ray', or 'ray://HOST:PORT'"), (["--on", "ray", "--jobs", "2"], "--jobs: how many")],
)
def test_bad_options(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *SWEEP, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
