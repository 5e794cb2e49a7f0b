"""A sweep on Ray: two nodes on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import testbed
from testbed.results.folder import load_manifest
from tests.support.commands import Command, command
from tests.support.comparisons import MINE
from tests.support.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.parallel,  # a node has half a minute to start
    pytest.mark.skipif(find_spec("ray") is None, reason="no ray"),
]

SWEEP = ("sweep", "incast-2", "--engine", "virtual", "--duration", "200 us", "--set", "record.report=false")
# Programs of a head that would start and look around for nothing.
NOBODY_ASKS = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
QUIET = {"enable_metrics_collection": False}
GRID = (*SWEEP, "--controller", "hpcc,fixed", "--repeat", "2")  # four cells


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head with one core; it has no place for the kernel's cells."""
    from ray.cluster_utils import Cluster

    room = tempfile.mkdtemp(prefix="ray")  # Ray's sockets need a short path
    Path(tempfile.gettempdir(), "ray").mkdir(
        exist_ok=True
    )  # into which it writes an address, whether it is there or not
    head = {"num_cpus": 1, "object_store_memory": 100 << 20, "temp_dir": room, "_system_config": QUIET, **NOBODY_ASKS}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield made
    finally:
        made.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(room, ignore_errors=True)


@pytest.fixture(scope="module")
def second(cluster: Any) -> Any:
    """One more node, which may run the kernel's cells. The last test kills it; those before it have the head alone."""
    return add(cluster, num_cpus=2, resources={"kernel": 1})


def add(cluster: Any, **about: Any) -> Any:
    node = cluster.add_node(**{"num_cpus": 1, "object_store_memory": 100 << 20, **about})
    cluster.wait_for_nodes()
    return node


def begin(cluster: Any, *arguments: str, cwd: Path) -> Command:
    return Command(*arguments, "--on", "ray", "--format", "json", cwd=cwd, RAY_ADDRESS=cluster.address)


def end(process: Command) -> tuple[int, str, str]:
    out, said = process.communicate(timeout=PATIENCE)
    return process.returncode, out, said


def cells_of(node: Any) -> dict[int, int]:
    """Processes of cells that run on a node, and the parent of each. It is asked fifty times a second."""
    parents: dict[int, int] = {}
    looked_at = [node.all_processes["raylet"][0].process.pid]
    for pid in looked_at:  # grows while we walk
        for thread in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):  # it ended meanwhile
                started = [int(child) for child in thread.read_text().split()]
                parents |= dict.fromkeys(started, pid)
                looked_at += started

    def is_cell(pid: int) -> bool:
        try:
            return b"sweep_child" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    return {pid: parent for pid, parent in parents.items() if is_cell(pid)}


def begun(cells: dict[int, int]) -> set[int]:
    """The first process of each."""
    return {pid for pid, parent in cells.items() if parent not in cells}


