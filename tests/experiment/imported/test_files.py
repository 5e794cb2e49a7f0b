"""Files of other tools as an experiment."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.imported.files import drafted
from testbed.experiment.load import load, resolve

FILES = {
    "t.txt": "4 1 3\n0\n1 0 25Gbps 1us 0\n2 0 25Gbps 1us 0\n3 0 25Gbps 1us 0\n",
    "flow.txt": "2\n1 3 3 100 20000 2.0\n2 3 3 100 30000 2.001\n",
    "config.txt": "CC_MODE 3\nSIMULATOR_STOP_TIME 2.005\nRATE_AI 50Mb/s\nBUFFER_SIZE 16\n"
    "KMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\nPMAX_MAP 1 25000000000 0.2\n",
    "n.topo": "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nRadix_Down 2\nRadix_Up 2\nDownlink_speed_Gbps 100\nTier 1\n"
    "Radix_Down 2\nDownlink_speed_Gbps 100\n",
    "x.cm": "Nodes 4\nConnections 1\n0->3 start 0 size 5000\n",
    "s.txt": "0 0\n1000000 100\n",
    "w.txt": "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 all_gpus: 4\n1\n"
    "x -1 10 ALLREDUCE 800 1 NONE 0 1 NONE 0 1\n",
    "few.txt": "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 3\n1\nx -1 10 ALLREDUCE 800 1 NONE 0 1 NONE 0 1\n",
    "nccl.xml": "<system><cpu>" + '<gpu/><nic><net speed="200000"/></nic>' * 2 + "</cpu></system>",
    "g.goal": "num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 1\n}\nrank 1 {\nl1: recv 10b from 0 tag 1\n}\n",
}


def made(folder: Path, *names: str, controller: str = "") -> str:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return drafted([folder / name for name in names], folder / "out.yaml", controller).text()


@pytest.mark.parametrize(
    ("names", "hosts", "flows"),
    [
        (["config.txt", "t.txt", "flow.txt"], 3, 2),
        (["x.cm", "n.topo"], 4, 1),
        (["s.txt"], 16, None),
        (["g.goal", "n.topo"], 4, 1),
        (["x.cm", "nccl.xml"], 4, 1),
        (["w.txt", "n.topo"], 4, 8),
        (["few.txt"], 6, 12),
    ],
)
def test_what_is_written_can_be_run(names: list[str], hosts: int, flows: int | None, tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text(made(tmp_path, *names))
    experiment = resolve(load(str(tmp_path / "out.yaml"))).experiment
    assert experiment.hosts == hosts
    assert flows is None or len(experiment.plan) == flows


def test_values(tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text(made(tmp_path, "flow.txt", "config.txt", "t.txt"))
    experiment = load(str(tmp_path / "out.yaml")).experiment
    assert experiment.time.duration == pytest.approx(5e-3)
    assert experiment.rack.link.rate == 25e9
    assert experiment.plan.start.tolist() == pytest.approx([0, 1e-3])
    assert "# flows of the HPCC family: 2 flows; the first flow starts at 0, there at 2 s\n" in made(
        tmp_path, "flow.txt"
    )


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["t.txt", "n.topo", "x.cm"], r"n.topo: .*t.txt is a rack as well; expected one"),
        (["t.txt", "nccl.xml", "x.cm"], "one file has a rack and another one a server; expected one of them"),
        (["t.txt"], "no file has traffic; expected flows, sizes of flows, or a schedule"),
        (["s.txt", "x.cm"], "s.txt: flow sizes are for random traffic, but another file has flows; expected one"),
        (["nowhere"], "cannot read .*nowhere: No such file"),
    ],
)
def test_what_is_refused(names: list[str], says: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=says):
        made(tmp_path, *names)
