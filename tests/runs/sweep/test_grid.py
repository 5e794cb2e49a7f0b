"""From the options of a sweep to its cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.sweep_plan import Cell
from testbed.runs.sweep.grid import Request, cells, split
from tests.support.sweeps import CONTROLLER


def grid(
    *settings: str, experiment: str = "incast-8", controller: str = "", tuner: str = "", repeat: int = 1,
    seed: int | None = None,
) -> list[Cell]:  # fmt: skip
    return cells(Request.parse(experiment, controller, tuner, settings, repeat=repeat, seed=seed))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2", ("2",)),
        ("2,8, 64", ("2", "8", "64")),
        ("10 us,100 us", ("10 us", "100 us")),
        ("[1, 2],[3]", ("[1, 2]", "[3]")),
        ("{a: 1, b: [2, 3]}", ("{a: 1, b: [2, 3]}",)),
        ("'a,b',c", ("'a,b'", "c")),
        ('"it\'s, so",c', ('"it\'s, so"', "c")),
        ("", ("",)),
    ],
)
def test_lists(text: str, values: tuple[str, ...]) -> None:
    assert split(text, "--set x") == values


@pytest.mark.parametrize(
    ("text", "says"), [("2,,8", "empty value"), ("2,", "empty value"), ("2,8,2", "2 is there twice")]
)
def test_bad_lists(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        split(text, "--set x")


def test_the_product_of_all_lists() -> None:
    found = grid("traffic.senders=2,8", "time.duration=1 ms", controller="dcqcn,swift", repeat=3)
    assert len(found) == 2 * 2 * 3
    assert [cell.name for cell in found[:4]] == [
        "dcqcn,senders=2,seed=1",
        "dcqcn,senders=2,seed=2",
        "dcqcn,senders=2,seed=3",
        "dcqcn,senders=8,seed=1",
    ]
    last = found[-1]
    assert last.experiment["traffic"]["senders"] == 8
    assert last.experiment["controller"]["name"] == "swift"
    assert last.experiment["seed"] == last.seed == 3
    assert last.arguments == [
        "run", "incast-8", "--controller", "swift", "--set", "traffic.senders=8", "--set", "time.duration=1 ms",
        "--seed", "3",
    ]  # fmt: skip
    assert 1 <= (last.seconds or 0) <= 10  # 1 ms at dilation 1000, and building


def test_repeats_of_all_combinations_have_the_same_seeds() -> None:
    found = grid(controller="dcqcn,swift", repeat=2, seed=7)
    assert [cell.seed for cell in found] == [7, 8, 7, 8]


def test_names_are_safe_and_unique() -> None:
    found = grid("rack.link.rate=100 Gbit/s,25 Gbit/s", "controller.g=0.01,0.02", tuner="static")
    assert [cell.name for cell in found][:2] == [
        "dcqcn,static,rate=100-Gbit-s,g=0.01,seed=1",
        "dcqcn,static,rate=100-Gbit-s,g=0.02,seed=1",
    ]
    # what is the same without its unsafe letters is numbered
    found = grid("description=a/b,a b,../..")
    assert [cell.name for cell in found] == [
        "dcqcn,description=a-b,seed=1",
        "dcqcn,description=a-b,seed=1-2",
        "dcqcn,description=,seed=1",
    ]


def test_options_of_one_controller_of_several() -> None:
    found = grid("controller[dcqcn].window=bdp,none", "traffic.senders=4", controller="dcqcn,swift")
    assert [(one.plugins["controller"], one.experiment["controller"].get("window")) for one in found] == [
        ("dcqcn", "bdp"), ("dcqcn", "none"), ("swift", None),
    ]  # fmt: skip
    assert [one.name for one in found] == ["dcqcn,window=bdp,seed=1", "dcqcn,window=none,seed=1", "swift,seed=1"]
    assert [one.experiment["controller"]["window"] for one in grid("controller[dcqcn].window=none")] == ["none"]


def test_the_controller_of_the_file_keeps_its_options_beside_others() -> None:
    dcqcn, dctcp = grid(controller="dcqcn,dctcp")
    assert dcqcn.experiment == grid()[0].experiment
    assert [one.experiment["tuner"]["preset"] for one in (dcqcn, dctcp)] == ["secn2", "dctcp"]


def test_a_value_with_commas() -> None:
    flows = "[{src: h1, dst: h2}, {src: h3, dst: h2}],[{src: h1, dst: h2}]"
    found = grid("traffic.pattern=flows", f"traffic.flows={flows}", experiment=str(flow_file()))
    assert [len(cell.experiment["traffic"]["flows"]) for cell in found] == [2, 1]
    assert len({cell.name for cell in found}) == 2
    assert all("/" not in cell.name and len(cell.name) < 200 for cell in found)


def flow_file() -> Path:
    return Path(__file__).parent / "flows.yaml"


def test_paths_mean_the_same_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("traffic: {pattern: incast, senders: 2}\ncontroller: fixed\n")
    (tmp_path / "my_cc.py").write_text(CONTROLLER)
    monkeypatch.chdir(tmp_path)
    (cell,) = grid(experiment="./mine.yaml", controller="./my_cc.py")
    assert cell.source == str(tmp_path / "mine.yaml")
    assert cell.plugins == {"controller": str(tmp_path / "my_cc.py")}
    assert cell.name == "mine,seed=1"


@pytest.mark.parametrize(
    ("settings", "options", "says"),
    [
        (["traffic.senders=2,0"], {}, "the cell with traffic.senders=0: .*must be at least 1, got 0"),
        (["traffic.senders=2"], {"controller": "dcqcn,swfit"}, "the cell with controller swfit.*did you mean 'swift'"),
        (["controller.g=0.1"], {"controller": "dcqcn,swift"}, "the cell with controller swift, controller.g=0.1: "),
        (["traffic.sender=2,3"], {}, "did you mean 'senders'"),
        (["traffic.senders"], {}, "expected key=value"),
        (["traffic.senders=2", "traffic.senders=3"], {}, "given twice; list its values with commas"),
        (["seed=1,2"], {}, "use --repeat"),
        ([], {"repeat": 0}, "--repeat must be at least 1"),
        (["time.duration=1 ms,1000 us"], {}, "two cells of the sweep are the same"),
        (["traffic.senders=" + ",".join(map(str, range(2, 200)))], {"repeat": 100}, "19,800 cells, at most 10,000"),
    ],
)
def test_bad_input(settings: list[str], options: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        grid(*settings, **options)  # type: ignore[arg-type]