def running_on(node: Any, process: Command) -> dict[int, int]:
    """The cells there, as soon as there are some."""
    until(lambda: cells_of(node) or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return cells_of(node)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the grid leaves without a cluster."""
    folder = tmp_path_factory.mktemp("here") / "sweep"
    done = command(*GRID, "--jobs", "2", "--out", str(folder), cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    return folder


def tables(folder: Path) -> dict[str, bytes]:
    """Of all cells of a sweep."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.glob("*/*.parquet")}


def test_a_node_with_other_code_and_libraries_is_named(cluster: Any, tmp_path: Path) -> None:
    other = tmp_path / "other" / "testbed"
    shutil.copytree(Path(testbed.__file__).parent, other, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "units.py").open("a") as file:
        file.write("# one line more\n")
    library = other.with_name("numba-0.1.dist-info")
    library.mkdir()
    (library / "METADATA").write_text("Metadata-Version: 2.1\nName: numba\nVersion: 0.1\n")
    node = add(cluster, env_vars={"PYTHONPATH": str(other.parent)})
    status, out, said = end(begin(cluster, *SWEEP, "--controller", "fixed", "--out", "x", cwd=tmp_path))
    cluster.remove_node(node)
    assert status == 2
    for part in ("numba is 0.1, on ", "testbed's code is", "make both equal"):
        assert part in said
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
    done = command(*SWEEP, *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_what_runs_and_resume_goes_on(cluster: Any, here: Path, tmp_path: Path) -> None:
    """With what is not finished; and one node leaves the same bytes as none, and as two."""
    running = begin(cluster, *GRID, "--out", "x", cwd=tmp_path)
    until(lambda: [*tmp_path.glob("x/*/summary.json")] or running.poll() is not None)
    assert running_on(cluster.head_node, running)
    os.kill(running.pid, signal.SIGINT)
    status, _, said = end(running)
    assert status == 1
    finished = {one: one.stat().st_ino for one in tmp_path.glob("x/*/summary.json")}
    assert 1 <= len(finished) < 4
    assert f"ended early with {len(finished)} of 4 cells" in said
    assert "go on with: testbed sweep --resume" in said
    until(lambda: not cells_of(cluster.head_node))
    status, out, said = end(begin(cluster, "sweep", "--resume", "x", cwd=tmp_path))
    assert (status, [one["word"] for one in json.loads(out)["cells"]]) == (0, ["clean"] * 4), said
    assert {one: one.stat().st_ino for one in finished} == finished  # was not run again
    assert said.count(": clean, ") == 4 - len(finished)
    assert tables(tmp_path / "x") == tables(here)


@pytest.mark.root
@pytest.mark.slow
def test_a_table_of_the_kernels_cells_is_filled_one_after_the_other(cluster: Any, second: Any, tmp_path: Path) -> None:
    """Whatever else the node has room for."""
    (tmp_path / "table.yaml").write_text(MINE.read_text().replace("incast-8", "incast-2"))
    running = begin(cluster, "reproduce", "./table.yaml", "--quick", "--out", "x", cwd=tmp_path)
    seen: list[set[int]] = []

    def over() -> bool:
        seen.append(begun(cells_of(second)))
        return running.poll() is not None

    until(over)
    status, out, said = end(running)
    assert status in (0, 3), said  # 3: degraded, on a busy machine
    assert max(map(len, seen)) == 1
    assert len(set().union(*seen)) == 2
    assert json.loads(out)
    assert {load_manifest(tmp_path / "x" / f"{row},two,seed=1").engine for row in "AB"} == {"kernel"}


def test_a_lost_nodes_cells_run_elsewhere_and_nothing_twice(
    cluster: Any, second: Any, here: Path, tmp_path: Path
) -> None:
    """And two nodes, of which each has run a cell, leave the same bytes as no cluster."""
    running = begin(cluster, *GRID, "--out", "there", cwd=tmp_path)
    held = running_on(cluster.head_node, running)
    for pid in held:
        os.kill(pid, signal.SIGSTOP)  # until the other node has run one and begun another
    done = begun(running_on(second, running))
    until(lambda: begun(cells_of(second)) - done or running.poll() is not None)
    lost = running_on(second, running)
    cluster.remove_node(second, allow_graceful=False)
    for pid in held:
        os.kill(pid, signal.SIGCONT)
    status, out, said = end(running)
    assert status == 0, said
    assert not any(Path(f"/proc/{pid}").exists() for pid in lost)
    assert [one["word"] for one in json.loads(out)["cells"]] == ["clean"] * 4
    names = [one["cell"] for one in json.loads(out)["cells"]]
    assert [said.count(f"{name}: clean") for name in names] == [1] * 4
    assert "about" in said  # how long it will take
    assert sorted(one.name for one in tmp_path.joinpath("there").iterdir()) == sorted([*names, "logs", "sweep.json"])
    assert len(tables(here)) >= 4 * 3
    assert tables(tmp_path / "there") == tables(here)
